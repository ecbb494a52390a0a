"""Every error of the package has one base class, and a missing package is told in one sentence."""

import ast
import builtins
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import tightcut

PACKAGE = Path(tightcut.__file__).parent
ROOT = Path(__file__).parents[2]
TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in PACKAGE.rglob("*.py")}


def error_classes():
    for file, tree in TREES.items():
        module = ".".join(("tightcut", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name.endswith("Error") and node.name != "TightcutError":
                yield module, node.name


def test_every_error_has_the_base_class_and_a_builtin_one():
    found = [getattr(import_module(module), name) for module, name in error_classes()]
    assert len(found) > 5
    for error in found:
        assert issubclass(error, tightcut.TightcutError), error
        assert any(
            getattr(builtins, base.__name__, None) is base for base in error.__mro__[1:] if base is not Exception
        )


def calls(*functions):
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
                yield node


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="tests run outside the repository")
def test_extras_that_are_named_exist():
    with (ROOT / "pyproject.toml").open("rb") as stream:
        known = tomllib.load(stream)["project"]["optional-dependencies"]
    named = [call.args[2] for call in calls("require_package")] + [call.args[1] for call in calls("missing_package")]
    literal = {argument.value for argument in named if isinstance(argument, ast.Constant)}
    assert len(literal) > 5
    assert literal <= known.keys()


def test_no_message_asks_an_index_for_tightcut():
    texts = (node.value for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Constant))
    assert [text for text in texts if isinstance(text, str) and 'install "tightcut' in text] == []
