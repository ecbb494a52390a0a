"""Parse the cells of tables: missing values, numbers, and messages about cells that are neither."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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
    """The value of a cell; NaN if it is not a number.

    Neither 1_2 nor a list is one, although Python reads the first as 12, and older numpy converts [1].

    Examples
    --------
    >>> from tightcut.files.cells import as_number
    >>> as_number("1,5", ","), as_number("1_2"), as_number(None)
    (1.5, nan, nan)
    """
    if isinstance(cell, np.ndarray) and cell.ndim > 0:
        return float("nan")
    try:
        if isinstance(cell, str):
            return float("nan" if "_" in cell else cell.replace(decimal, "."))
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def as_numbers(cells: Sequence[Any] | np.ndarray, decimal: str = ".") -> np.ndarray:
    """The values of a column, as of `as_number`: numpy converts all cells at once where it can."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return np.asarray(cells, dtype=np.float64)
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "mM":  # dates, of which numpy would make counts from 1970
        return np.full(len(cells), np.nan)
    cells = cells.tolist() if isinstance(cells, np.ndarray) else cells
    if decimal != ".":
        cells = [cell.replace(decimal, ".") if isinstance(cell, str) else cell for cell in cells]
    with suppress(TypeError, ValueError, OverflowError):
        if str not in set(map(type, cells)) or not any("_" in cell for cell in cells):
            return np.fromiter(cells, np.float64, len(cells))
    return np.array([as_number(cell) for cell in cells])


def as_text(cell: Any) -> str:
    """A cell as stripped text: whole numbers without a decimal point, missing values empty."""
    if isinstance(cell, str):
        return cell.strip()
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
