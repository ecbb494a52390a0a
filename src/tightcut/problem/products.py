"""All pairs within sets of points, and all pairs between two sets, without a Python loop over pairs."""

from __future__ import annotations

import numpy as np

MAX_PAIRS = 50_000_000  # 800 MB


def check_pair_count(count: int, what: str, advice: str) -> None:
    """Refuse to spell out more than `MAX_PAIRS` pairs."""
    if count > MAX_PAIRS:
        raise ValueError(f"{what} takes {count:,} pairs, more than the limit of {MAX_PAIRS:,}. {advice}")


def count_within(sizes: np.ndarray) -> int:
    """Number of pairs inside sets of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def pairs_within(members: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Every pair of members of the same set; `members` lists the sets one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.problem.products import pairs_within
    >>> pairs_within(np.array([4, 5, 6, 0, 1]), np.array([3, 2])).tolist()
    [[4, 5], [4, 6], [5, 6], [0, 1]]
    """
    ends = np.repeat(np.cumsum(sizes), sizes)
    following = ends - 1 - np.arange(len(members))
    first = np.repeat(np.arange(len(members)), following)
    second = first + 1 + _rank_in_run(following)
    return np.stack([members[first], members[second]], axis=1)


def pairs_between(
    members: np.ndarray, sizes: np.ndarray, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Every pair from set left[k] and set right[k], for all k; also the k each pair came from.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.problem.products import pairs_between
    >>> pairs, source = pairs_between(np.array([4, 5, 0, 1]), np.array([2, 2]), np.array([0]), np.array([1]))
    >>> pairs.tolist(), source.tolist()
    ([[4, 0], [4, 1], [5, 0], [5, 1]], [0, 0, 0, 0])
    """
    starts = np.cumsum(sizes) - sizes
    lengths = sizes[left] * sizes[right]
    source = np.repeat(np.arange(len(left)), lengths)
    row, column = np.divmod(_rank_in_run(lengths), sizes[right][source])
    first, second = starts[left][source] + row, starts[right][source] + column
    return np.stack([members[first], members[second]], axis=1), source


def _rank_in_run(lengths: np.ndarray) -> np.ndarray:
    """0, 1, ... within each of several consecutive runs."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
