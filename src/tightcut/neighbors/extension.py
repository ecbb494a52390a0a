"""A nearest-neighbour graph that grows: edges for new points, at a cost that depends on their number."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut._support.warning import warn
from tightcut.exceptions import DisconnectedGraphWarning
from tightcut.neighbors.affinity import SMALLEST_BRIDGE, KnnSettings, gaussian_similarity, symmetrized
from tightcut.neighbors.distances import pair_half_squares, rank_others
from tightcut.neighbors.index import make_index
from tightcut.neighbors.points import Points, apply_metric, unit_scale
from tightcut.neighbors.projected import ProjectedNeighbors


def extended_affinity(
    affinity: sp.csr_array,
    points: Points,
    n_old: int,
    settings: KnnSettings,
    index: ProjectedNeighbors | None = None,
) -> tuple[sp.csr_array, ProjectedNeighbors | None]:
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
    index : ProjectedNeighbors, optional
        What the last extension returned.

    Returns
    -------
    affinity : csr_array of shape (n, n)
    index : ProjectedNeighbors or None
        For the next extension.

    Notes
    -----
    A new point j has edges to its k nearest among all points, weighted as in `knn_affinity`. An old point i among them
    weighs the edge too if j is now among the k nearest of i. Edges between old points stay what they are, so the graph
    has a few that a graph made anew would no longer have, and lacks those of old points that have a new neighbour which
    does not count them among its own.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.neighbors import KnnSettings, knn_affinity
    >>> from tightcut.neighbors.extension import extended_affinity
    >>> line = np.array([[0.0], [1.0], [3.0], [3.5]])
    >>> grown, _ = extended_affinity(knn_affinity(line[:3], 1), line, 3, KnnSettings(1))
    >>> grown.toarray().round(4)[3].tolist()
    [0.0, 0.0, 0.0183, 0.0]
    """
    points = apply_metric(points, settings.metric)
    n, scale = points.shape[0], unit_scale(points)
    k = min(settings.n_neighbors, n - 1)
    new, index = points[n_old:], _projected_index(points, settings, index)
    search = index or make_index(points, settings.neighbors, n_jobs=settings.n_jobs)
    found = search.kneighbors(new, n_neighbors=k + 1)[1]
    rank = _rank_sparse if sp.issparse(points) else rank_others
    distances, neighbors = rank(new, points, found, scale, n_old)
    rows = np.repeat(np.arange(n_old, n), k)
    columns, lengths = neighbors.ravel(), distances.ravel()
    directed = gaussian_similarity(distances, distances[:, -1:]).ravel()
    old = columns < n_old
    met = sp.csr_array((np.ones(int(old.sum())), (columns[old], rows[old])), shape=(n, n))
    sigma = _scales(enlarged(affinity, n), met, points, min(settings.n_neighbors, n_old - 1), scale)
    back = np.where(lengths[old] <= sigma[columns[old]], gaussian_similarity(lengths[old], sigma[columns[old]]), 0.0)
    ends = np.append(rows, columns[old]), np.append(columns, rows[old])
    added = sp.csr_array((np.append(directed, back), ends), shape=(n, n))
    added.eliminate_zeros()
    grown = sp.csr_array(enlarged(affinity, n) + symmetrized(added, settings.symmetrize))
    if settings.connect:
        grown = _connect(grown, points, n_old, sigma, distances[:, -1], settings)
    grown.sort_indices()
    return grown, index


def _projected_index(
    points: Points, settings: KnnSettings, index: ProjectedNeighbors | None
) -> ProjectedNeighbors | None:
    if sp.issparse(points) or settings.neighbors not in {"auto", "blocked"}:
        return None
    grown = None if index is None else index.grown(points)
    return grown or ProjectedNeighbors.make(points, settings.n_neighbors, settings.n_jobs)


def enlarged(affinity: sp.csr_array, n: int) -> sp.csr_array:
    """The same edges among n vertices, of which the further ones have none."""
    indptr = np.append(affinity.indptr, np.full(n - affinity.shape[0], affinity.indptr[-1], affinity.indptr.dtype))
    return sp.csr_array((affinity.data, affinity.indices, indptr), shape=(n, n))


def _rank_sparse(
    new: Points, points: Points, found: np.ndarray, scale: float, n_old: int
) -> tuple[np.ndarray, np.ndarray]:
    """`rank_others` for sparse rows, whose kernel takes all of them."""
    own = found == (n_old + np.arange(new.shape[0]))[:, None]
    own[~own.any(axis=1), -1] = True
    neighbors = found[~own].reshape(len(found), -1)
    return np.sqrt(2 * pair_half_squares(new, np.arange(len(found)), points, neighbors, scale)) / scale, neighbors


def _scales(affinity: sp.csr_array, met: sp.csr_array, points: Points, k: int, scale: float) -> np.ndarray:
    """The distance of each old point that new ones have met to its k-th neighbour; infinite for all others.

    An old point has edges to its k nearest, and to those that count it among theirs, which are no nearer than the k-th.
    """
    sigma = np.full(points.shape[0], np.inf)
    chosen = np.flatnonzero(np.diff(met.indptr))
    edges = sp.csr_array(affinity[chosen] + met[chosen])
    counts = np.diff(edges.indptr)
    sources = np.repeat(np.arange(len(chosen)), counts)
    half_squares = pair_half_squares(points, chosen[sources], points, edges.indices[:, None].astype(np.int64), scale)
    ordered = half_squares.ravel()[np.lexsort((half_squares.ravel(), sources))]
    some = counts > 0
    last = edges.indptr[:-1] + np.minimum(k, counts) - 1
    sigma[chosen[some]] = np.sqrt(2 * ordered[last[some]]) / scale
    return sigma


def _connect(
    grown: sp.csr_array, points: Points, n_old: int, sigma: np.ndarray, own: np.ndarray, settings: KnnSettings
) -> sp.csr_array:
    """Join what holds new points only to the nearest old point, by the shortest link of each component."""
    n = grown.shape[0]
    vertex = np.maximum(np.arange(n) - n_old + 1, 0)  # 0 stands for all old points
    arcs = grown[n_old:].tocoo()
    joined = sp.coo_array((arcs.data, (arcs.row + 1, vertex[arcs.col])), shape=(n - n_old + 1,) * 2)
    count, component = sp.csgraph.connected_components(joined, directed=False)
    apart = np.flatnonzero(component[1:] != component[0])
    if len(apart) == 0:
        return grown
    index = make_index(points[:n_old], settings.neighbors, n_jobs=settings.n_jobs)
    lengths, nearest = (found.ravel() for found in index.kneighbors(points[n_old + apart], n_neighbors=1))
    order = np.lexsort((lengths, component[1:][apart]))
    first = order[np.unique(component[1:][apart][order], return_index=True)[1]]
    left, right = n_old + apart[first], nearest[first]
    ends = np.where(np.isfinite(sigma[right]), sigma[right], 0.0)
    weights = gaussian_similarity(lengths[first], np.maximum(own[apart[first]], ends))
    bridges = sp.csr_array((np.maximum(weights, SMALLEST_BRIDGE), (left, right)), shape=(n, n))
    warn(DisconnectedGraphWarning(int(count), len(first)))
    return sp.csr_array(grown + bridges + bridges.T)
