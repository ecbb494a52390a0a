"""Checks of settings, with suggestions for misspelled words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]

OTHER_WORDS = {"gpu": "cuda"}  # synonyms of allowed words


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise unless a setting is one of the allowed words, which the error lists.

    Examples
    --------
    >>> check_choice("criterion", "nuct", ("ncut", "rcut"))
    Traceback (most recent call last):
        ...
    ValueError: criterion must be one of 'ncut', 'rcut'; got 'nuct'. Did you mean 'ncut'?
    """
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        hint = did_you_mean(OTHER_WORDS.get(value.lower(), value), words) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}; got {value!r}.{hint}")


def check_count(name: str, value: Any, least: int, word: str = "") -> None:
    """Raise unless a setting is a whole number of at least `least`, or the word that is also allowed.

    Examples
    --------
    >>> check_count("n_clusters", 3.0, 1, "auto")
    Traceback (most recent call last):
        ...
    TypeError: n_clusters must be a whole number >= 1, or "auto"; got 3.0. Did you mean 3?
    """
    is_word = bool(word) and isinstance(value, str)
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)  # True is an int to Python
    if (is_word and value == word) or (is_whole and value >= least):
        return
    expected = f'a whole number >= {least}, or "{word}"' if word else f"a whole number >= {least}"
    error = ValueError if is_whole or is_word else TypeError
    raise error(f"{name} must be {expected}; got {value!r}.{did_you_mean_number(value, word)}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message, or nothing.

    Examples
    --------
    >>> from tightcut.utils.validation import did_you_mean
    >>> did_you_mean("hieght", ["weight", "height", "age"])
    " Did you mean 'height'?"
    """
    by_case = {other.lower(): other for other in known}
    close = get_close_matches(name.lower(), by_case, n=1)
    return f" Did you mean {by_case[close[0]]!r}?" if close else ""


def did_you_mean_number(value: Any, word: str) -> str:
    """A suggestion where a number was expected: the word that is also allowed, or the whole number that it means.

    Examples
    --------
    >>> from tightcut.utils.validation import did_you_mean_number
    >>> did_you_mean_number("atuo", "auto"), did_you_mean_number("three", "auto"), did_you_mean_number(-1, "auto")
    (" Did you mean 'auto'?", ' Did you mean 3?', '')
    """
    if isinstance(value, float) and value.is_integer():
        return f" Did you mean {int(value)}?"
    if not isinstance(value, str):
        return ""
    number = NUMBERS.index(value.strip().lower()) if value.strip().lower() in NUMBERS else None
    if number is None and value.strip().isdecimal():
        number = int(value)
    return did_you_mean(value, [word]) if number is None else f" Did you mean {number}?"
