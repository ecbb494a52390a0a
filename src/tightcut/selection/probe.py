"""Short searches, whose labels are compared with held-out pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightcut.clustering.cluster import cluster
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.evolve import search
from tightcut.search.magnitudes import scaled_graph
from tightcut.search.options import QUICK
from tightcut.search.two_way import TwoClusters, reduce_to_units


def short_search(
    graph: Graph, known: Constraints, n_clusters: int, influence: float, max_violations: Any, seed: int
) -> np.ndarray:
    """The labels of a single start, refined.

    `cluster` with an effort of 0, but two clusters are not polished by RatioDCA, which takes most of the time and moves
    hardly a point.
    """
    if n_clusters > 2 or influence > 0 or max_violations != 0:
        options: dict[str, Any] = {"max_violations": max_violations, "influence": influence, "n_jobs": 1}
        return cluster(graph, known, n_clusters, effort=0, random_state=seed, **options).labels
    units = reduce_to_units(scaled_graph(graph)[0], known)
    _, spins = search(TwoClusters(units.small), np.random.default_rng(seed), QUICK)[0]
    return (units.lift(spins) > 0).astype(np.int64)
