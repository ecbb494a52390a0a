"""`knn_affinity` and `knn_graph`: the nearest-neighbour graph of the paper, as a similarity matrix.

A nearest-neighbour graph may be disconnected, and the optimal normalized cut of a disconnected graph is zero: it says
nothing about the data. `knn_affinity` therefore joins the components by their shortest links.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tightcut.exceptions import DisconnectedGraphWarning
from tightcut.gpu.device import resolve_device
from tightcut.neighbors.diffusion import diffused
from tightcut.neighbors.points import GIVEN, METRICS, Points, apply_metric, check_points, check_units
from tightcut.neighbors.precomputed import check_distances, nearest_known, shortest_known_bridges
from tightcut.utils.validation import check_choice, check_count
from tightcut.utils.warning import warn

if TYPE_CHECKING:
    from tightcut.neighbors.threads import Progress
    from tightcut.neighbors.tree import Neighbors

SEARCHES = ("auto", "tree", "blocked", "approximate")
SMALLEST_BRIDGE = float(np.exp(-16.0))  # weight of the longest bridges
WEAKEST = float(np.exp(-6.0))  # where two neighbours have very different scales
SYMMETRIZE = ("maximum", "mean")


def knn_affinity(
    X: Any,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
    neighbors: str = "auto",
    symmetrize: str = "maximum",
    diffusion: int = 0,
    connect: bool = True,
    n_jobs: int | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> sp.csr_array:
    r"""Gaussian similarities between nearest neighbours, scaled by the local density.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features), or distances of shape (n, n)
        The points, one per row. float64, float32 and uint8 stay what they are; a memory-mapped array of these, in C
        order, is read in blocks and may be larger than memory (see `tightcut.files.open_points`). Sparse rows, such as
        those of tf-idf, are never made dense.
    n_neighbors : int, default=10
        Neighbours per point, the point itself not counted. With fewer than `n_neighbors` others, all are taken.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between points. "cosine" compares directions: rows are divided by their norm, in a copy of X in
        float64, and none may be zero. The squared distance is then twice the cosine distance. "precomputed" takes X as
        the distances themselves, a symmetric matrix with a diagonal of 0; the entries stored in a sparse one are the
        distances that are known, at least `n_neighbors` in each row.
    neighbors : {"auto", "tree", "blocked", "approximate"}, default="auto"
        How to search on the CPU. "tree" is scipy's k-d tree, fast in few dimensions; "blocked" multiplies blocks
        of points and rules out far ones, in little memory; "auto" takes trees up to 5 features (15 below 5,000 points, 10
        with 8 threads) and blocks otherwise. These are exact. "approximate" needs the extra `tightcut[faiss]`;
        `COSC.neighbor_recall_` says how many of the true neighbours it finds. For a sparse X the choice is "auto".
    symmetrize : {"maximum", "mean"}, default="maximum"
        How to combine the two weights of a pair, one from each end. "maximum", as in the paper, keeps the larger: an
        edge is as strong if only one end counts the other among its neighbours. "mean" takes the mean, with 0 from an
        end that does not: such an edge weighs half, so that hubs and outliers hold clusters together less.
    diffusion : int, default=0
        Steps of a lazy random walk on this graph. The transition probabilities after these steps, the 30 largest from
        each point, are the graph that is returned. A few steps weaken edges between clusters.
    connect : bool, default=True
        Join the components of a disconnected graph by their shortest links, with a warning.
    n_jobs : int, optional
        Threads, as in joblib. The graph does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to build the graph: on the CPU, or exactly on a GPU with the extra `tightcut[gpu]`. "auto" takes the GPU
        where there is one. The graph is the same up to ties. The neighbours of a sparse X are found on the CPU.
    progress : callable, optional
        Called with (stage, done, total, value); see `tightcut.progress.ProgressLine`.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, float64, no diagonal, sorted indices, every stored weight in (0, 1].

    Warns
    -----
    UserWarning
        If components were joined; names how many there were and how many bridges were added.

    Notes
    -----
    With :math:`\sigma_i` the distance from point i to its k-th neighbour,

    .. math:: w_{ij} = \exp(-4 \, d_{ij}^2 / \sigma_i^2), \qquad w_{ij} \leftarrow \max(w_{ij}, w_{ji}),

    so that the k-th neighbour always weighs at least :math:`e^{-4}`; with `symmetrize="mean"`,
    :math:`w_{ij} \leftarrow (w_{ij} + w_{ji}) / 2`, half that. Where :math:`\sigma_i = 0` (k duplicates of a
    point), the duplicates weigh 1. Of several neighbours at equal distance the first rows are taken, so that the graph is
    the same on every machine; "approximate", a GPU and points in a file may take others.

    The bridges form a minimum spanning tree over the components; among many points in large components, one that is
    minimal for samples of them. A bridge is longer than either end's neighbourhood;
    it is weighed with the larger of the two :math:`\sigma`, and never below :math:`e^{-16}`, so that it cannot vanish.

    A sparse X costs one multiplication for each feature that two points share, for all pairs of points, and a look at
    every pair; in memory two more copies of its entries, and one number per point and thread.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import knn_affinity
    >>> line = np.array([[0.0], [1.0], [3.0]])
    >>> knn_affinity(line, n_neighbors=1).toarray().round(4).tolist()
    [[0.0, 0.0183, 0.0], [0.0183, 0.0, 0.0183], [0.0, 0.0183, 0.0]]
    >>> distances = np.abs(line - line.T)
    >>> knn_affinity(distances, n_neighbors=1, metric="precomputed").toarray().round(4)[0].tolist()
    [0.0, 0.0183, 0.0]
    """
    settings = KnnSettings(n_neighbors, metric, neighbors, symmetrize, connect, n_jobs, device, diffusion)
    points = check_distances(X) if metric == GIVEN else check_points(X)
    return knn_graph(points, settings, progress).affinity


@dataclass(frozen=True)
class KnnSettings:
    """The parameters of `knn_affinity` that describe a graph, checked; `knn_graph` and `cross_affinity` take them."""

    n_neighbors: int = 10
    metric: str = "euclidean"
    neighbors: str = "auto"
    symmetrize: str = "maximum"
    connect: bool = True
    n_jobs: int | None = None
    device: str = "cpu"
    diffusion: int = 0

    def __post_init__(self) -> None:
        check_count("n_neighbors", self.n_neighbors, 1)
        check_count("diffusion", self.diffusion, 0)
        check_choice("metric", self.metric, METRICS)
        check_choice("neighbors", self.neighbors, SEARCHES)
        check_choice("symmetrize", self.symmetrize, SYMMETRIZE)
        if self.metric == GIVEN and self.neighbors != "auto":
            raise ValueError(f'metric="{GIVEN}" leaves nothing to search: leave neighbors="auto".')


@dataclass(frozen=True, eq=False)
class KnnGraph:
    """A neighbourhood graph and how it was found.

    Attributes
    ----------
    affinity : csr_array of shape (n, n)
        What `knn_affinity` returns.
    index : Neighbors or None
        None for distances that were given.
    distances : ndarray of shape (n, k)
        To the neighbours found, nearest first; from a GPU, to the last of them.
    plain : csr_array of shape (n, n)
        The graph before any diffusion.
    """

    affinity: sp.csr_array
    index: Neighbors | None
    distances: np.ndarray
    plain: sp.csr_array

    @cached_property
    def recall(self) -> float:
        """The share of the true neighbours among those found: 1 for an exact search.

        For `neighbors="approximate"` it is measured on a random sample of 500 points, whose true neighbours are
        searched for; that sample is the same on every call.
        """
        from tightcut.neighbors.approximate import ApproximateNeighbors

        return self.index.recall(self.distances) if isinstance(self.index, ApproximateNeighbors) else 1.0


def knn_graph(points: Points, settings: KnnSettings, progress: Progress | None = None) -> KnnGraph:
    """The graph of `knn_affinity`, for points that `check_points` has returned.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.neighbors import KnnSettings, check_points, knn_graph
    >>> graph = knn_graph(check_points(np.random.default_rng(0).normal(size=(300, 3))), KnnSettings(n_neighbors=7))
    >>> graph.affinity.shape, graph.recall
    ((300, 300), 1.0)
    """
    n = points.shape[0]
    k = min(settings.n_neighbors, n - 1)
    if not (
        resolve_device(settings.device) == "cuda"
        and settings.neighbors == "auto"
        and settings.metric != GIVEN
        and not sp.issparse(points)
        and k > 0
    ):
        return find_neighbors(points, settings, progress).graph(settings)
    from tightcut.gpu.affinity import device_affinity

    points = apply_metric(points, settings.metric)
    affinity, scales, index, connected = device_affinity(points, k, settings.symmetrize)
    if settings.connect and not connected:
        affinity = connect_components(affinity, points, scales, index)
    affinity.sort_indices()
    return KnnGraph(diffused(affinity, settings.diffusion), index, scales[:, None], affinity)


@dataclass(frozen=True, eq=False)
class NeighborLists:
    """The nearest neighbours of every point, from which graphs with as many or fewer of them are made.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n, n_features)
        In the form whose euclidean distances count; or the distances themselves.
    index : Neighbors or None
        None for distances that were given.
    distances, neighbors : ndarray of shape (n, k)
        Nearest first.
    """

    points: Points
    index: Neighbors | None
    distances: np.ndarray
    neighbors: np.ndarray

    def graph(self, settings: KnnSettings) -> KnnGraph:
        """The graph of the first `n_neighbors` of each point."""
        n, k = len(self.distances), min(settings.n_neighbors, self.distances.shape[1])
        distances, neighbors = self.distances[:, :k], self.neighbors[:, :k]
        affinity = symmetrized(_directed(distances, neighbors, n), settings.symmetrize)
        if settings.connect and n > 1:
            affinity = connect_components(affinity, self.points, distances[:, -1], self.index)
        affinity.sort_indices()
        return KnnGraph(diffused(affinity, settings.diffusion), self.index, distances, affinity)

    def scaled_at_both_ends(self) -> sp.csr_array:
        r"""A connected graph with the weights :math:`\exp(-4 \, d_{ij}^2 / (\sigma_i \sigma_j))`, at least :math:`e^{-6}`.

        An edge weighs half as much if only one of its points is among the nearest of the other. A point in a sparse region
        is tied less to a dense one nearby than in `graph`.
        """
        scales = self.distances[:, -1]
        roots = np.sqrt(scales)  # a product of two scales may overflow, or vanish
        both = roots[:, None] * roots[self.neighbors]
        weights = np.maximum(gaussian_similarity(self.distances, both), WEAKEST)
        affinity = symmetrized(_arcs(weights, self.neighbors, len(scales)), "mean")
        affinity = connect_components(affinity, self.points, scales, self.index)
        affinity.sort_indices()
        return affinity


def find_neighbors(points: Points, settings: KnnSettings, progress: Progress | None = None) -> NeighborLists:
    """The `n_neighbors` nearest neighbours of each point, on the CPU; for points that `check_points` has returned."""
    from tightcut.neighbors.tree import make_index

    n = points.shape[0]
    k = min(settings.n_neighbors, n - 1)
    if settings.metric == GIVEN:
        return NeighborLists(points, None, *nearest_known(points, k, own=True))
    points = apply_metric(points, settings.metric)
    index = make_index(points, settings.neighbors, n_jobs=settings.n_jobs, progress=progress)
    lists = index.kneighbors(n_neighbors=k) if k > 0 else (np.empty((n, 0)), np.empty((n, 0), int))
    return NeighborLists(points, index, *lists)


def cross_affinity(new: Points, points: Points, settings: KnnSettings) -> sp.csr_array:
    """Similarities of new points to their nearest neighbours among `points`, one row per new point.

    The weights of `knn_affinity`, not symmetrised; both sets are as `check_points` returns them.
    """
    from tightcut.neighbors.tree import make_index

    new, points = (apply_metric(some, settings.metric) for some in (new, points))
    check_units(new, points)
    k = min(settings.n_neighbors, points.shape[0])
    index = make_index(points, settings.neighbors, n_jobs=settings.n_jobs)
    return _directed(*index.kneighbors(new, n_neighbors=k), points.shape[0])


def _directed(distances: np.ndarray, neighbors: np.ndarray, n: int) -> sp.csr_array:
    """The weights of each row's neighbours among n points."""
    return _arcs(gaussian_similarity(distances, distances[:, -1:]), neighbors, n)


