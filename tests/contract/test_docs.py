"""The documentation tells the truth: its code runs, its commands work, its names exist, and its gallery can be drawn."""

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
GENERATED = {"_build", "api", "gallery", "results"}

pytestmark = pytest.mark.skipif(not (DOCS / "conf.py").exists(), reason="tests run outside the repository")

PAGES = sorted(page for page in DOCS.rglob("*.md") if not GENERATED & set(page.relative_to(DOCS).parts))
README = ROOT / "README.md"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))
# Four seconds of processor time or more: compiled here, run by `make docs`, where a failure is an error, or on request.
LONG = ("plot_asking.py", "plot_choose_k.py", "plot_noisy_pairs.py", "plot_rivals.py")
SLOW = () if os.environ.get("TIGHTCUT_ALL_EXAMPLES") else LONG
QUICK = [script for script in SCRIPTS if script.name not in SLOW]
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def name(path):
    return path.relative_to(ROOT).as_posix()


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", [README, *(page for page in PAGES if blocks(page))], ids=name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    """In order, as one session: a reader may paste all of it. Commands run between the blocks of Python.

    A block of text right after one of Python is what that prints.
    """
    pytest.importorskip("matplotlib").use("Agg")
    for package in ("anndata", "distributed", "networkx", "pandas"):
        if f"import {package}" in page.read_text(encoding="utf-8") or f"from {package}" in page.read_text(
            encoding="utf-8"
        ):
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    namespace, printed = {}, ""
    for number, (language, text) in enumerate(blocks(page)):
        if language == "python":
            capsys.readouterr()
            exec(compile(text, f"{page.name} block {number}", "exec"), namespace)
            printed = capsys.readouterr().out
        elif language == "text":
            assert printed == text
        elif page != README:  # whose commands are about files of the reader
            run_commands(text, capsys)
    if page == README:
        assert namespace["model"].n_violations_ == 1


@pytest.mark.parametrize("page", [README, *PAGES], ids=name)
def test_no_page_cross_validates_without_shuffling(page):
    """The rows of scikit-learn's own tables are sorted by class: a fold would be a class that the others do not have."""
    for language, text in blocks(page):
        assert language != "python" or not re.search(r"cv=\d|KFold\((?![^)]*shuffle=True)", text)


@pytest.mark.slow
def test_bertopic_takes_the_clusterer_of_the_page(tmp_path, monkeypatch):
    """Not a dependency of the tests, since it brings PyTorch along; with embeddings at hand it works without:

    pip install --no-deps bertopic umap-learn hdbscan pynndescent plotly
    """
    pytest.importorskip("bertopic", reason="BERTopic is not installed; the docstring says how")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "howto" / "text.md").read_text(encoding="utf-8")
    namespace = {}
    for block in re.findall(r"^```py(?:thon)?\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "text.md", "exec"), namespace)
    truth, found = namespace["truth"], namespace["found"]
    assert len(set(zip(truth.tolist(), found, strict=True))) == 4  # one topic for each class
    assert list(namespace["tomorrow"]) == list(found[:5])
    assert namespace["clusterer"].n_violations_ == 0
    assert {"apples", "buses", "dogs", "red"} <= set(
        "_".join(namespace["topic_model"].get_topic_info()["Name"]).split("_")
    )


def run_commands(text, capsys):
    for command in re.findall(r"^\$ tightcut (.*)$", text, flags=re.MULTILINE):
        pytest.importorskip("click")
        from tightcut.cli import main

        status = main(shlex.split(command))
        assert status == 0, f"tightcut {command}\n{capsys.readouterr().err}"


def test_the_page_of_internals_names_files_that_exist_and_all_users_of_the_penalty_bound():
    text, package = (DOCS / "internals.md").read_text(encoding="utf-8"), ROOT / "src" / "tightcut"
    for file in re.findall(r"`([a-z_]+/[\w/]+\.py)`", text):
        assert (package / file).exists(), file
    drawn = (DOCS / "pictures" / "way.py").read_text(encoding="utf-8")
    for room in re.findall(r"`([a-z_]+/)`", text) + re.findall(r"([a-z_]+/)[,\"]", drawn):
        assert (package / room).is_dir(), room
    row = re.search(r"^\| the penalty bound.*$", text, flags=re.MULTILINE)[0]
    home, *users = re.findall(r"`([\w/]+\.py)`", row)
    naming = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if re.search(r"import .*\bpenalty_bound\b", file.read_text(encoding="utf-8"))
    }
    assert set(users) == naming
    assert "def penalty_bound" in (package / home).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_refers_to_exists(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\{(?:func|class|meth|attr|mod)\}`[^`<]*?<?(tightcut[\w.]*)>?`", text):
        resolve(target)
    for file in re.findall(r"\]\(([\w./-]+\.(?:md|py|png))(?:#[\w-]+)?\)", text):
        assert (page.parent / file).exists(), file
    for file in re.findall(r"^```\{(?:include|literalinclude)\} (\S+)", text, flags=re.MULTILINE):
        assert (page.parent / file).exists(), file
    for script in re.findall(r"gallery/(plot_\w+)\.rst", text):
        assert (EXAMPLES / f"{script}.py").exists(), script


