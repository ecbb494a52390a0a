"""`explain`: the error for constraints that k clusters cannot satisfy, with a clique as evidence if there is one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from tightcut.exceptions import InconsistentConstraintsError, Link
from tightcut.problem import Constraints
from tightcut.problem.two_colouring import link_graph, symmetric
from tightcut.search.feasibility import Colourability


def explain(
    constraints: Constraints, component: np.ndarray, answer: Colourability, k: int
) -> InconsistentConstraintsError:
    """The error for cannot-links that need more than k clusters, with a clique of k + 1 components if there is one."""
    labels = answer.attempt[component]
    if answer.clique:
        witness = clique_witness(constraints, component, answer.clique)
        return InconsistentConstraintsError(witness, best_labels=labels, n_clusters=k, reason="clique")
    reason = "exhausted" if answer.proven else "not found"
    return InconsistentConstraintsError(proven=answer.proven, best_labels=labels, n_clusters=k, reason=reason)


def clique_witness(constraints: Constraints, component: np.ndarray, clique: list[int]) -> list[Link]:
    """The cannot-links between the components of a clique, and the must-links that join their ends. O(points + constraints)."""
    pairs = _one_between_each(constraints.cannot_link, component, clique)
    ends = pairs.ravel()
    _, first = np.unique(component[ends], return_index=True)
    anchors = ends[first]
    above = _paths_from(anchors, constraints)
    met = set(anchors.tolist())
    links: list[Link] = []
    for i, j in pairs.tolist():
        for point in (i, j):
            path = [point]
            while path[-1] not in met:
                met.add(path[-1])
                path.append(int(above[path[-1]]))
            links += [("must", p, q) for p, q in pairwise(path[::-1])]
        links.append(("cannot", i, j))
    return links


def _one_between_each(cannot_link: np.ndarray, component: np.ndarray, clique: list[int]) -> np.ndarray:
    """The first cannot-link between each two components of a clique, in the order of the clique."""
    place = np.full(int(component.max()) + 1, -1)
    place[clique] = np.arange(len(clique))
    ends = place[component[cannot_link]]
    inside = np.flatnonzero((ends >= 0).all(axis=1))
    key = ends[inside].min(axis=1) * len(clique) + ends[inside].max(axis=1)
    return cannot_link[inside[np.unique(key, return_index=True)[1]]]


def _paths_from(anchors: np.ndarray, constraints: Constraints) -> np.ndarray:
    """For each point the one before it on a shortest path of must-links from the anchor of its component."""
    n = constraints.n_points
    root = np.stack([np.full(len(anchors), n), anchors], axis=1)
    links = symmetric(link_graph(n + 1, np.concatenate([constraints.must_link, root])))
    return breadth_first_order(links, n, directed=True, return_predecessors=True)[1]
