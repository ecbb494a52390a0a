"""Exact inner solver: the total-variation prox by parametric minimum cuts."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut import kernels


class FlowProx:
    """The exact prox: divide and conquer over minimum cuts, all parts of a level in one maximum flow.

    The dual flow is kept between calls, so a target close to the last one costs little.

    Attributes
    ----------
    n_flows : int
        Maximum flows computed so far.
    """

    def __init__(self, weights: sp.csr_array, vertex_weights: np.ndarray) -> None:
        self.weights = weights
        self.vertex_weights = vertex_weights
        self.n_flows = 0
        self._reverse = kernels.reverse_arcs(weights.indptr, weights.indices)
        self._flow = np.zeros(weights.nnz)

    def prox(self, target: np.ndarray) -> np.ndarray:
        # Amounts below this are rounding: they neither move flow nor split a part.
        tolerance = 1e-14 * float(np.abs(target).sum())
        w = self.weights
        f, n_flows = kernels.total_variation_prox(
            w.indptr, w.indices, self._reverse, w.data, target, self.vertex_weights, self._flow, tolerance
        )
        self.n_flows += n_flows
        return f
