"""How what is frozen was made: the inputs as arrays, models by name, journals by name."""

import csv
import shutil
import tempfile
from contextlib import chdir, contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp

INPUTS, MODELS, JOURNALS, OUTPUTS = (
    Path(__file__).parent / name for name in ("inputs", "models", "journals", "outputs")
)
N_OLD, N_NEW = 48, 9
CLASSES = ("ash", "birch", "cedar")
# The last of each are wrong, so that they cost something.
MUST, CANNOT = [(0, 4), (17, 20), (33, 40), (6, 22)], [(2, 18), (5, 35), (19, 38), (41, 44)]


def read_rows(name, *, header=True):
    with (INPUTS / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.reader(file))[int(header) :]


def points():
    return np.array([row[1:4] for row in read_rows("points")], float)


def new_points():
    return np.array([row[1:4] for row in read_rows("new")], float)


def truth():
    return np.array([CLASSES.index(row[4]) for row in read_rows("points")])


def counts():
    return sp.csr_array(np.array(read_rows("counts", header=False), float))


def distances():
    return np.array(read_rows("distances", header=False), float)


def graph():
    i, j, weight = np.array(read_rows("graph"), float).T
    half = sp.coo_array((weight, (i.astype(int), j.astype(int))), shape=(N_OLD, N_OLD))
    return sp.csr_array(half + half.T)


