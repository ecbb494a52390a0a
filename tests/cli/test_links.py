"""Loops of symbolic links in place of every file and folder that a command line can name."""

import os

import pytest

from tightcut import COSC, KnnAffinity

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")

READING = [
    "cluster loop.csv -k 2",
    "cluster loop.csv/inside.csv -k 2",
    "cluster moons.csv -k 2 --drop class --constraints loop.csv",
    "cluster moons.csv -k 2 --drop class --init loop.csv",
    "cluster-graph --edges loop -k 2",
    "cluster-graph --points loop -k 2",
    "cluster-graph --points . --shared-folder loop -k 2",
    "ask loop.csv",
    "ask moons.csv --id name --drop class --images loop",
    "ask loop.tcut",
    "check loop.csv",
    "check pairs.csv loop.csv",
    "audit loop.csv --constraints pairs.csv -k 2",
    "tradeoff loop.csv --constraints pairs.csv",
    "evaluate loop.csv moons.csv",
    "evaluate moons.csv loop.csv",
    "resolve loop.csv",
    "resolve edges.csv --constraints loop.csv",
    "resolve edges.csv --labels loop.csv",
    "resolve edges.csv --groups loop.csv",
    "resolve edges.csv --ask --answers new.jsonl --records loop.csv",
    "update loop.tcut moons.csv",
    "update model.tcut loop.csv",
    "update model.tcut --constraints loop.csv",
    "predict loop.tcut moons.csv",
    "predict model.tcut loop.csv",
]
# Those that are written whole; the others are in test_outputs.
WRITING = [
    "cluster moons.csv -k 2 --id name --drop class -o loop/labels.csv",
    "cluster moons.csv -k 2 --id name --drop class -o loop.csv --force",
    "cluster-graph --points points -k 2 -o loop",
    "ask moons.csv --id name --drop class --answers loop/answers.jsonl --console",
    "ask moons.csv --id name --drop class --answers loop.jsonl",
    "resolve edges.csv --ask --answers loop.jsonl",
]


@pytest.fixture
def links(folder):
    for name in ("loop", "loop.csv", "loop.jsonl", "loop.tcut"):
        (folder / name).symlink_to(f"other {name}")
        (folder / f"other {name}").symlink_to(name)
    (folder / "edges.csv").write_text("a,b,match_probability\n1,2,0.9\n2,3,0.2\n")
    (folder / "points").mkdir()
    (folder / "points" / "part.parquet").write_text("")
    COSC(2, n_neighbors=2, affinity=KnnAffinity(connect=False), random_state=0).fit(
        [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    ).save("model.tcut")
    return folder


@pytest.mark.parametrize("line", READING + WRITING)
def test_a_loop_of_links_is_said_in_a_sentence(run, links, line):
    code, out, err = run(line)
    assert code in (1, 2), err
    assert out == ""
    (message,) = [text for text in err.splitlines() if text.startswith("Error:")]
    assert "loop" in message
    assert "Errno" not in message
    assert all((links / name).is_symlink() for name in ("loop", "loop.csv", "loop.jsonl", "loop.tcut"))


def test_a_model_is_not_written_over_a_loop(links):
    with pytest.raises(OSError, match=r"symbolic links lead in a circle.*loop\.tcut"):
        COSC.load("model.tcut").save("loop.tcut")
    assert (links / "loop.tcut").is_symlink()
