"""Compile everything now, so that nothing is compiled later: the first use of a new installation costs seconds."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

N_POINTS = 60  # enough to be coarsened, which reaches every kernel of the search


def warmup() -> None:
    """Compile all kernels, or load them from numba's cache, by clustering a tiny graph in every mode.

    Half a minute the first time ever, a second or two afterwards. Call it before a clock runs.
    """
    from tightcut.constraints import Constraints
    from tightcut.graph import Graph
    from tightcut.solvers.cluster import cluster

    quick = partial(cluster, effort=0.3, n_init=1, random_state=0)
    constraints = Constraints.from_pairs(N_POINTS, [(0, 10), (5, 40)], [(0, 50), (0, 5)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in (np.int32, np.int64):
            graph = Graph.from_affinity(_ribbon(index))
            quick(graph)
            quick(graph, constraints, inner_solver="fista")
            quick(graph, constraints, max_violations=1)
            quick(graph, constraints, n_clusters=3)


def _ribbon(index: Any) -> sp.csr_array:
    """Every vertex joined to the two before it and the two after it, with the given type of indices."""
    rows = np.arange(N_POINTS - 2, dtype=index)
    ends = np.concatenate([np.stack([rows, rows + 1]), np.stack([rows, rows + 2])], axis=1)
    upper = sp.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(N_POINTS, N_POINTS))
    return sp.csr_array(upper + upper.T)