def resolve(dotted):
    module, names = dotted, []
    while True:
        try:
            value = import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            names.insert(0, last)
    for attribute in names:
        value = getattr(value, attribute)


def test_the_readme_begins_with_little_code_and_commands_that_exist():
    text, makefile = README.read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    code = [block for language, block in blocks(README) if language == "python"]
    assert len(code[0].splitlines()) <= 11
    assert text.index("make demo") < text.index("make test") < text.index("```python")
    for target in re.findall(r"^\$ make (\w+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
    pictures = re.findall(r"!\[[^\]]*\]\((.*?)\)", text)
    assert len(pictures) == 2
    assert all((ROOT / picture).stat().st_size < 200_000 for picture in pictures)


def test_the_first_page_names_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    first = (DOCS / "start.md").read_text(encoding="utf-8").split("\n## ")[1]
    assert set(re.findall(r"`(\w+)`", first)) >= set(extras) - {"test", "docs", "dev"}


def test_every_lemma_is_tested_on_the_page_of_tests():
    listed = set(re.findall(r"\.\./tests/(paper/\w+\.py)", (DOCS / "paper_tests.md").read_text(encoding="utf-8")))
    assert listed == {f"paper/{file.name}" for file in (ROOT / "tests" / "paper").glob("test_*.py")}


def test_the_page_on_testing_counts_the_tests_there_are(request):
    """Within a quarter, of a run of everything; `python tests/counts.py` writes the table anew."""
    options = request.config.option
    if {Path(path).name for path in request.config.args} != {"tests", "src", "experiments"} or (
        options.markexpr or options.keyword or "HYPOTHESIS_PROFILE" in os.environ
    ):
        pytest.skip("counted where all tests run")
    counts = run_path(str(ROOT / "tests" / "counts.py"))
    found = counts["Counts"]()
    found.pytest_collection_finish(request.session)
    assert counts["differences"](counts["TABLE"].search(counts["PAGE"].read_text(encoding="utf-8"))[0], found) == []


def test_a_page_that_is_off_is_told():
    counts = run_path(str(ROOT / "tests" / "counts.py"))
    found = SimpleNamespace(tests=Counter({"tests/unit": 1234}), examples=Counter({"tests/unit": 567}))
    text = counts["table"](found)
    assert "| 1,200 | 560 |" in text
    assert counts["differences"](text, found) == []
    found.tests["tests/unit"] *= 2
    assert counts["differences"](text, found) == ["`tests/unit`", "all"]
    found.tests = Counter({"tests/unit": 1234, "tests/new": 10})
    assert counts["differences"](text, found) == ["`tests/new`"]


def test_every_public_name_is_in_the_reference():
    import tightcut

    reference = (DOCS / "api.md").read_text(encoding="utf-8")
    for public in set(tightcut.__all__) - {"__version__"}:
        assert re.search(rf"^   {public}$", reference, flags=re.MULTILINE), public


def test_every_name_in_the_reference_exists():
    reference = (DOCS / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^   (\w[\w.]*)$", reference, flags=re.MULTILINE)
    assert len(names) > 40
    for public in names:
        resolve(f"tightcut.{public}")


def test_the_gallery_is_large_enough_and_each_script_leads_with_a_sentence():
    assert len(SCRIPTS) >= 8
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        compile(text, script.name, "exec")
        title, underline, gap, lead = text.splitlines()[1:5]
        assert set(underline) == {"="}, script.name
        assert len(underline) == len(title), script.name
        assert not gap, script.name
        assert lead, script.name


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_a_script_passes_arguments_that_exist(script):
    """The scripts that take long do not run here."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    homes = {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("tightcut")
        for alias in node.names
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in homes:
            parameters = inspect.signature(getattr(import_module(homes[call.func.id]), call.func.id)).parameters
            # Those of a dict cannot be checked here: name them.
            assert {keyword.arg for keyword in call.keywords} <= set(parameters), ast.unparse(call)


@pytest.mark.slow
def test_the_gallery_can_be_drawn(tmp_path):
    """The quick scripts in one process, and no warning in any: sphinx-gallery would print it on the page."""
    pytest.importorskip("matplotlib")
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT / "src")}
    finished = subprocess.run(
        [sys.executable, __file__, *map(str, QUICK)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert finished.stdout.count("figure of ") == len(QUICK)


def draw(paths):
    import runpy

    from matplotlib import pyplot as plt

    # pyplot.show has nothing to show on the Agg backend, and says so.
    warnings.filterwarnings("error", message="(?!FigureCanvasAgg)")
    # One library tells another what to change; Python shows this to nobody.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    for path in paths:
        plt.close("all")
        runpy.run_path(path)
        assert plt.get_fignums(), f"{path} draws nothing"
        plt.gcf().canvas.draw()
        print("figure of", path)


if __name__ == "__main__":
    draw(sys.argv[1:])
