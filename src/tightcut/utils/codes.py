"""Integer codes 0, 1, ... of groups and values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

Value = TypeVar("Value", bound=Hashable)


def first_places(codes: np.ndarray, count: int) -> np.ndarray:
    """The first position of each of the codes 0, ..., count - 1; len(codes) for one that is absent.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.codes import first_places
    >>> first_places(np.array([2, 0, 2]), 3).tolist()
    [1, 3, 0]
    """
    first = np.full(count, len(codes))
    # Of repeated indices the last assignment holds, so going backwards leaves the first place.
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def renumber(labels: np.ndarray) -> np.ndarray:
    """The same groups, numbered 0, 1, ... in order of their first member. O(n) for labels 0, ..., n - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.codes import renumber
    >>> renumber(np.array([7, -2, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    n = len(labels)
    if not (n and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < n):
        labels = np.unique(labels, return_inverse=True)[1]
    first = first_places(labels, int(labels.max()) + 1 if n else 0)
    used = np.flatnonzero(first < n)
    rank = np.empty(len(first), np.int64)
    rank[used[np.argsort(first[used])]] = np.arange(len(used))
    return rank[labels]


def factorize(values: Sequence[Value]) -> tuple[list[Value], np.ndarray]:
    """The distinct values in order of appearance, and which of them each value is.

    Examples
    --------
    >>> from tightcut.utils.codes import factorize
    >>> distinct, codes = factorize(["b", "a", "b"])
    >>> distinct, codes.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    code: defaultdict[Value, int] = defaultdict()
    code.default_factory = code.__len__  # a new value gets the next code, in the one pass that there is
    codes = np.fromiter(map(code.__getitem__, values), np.int64, len(values))
    return list(code), codes
