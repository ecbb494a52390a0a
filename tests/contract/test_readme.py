"""The README tells the truth: its code runs, its picture and its commands exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="tests run outside the repository")


def blocks(language):
    return re.findall(
        rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


@pytest.mark.slow
def test_the_python_runs(capsys):
    """In order, as one session: a reader may paste all of it."""
    namespace = {}
    for number, block in enumerate(blocks("python")):
        exec(compile(block, f"README.md block {number}", "exec"), namespace)
    assert namespace["model"].n_violations_ == 1
    assert namespace["path"][0].n_violations < namespace["path"][-1].n_violations
    assert "violated" in capsys.readouterr().out


def test_the_first_block_is_about_ten_lines_and_comes_early():
    text = README.read_text(encoding="utf-8")
    assert len(blocks("python")[0].splitlines()) <= 11
    assert text.index("make demo") < text.index("make test") < text.index("```python")


def test_its_commands_are_targets_of_the_makefile():
    commands = re.findall(r"^\$ make (\w+)", "".join(blocks("console")), flags=re.MULTILINE)
    assert commands == ["demo", "test"]
    for target in commands:
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_its_pictures_are_there_and_small():
    pictures = re.findall(r"!\[[^\]]*\]\((.*?)\)", README.read_text(encoding="utf-8"))
    assert len(pictures) == 2
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < 200_000
