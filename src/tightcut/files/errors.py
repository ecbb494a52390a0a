"""`InputError`: an error in a file, with the place and the remedy; and how errors of parsers become one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tightcut.exceptions import TightcutError

NAMES_SHOWN = 12


class InputError(TightcutError, ValueError):
    """A file that cannot be used as it is. The message is written for the person who made the file."""


@contextmanager
def parsing(path: Any, kind: str) -> Iterator[None]:
    """Turn any error of a parser into an InputError that names the file.

    Parsers of binary formats raise nearly anything: zlib.error, SyntaxError, struct.error, NotImplementedError, ...

    Examples
    --------
    >>> from tightcut.files.errors import parsing
    >>> with parsing("points.npy", "a NumPy file"):
    ...     [][0]
    Traceback (most recent call last):
        ...
    tightcut.files.errors.InputError: points.npy is damaged, or not a NumPy file: list index out of range.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a parser warns of is harmless, or ends in an error
            yield
    except TightcutError:
        raise
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory, or is damaged. {error}".rstrip()) from None
    except Exception as error:  # noqa: BLE001 (see above)
        reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise InputError(f"{path} is damaged, or not {kind}: {reason}.") from None


def listed(names: Iterable[str], limit: int = NAMES_SHOWN) -> str:
    """Names for a message, shortened where there are many.

    Examples
    --------
    >>> from tightcut.files.errors import listed
    >>> listed("abcde", limit=3)
    "'a', 'b', 'c' and 2 more"
    """
    quoted = [repr(name) for name in names]
    hidden = len(quoted) - limit
    return ", ".join(quoted[:limit]) + (f" and {hidden} more" if hidden > 0 else "")
