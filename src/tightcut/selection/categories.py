"""Categories among the columns, a column of 0 and 1 for each, and how much a step from one to another should count.

Neighbours decide: where a step is longer than the way from a point to its neighbours, no two categories are neighbours,
and the clusters are the categories, whatever the numbers say. A step that is as long as that way counts as one more
reason to be a neighbour, or not.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

NEIGHBOR = 10  # the default of n_neighbors
QUERIES = 500  # rows from which the way to a neighbour is estimated
MOST_CATEGORIES = 100
MOSTLY = 0.9  # of the rows hold 0 and 1; others may have shares, in place of missing values


def category_groups(points: np.ndarray) -> list[slice]:
    """Adjacent columns that are one category each: at least two, between 0 and 1, that add up to 1 in every row.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.selection.categories import category_groups
    >>> category_groups(np.array([[1, 0, 7.5, 0], [0, 1, 1.5, 0], [0, 1, 2.5, 1]]))
    [slice(0, 2, None)]
    """
    shares = ((points >= 0) & (points <= 1)).all(axis=0) & points.any(axis=0)
    shares &= ((points == 0) | (points == 1)).mean(axis=0) >= MOSTLY
    groups, start, d = [], 0, points.shape[1]
    while start < d:
        total, end = np.zeros(len(points)), start
        while end < min(d, start + MOST_CATEGORIES) and shares[end] and total.max(initial=0.0) < 1 + 1e-9:
            total = total + points[:, end]
            end += 1
            if np.abs(total - 1).max() < 1e-9:
                break
        found = end - start > 1 and bool(np.abs(total - 1).max() < 1e-9)
        if found:
            groups.append(slice(start, end))
        start = end if found else start + 1
    return groups


def step_between_neighbors(numbers: np.ndarray) -> float:
    """The median way from a point to its tenth neighbour; 0 without columns."""
    n = len(numbers)
    some = numbers[:: -(-n // QUERIES)]
    place = min(NEIGHBOR, n - 1)
    ways = np.partition(cdist(some, numbers), place, axis=1)[:, place]
    return float(np.median(ways)) or float(ways.mean())
