"""Quality of a clustering: agreement with known classes, cut, and violated constraints.

Labels may be numbers or names; no measure depends on how clusters are numbered. The adjusted Rand index and normalized
mutual information are in `sklearn.metrics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.problem import Constraints, objective
from tightcut.problem.graph import Graph
from tightcut.problem.pairs import to_array
from tightcut.problem.sources import missing


@dataclass(frozen=True)
class ViolatedFractions:
    """Shares of the constraints that a clustering violates, each in [0, 1]; 0 where there is no such constraint.

    Parameters
    ----------
    must : float
        Share of the must-links whose ends have different labels.
    cannot : float
        Share of the cannot-links whose ends have the same label.
    all : float
        Share of all pairs, of either kind.
    belief : float
        Share of the total belief: `all` with every pair weighted by its belief.
    """

    must: float
    cannot: float
    all: float
    belief: float


def violated_fractions(constraints: Constraints, labels: Any) -> ViolatedFractions:
    """Shares of the must-links, the cannot-links, all pairs and the belief that a clustering violates.

    Examples
    --------
    >>> from tightcut import Constraints
    >>> known = Constraints.from_pairs(4, [(0, 1), (2, 3)], [(1, 2)], must_link_belief=[1, 0.5])
    >>> violated_fractions(known, [0, 0, 1, 0])
    ViolatedFractions(must=0.5, cannot=0.0, all=0.3333333333333333, belief=0.2)
    """
    if not isinstance(constraints, Constraints):
        raise TypeError(f"constraints must be tightcut.Constraints; got {type(constraints).__name__}.")
    violations = constraints.violations(read_labels(labels, "labels"))
    total = float(constraints.must_link_belief.sum() + constraints.cannot_link_belief.sum())
    return ViolatedFractions(
        must=_share(len(violations.must_link), constraints.n_must_link),
        cannot=_share(len(violations.cannot_link), constraints.n_cannot_link),
        all=_share(violations.n_violations, constraints.n_pairs),
        belief=_share(violations.belief, total),
    )


def clustering_error(y_true: Any, labels: Any) -> float:
    """Share of the points that do not belong to the most frequent class of their cluster.

    The error of the paper's Section 6. Splitting a cluster never increases it, so only compare clusterings with the same
    number of clusters.

    Examples
    --------
    >>> clustering_error(["a", "a", "a", "b", "b"], [7, 7, 3, 3, 3])
    0.2
    """
    classes, clusters = read_labels(y_true, "y_true"), read_labels(labels, "labels")
    if len(classes) != len(clusters):
        raise ValueError(
            f"y_true has {len(classes)} entries but labels has {len(clusters)}; give one of each per point."
        )
    # Duplicates of a coo array add up to the contingency table, which would be large if it were dense.
    table = sp.coo_array((np.ones(len(classes), dtype=np.int64), (clusters, classes))).tocsr()
    return float((len(classes) - table.max(axis=1).sum()) / len(classes))


def normalized_cut(affinity: Any, labels: Any) -> float:
    r"""The normalized cut of k clusters, :math:`\sum_i \mathrm{cut}(C_i, \overline{C_i}) / \mathrm{vol}(C_i)`.

    Parameters
    ----------
    affinity : Graph, or array-like or sparse matrix of shape (n, n)
        Symmetric similarities. The volume of a cluster is the sum of the vertex weights of a `Graph`, which are its
        degrees unless other weights were given; for a matrix it is the sum of the degrees.
    labels : array-like of shape (n,)
        One label per point. A label such as -1 for noise is a cluster like any other.

    Examples
    --------
    >>> normalized_cut([[0, 2, 0, 1], [2, 0, 1, 0], [0, 1, 0, 2], [1, 0, 2, 0]], ["x", "x", "y", "y"])
    0.6666666666666666
    """
    graph = affinity if isinstance(affinity, Graph) else Graph.from_affinity(affinity)
    clusters = read_labels(labels, "labels")
    if len(clusters) != graph.n_vertices:
        raise ValueError(f"labels must have one entry per vertex, {graph.n_vertices}; got {len(clusters)}.")
    return objective.normalized_cut(graph, clusters)


def ratio_cut(affinity: Any, labels: Any) -> float:
    r"""The ratio cut of k clusters, :math:`\sum_i \mathrm{cut}(C_i, \overline{C_i}) / |C_i|`: every vertex weighs 1.

    Parameters are those of `normalized_cut`.

    Examples
    --------
    >>> ratio_cut([[0, 2, 0, 1], [2, 0, 1, 0], [0, 1, 0, 2], [1, 0, 2, 0]], [0, 0, 1, 1])
    2.0
    """
    weights = affinity.weights if isinstance(affinity, Graph) else Graph.from_affinity(affinity).weights
    return normalized_cut(Graph(weights, np.ones(weights.shape[0])), labels)


def read_labels(labels: Any, name: str) -> np.ndarray:
    """Labels of any kind as numbers 0, ..., k - 1, in sorted order."""
    values = to_array(labels)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{name} must be a non-empty list with one label per point; got shape {values.shape}.")
    absent = missing(values)
    if absent.any():
        raise ValueError(f"{name} row {int(np.argmax(absent))} has no label; leave such points out.")
    try:
        return np.unique(values, return_inverse=True)[1].ravel()
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise TypeError(f"{name} mixes {' and '.join(kinds)}, which have no common order; use one kind.") from None


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
