"""Why k clusters cannot satisfy the constraints, in words and with the evidence."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError, Link
from tightcut.problem import Constraints
from tightcut.problem.two_colouring import link_graph, nearest_path, symmetric
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

    Also returns one point of each component, for the message.
    """
    ends = component[constraints.cannot_link]
    anchor = dict.fromkeys(clique, -1)
    links: list[Link] = []
    must = symmetric(link_graph(constraints.n_points, constraints.must_link))
    for a, b in combinations(clique, 2):
        row = int(np.argmax(((ends == (a, b)) | (ends == (b, a))).all(axis=1)))
        i, j = constraints.cannot_link[row].tolist()
        for point in (i, j):
            home = int(component[point])
            if anchor[home] < 0:
                anchor[home] = point
            elif anchor[home] != point:
                path = nearest_path(must, anchor[home], np.array([point]))
                links += [("must", p, q) for p, q in pairwise(path)]
        links.append(("cannot", i, j))
    return list(dict.fromkeys(links)), sorted(anchor.values())