@contextmanager
def working_folder():
    """A folder with all inputs, models and journals, which is the present one for a while."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, end in ((INPUTS, "csv"), (MODELS, "tcut"), (JOURNALS, "jsonl")):
            for path in kind.glob(f"*.{end}"):
                shutil.copy(path, folder)
        with chdir(folder):
            yield


def write_parquet(folder):
    """The graph as a folder of two files."""
    import pandas as pd

    folder.mkdir()
    i, j, weight = np.array(read_rows("graph"), float).T
    edges = pd.DataFrame({"i": i.astype(int), "j": j.astype(int), "weight": weight})
    edges[:80].to_parquet(folder / "0.parquet")
    edges[80:].to_parquet(folder / "1.parquet")


# Models


def from_points():
    from tightcut import COSC

    return COSC(3, random_state=0).fit(points(), must_link=MUST, cannot_link=CANNOT)


def from_sparse_points():
    from tightcut import COSC

    return COSC(3, metric="cosine", n_neighbors=6, random_state=1).fit(
        counts()[:N_OLD], must_link=MUST, cannot_link=CANNOT
    )


def from_a_graph():
    from tightcut import COSC

    return COSC(3, affinity="precomputed", criterion="rcut", random_state=2).fit(graph(), must_link=MUST)


def from_distances():
    from tightcut import COSC

    return COSC(3, metric="precomputed", n_neighbors=5, random_state=3).fit(
        distances(), cannot_link=CANNOT, vertex_weights=1 + np.arange(N_OLD) % 3
    )


def learned():
    """Learned distances, an automatic number of clusters, named columns."""
    import pandas as pd

    from tightcut import COSC, KnnAffinity

    known = np.where(np.arange(N_OLD) % 4 == 0, truth(), -1)
    affinity = KnnAffinity(learn_distances=True, diffusion=1, symmetrize="mean")
    model = COSC("auto", affinity=affinity, scale="standard", random_state=4)
    frame = pd.DataFrame(points(), columns=["x", "y", "z"])
    return model.fit(frame, partial_labels=known)


def soft():
    from tightcut import COSC

    wrong, beliefs = [*MUST, (0, 16), (1, 34)], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3]
    model = COSC(3, n_neighbors=5, max_violations=1.0, effort=0.3, random_state=5)
    return model.fit(points(), must_link=wrong, must_link_belief=beliefs, cannot_link=CANNOT)


def by_the_paper():
    from tightcut import COSC

    return COSC(3, method="paper", effort=0.3, random_state=6).fit(points(), must_link=MUST)


def named():
    """Two names, new points in two batches, a cluster that is founded and one point that is moved."""
    from tightcut import COSC

    X = np.concatenate([points(), new_points()])
    model = COSC(3, n_neighbors=6, random_state=7).fit(X[:40], must_link=MUST[:2])
    model.name(int(model.labels_[0]), "Ahorn, groß")
    model.name(int(model.labels_[20]), "birch")
    model.update(X[40:52], cannot_link=CANNOT[:2])
    middle = [int(np.flatnonzero(model.labels_ == cluster)[0]) for cluster in np.unique(model.labels_)]
    return model.update(X[52:], cannot_link=[(54, row) for row in middle], must_link=[(3, 52)], keep="all")


SAVED = {
    "points": from_points,
    "sparse": from_sparse_points,
    "graph": from_a_graph,
    "distances": from_distances,
    "learned": learned,
    "soft": soft,
    "paper": by_the_paper,
    "named": named,
}


def unseen(name):
    """New rows for a model, as `predict` takes them."""
    if name == "sparse":
        return counts()[N_OLD:]
    if name == "graph":
        return graph()[:5]
    return distances()[:5] if name == "distances" else new_points()


# Journals


def pairs_asked(path):
    from tightcut.ask import Session

    session, y = Session(points(), answers=path, random_state=0), truth()
    for step in range(14):
        question = session.question()
        same = (y[question.first] == y[question.second]) != (step in (5, 9))  # two of them are wrong
        session.answer(
            question, "unsure" if step == 3 else "same" if same else "different", who="Zoë", seconds=step / 2
        )
    session.revise(session.answers[6].number, "unsure", who="Ann")
    session.revise(session.answers[2].number, "unsure", who="Ann")
    session.undo()
    session.close()


def picks_asked(path):
    """Names are given with picks; points are moved, answers are undone, and two groups get the same name."""
    from tightcut.ask import Session

    session, y = Session(points(), 3, answers=path, random_state=1), truth()
    for step in range(8):
        question = session.question("pick" if step % 4 else "pair")
        if question.kind == "pair":
            session.answer(question, "same" if y[question.first] == y[question.second] else "different")
        else:
            session.answer(question, "young birch" if step == 6 else CLASSES[y[question.first]], who="Zoë")
    session.move(11, CLASSES[y[11]])
    session.move(30, "none", who="Ann")
    session.undo()
    founded = {group.name: group.id for group in session.groups}
    session.name(founded["young birch"], "birch")
    session.move(47, "cedar")
    session.close()


def torn(path):
    """Answers of which the last was being written when the process was killed."""
    picks_asked(path)
    path.write_bytes(path.read_bytes()[:-17])


def doubted(path):
    """Answers of which some cannot be true together with the others."""
    from tightcut.ask import Question, Session

    session = Session(points(), answers=path, random_state=3)
    said = [
        (0, 4, 1),
        (4, 8, 1),
        (8, 10, 1),
        (0, 10, 0),
        (17, 20, 1),
        (20, 24, 1),
        (17, 24, 1),
        (4, 24, 1),
        (0, 17, 0),
        (33, 0, 0),
    ]
    for number, (first, second, same) in enumerate(said):
        question = Question(number, "pair", first, second, (), "")
        session.answer(question, "same" if same else "different")
    session.close()


def of_a_graph(path):
    from tightcut.ask import Session, simulate

    session = Session(graph(), affinity="precomputed", answers=path, random_state=2)
    simulate(session, truth(), 12, kind="pick")
    session.close()


def resolve_asked(path):
    session = resolution_session(path)
    ids = [int(name[1:]) for name in session.ids]
    for _ in range(8):
        question = session.question()
        same = ids[question.first] // 4 == ids[question.second] // 4
        session.answer(question, "same" if same else "different", who="Ann", seconds=1.5)
    session.undo()
    session.revise(session.answers[0].number, "unsure")
    session.move(int(np.argmax(np.bincount(session.labels_, minlength=len(ids))[session.labels_])), "none")
    session.close()


WRITTEN = {
    "pairs": pairs_asked,
    "picks": picks_asked,
    "torn": torn,
    "doubted": doubted,
    "graph": of_a_graph,
    "resolve": resolve_asked,
}


def resolution_session(path):
    from tightcut import resolve

    return resolve([(row[0], row[1], float(row[2])) for row in read_rows("edges")]).session(path)
