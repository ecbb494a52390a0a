"""Packages that only some features need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def required(module: str, purpose: str, extra: str, *, error: type[Exception] = ImportError) -> Any:
    """A module of an optional package, or an error that names the extra that installs it.

    Examples
    --------
    >>> from tightcut.utils.extras import required
    >>> required("no_such_package.part", "Drawing", "plots")
    Traceback (most recent call last):
        ...
    ImportError: Drawing needs no_such_package: pip install "tightcut[plots]"
    """
    try:
        return import_module(module)
    except ImportError:
        raise error(f'{purpose} needs {module.partition(".")[0]}: pip install "tightcut[{extra}]"') from None
