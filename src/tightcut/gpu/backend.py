"""The back end of `tightcut.search.backend` on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.gpu.coarsening import contract_graph
from tightcut.gpu.fista import DeviceFistaProx
from tightcut.gpu.levels import LIMIT, OnDevice
from tightcut.gpu.many_clusters import DeviceManyClusters
from tightcut.gpu.search import search_on_device
from tightcut.gpu.two_clusters import DeviceTwoClusters
from tightcut.problem.graph import Graph
from tightcut.search.k_way import ManyClusters
from tightcut.search.options import SearchOptions
from tightcut.search.problem import Problem, Solution
from tightcut.search.two_way import TwoClusters


@dataclass(frozen=True)
class DeviceBackend:
    """Search and contraction of large graphs, and FISTA, on a PyTorch device."""

    device: str = "cuda"
    limit: int = LIMIT

    def search(
        self, problem: Problem, rng: np.random.Generator, options: SearchOptions, known: list[np.ndarray]
    ) -> list[Solution]:
        return search_on_device(self.on_device(problem), rng, options, known)

    def on_device(self, problem: Problem) -> OnDevice:
        """The same problem with its graph on the device; states stay on the host."""
        if isinstance(problem, TwoClusters):
            return DeviceTwoClusters.of(problem, self.device)
        if isinstance(problem, ManyClusters):
            return DeviceManyClusters.of(problem, self.device)
        raise TypeError(f"A {type(problem).__name__} cannot be searched on a device; search it on the CPU.")

    def contract(self, graph: Graph, labels: np.ndarray) -> Graph:
        return contract_graph(graph, labels, self.device)

    def inner(self, weights: sp.csr_array, vertex_weights: np.ndarray) -> DeviceFistaProx:
        return DeviceFistaProx(weights, vertex_weights, device=self.device)
