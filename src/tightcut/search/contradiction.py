"""Why k clusters cannot satisfy the constraints, in words and with the evidence."""

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
        witness, members = clique_witness(constraints, component, answer.clique)
        message = (
            f"{k} clusters cannot satisfy the constraints: the {k + 1} points {', '.join(map(str, members))} must all "
            "be in different clusters. Remove a cannot-link among them, ask for more clusters, or pass "
            'max_violations="fewest" to violate as few pairs as possible.'
        )
        return InconsistentConstraintsError(witness, message, True, labels, k, "clique")
    if answer.proven:
        message = (
            f"{k} clusters cannot satisfy the cannot-links: an exhaustive search found no assignment. Remove some pairs, "
            'ask for more clusters, or pass max_violations="fewest" to violate as few pairs as possible.'
        )
        return InconsistentConstraintsError((), message, True, labels, k, "exhausted")
    message = (
        f"No assignment to {k} clusters that satisfies every constraint was found, nor ruled out. Raise effort, ask for "
        'more clusters, or pass max_violations="fewest". The best attempt is in .best_labels.'
    )
    return InconsistentConstraintsError((), message, False, labels, k, "not found")


def clique_witness(constraints: Constraints, component: np.ndarray, clique: list[int]) -> tuple[list[Link], list[int]]:
    """The cannot-links between the components of a clique, and the must-links that join their ends.

    Also returns one point of each component, for the message. O(points + constraints).
    """
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
    return links, sorted(anchors.tolist())


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
