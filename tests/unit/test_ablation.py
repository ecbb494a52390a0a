"""Copies of the source with a branch switched off: `benchmarks.ablation`."""

import pytest

from benchmarks.ablation.__main__ import row
from benchmarks.ablation.variants import UNCHANGED, StaleError, Variant, edited, make_copy, replaced


class CutArea:
    SCORE, STATES, INSTANCES = "cut", (0, 1), {"toy": None}


@pytest.fixture
def source(tmp_path):
    package = tmp_path / "src" / "tightcut"
    (package / "kernels").mkdir(parents=True)
    (package / "kernels" / "heap.py").write_text("")
    (package / "search.py").write_text("if useful:\n    pass\nif other:\n    pass\n")
    return tmp_path / "src"


def test_a_copy_has_the_edits_and_shares_the_kernels(source, tmp_path):
    plain, without = (
        make_copy(source, variant, tmp_path) for variant in (UNCHANGED, replaced("no", "search.py", "useful", "False"))
    )
    assert (without / "tightcut/search.py").read_text().startswith("if False:")
    assert (plain / "tightcut/search.py").read_text() == (source / "tightcut/search.py").read_text()
    assert (plain / "tightcut/kernels").resolve() == (without / "tightcut/kernels").resolve()
    assert make_copy(source, UNCHANGED, tmp_path) == plain


@pytest.mark.parametrize("old", ["absent", "pass"])
def test_text_that_is_not_there_once_makes_a_variant_stale(old, source):
    with pytest.raises(StaleError, match=old):
        edited(source, replaced("no", "search.py", old, "False"))


@pytest.mark.parametrize(
    ("score", "seconds", "verdict"), [(1.0005, 1.0, "delete"), (1.002, 1.0, "keep"), (1.0, 1.05, "keep")]
)
def test_the_verdict_is_that_of_the_bar(score, seconds, verdict):
    keys = [("toy", 0), ("toy", 1)]
    before = {key: {"score": 1.0, "seconds": 1.0} for key in keys}
    after = {key: {"score": score, "seconds": seconds, "beside": 1.0} for key in keys}
    found = row(CutArea, Variant("a branch"), ("toy",), before, after)
    assert (found["variant"], found["verdict"], found["cut"]) == ("a branch", verdict, f"{score:.5f}")
