"""Extension of a nearest-neighbour graph by new points; the work depends on their number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.distances import pair_half_squares, rank_others
from tightcut.neighbors.exact import BlockedNeighbors
from tightcut.neighbors.knn import KnnSettings, connect_components, gaussian_similarity, symmetrized
from tightcut.neighbors.points import Points, apply_metric, unit_scale
from tightcut.neighbors.tree import make_index
from tightcut.problem.graph import add_vertices

REACH = 2  # times k: nearest points of a new point that are checked for edges to it


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Properties of the neighbourhoods of points that the graph does not hold.

    Attributes
    ----------
    scales : ndarray of shape (n,)
        The distance of each point to its k-th neighbour, when its edges were made.
    index : BlockedNeighbors or None
        For the neighbours of further points, where projections make the search faster.
    """

    scales: np.ndarray
    index: BlockedNeighbors | None = None


def extended_affinity(
    affinity: sp.csr_array,
    points: Points,
    n_old: int,
    settings: KnnSettings,
    known: Neighbourhoods | None = None,
) -> tuple[sp.csr_array, Neighbourhoods]:
    r"""The graph of the first `n_old` points with edges for the others.

    Parameters
    ----------
    affinity : csr_array of shape (n_old, n_old)
        The graph of `knn_affinity`, which may have been extended before.
    points : ndarray or csr_array of shape (n, n_features)
        Old points, then new ones, as `check_points` returns them.
    n_old : int
    settings : KnnSettings
        Those of the graph.
    known : Neighbourhoods, optional
        Those of the old points; without them they are found from the edges.

    Returns
    -------
    affinity : csr_array of shape (n, n)
    known : Neighbourhoods
        Of all points, for the next extension.

    Notes
    -----
    A new point j has edges to its k nearest among all points, weighted as in `knn_affinity`. An old point i among the
    2 k nearest of j weighs the edge too if j lies within :math:`\sigma_i`, the distance from i to its k-th neighbour
    when i was added. Edges between old points do not change: a few of them would not be in a graph built from all
    points.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.neighbors import KnnSettings, knn_affinity
    >>> from tightcut.neighbors.extend import extended_affinity
    >>> line = np.array([[0.0], [1.0], [3.0], [3.5]])
    >>> grown, _ = extended_affinity(knn_affinity(line[:3], 1), line, 3, KnnSettings(1))
    >>> grown.toarray().round(4)[3].tolist()
    [0.0, 0.0, 0.7788, 0.0]
    """
    points = apply_metric(points, settings.metric)
    n, scale = points.shape[0], unit_scale(points)
    k = min(settings.n_neighbors, n - 1)
    if known is None:
        known = Neighbourhoods(_scales(affinity, points, min(settings.n_neighbors, n_old - 1), scale))
    new, index = points[n_old:], _projected_index(points, settings, known.index)
    search = index or make_index(points, settings.neighbors, n_jobs=settings.n_jobs)
    found = search.kneighbors(new, n_neighbors=min(REACH * k, n - 1) + 1)[1]
    distances, neighbors = rank_others(new, points, found, scale, n_old)
    sigma = np.append(known.scales, distances[:, k - 1])
    rows = np.broadcast_to(np.arange(n_old, n)[:, None], neighbors.shape)
    own = gaussian_similarity(distances, distances[:, k - 1 : k])[:, :k]
    back = (neighbors < n_old) & (distances <= sigma[neighbors])
    weights = gaussian_similarity(distances[back], sigma[neighbors[back]])
    ends = np.append(rows[:, :k], neighbors[back]), np.append(neighbors[:, :k], rows[back])
    added = sp.csr_array((np.append(own, weights), ends), shape=(n, n))
    grown = sp.csr_array(add_vertices(affinity, n) + symmetrized(added, settings.symmetrize))
    if settings.connect and _falls_apart(grown, n_old):
        grown = connect_components(grown, points, sigma, search)
    grown.sort_indices()
    return grown, Neighbourhoods(sigma, index)


def _projected_index(points: Points, settings: KnnSettings, index: BlockedNeighbors | None) -> BlockedNeighbors | None:
    if sp.issparse(points) or settings.neighbors not in {"auto", "blocked"}:
        return None
    grown = None if index is None else index.grown(points)
    return grown or BlockedNeighbors.with_projection(points, settings.n_neighbors, settings.n_jobs)


def _scales(affinity: sp.csr_array, points: Points, k: int, scale: float) -> np.ndarray:
    """The distance of each vertex to its k-th neighbour, from its edges.

    A vertex has edges to its k nearest, and to those that count it among theirs, which are no nearer than the k-th.
    """
    n, counts = affinity.shape[0], np.diff(affinity.indptr)
    sources = np.repeat(np.arange(n), counts)
    half_squares = pair_half_squares(points, sources, points, affinity.indices[:, None].astype(np.int64), scale).ravel()
    ordered = half_squares[np.lexsort((half_squares, sources))]
    some = counts > 0
    sigma = np.zeros(n)
    sigma[some] = np.sqrt(2 * ordered[(affinity.indptr[:-1] + np.minimum(k, counts) - 1)[some]]) / scale
    return sigma


def _falls_apart(grown: sp.csr_array, n_old: int) -> bool:
    """Whether some new point is not connected to the old ones, which are one vertex here. O(arcs of the new points)."""
    arcs, n_new = grown[n_old:].tocoo(), grown.shape[0] - n_old
    ends = arcs.row + 1, np.maximum(arcs.col - n_old + 1, 0)
    joined = sp.coo_array((arcs.data, ends), shape=(n_new + 1, n_new + 1))
    return int(sp.csgraph.connected_components(joined, directed=False)[0]) > 1


def remoteness(new: Points, points: Points, settings: KnnSettings) -> np.ndarray:
    """How many times as far as theirs a new point's neighbours are: its k-th distance over the largest of their k-th ones."""
    new, points = (apply_metric(some, settings.metric) for some in (new, points))
    k = min(settings.n_neighbors, points.shape[0] - 1)
    index = make_index(points, settings.neighbors, n_jobs=settings.n_jobs)
    distances, near = index.kneighbors(new, n_neighbors=k)
    used, place = np.unique(near, return_inverse=True)
    own = index.kneighbors(points[used], n_neighbors=k + 1)[0][:, -1]  # the first of a training point is itself
    theirs = own[place.reshape(near.shape)].max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distances[:, -1] > 0, distances[:, -1] / theirs, 0.0)
