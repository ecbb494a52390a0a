"""Settings that are one of a few words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Refuse a setting that is none of the words, and name them.

    Examples
    --------
    >>> check_choice("criterion", "cut", ("ncut", "rcut"))
    Traceback (most recent call last):
        ...
    ValueError: criterion must be one of 'ncut', 'rcut'; got 'cut'.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")
