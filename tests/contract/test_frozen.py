"""What 0.6.0 saved and answered is still read, and gives the same: models, journals, and what commands print as JSON.

The files are in `tests/data`, and `tests/data/make.py` says how they were made. Whole numbers, labels and texts must be equal,
other numbers up to 1e-9 (the progress of a session, which is found by iteration, up to 1e-6). The points have few digits and
the cuts compared are far apart, so that neither the version of numpy nor the BLAS decides between them: the files were made
with numpy 2.4, and numpy 1.26 with the other oldest versions gives the same.
"""

import json

import pytest
from data.saved import JOURNALS, MODELS, OUTPUTS, SAVED, WRITTEN
from data.seen import COMMANDS, differences, of_model, seen_command, seen_journal, seen_model, unseen

from tightcut import COSC

pytestmark = pytest.mark.filterwarnings("ignore")
MODEL_NAMES = [*SAVED, "command"]
FITTED_ALIKE = [name for name in SAVED if name != "paper"]  # method="paper" follows the paper more closely since 0.8
NEEDS = {"edges": "dask.dataframe", "learned": "pandas", "cluster_fewest": "ortools"}


def stored(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_saved_model_knows_and_predicts_the_same(name):
    assert differences(stored(MODELS, name), seen_model(MODELS / f"{name}.tcut")) == []


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_saved_model_has_the_same_labels(name):
    expected, model = stored(MODELS, name), COSC.load(MODELS / f"{name}.tcut")
    assert model.labels_.tolist() == expected["labels"]
    assert {str(cluster): text for cluster, text in model.names_.items()} == expected["names"]
    if expected["predictions"] is not None:
        assert model.predict(unseen(name)).tolist() == expected["predictions"]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_model_that_is_saved_again_is_the_same(name, tmp_path):
    COSC.load(MODELS / f"{name}.tcut").save(tmp_path / "again.tcut")
    assert differences(stored(MODELS, name), of_model(COSC.load(tmp_path / "again.tcut"), unseen(name))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FITTED_ALIKE)
def test_a_fit_gives_the_same_labels(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    assert SAVED[name]().labels_.tolist() == stored(MODELS, name)["labels"]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_journal_leads_to_the_same_groups_labels_and_next_question(name):
    path = JOURNALS / f"{name}.jsonl"
    before = path.read_bytes()
    assert differences(stored(JOURNALS, name), seen_journal(path)) == []
    assert path.read_bytes() == before


def test_the_torn_line_is_dropped():
    assert not (JOURNALS / "torn.jsonl").read_bytes().endswith(b"\n")
    torn, whole = stored(JOURNALS, "torn"), stored(JOURNALS, "picks")
    assert torn["answers"] == whole["answers"][:-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_and_writes_the_same(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    assert differences(stored(OUTPUTS, name), seen_command(name)) == []


def test_differences_are_found():
    seen = {"labels": [0, 1], "cut": 0.25, "settings_reason": "few pairs", "names": {"0": "ash"}}
    assert differences(seen, {**seen, "cut": 0.25 + 1e-12, "settings_reason": "other words"}) == []
    for key, other in [("labels", [0, 2]), ("labels", [0]), ("cut", 0.2500001), ("names", {}), ("cut", None)]:
        assert len(differences(seen, {**seen, key: other})) >= 1, key


def test_nothing_is_frozen_without_a_test():
    for folder, names in ((MODELS, MODEL_NAMES), (JOURNALS, WRITTEN), (OUTPUTS, COMMANDS)):
        assert {path.stem for path in folder.iterdir()} == set(names)


def test_frozen_files_are_small():
    folders = (MODELS, JOURNALS, OUTPUTS, MODELS.parent / "inputs")
    assert sum(path.stat().st_size for folder in folders for path in folder.iterdir()) < 400_000
