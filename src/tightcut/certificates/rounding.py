"""From the solution of a relaxation to a better clustering: rounded, then searched from."""

from __future__ import annotations

import numpy as np

from tightcut.clustering.cluster import cluster
from tightcut.clustering.result import ClusteringResult
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph

BETTER = 1e-9  # of the cut; less is rounding


def improvement(
    graph: Graph,
    constraints: Constraints,
    n_clusters: int,
    rounded: list[np.ndarray],
    cut: float,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> ClusteringResult | None:
    """The best clustering found from the rounded ones, if its cut is smaller; None otherwise."""
    best = None
    for labels in rounded:
        if len(np.unique(labels)) < n_clusters:
            continue
        try:
            found = cluster(graph, constraints, n_clusters, effort=0, init=labels, random_state=rng, n_jobs=n_jobs)
        except InconsistentConstraintsError:  # a quick search of many clusters may find none; there is one already
            continue
        if found.cut < (cut if best is None else best.cut) * (1 - BETTER):
            best = found
    return best
