"""Cannot-links extended, with less weight, to the neighbours of their points.

A cannot-link can be satisfied by moving a whole region to another cluster, or by moving one of its two points alone, to a
cluster in which it has no neighbours. For a point of low degree the latter is cheap, so the smallest cut may move many
single points and leave two classes together. If a cannot-link also holds a little for the neighbours of its points, moving
the point alone does not satisfy it for them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph, without_diagonal
from tightcut.search.k_way import ManyClusters


def with_influence(problem: ManyClusters, influence: float, relations: sp.csr_array) -> ManyClusters:
    """The problem with further relations, and a full price at which all of them together outweigh no constraint.

    Parameters
    ----------
    problem : ManyClusters
        The relations of its graph are the constraints, each with a whole unit of belief.
    influence : float
        The price of one unit of the further relations, in units of the low price.
    """
    graph, prices = problem.graph, problem.prices
    price = influence * prices.low
    full = prices.full + price * float(relations.sum()) / 2
    both = sp.csr_array(graph.relations + relations * (price / full))
    both.sort_indices()
    return replace(problem, graph=replace(graph, relations=both), prices=replace(prices, full=full, shares=True))


def neighbour_relations(graph: Graph, constraints: Constraints, component: np.ndarray) -> sp.csr_array:
    r"""Cannot-links between must-linked sets and the neighbours of the points they are not linked with.

    If set A has a cannot-link with point b, then A and each neighbour c of b get the share :math:`w_{bc} / d_b`: the
    shares of all neighbours add up to 1. Several cannot-links between A and b count as one.

    Parameters
    ----------
    component : ndarray of shape (n_points,)
        The must-linked set of each point.

    Returns
    -------
    csr_array of shape (n_sets, n_sets)
        Symmetric, non-negative, no diagonal.
    """
    n, count = graph.n_vertices, int(component.max()) + 1
    ends = np.concatenate([constraints.cannot_link, constraints.cannot_link[:, ::-1]])
    apart = sp.csr_array((np.ones(len(ends)), (component[ends[:, 0]], ends[:, 1])), shape=(count, n))
    apart.data[:] = 1.0
    walk = sp.diags_array(1 / np.maximum(graph.degrees, np.finfo(float).tiny)) @ graph.weights
    members = sp.csr_array((np.ones(n), component, np.arange(n + 1)), shape=(n, count))
    shares = sp.csr_array(apart @ walk @ members)
    return without_diagonal(sp.csr_array(shares + shares.T))
