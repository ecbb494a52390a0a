"""From the solution of a relaxation to a better clustering: rounded, then searched from."""

from __future__ import annotations

from functools import partial

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
    max_violations: float = 0.0,
) -> ClusteringResult | None:
    """The best clustering found from the rounded ones, if its cut is smaller; None otherwise."""
    quick = partial(cluster, graph, constraints, n_clusters, max_violations=max_violations, effort=0, n_jobs=n_jobs)
    best = None
    for labels in rounded:
        if len(np.unique(labels)) < n_clusters:
            continue
        try:
            found = quick(init=labels, random_state=rng)
        except InconsistentConstraintsError:  # a quick search of many clusters may find none; there is one already
            continue
        if found.cut < (cut if best is None else best.cut) * (1 - BETTER):
            best = found
    return best
