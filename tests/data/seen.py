"""What of a model, a journal or a command line is frozen, as plain values; and how two such observations differ.

Only the public interface is used. Sentences that are meant to be read may be reworded: of those under the keys `PROSE` only
their presence counts.
"""

import csv
import io
import json
import math
import shutil
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
from data.saved import graph, points, resolution_session, unseen, working_folder, write_parquet

PROSE = ("settings_reason", "description", "message")
PRECISION = {"progress": 1e-6}  # of the rest 1e-9; the progress of a session is found by iteration, to 1e-8


# fmt: off
# ruff: noqa: ISC004
# Every command with --json, and the tables that some write. They run in a folder with all inputs, models and journals.
COMMANDS = {
    "cluster": ("cluster points.csv -k 3 --id name --drop class,known --constraints pairs.csv --json -o l.csv", ["l.csv"]),
    "cluster_auto": ("cluster points.csv -k auto --id name --drop class --labels known --json", []),
    "cluster_settings": ("cluster points.csv -k 3 --columns x,y --scale quantile --n-neighbors 5 --symmetrize mean --json "
                         "--diffusion 2 --criterion rcut --influence 0.5 --seed 7", []),
    "cluster_fewest": ("cluster points.csv -k 3 --id name --drop class,known --constraints doubted.csv --json "
                       "--max-violations fewest", []),
    "cluster_paper": ("cluster points.csv -k 2 --columns x,y,z --method paper --effort 0.3 --json", []),
    "cluster_graph": ("cluster graph.csv -k 3 --json -o l.csv", ["l.csv"]),
    "cluster_distances": ("cluster distances.csv -k 3 --metric precomputed --json", []),
    "cluster_answers": ("cluster points.csv -k 5 --columns x,y,z --constraints picks.jsonl --json -o l.csv", ["l.csv"]),
    "cluster_impossible": ("cluster points.csv -k 2 --id name --drop class,known --constraints triangle.csv --json", []),
    "check": ("check pairs.csv points.csv -k 3 --id name --json", []),
    "check_impossible": ("check triangle.csv -k 2 --json", []),
    "check_unknown": ("check unknown.csv points.csv --id name --json", []),
    "evaluate": ("evaluate labels.csv points.csv --id name --truth-column class --json", []),
    "audit": ("audit points.csv -k 3 --id name --drop class,known --constraints pairs.csv --json -o l.csv", ["l.csv"]),
    "tradeoff": ("tradeoff points.csv --id name --drop class,known --constraints doubted.csv --json -o l.csv", ["l.csv"]),
    "update": ("update command.tcut new.csv --constraints more.csv --save u.tcut --json -o l.csv --changes c.csv",
               ["l.csv", "c.csv"]),
    "predict": ("predict command.tcut new.csv", []),
    "resolve": ("resolve edges.csv --json -o l.csv --cut-edges e.csv --doubtful d.csv", ["l.csv", "e.csv", "d.csv"]),
    "resolve_rules": ("resolve edges.csv --groups source --constraints same.csv --prior 0.6 --json -o l.csv", ["l.csv"]),
    "edges": ("cluster --edges edges -k 3 --n-units 30 --json -o folder", []),
    "datasets": ("datasets --json", []),
    "datasets_iris": ("datasets iris --json", []),
}
# fmt: on


def seen_model(path):
    from tightcut import COSC

    return of_model(COSC.load(path), unseen(path.stem))


def seen_journal(path):
    """What follows from the answers: read alone, and continued with the data."""
    from tightcut.ask import Session, read_constraints

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))  # a torn line is repaired
        if path.stem == "resolve":
            session = resolution_session(copy)
            seen = of_resolution_session(session)
        else:
            read = of_constraints(read_constraints(copy))
            kind = "precomputed" if path.stem == "graph" else "knn"
            session = Session.load(copy, graph() if path.stem == "graph" else points(), affinity=kind)
            seen = {"read_alone": read, **of_session(session)}
        session.close()
        return {**seen, "repaired_bytes": copy.stat().st_size}


def seen_command(name):
    """What a command prints and writes; the one of 0.6.0 that has another name today is recorded under its old one."""
    line, files = COMMANDS[name]
    with working_folder():
        if name == "edges":
            write_parquet(Path("edges"))
        return plain({"arguments": line, **of_command(line.replace("cluster --edges", "cluster-graph --edges"), files)})


