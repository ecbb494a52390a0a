"""Optional packages, which only some features need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tightcut.exceptions import MissingPackageError

# The usual name of a package, and its names for pip, where these differ from the name of the module.
NAMES = {"torch": "PyTorch", "dask": "Dask", "PIL": "Pillow", "sentence_transformers": "sentence-transformers"}
PACKAGES = {
    "cvxpy": "cvxpy clarabel",
    "dask": "'dask[dataframe]' distributed",
    "faiss": "faiss-cpu",
    "PIL": "pillow",
    "sentence_transformers": "sentence-transformers",
}


def require_package(module: str, purpose: str, extra: str) -> Any:
    """A module of an optional package, or an error that says how to install it.

    Examples
    --------
    >>> from tightcut.utils.extras import require_package
    >>> require_package("no_such_package.part", "Drawing", "plots")
    Traceback (most recent call last):
        ...
    tightcut.exceptions.MissingPackageError: Drawing needs no_such_package, of the extra tightcut[plots]: \
pip install no_such_package
    """
    try:
        return import_module(module)
    except ImportError:
        raise missing_package(purpose, extra, module) from None


def missing_package(purpose: str, extra: str, *modules: str, otherwise: str = "") -> MissingPackageError:
    """The error for modules that are not installed; `otherwise` says how to do without them.

    Examples
    --------
    >>> from tightcut.utils.extras import missing_package
    >>> print(missing_package('device="cuda"', "gpu", "torch", otherwise='pass device="cpu"'))
    device="cuda" needs PyTorch, of the extra tightcut[gpu]: pip install torch, or pass device="cpu".
    """
    packages = list(dict.fromkeys(module.partition(".")[0] for module in modules))
    names = " and ".join(NAMES.get(package, package) for package in packages)
    command = " ".join(PACKAGES.get(package, package) for package in packages)
    rest = f", or {otherwise}." if otherwise else ""
    return MissingPackageError(f"{purpose} needs {names}, of the extra tightcut[{extra}]: pip install {command}{rest}")
