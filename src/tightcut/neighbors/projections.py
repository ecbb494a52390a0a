"""Projections onto few principal components; projected distances are lower bounds that rule out candidates.

An orthogonal projection makes no distance larger. If two projections are farther apart than a search radius, so are the
points, and their distance need not be known. On the principal components of images, a product a tenth as long rules out
all but a few pairs in a thousand. The components come from a sample, and so does their number: the one with the least
work. Points that spread evenly over all directions have no useful projection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from tightcut.neighbors.cell_pairs import Differences
from tightcut.neighbors.points import row_blocks
from tightcut.neighbors.threads import single_threaded_blas

MIN_POINTS, MIN_FEATURES = 5000, 64  # with fewer there is little to save
SAMPLE, QUERIES = 500, 64  # points that give the components, and those whose neighbours are searched for
STEP, MAX_COMPONENTS = 16, 256  # numbers of components that are tried
# Cost of a pair in units of a feature of a matrix product: a look at its bound, and a feature of an exact distance.
BOUND_COST, DIFFERENCE_COST = 10, 8
RELATIVE = 1e-5  # share of a squared distance given away for rounding; see `Projection.differences`


@dataclass(frozen=True, eq=False)
class Projection:
    """Coordinates of the scaled points in float32, and by how much rounding may have put two of them too far apart.

    Coordinates are relative to the `centre`, along the columns of `components`.
    """

    points: np.ndarray
    error: float
    centre: np.ndarray | None = None
    components: np.ndarray | None = None

    def differences(self, queries: np.ndarray, points: np.ndarray, scale: float) -> Differences:
        """How distances between these points, of which both sides have been projected, are measured.

        Notes
        -----
        Let h be the sum of the half norms of two projections and b the error of a projection. Half their squared distance
        is computed as at most s + e h + (b sqrt(2 s) + b^2 / 2), where s is its true value and e the rounding error of a
        product. By the inequality of means the bracket is at most r s + b^2 / r, where r is `RELATIVE`, and s is at most
        4 h + b^2. So the computed value, less (e + 4 r) h and 2 b^2 / r, is at most s, which is at most that of the
        points.
        """
        rounding = (2 * self.points.shape[1] + 32) * float(np.finfo(np.float32).eps) / 2
        share, margin = 1 - rounding - 4 * RELATIVE, 2 * self.error**2 / RELATIVE
        return Differences(queries, points, scale, share, margin, self.error, np.float32)

    def grown(self, others: np.ndarray, scale: float) -> Projection:
        """The projection of these points and others."""
        added = self.of(others, scale)
        return replace(added, points=np.concatenate([self.points, added.points]))

    def of(self, others: np.ndarray, scale: float) -> Projection:
        """The projection of other points; the error is that of a pair of either."""
        projected = _project(others, self.centre, self.components, scale)
        return replace(self, points=projected, error=max(self.error, _error(projected)))


@single_threaded_blas()
def useful_projection(points: np.ndarray, n_neighbors: int, scale: float) -> Projection | None:
    """The projection that makes the search for neighbours fastest, by estimate; None if it is not twice as fast."""
    n, n_features = points.shape
    if n < MIN_POINTS or n_features < MIN_FEATURES:
        return None
    rng = np.random.default_rng(0)
    sample = _centre(points[rng.choice(n, SAMPLE, replace=False)], scale)
    centre = sample.mean(axis=0)
    sample -= centre
    sizes = np.arange(STEP, min(MAX_COMPONENTS, n_features // 3) + 1, STEP)
    components = _principal_components(sample, sizes[-1])
    del sample
    queries = _centre(points[rng.choice(n, QUERIES, replace=False)], scale, centre)
    bounds = _neighbor_half_squares(points, queries, centre, n_neighbors, scale)
    others = _project(points[rng.choice(n, SAMPLE, replace=False)], centre, components, scale)
    measured = _shares_within(queries @ components, others, bounds, sizes)
    cost = sizes + BOUND_COST + DIFFERENCE_COST * n_features * measured
    best = int(cost.argmin())
    if cost[best] > n_features / 2:
        return None
    components = np.ascontiguousarray(components[:, : sizes[best]])
    projected = _project(points, centre, components, scale)
    return Projection(projected, _error(projected), centre, components)


def _error(projected: np.ndarray) -> float:
    longest = float(np.sqrt(np.einsum("ij,ij->i", projected, projected, dtype=np.float64).max()))
    return 2 * float(np.finfo(np.float32).eps) * longest


def _principal_components(centred: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal columns, those along which the rows spread most first.

    From the eigenvectors of the products of the rows, which are fewer than the features of images.
    """
    n = len(centred)
    _, vectors = scipy.linalg.eigh(centred @ centred.T, subset_by_index=(n - count, n - 1))
    return np.linalg.qr(centred.T @ vectors[:, ::-1])[0]


def _project(points: np.ndarray, centre: Any, components: Any, scale: float) -> np.ndarray:
    projected = np.empty((len(points), components.shape[1]), np.float32)
    for part in row_blocks(points):
        projected[part] = _centre(points[part], scale, centre) @ components
    return projected


def _neighbor_half_squares(
    points: np.ndarray, queries: np.ndarray, centre: np.ndarray, k: int, scale: float
) -> np.ndarray:
    """About half the squared distance from each query, itself a point, to its k-th neighbour."""
    nearest = np.full((len(queries), k + 1), np.inf)
    for part in row_blocks(points):
        half_squares = _half_squares(queries, _centre(points[part], scale, centre))
        nearest = np.partition(np.concatenate([nearest, half_squares], axis=1), k, axis=1)[:, : k + 1]
    return nearest[:, k]


def _shares_within(queries: np.ndarray, others: np.ndarray, bounds: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each number of leading coordinates, the share of pairs that are within bounds by those alone."""
    half_squares, shares, start = np.zeros((len(queries), len(others))), [], 0
    for size in sizes.tolist():
        half_squares += _half_squares(queries[:, start:size], others[:, start:size])
        shares.append(float((half_squares <= bounds[:, None]).mean()))
        start = size
    return np.array(shares)


def _half_squares(queries: np.ndarray, others: np.ndarray) -> np.ndarray:
    half_norms = (np.einsum("ij,ij->i", some, some) / 2 for some in (queries, others))
    return np.add.outer(*half_norms) - queries @ others.T


def _centre(block: np.ndarray, scale: float, centre: np.ndarray | float = 0.0) -> np.ndarray:
    """Scaled rows less the centre in float64. In place: whether numpy would reuse a temporary depends on Python."""
    result = np.multiply(block, scale, dtype=np.float64)
    result -= centre
    return result
