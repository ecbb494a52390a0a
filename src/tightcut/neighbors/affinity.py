"""The neighbourhood graph of the paper: from points to a similarity matrix.

A nearest-neighbour graph may fall into pieces, and the optimal normalized cut of a disconnected graph is zero: it
says nothing about the data. `knn_affinity` therefore joins the pieces by their shortest links.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from tightcut._support.choices import check_choice
from tightcut._support.warning import warn
from tightcut.exceptions import DisconnectedGraphWarning
from tightcut.gpu.device import resolve_device
from tightcut.neighbors.bridges import shortest_bridges

if TYPE_CHECKING:
    from tightcut.neighbors.index import Neighbors
    from tightcut.neighbors.threads import Progress

SMALLEST_BRIDGE = float(np.exp(-16.0))
LARGEST_COORDINATE = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e37, np.dtype(np.uint8): 255}
POINT_TYPES = (np.float64, np.float32, np.uint8)
SYMMETRIZE = ("maximum", "mean")


def knn_affinity(
    X: Any,
    n_neighbors: int = 10,
    *,
    neighbors: str = "auto",
    symmetrize: str = "maximum",
    connect: bool = True,
    n_jobs: int | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> sp.csr_array:
    r"""Gaussian similarities between nearest neighbours, scaled by the local density.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The points, one per row. float64, float32 and uint8 stay what they are; a memory-mapped array of these, in C
        order, is read in blocks and may be larger than memory (see `tightcut.files.open_points`).
    n_neighbors : int, default=10
        Neighbours per point, the point itself not counted. With fewer than `n_neighbors` others, all are taken.
    neighbors : {"auto", "tree", "blocked", "approximate"}, default="auto"
        How to search on the CPU. "tree" is scikit-learn's k-d tree, fast in few dimensions; "blocked" multiplies blocks
        of points and rules out far ones, in little memory; "auto" takes trees up to 5 features (15 below 5,000 points)
        and blocks otherwise. These are exact. "approximate" needs the extra `tightcut[faiss]`;
        `knn_affinity_and_recall` says how many of the true neighbours it finds.
    symmetrize : {"maximum", "mean"}, default="maximum"
        What becomes of the two weights of a pair, one from each end. "maximum", as in the paper, keeps the larger: an
        edge is as strong if only one end counts the other among its neighbours. "mean" takes the mean, with 0 from an
        end that does not: such an edge weighs half, so that hubs and outliers hold clusters together less.
    connect : bool, default=True
        Join the components of a disconnected graph by their shortest links, with a warning.
    n_jobs : int, optional
        Threads, as in joblib. The graph does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to build the graph: on the CPU, or exactly on a GPU with the extra `tightcut[gpu]`. "auto" takes the GPU
        where there is one. The graph is the same up to ties.
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
    point), the duplicates weigh 1. Neighbours at equal distance may be told apart by chance.

    The bridges form a minimum spanning tree over the components; among many points in large components, one that is
    minimal for samples of them. A bridge is longer than either end's neighbourhood;
    it is weighed with the larger of the two :math:`\sigma`, and never below :math:`e^{-16}`, so that it cannot vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import knn_affinity
    >>> line = np.array([[0.0], [1.0], [3.0]])
    >>> knn_affinity(line, n_neighbors=1).toarray().round(4).tolist()
    [[0.0, 0.0183, 0.0], [0.0183, 0.0, 0.0183], [0.0, 0.0183, 0.0]]
    """
    search = Search(neighbors, n_jobs, device, progress)
    return _affinity(X, n_neighbors, search, symmetrize, connect=connect, measure=False)[0]


def knn_affinity_and_recall(
    X: Any,
    n_neighbors: int = 10,
    *,
    neighbors: str = "auto",
    symmetrize: str = "maximum",
    connect: bool = True,
    n_jobs: int | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> tuple[sp.csr_array, float]:
    """`knn_affinity`, and the share of the true neighbours among those found.

    1 for an exact search. For `neighbors="approximate"` it is measured on a random sample of 500 points, whose true
    neighbours are searched for; that sample is the same on every call.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.neighbors import knn_affinity_and_recall
    >>> affinity, recall = knn_affinity_and_recall(np.random.default_rng(0).normal(size=(300, 3)))
    >>> recall
    1.0
    """
    search = Search(neighbors, n_jobs, device, progress)
    return _affinity(X, n_neighbors, search, symmetrize, connect=connect, measure=True)


@dataclass(frozen=True)
class Search:
    """How to search for neighbours; see `knn_affinity`."""

    neighbors: str
    n_jobs: int | None
    device: str
    progress: Progress | None


def _affinity(
    X: Any, n_neighbors: int, search: Search, symmetrize: str, *, connect: bool, measure: bool
) -> tuple[sp.csr_array, float]:
    from tightcut.neighbors.index import CHOICES, ApproximateNeighbors, make_index

    check_choice("neighbors", search.neighbors, CHOICES)
    check_choice("symmetrize", symmetrize, SYMMETRIZE)
    on_gpu = resolve_device(search.device) == "cuda" and search.neighbors == "auto"
    points = _validate_points(X)
    n = len(points)
    k = min(_validate_n_neighbors(n_neighbors), n - 1)
    recall = 1.0
    if k == 0:
        return sp.csr_array((n, n), dtype=np.float64), recall
    index: Neighbors
    if on_gpu:
        from tightcut.gpu.affinity import device_affinity

        affinity, scales, index, whole = device_affinity(points, k, symmetrize)
    else:
        index = make_index(points, search.neighbors, n_jobs=search.n_jobs, progress=search.progress)
        distances, numbers = index.kneighbors(n_neighbors=k)
        if measure and isinstance(index, ApproximateNeighbors):
            recall = index.recall(distances)
        scales = distances[:, -1]
        weights = gaussian_similarity(distances, scales[:, None])
        directed = sp.csr_array((weights.ravel(), numbers.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
        affinity, whole = symmetrized(directed, symmetrize), False
    if connect and not whole:
        affinity = _connected(affinity, points, scales, index)
    affinity.sort_indices()
    return affinity, recall


def cross_affinity(
    new: np.ndarray,
    points: np.ndarray,
    n_neighbors: int = 10,
    *,
    neighbors: str = "auto",
    n_jobs: int | None = None,
) -> sp.csr_array:
    """Similarities of new points to their nearest neighbours among `points`, one row per new point.

    The weights of `knn_affinity`, not symmetrised.
    """
    from tightcut.neighbors.index import make_index

    k = min(_validate_n_neighbors(n_neighbors), len(points))
    distances, numbers = make_index(points, neighbors, n_jobs=n_jobs).kneighbors(new, n_neighbors=k)
    weights = gaussian_similarity(distances, distances[:, -1:])
    shape, starts = (len(new), len(points)), np.arange(0, len(new) * k + 1, k)
    return sp.csr_array((weights.ravel(), numbers.ravel(), starts), shape=shape)


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


def _connected(affinity: sp.csr_array, points: np.ndarray, scales: np.ndarray, index: Neighbors) -> sp.csr_array:
    """The same graph, joined by its shortest bridges if it is in pieces."""
    count, labels = sp.csgraph.connected_components(affinity, directed=False)
    if count == 1:
        return affinity
    ends = shortest_bridges(points, labels, index)
    left, right = ends.T
    lengths = np.linalg.norm(np.subtract(points[left], points[right], dtype=np.float64), axis=1)
    weights = np.maximum(gaussian_similarity(lengths, np.maximum(scales[left], scales[right])), SMALLEST_BRIDGE)
    bridges = sp.csr_array((weights, (left, right)), shape=affinity.shape)
    warn(DisconnectedGraphWarning(count, len(ends)))
    return sp.csr_array(affinity + bridges + bridges.T)


def _validate_points(X: Any) -> np.ndarray:
    from sklearn.utils import check_array

    # Neighbour search is fast on C order only; data frames arrive in Fortran order.
    points = check_array(X, dtype=POINT_TYPES, order="C", input_name="X")
    largest = max(float(points.max()), -float(points.min()))
    if largest > LARGEST_COORDINATE[points.dtype]:
        raise ValueError(f"X holds a value of size {largest:g}, whose square overflows; rescale the features first.")
    return points


def _validate_n_neighbors(n_neighbors: Any) -> int:
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, Integral):
        raise TypeError(f"n_neighbors must be an integer; got {n_neighbors!r}.")
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1; got {n_neighbors}.")
    return int(n_neighbors)
