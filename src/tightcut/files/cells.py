"""Single cells of a table: what is missing, what is a number, and what to say about one that is not."""

from __future__ import annotations

from typing import Any

import numpy as np

CELL_SHOWN = 60  # characters of a cell that a message quotes

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "nil", "?", "<na>"})


def is_missing(text: str) -> bool:
    return text.strip().lower() in MISSING


def is_unknown_class(text: str) -> bool:
    """Whether a cell of a column of classes says that the class is unknown; floats of pandas say -1.0.

    Examples
    --------
    >>> from tightcut.files.cells import is_unknown_class
    >>> [is_unknown_class(text) for text in ("", "-1", "-1.0", "-", "0", "red")]
    [True, True, True, True, False, False]
    """
    return is_missing(text) or text.strip() == "-" or as_number(text) == -1


def is_whole(text: str) -> bool:
    """Whether a name is a number without sign. Digits of other scripts are letters, though `int` would read them.

    Examples
    --------
    >>> from tightcut.files.cells import is_whole
    >>> is_whole("12"), is_whole("1\N{ARABIC-INDIC DIGIT TWO}"), is_whole("-1"), is_whole("")
    (True, False, False, False)
    """
    return text.isascii() and text.isdecimal()


def is_number(text: str, decimal: str = ".") -> bool:
    return not np.isnan(as_number(text, decimal))


def as_number(cell: Any, decimal: str = ".") -> float:
    """The value of a cell; NaN if it is not a number. A list is not one, although older numpy converts [1]."""
    if isinstance(cell, np.ndarray) and cell.ndim > 0:
        return float("nan")
    try:
        return float(cell.replace(decimal, ".") if isinstance(cell, str) else cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def as_text(cell: Any) -> str:
    """A cell as stripped text: whole numbers without a decimal point, missing values empty."""
    if cell is None or (np.isscalar(cell) and cell != cell):
        return ""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def complaint(text: str, has_decimal_option: bool = False) -> str:  # noqa: FBT001, FBT002
    """Why a cell cannot be used as a number, and what to do."""
    cell = repr(brief(text))
    if is_missing(text):
        shown = "the cell is empty" if not text else f"{cell} means a missing value"
        return f"{shown}; every value is needed. Fill it in or remove the row."
    if is_number(text) and np.isinf(as_number(text)):
        return f"{cell} is not a finite number. Correct the cell."
    if _has_decimal_comma(text):
        remedy = 'If all numbers do, use --decimal ",".' if has_decimal_option else "Write it with a decimal point."
        if len(text.strip().rpartition(",")[2]) == 3:  # --decimal would make 1 of 1,000
            remedy += " If the comma separates thousands, remove it."
        return f"{cell} has a decimal comma. {remedy}"
    return f"{cell} is not a number. Correct the cell."


def brief(text: str) -> str:
    """A cell as messages quote it.

    Examples
    --------
    >>> from tightcut.files.cells import brief
    >>> brief("short"), len(brief("long" * 100))
    ('short', 60)
    """
    return text if len(text) <= CELL_SHOWN else f"{text[: CELL_SHOWN - 4]} ..."


def is_nearly_a_number(text: str) -> bool:
    return text.strip().lower().lstrip("+-") in {"inf", "infinity"} or _has_decimal_comma(text)


def _has_decimal_comma(text: str) -> bool:
    return text.count(",") == 1 and is_number(text, ",")
