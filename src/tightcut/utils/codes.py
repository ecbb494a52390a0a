"""Integer codes for groups and values: numbering, sorting, lookup."""

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
    # With repeated indices the last assignment wins, so assigning backwards leaves the first position.
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
    code.default_factory = code.__len__  # a new value gets the next code, all in one pass
    codes = np.fromiter(map(code.__getitem__, values), np.int64, len(values))
    return list(code), codes


def distinct(keys: np.ndarray) -> np.ndarray:
    """The distinct keys in order, by sorting: the hash table of `numpy.unique` is several times slower.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.codes import distinct
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def distinct_places(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys in order, and the position of each key among them. O(n) for keys from a narrow range.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.codes import distinct_places
    >>> [array.tolist() for array in distinct_places(np.array([7, 5, 7]))]
    [[5, 7], [1, 0, 1]]
    """
    if len(keys) == 0:
        return keys, np.empty(0, np.int64)
    low, high = int(keys.min()), int(keys.max())
    if high - low > 4 * len(keys):
        known = distinct(keys)
        return known, np.searchsorted(known, keys)
    present = np.zeros(high - low + 1, bool)
    present[keys - low] = True
    return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[keys - low]


def look_up(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positions of the wanted keys that occur among `keys`, and where each of them occurs first.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.codes import look_up
    >>> [array.tolist() for array in look_up(np.array([7, 5, 7]), np.array([6, 7, 5]))]
    [[1, 2], [0, 1]]
    """
    if len(keys) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    place = np.minimum(np.searchsorted(ordered, wanted), len(keys) - 1)
    hit = np.flatnonzero(ordered[place] == wanted)
    return hit, order[place[hit]]


def ranges(begin: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers begin[k], ..., begin[k] + counts[k] - 1 for one k after the other: each k, and each number.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.codes import ranges
    >>> [array.tolist() for array in ranges(np.array([5, 0]), np.array([2, 1]))]
    [[0, 0, 1], [5, 6, 0]]
    """
    owner = np.repeat(np.arange(len(begin)), counts)
    return owner, np.arange(len(owner)) + (begin - np.cumsum(counts) + counts)[owner]
