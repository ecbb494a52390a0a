"""Errors told by their parts: names, lines and options of the command line, never settings of Python."""

import pytest

from tightcut.cli._known import OPTIONS
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.utils.contradictions import IN_LINES, explain

IDS = ["ann", "bob", "eve", "joe"]
TRIANGLE = [("cannot", 0, 1), ("cannot", 1, 2), ("cannot", 2, 0)]
CLIQUE = [("cannot", i, j) for i in range(4) for j in range(i)]


def told(error, n_clusters=2):
    error.n_clusters = n_clusters
    text = explain(error, IDS.__getitem__, lambda kind, i, j: f"{kind}.csv, line {i}{j}", OPTIONS)
    assert not {"max_violations", "on_inconsistent", "n_clusters", "Python"} & set(text.split())
    return text


@pytest.mark.parametrize(
    ("error", "n_clusters", "first", "last"),
    [
        (
            InconsistentConstraintsError([("must", 0, 1), ("cannot", 1, 0)]),
            2,
            "The constraints contradict each other, whatever the number of clusters:",
            "Correct or remove one of these lines, or use --max-violations fewest to violate as little as possible.",
        ),
        (
            InconsistentConstraintsError(TRIANGLE),
            2,
            "2 clusters cannot satisfy an odd number of cannot-links (3) in a cycle:",
            "ask for more clusters (-k)",
        ),
        (
            InconsistentConstraintsError(CLIQUE, reason="clique"),
            3,
            "3 clusters cannot satisfy the constraints. ann, bob, eve, joe must all be in different clusters:",
            "ask for more clusters (-k)",
        ),
        (InconsistentConstraintsError([("cannot", 0, 1)]), 1, "One cluster cannot keep points apart:", "Correct"),
    ],
    ids=["contradiction", "odd cycle", "clique", "one cluster"],
)
def test_a_witness_is_shown_with_its_lines(error, n_clusters, first, last):
    lines = told(error, n_clusters).splitlines()
    assert lines[0] == first
    assert last in lines[-1]
    assert len(lines) == len(error.witness) + 2
    kind, i, j = error.witness[0]
    assert f"{IDS[i]} {kind}-link {IDS[j]}" in lines[1]
    assert lines[1].endswith(f"({kind}.csv, line {i}{j})")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            "empty cluster",
            "The must-links leave 2 separate sets of points, too few for 3 non-empty clusters. Remove some of them, or ask for",
        ),
        (
            "exhausted",
            "3 clusters cannot satisfy the constraints, as an exhaustive search has shown. Remove some pairs, ",
        ),
        (
            "not found",
            "3 clusters that satisfy every constraint were neither found nor ruled out. Raise --effort, ask for ",
        ),
        ("limit", "No 3 clusters that violate at most 1.5 were found; the best violate 2.5. Raise --max-violations or"),
    ],
)
def test_reasons_without_a_witness(reason, text):
    error = InconsistentConstraintsError(proven=False, reason=reason, needed=2.5, limit=1.5, n_sets=2)
    assert told(error, 3).startswith(text)


def test_a_limit_that_is_too_low_shows_what_contradicts(run, folder):  # noqa: ARG001
    error = InconsistentConstraintsError(TRIANGLE, proven=False, reason="limit", needed=1.0)
    lines = told(error).splitlines()
    assert "Pairs that contradict each other:" in lines
    assert len(lines) == 5


def test_of_points_that_are_joined_one_is_named():
    joined = [("must", 0, 3), ("cannot", 0, 1), ("cannot", 1, 2), ("cannot", 2, 3)]
    text = told(InconsistentConstraintsError(joined, reason="clique"))
    assert text.startswith(
        "2 clusters cannot satisfy the constraints. ann, bob, eve must all be in different clusters:"
    )


def test_an_unknown_reason_leaves_the_message():
    assert told(InconsistentConstraintsError(message="No.", proven=False)) == "No."


def test_long_contradictions_are_shortened():
    walk = [("must", 0, 1), ("must", 1, 0)] * IN_LINES + [("cannot", 0, 0)]
    assert f"  ... and {IN_LINES + 1} more" in told(InconsistentConstraintsError(walk))


def test_parts_survive_pickling():
    import pickle

    error = InconsistentConstraintsError(TRIANGLE, n_clusters=2, needed=1.0, limit=0.5)
    again = pickle.loads(pickle.dumps(error))
    assert (again.n_clusters, again.reason, again.needed, again.limit) == (2, "odd cycle", 1.0, 0.5)
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("pairs", "options", "text"),
    [
        (
            "0,1,must\n0,1,cannot\n",
            "-k 2 --max-violations 0.5",
            "at most 0.5: at least 1 must be violated, and 1 are enough. Raise --max-violations to 1, or",
        ),
        (
            "0,1,must\n0,1,cannot\n",
            "-k 3 --max-violations 0.5",
            "at most 0.5: at least 1 must be violated, and 1 are enough. Raise --max-violations to 1, or",
        ),
        (
            "".join(f"0,{i},must\n" for i in range(1, 60)),
            "-k 2",
            "leave 1 separate set of points, too few for 2 non-empty clusters.",
        ),
        (
            "".join(f"0,{i},must\n" for i in range(1, 59)),
            "-k 3",
            "leave 2 separate sets of points, too few for 3 non-empty clusters.",
        ),
        (
            "".join(f"{i},{(i + 1) % 5},cannot\n" for i in range(5)),
            "-k 2",
            "an odd number of cannot-links (5) in a cycle:",
        ),
        (
            "".join(f"{i},{j},cannot\n" for i in range(5) for j in range(i)),
            "-k 3",
            "must all be in different clusters:",
        ),
        # An odd wheel needs four clusters, although no four of its points are all kept apart.
        (
            "".join(f"{i},{(i + 1) % 5},cannot\n{i},5,cannot\n" for i in range(5)),
            "-k 3",
            "as an exhaustive search has shown. Remove some pairs",
        ),
        ("0,1,cannot\n", "-k 1", "One cluster cannot keep points apart:"),
    ],
)
def test_what_the_library_raises_is_told_in_options(fails, folder, pairs, options, text):
    (folder / "rows.csv").write_text(pairs)
    err = fails(f"cluster moons.npy {options} --constraints rows.csv -q --effort 0.1", text, code=3)
    assert not {"max_violations", "n_clusters", "effort"} & set(err.replace("=", " ").split())
