"""A diffused graph: similarities by a few steps of a random walk."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.points import alike_blocks
from tightcut.problem.graph import add_vertices, without_diagonal

LARGEST = 30  # edges kept from each point
KEPT_ON_THE_WAY = 4 * LARGEST  # per row after each step


def diffused(affinity: sp.csr_array, steps: int, largest: int = LARGEST) -> sp.csr_array:
    r"""The similarities after some lazy steps of a random walk, the largest of each row.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        Symmetric, non-negative, no diagonal.
    steps : int
        0 leaves the graph as it is.
    largest : int, default=30
        Edges kept from each point, before both directions are averaged.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, no diagonal, sorted indices.

    Notes
    -----
    With :math:`P = D^{-1} W` a lazy step is :math:`L = (I + P) / 2`. Of each row of :math:`L^t` the largest entries off
    the diagonal are kept, and :math:`(L^t + L^{tT}) / 2` is the new graph. Edges between two clusters, which few short
    paths connect, become weaker than edges inside a cluster, whose ends are connected by many.

    A connected graph stays connected: an edge without which it would fall apart keeps the weight of one step.

    Between steps only the largest entries of each row are kept, four times as many as in the result: O(n) entries at
    any time.

    Examples
    --------
    Two triangles and an edge between them. After two steps it weighs less than an edge inside:

    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from tightcut.neighbors.diffusion import diffused
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> W = np.kron(np.eye(2), triangle)
    >>> W[2, 3] = W[3, 2] = 1
    >>> diffused(sp.csr_array(W), 2).toarray()[2].round(3).tolist()
    [0.26, 0.26, 0.0, 0.167, 0.035, 0.035]
    """
    if steps == 0:
        return affinity
    degrees, step = _lazy_step(affinity)
    shares = 0.5 / np.where(degrees > 0, degrees, 1.0)
    kept = largest_of_each_row(without_diagonal(_walk(step, step, steps)), largest)
    both = sp.csr_array(kept + kept.T) / 2
    torn = sp.csgraph.connected_components(both, directed=False)[1]
    rows = np.repeat(np.arange(len(degrees)), np.diff(affinity.indptr))
    lost = np.flatnonzero(torn[rows] != torn[affinity.indices])  # edges between parts that are now disconnected
    if len(lost):
        weights = (shares[rows[lost]] + shares[affinity.indices[lost]]) / 2 * affinity.data[lost]
        both = sp.csr_array(both + sp.csr_array((weights, (rows[lost], affinity.indices[lost])), shape=both.shape))
    both.sort_indices()
    return both


def extend_diffused(old: sp.csr_array, affinity: sp.csr_array, steps: int, largest: int = LARGEST) -> sp.csr_array:
    r"""A diffused graph with edges for new points; the work depends on their number.

    Parameters
    ----------
    old : csr_array of shape (n_old, n_old)
        The diffused graph of the first points, which stays as it is.
    affinity : csr_array of shape (n, n)
        The graph of all points before any diffusion.
    steps, largest : int
        As in `diffused`.

    Returns
    -------
    csr_array of shape (n, n)

    Notes
    -----
    Only the walks that begin at new points are followed. The walk in the other direction has the same probability up to
    the degrees, :math:`(L^t)_{ji} = (L^t)_{ij} \, d_i / d_j`, so that the weight of an edge of a new point is that of
    `diffused`. An edge that only the other end would have kept is missing.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from tightcut.neighbors.diffusion import diffused, extend_diffused
    >>> path = sp.csr_array(np.eye(5, k=1) + np.eye(5, k=-1))
    >>> grown = extend_diffused(diffused(path[:4][:, :4], 2), path, 2)
    >>> bool(np.allclose(grown[[4]].toarray(), diffused(path, 2)[[4]].toarray()))
    True
    """
    n, n_old = affinity.shape[0], old.shape[0]
    degrees, step = _lazy_step(affinity)
    walk = sp.coo_array(_walk(step[n_old:], step, steps))
    new, other = walk.coords[0] + n_old, walk.coords[1]
    apart = new != other
    rows = sp.csr_array((walk.data[apart], (walk.coords[0][apart], other[apart])), shape=walk.shape)
    kept = sp.coo_array(largest_of_each_row(rows, largest))
    new, other = kept.coords[0] + n_old, kept.coords[1]
    weights = kept.data * (1 + degrees[new] / np.where(degrees[other] > 0, degrees[other], 1.0)) / 2
    # An edge between two new points is in the rows of both, or of one of them.
    added = sp.csr_array((weights, (new, other)), shape=(n, n))
    result = sp.csr_array(add_vertices(old, n) + added.maximum(added.T))
    result.sort_indices()
    return result


def _lazy_step(affinity: sp.csr_array) -> tuple[np.ndarray, sp.csr_array]:
    """The degrees, and the matrix of one lazy step of the walk."""
    degrees = np.asarray(affinity.sum(axis=1)).ravel()
    shares = 0.5 / np.where(degrees > 0, degrees, 1.0)
    stay = sp.diags_array(np.where(degrees > 0, 0.5, 1.0))
    return degrees, sp.csr_array(sp.diags_array(shares) @ affinity + stay)


def _walk(start: sp.csr_array, step: sp.csr_array, steps: int) -> sp.csr_array:
    """Distributions of walks after all steps, given those after the first."""
    for _ in range(steps - 1):
        start = largest_of_each_row(sp.csr_array(start @ step), KEPT_ON_THE_WAY)
    return start


def largest_of_each_row(matrix: sp.csr_array, count: int) -> sp.csr_array:
    """The `count` largest entries of each row; of equal entries the first ones."""
    lengths = np.diff(matrix.indptr)
    longer = np.flatnonzero(lengths > count)
    if len(longer) == 0:
        return matrix
    matrix.sort_indices()
    kept = np.ones(matrix.nnz, dtype=bool)
    for rows in alike_blocks(lengths, longer):
        width = lengths[rows[0]]
        inside = np.arange(width) < lengths[rows, None]
        places = (matrix.indptr[rows, None] + np.arange(width))[inside]
        entries = np.full(inside.shape, -np.inf)
        entries[inside] = matrix.data[places]
        smallest = np.partition(entries, width - count, axis=1)[:, [width - count]]
        larger, ties = entries > smallest, entries == smallest
        room = count - np.count_nonzero(larger, axis=1, keepdims=True)
        kept[places] = (larger | (ties & (np.cumsum(ties, axis=1) <= room)))[inside]
    indptr = np.append(0, np.cumsum(kept))[matrix.indptr]
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)
