"""The folder tree is the architecture: imports point one way, files and functions are short, examples use the front door.

Each rule has a list of today's offenders with the reason. The lists only ever shrink: an entry that is no longer needed
fails too.
"""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tightcut

PACKAGE = Path(tightcut.__file__).parent
ROOT = Path(__file__).parents[2]
MOST_LINES = 350
LONGEST_BODY = 50

# From top to bottom. A room imports from itself and from the rooms above it, inside functions too.
ROOMS = """
utils exceptions progress
kernels
problem
relaxation
search
gpu
neighbors
clustering
audit
certificates
selection
fitted
metrics
datasets
rivals
drawing
features
plots
report
scaling estimator
files
ask
resolution
distributed
warmup
cli demo __main__
"""
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS.split("\n")) for room in rooms.split()}

# The same inside `ask`; a session shows itself on a page, so the page is below it.
ASK = """
errors records
journal
beliefs
contradictions questions
snapshot base
page
session
simulate
"""
ASK_FLOOR = {part: floor for floor, parts in enumerate(ASK.split("\n")) for part in parts.split()}

UPWARD: dict[tuple[str, str], str] = {}
LONG_MODULES = {"estimator": "nine tenths of it are the reference documentation of COSC"}
LONG_FUNCTIONS: dict[str, str] = {}
DEEP_IMPORTS: dict[tuple[str, str], str] = {}


def parsed():
    """Name below `tightcut` and syntax tree of every module but the root."""
    for file in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if name != "__init__":
            yield name, ast.parse(file.read_text(encoding="utf-8"))


MODULES = dict(parsed())


def imported_names(node):
    """What an import statement takes from the package, as names below `tightcut`."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.module == "tightcut":
        # A name of the root is an import from where the root has it.
        names = [tightcut._HOMES.get(alias.name, f"tightcut.{alias.name}") for alias in node.names]
    else:
        parent = (node.module or "").removeprefix("tightcut.")
        modules = [alias.name for alias in node.names if f"{parent}.{alias.name}" in MODULES]
        names = [f"{node.module}.{name}" for name in modules] or [node.module or ""]
    return [name.removeprefix("tightcut.") for name in names if name.startswith("tightcut.")]


def imports(tree, *, top_only=False):
    """(imported module, whether inside a function) for everything a module takes from the package."""
    waiting = [(node, False) for node in tree.body]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((name, inside) for name in imported_names(node) if name != "__version__")
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and top_only:
            continue
        else:
            inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            waiting += [(child, inside) for child in ast.iter_child_nodes(node) if not (inside and top_only)]


def room(module):
    return module.partition(".")[0]


def upward_imports():
    for module, tree in MODULES.items():
        for target, _ in imports(tree):
            if FLOOR[room(target)] > FLOOR[room(module)]:
                yield module, target


def part_of_ask(module):
    return module.split(".")[1]


def upward_imports_in_ask():
    for module in (module for module in MODULES if module.startswith("ask.")):
        for target in (target for target, _ in imports(MODULES[module]) if room(target) == "ask"):
            # `from tightcut.ask import Session` would hide on which floor it is.
            if target == "ask" or ASK_FLOOR[part_of_ask(target)] > ASK_FLOOR[part_of_ask(module)]:
                yield module, target


def long_modules():
    for file in PACKAGE.rglob("*.py"):
        if len(file.read_text(encoding="utf-8").splitlines()) > MOST_LINES:
            yield ".".join(file.relative_to(PACKAGE).with_suffix("").parts)


def long_functions():
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                if body and body[-1].end_lineno - body[0].lineno + 1 > LONGEST_BODY:
                    yield f"{module}.{node.name}"


def deep_imports():
    """Of modules that are not `tightcut` or `tightcut.room`, by examples, experiments and code on documentation pages."""
    statement = re.compile(r"^(?:>>> |\.\.\. )?\s*(?:from|import) (tightcut[\w.]*)", re.MULTILINE)
    pages = [ROOT / "README.md", *ROOT.glob("examples/*.py"), *ROOT.glob("experiments/*.py"), *ROOT.glob("docs/*.md")]
    pages += [page for folder in ("howto", "pictures", "results") for page in ROOT.glob(f"docs/{folder}/*.[mp][dy]")]
    for page in pages:
        for name in statement.findall(page.read_text(encoding="utf-8")):
            if name.count(".") > 1 or "._" in name:
                yield page.relative_to(ROOT).as_posix(), name


def test_every_room_has_its_floor():
    assert {room(module) for module in MODULES} <= FLOOR.keys()
    assert {part_of_ask(module) for module in MODULES if module.startswith("ask.")} == ASK_FLOOR.keys()


def test_no_relative_imports():
    relative = [
        module
        for module, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]
    assert relative == []


def test_the_package_knows_nothing_of_the_experiments():
    statement = re.compile(r"^\s*(?:from|import) experiments\b", re.MULTILINE)
    assert [file.name for file in PACKAGE.rglob("*.py") if statement.search(file.read_text(encoding="utf-8"))] == []


@pytest.mark.skipif(not (ROOT / "experiments").exists(), reason="tests run outside the repository")
def test_the_experiments_use_the_front_door():
    modules = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in ROOT.glob("experiments/*.py")}
    rooms = {room(name) for tree in modules.values() for name, _ in imports(tree)}
    public = {
        room(home.removeprefix("tightcut.")) for home in tightcut._HOMES.values()
    }  # of names such as tightcut.COSC
    assert rooms - public <= {"rivals", "metrics", "datasets", "plots", "warmup"}


def test_modules_can_be_imported_in_some_order():
    below = {module: {name for name, _ in imports(tree, top_only=True)} for module, tree in MODULES.items()}
    assert len(list(TopologicalSorter(below).static_order())) >= len(MODULES)


@pytest.mark.parametrize(
    ("find", "known"),
    [
        (upward_imports, UPWARD),
        (upward_imports_in_ask, {}),
        (long_modules, LONG_MODULES),
        (long_functions, LONG_FUNCTIONS),
        pytest.param(
            deep_imports,
            DEEP_IMPORTS,
            marks=pytest.mark.skipif(not (ROOT / "examples").exists(), reason="tests run outside the repository"),
        ),
    ],
)
def test_no_new_offenders_and_no_reason_without_one(find, known):
    found = set(find())
    assert found - known.keys() == set(), "new offenders"
    assert known.keys() - found == set(), "no longer needed: take these off the list"
