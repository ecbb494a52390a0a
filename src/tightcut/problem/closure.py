"""The pairs that constraints imply, whatever the number of clusters.

Must-links are transitive, and a cannot-link between two must-linked sets separates all their points.
"""

from __future__ import annotations

import numpy as np

from tightcut.problem.pairs import merge_pairs
from tightcut.problem.products import check_pair_count, count_within, pairs_between, pairs_within


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
        "The constraints without closure say the same thing.",
    )
    together = pairs_within(members, sizes)
    apart, source = pairs_between(members, sizes, left, right)
    belief = np.minimum(strongest, np.minimum(weakest[left], weakest[right]))
    return together, apart, weakest[labels[together[:, 0]]], belief[source]
