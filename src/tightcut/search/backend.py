"""`Backend`: the protocol by which a device such as a GPU takes over parts of the search; see `tightcut.gpu.backend`."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from tightcut.problem.graph import Graph
from tightcut.relaxation.prox import TotalVariationProx
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Problem, Solution


class Backend(Protocol):
    """Where large problems are searched; smaller ones stay on the CPU, and so does everything if there is no back end."""

    @property
    def limit(self) -> int:
        """Units or vertices up to which a problem stays on the CPU."""

    def inner(self, weights: sp.csr_array, vertex_weights: np.ndarray, tolerance: float = ...) -> TotalVariationProx:
        """The inner solver of RatioDCA."""

    def search(
        self, problem: Problem, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray]
    ) -> list[Solution]:
        """Good distinct solutions, best first, as by `tightcut.search.evolve.search`."""

    def contract(self, graph: Graph, labels: np.ndarray) -> Graph:
        """`Graph.contract`."""
