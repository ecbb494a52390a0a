"""`--neighbors`, its recall, its progress, and files that are not read whole."""

import json

import numpy as np
import pytest

from tightcut.files import large

MOONS = "cluster moons.csv -k 2 --id name --drop class --effort 0.3"


@pytest.mark.parametrize("neighbors", ["tree", "blocked"])
def test_exact_choices_give_the_same_labels(run, folder, neighbors):
    assert run(f"{MOONS} -o expected.csv -q")[0] == 0
    assert run(f"{MOONS} -o labels.csv -q --neighbors {neighbors}")[0] == 0
    assert (folder / "labels.csv").read_text() == (folder / "expected.csv").read_text()


def test_an_approximate_search_says_how_much_it_found(works, folder):
    pytest.importorskip("faiss", reason="needs faiss: pip install faiss-cpu")
    out, err = works(f"{MOONS} --json --report page.html --neighbors approximate")
    assert "Found 100.0% of the true neighbours" in err
    assert json.loads(out)["neighbor_recall"] == 1.0
    assert (folder / "page.html").exists()


def test_a_blocked_search_shows_its_progress(run):
    assert "tightcut neighbours [" in run(f"{MOONS} --neighbors blocked")[2]
    assert "neighbours [" not in run(f"{MOONS} --neighbors tree")[2]


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_large_file_gives_the_same_labels(run, folder, monkeypatch, scale):
    command = f"cluster moons.npy -k 2 --effort 0.3 -q --scale {scale} --neighbors blocked -o"
    assert run(f"{command} expected.csv")[0] == 0
    monkeypatch.setattr(large, "LARGE_FILE", 0)
    assert isinstance(large.open_points(folder / "moons.npy"), np.memmap)
    assert run(f"{command} labels.csv --report page.html")[0] == 0
    assert (folder / "labels.csv").read_text() == (folder / "expected.csv").read_text()