def _arcs(weights: np.ndarray, neighbors: np.ndarray, n: int) -> sp.csr_array:
    rows, k = neighbors.shape
    return sp.csr_array((weights.ravel(), np.ravel(neighbors), np.arange(rows + 1) * k), shape=(rows, n))


def gaussian_similarity(distances: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """exp(-4 d^2 / sigma^2), with its limits at sigma = 0: 1 for d = 0, otherwise 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(distances > 0, distances / scales, 0.0)
        return np.exp(-4.0 * ratio**2)


def symmetrized(directed: sp.csr_array, symmetrize: str) -> sp.csr_array:
    """The larger weight of each pair, or the mean of its two, absent ones being 0."""
    if symmetrize == "mean":
        return sp.csr_array(directed + directed.T) / 2
    return sp.csr_array(directed.maximum(directed.T))


def known_affinity(distances: Any, n_neighbors: int) -> sp.csr_array:
    """As `cross_affinity`, for distances that are given: one row per new point, one column per old point."""
    n = distances.shape[1]
    return _directed(*nearest_known(distances, min(n_neighbors, n), own=False), n)


def connect_components(
    affinity: sp.csr_array, points: Points, scales: np.ndarray, index: Neighbors | None
) -> sp.csr_array:
    """The same graph, joined by its shortest bridges if it is in pieces."""
    count, labels = sp.csgraph.connected_components(affinity, directed=False)
    if count == 1:
        return affinity
    from tightcut.neighbors.bridges import shortest_bridges

    found = shortest_known_bridges(points, labels) if index is None else shortest_bridges(points, labels, index)
    ends, lengths = found
    weights = bridge_weights(ends, lengths, scales, int(count))
    bridges = sp.csr_array((weights, tuple(ends)), shape=affinity.shape)
    return sp.csr_array(affinity + bridges + bridges.T)


def bridge_weights(ends: np.ndarray, lengths: np.ndarray, scales: np.ndarray, n_components: int) -> np.ndarray:
    """The weights of links between components, large enough not to vanish, with a warning that they were needed."""
    warn(DisconnectedGraphWarning(n_components, len(lengths)))
    return np.maximum(gaussian_similarity(lengths, scales[ends].max(axis=0)), SMALLEST_BRIDGE)
