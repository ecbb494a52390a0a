"""The back end of `tightcut.search.backend` on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.gpu.coarsening import contract
from tightcut.gpu.fista import DeviceFistaProx
from tightcut.gpu.graphs import DeviceConstrainedGraph, DeviceSignedGraph
from tightcut.gpu.problems import LIMIT, DeviceManyClusters, DeviceTwoClusters
from tightcut.gpu.search import search_on_device
from tightcut.gpu.sparse import DeviceCsr, send
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

    def on_device(self, problem: Problem) -> DeviceTwoClusters | DeviceManyClusters:
        """The same problem with its graph on the device; states stay on the host."""
        if isinstance(problem, TwoClusters):
            return DeviceTwoClusters(DeviceSignedGraph.of(problem.graph, self.device))  # type: ignore[arg-type]
        if isinstance(problem, ManyClusters):
            graph = DeviceConstrainedGraph.of(problem.graph, self.device)
            return DeviceManyClusters(graph, problem.k, problem.prices)  # type: ignore[arg-type]
        raise TypeError(f"A {type(problem).__name__} cannot be searched on a device; search it on the CPU.")

    def contract(self, graph: Graph, labels: np.ndarray) -> Graph:
        m = int(labels.max()) + 1
        weights = DeviceCsr.from_scipy(graph.weights, self.device)
        merged, _ = contract(weights, send(labels, self.device).long(), m)
        return Graph(merged.to_scipy(), np.bincount(labels, graph.vertex_weights, m))

    def inner(self, weights: sp.csr_array, vertex_weights: np.ndarray, tolerance: float = 1e-10) -> DeviceFistaProx:
        return DeviceFistaProx(weights, vertex_weights, tolerance, device=self.device)
