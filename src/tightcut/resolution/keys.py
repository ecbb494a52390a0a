"""Whole numbers as keys: distinct ones in order, by sorting or, where they are dense, by counting."""

from __future__ import annotations

import numpy as np


def distinct(keys: np.ndarray) -> np.ndarray:
    """The distinct keys in order.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.resolution.keys import distinct
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
    >>> from tightcut.resolution.keys import distinct_places
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
