"""How many clusters? The eigengap of the graph, and what the constraints leave possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.graph import Graph
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.feasibility import conflict_graph, find_clique, find_colouring

MAX_CLUSTERS = 20
DENSE_LIMIT = 500


@dataclass(frozen=True, eq=False)
class ClusterCount:
    """A number of clusters and why.

    Attributes
    ----------
    n_clusters : int
    reason : str
        One readable sentence.
    eigenvalues : ndarray
        The smallest eigenvalues of the graph with must-linked points merged. The sum of the first k is a lower bound
        on the cut into k clusters, so a gap after the k-th says that cluster k + 1 would be expensive.
    at_least : int
        Fewest clusters the cannot-links allow, as far as was found.
    """

    n_clusters: int
    reason: str
    eigenvalues: np.ndarray
    at_least: int


def choose_n_clusters(graph: Graph, constraints: Constraints, max_clusters: int = MAX_CLUSTERS) -> ClusterCount:
    """Take the number of clusters, between 2 and `max_clusters`, after which the eigenvalues jump most.

    Never fewer than the cannot-links can be satisfied with, as far as a colouring was found.
    """
    witness = constraints.conflict_witness()
    if witness is not None:
        raise InconsistentConstraintsError(witness)
    count, component = constraints.components()
    if count < 2:
        raise InconsistentConstraintsError(
            message="The must-links join all points into one set: one cluster is left.",
            n_clusters=2,
            reason="empty cluster",
        )
    merged = graph.contract(component)
    pairs = Constraints.from_pairs(count, cannot_link=component[constraints.cannot_link])
    at_least, why = _fewest_clusters(merged, pairs)
    most = min(max(max_clusters, at_least), count)
    eigenvalues = smallest_eigenvalues(merged, min(most + 1, count))
    # Vibration frequencies: on this scale the spectrum of a featureless graph is evenly spaced.
    gaps = np.diff(np.sqrt(eigenvalues))
    allowed = np.arange(at_least, len(eigenvalues))
    if len(allowed) == 0:
        return ClusterCount(at_least, f"{why}; there are no more separate sets of points.", eigenvalues, at_least)
    k = int(allowed[np.argmax(gaps[allowed - 1])])
    reason = (
        f"The largest eigengap (of square roots), {gaps[k - 1]:.3g}, follows eigenvalue {k} (searched from {at_least} to "
        f"{len(eigenvalues) - 1}; {why})."
    )
    return ClusterCount(k, reason, eigenvalues, at_least)


def smallest_eigenvalues(graph: Graph, count: int) -> np.ndarray:
    """The smallest eigenvalues of the pencil (Laplacian, vertex weights), in ascending order."""
    n, scale = graph.n_vertices, 1 / np.sqrt(graph.vertex_weights)
    stiffness = graph.degrees * scale**2
    if n <= max(DENSE_LIMIT, 2 * count):
        dense = -scale[:, None] * graph.weights.toarray() * scale
        dense[np.diag_indices(n)] += stiffness
        return np.maximum(scipy.linalg.eigh(dense, eigvals_only=True, subset_by_index=[0, count - 1]), 0)
    # Lanczos converges fastest at the largest end, so the spectrum is turned around.
    top = 2 * float(stiffness.max())
    laplacian = sp.diags_array(stiffness) - sp.diags_array(scale) @ graph.weights @ sp.diags_array(scale)
    turned = sp.csr_array(sp.eye_array(n) * top - laplacian)
    start = np.random.default_rng(0).normal(size=n)
    values = eigsh(turned, k=count, which="LA", tol=1e-6, v0=start, return_eigenvectors=False)
    return np.maximum(top - np.sort(values)[::-1], 0)


def _fewest_clusters(merged: Graph, pairs: Constraints) -> tuple[int, str]:
    """The fewest clusters that the cannot-links allow, as far as could be found, and why."""
    if pairs.n_cannot_link == 0:
        return 2, "no cannot-link sets a minimum"
    graph = ConstrainedGraph.from_graph(merged, pairs)
    size = max(2, len(find_clique(conflict_graph(graph))))
    k = size
    while k < graph.n_vertices and find_colouring(graph, k, np.random.default_rng(0)).colours is None:
        k += 1
    if k == size:
        return k, f"{k} sets of points are all kept apart by cannot-links"
    return k, f"no assignment to fewer satisfies the cannot-links, although only {size} sets are all kept apart"