def of_model(model, new):
    """A fitted model: its attributes, predictions for new rows, what pairs cost, and its labels after an update.

    The update changes the model.
    """
    setting = model.choice_.setting
    seen = {
        "labels": model.labels_.tolist(),
        "names": {str(cluster): name for cluster, name in model.names_.items()},
        "n_clusters": model.n_clusters_,
        "n_features": model.n_features_in_,
        "cut": model.cut_,
        "affinity": [model.affinity_matrix_.nnz, float(model.affinity_matrix_.sum())],
        "vertex_weights": float(np.sum(model.vertex_weights_)),
        "violated": [model.violated_must_link_.tolist(), model.violated_cannot_link_.tolist()],
        "violated_belief": [model.violated_belief_, model.violated_belief_bound_],
        "constraints": of_constraints(model.constraints_),
        "setting": [setting.scale, setting.learn_distances, setting.n_neighbors, setting.symmetrize, setting.diffusion],
        "changes": [
            [one.kind, one.cluster, one.source, one.name, list(one.points), one.constraint] for one in model.changes_
        ],
        "feature_names": list(map(str, getattr(model, "feature_names_in_", ()))),
        "hierarchy": [level.tolist() for level in getattr(model, "hierarchy_", ())],
        "predictions": None if new is None else model.predict(new).tolist(),
        "audit": [[row.kind, row.first, row.second, row.price] for row in model.audit(n_solved=2)],
    }
    if new is not None and model.metric != "precomputed" and model.affinity != "precomputed":
        model.update(new)
    model.update(
        cannot_link=[(0, 1)] if model.labels_[0] == model.labels_[1] else [(0, int(_companion(model.labels_)))]
    )
    return plain({**seen, "updated": model.labels_.tolist()})


def _companion(labels):
    """Another member of the cluster of point 0."""
    return np.flatnonzero(labels == labels[0])[1]


def of_constraints(known):
    return {
        "must_link": known.must_link.tolist(),
        "cannot_link": known.cannot_link.tolist(),
        "beliefs": [known.must_link_belief.tolist(), known.cannot_link_belief.tolist()],
    }


def of_session(session):
    """A session of questions: what it knows, and what it would ask next."""
    progress = session.progress()
    seen = {
        "n_answers": session.n_answers_,
        "n_actions": session.n_actions_,
        "answers": [
            [one.number, one.kind, one.first, one.second, one.choice, one.who, one.seconds, one.founds, one.believed]
            for one in session.answers
        ],
        "groups": [[group.id, group.name, list(group.members), group.size] for group in session.groups],
        "labels": session.labels_.tolist(),
        "constraints": of_constraints(session.constraints_),
        "n_contradictions": len(session.contradictions()),
        "doubtful": session.doubtful(5).tolist(),
        "progress": [float(getattr(progress, name)) for name in ("settled", "expected_accuracy", "low", "high")],
        "next": [_question(session.question(kind)) for kind in ("pair", "pick")],
    }
    return plain(seen)


def of_resolution_session(session):
    found = session.resolution()
    seen = {
        "n_answers": session.n_answers_,
        "answers": [[one.number, one.first, one.second, one.choice, one.who] for one in session.answers],
        "labels": session.labels_.tolist(),
        "clusters": [found.ids.tolist(), found.labels.tolist()],
        "disagreement": [found.disagreement, found.lower_bound],
        "constraints": of_constraints(session.constraints_),
        "doubtful": session.doubtful(5).tolist(),
        "next": _question(session.question()),
    }
    return plain(seen)


def _question(question):
    return (
        None if question is None else [question.kind, question.first, question.second, [g.id for g in question.groups]]
    )


def of_command(line, files=()):
    """A command line run in the present folder: exit code, standard output as JSON or as a table, and tables it wrote."""
    from tightcut.cli import main

    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = main(line.split())
    text = out.getvalue()
    output = json.loads(text) if "--json" in line.split() and text else table(text)
    if isinstance(output, dict) and "seconds" in output:
        output["seconds"] = 0
    return {
        "exit_code": code,
        "output": output,
        "files": {name: table(_text(name)) for name in files},
    }


def _text(path):
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 (relative to the present folder)
        return file.read()


def table(text):
    """The cells of a table, numbers as such."""
    return [[_cell(cell) for cell in row] for row in csv.reader(io.StringIO(text))]


def _cell(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def plain(values):
    """Only what JSON knows, as it comes back from a file."""
    return json.loads(json.dumps(values, default=lambda value: value.item()))


def differences(before, now, place="", key=""):
    """Where two observations differ, in words: whole numbers and texts must be equal, others up to rounding."""
    if key in PROSE and isinstance(now, str):
        return []
    if isinstance(before, dict) and isinstance(now, dict):
        own = [f"{place}: has {sorted(now)}, not {sorted(before)}"] if before.keys() != now.keys() else []
        return own + [
            one
            for key in before.keys() & now.keys()
            for one in differences(before[key], now[key], f"{place}/{key}", key)
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [one for row, (a, b) in pairs for one in differences(a, b, f"{place}/{row}", key)]
    if isinstance(before, float) and isinstance(now, (int, float)) and not isinstance(now, bool):
        precision = PRECISION.get(key, 1e-9)
        same = math.isclose(before, now, rel_tol=precision, abs_tol=precision)
    else:
        same = type(before) is type(now) and before == now
    return [] if same else [f"{place}: {now!r}, not {before!r}"]
