"""Implied pairs: those that follow from constraints, those within sets, and those between two sets.

Must-links are transitive, and a cannot-link between two must-linked sets separates all their points, whatever the number
of clusters. There is no Python loop over pairs.
"""

from __future__ import annotations

import numpy as np

from tightcut.problem.pairs import merge_pairs
from tightcut.utils.codes import ranges

MAX_PAIRS = 50_000_000  # 800 MB


def implied_pairs(
    labels: np.ndarray,
    must_link: np.ndarray,
    cannot_link: np.ndarray,
    must_link_belief: np.ndarray,
    cannot_link_belief: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All must-links within must-linked sets and all cannot-links between separated ones, and their beliefs.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        The must-linked set of each point, numbered from 0; no cannot-link may lie within one.
    must_link, cannot_link, must_link_belief, cannot_link_belief : ndarray
        As in `Constraints`.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.problem.closure import implied_pairs
    >>> must, cannot = np.array([[0, 1]]), np.array([[1, 2]])
    >>> together, apart, _, apart_weight = implied_pairs(np.array([0, 0, 1]), must, cannot, np.array([0.5]), np.ones(1))
    >>> apart.tolist(), apart_weight.tolist()
    ([[0, 2], [1, 2]], [0.5, 0.5])
    """
    sizes = np.bincount(labels)
    members = np.argsort(labels, kind="stable")
    weakest = np.ones(len(sizes))
    np.minimum.at(weakest, labels[must_link[:, 0]], must_link_belief)
    sets, strongest = merge_pairs(labels[cannot_link].astype(np.int64), cannot_link_belief, len(sizes))
    left, right = sets.T
    check_pair_count(
        count_within(sizes) + int((sizes[left] * sizes[right]).sum()),
        "The closure of these constraints",
        "The constraints without closure mean the same.",
    )
    together = pairs_within(members, sizes)
    apart, source = pairs_between(members, sizes, left, right)
    belief = np.minimum(strongest, np.minimum(weakest[left], weakest[right]))
    return together, apart, weakest[labels[together[:, 0]]], belief[source]


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
    >>> from tightcut.problem.closure import pairs_within
    >>> pairs_within(np.array([4, 5, 6, 0, 1]), np.array([3, 2])).tolist()
    [[4, 5], [4, 6], [5, 6], [0, 1]]
    """
    following = np.arange(1, len(members) + 1)
    first, second = ranges(following, np.repeat(np.cumsum(sizes), sizes) - following)
    return np.stack([members[first], members[second]], axis=1)


def pairs_between(
    members: np.ndarray, sizes: np.ndarray, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Every pair from set left[k] and set right[k], for all k; also the k each pair came from.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.problem.closure import pairs_between
    >>> pairs, source = pairs_between(np.array([4, 5, 0, 1]), np.array([2, 2]), np.array([0]), np.array([1]))
    >>> pairs.tolist(), source.tolist()
    ([[4, 0], [4, 1], [5, 0], [5, 1]], [0, 0, 0, 0])
    """
    starts = np.cumsum(sizes) - sizes
    source, rank = ranges(np.zeros(len(left), np.int64), sizes[left] * sizes[right])
    row, column = np.divmod(rank, sizes[right][source])
    first, second = starts[left][source] + row, starts[right][source] + column
    return np.stack([members[first], members[second]], axis=1), source
