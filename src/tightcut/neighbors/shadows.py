"""Shadows: points in fewer dimensions, of which no two are farther apart than the points themselves.

A shadow is the projection on a few orthonormal directions. If two shadows are farther apart than some reach, so are the
points, and their distance need not be known. On the principal directions of images, a product a tenth as long rules out
all but a few pairs in a thousand. The directions come from a sample, and so does their number: the one with the least
work. Points that spread evenly over all directions cast no useful shadow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tightcut.neighbors.cells import Cells
from tightcut.neighbors.meeting import Lists, Meeting
from tightcut.neighbors.threads import one_core_products

FEWEST_POINTS, FEWEST_FEATURES = 5000, 64
SAMPLE, QUERIES = 500, 64  # points that show the directions, and those whose neighbours are looked for
STEP, MOST = 16, 256  # numbers of directions that are tried
# Work per pair in units of a feature of a matrix product: looking at it, and a feature of a distance by differences.
LOOK, DIFFERENCE = 10, 8
BLOCK_ENTRIES = 1 << 19  # coordinates handled at a time
RELATIVE = 1e-5  # share of a squared distance given away for the rounding of shadows; see `ShadowMeeting`


@dataclass(frozen=True, eq=False)
class Shadows:
    """Shadows of scaled points, and by how much rounding may have put two of them too far apart."""

    points: np.ndarray
    blur: float


@one_core_products()
def cast_shadows(points: np.ndarray, n_neighbors: int, scale: float) -> Shadows | None:
    """Shadows that make the search for neighbours at least twice as fast; None if there are none."""
    n, n_features = points.shape
    if n < FEWEST_POINTS or n_features < FEWEST_FEATURES:
        return None
    rng = np.random.default_rng(0)
    sample = _scaled(points, rng.choice(n, SAMPLE, replace=False), scale)
    centre = sample.mean(axis=0)
    sample -= centre
    sizes = np.arange(STEP, min(MOST, n_features // 3) + 1, STEP)
    directions = _principal_directions(sample, sizes[-1])
    del sample
    queries = _scaled(points, rng.choice(n, QUERIES, replace=False), scale) - centre
    reach = _reach(points, queries, centre, n_neighbors, scale)
    others = _projected(points[rng.choice(n, SAMPLE, replace=False)], centre, directions, scale)
    work = sizes + LOOK + DIFFERENCE * n_features * _shares_within(queries @ directions, others, reach, sizes)
    best = int(work.argmin())
    if work[best] > n_features / 2:
        return None
    shadows = _projected(points, centre, directions[:, : sizes[best]], scale)
    widest = float(np.sqrt(np.einsum("ij,ij->i", shadows, shadows, dtype=np.float64).max()))
    return Shadows(shadows, 2 * float(np.finfo(np.float32).eps) * widest)


class ShadowMeeting(Meeting):
    """Cells of shadows that exchange candidates; a candidate's distance is that of the points, in float64.

    Let h be the sum of half the squared norms of two shadows and b the blur. Half their squared distance comes out as
    at most s + e h + (b sqrt(2 s) + b^2 / 2), where s is its true value and e the rounding error of a product. By the
    inequality of means the bracket is at most RELATIVE s + b^2 / RELATIVE, and s is at most 4 h + b^2. So what comes
    out, less (e + 4 RELATIVE) h and 2 b^2 / RELATIVE, is no more than s, which is no more than for the points.
    """

    def __init__(self, shadows: Shadows, cells: Cells, lists: Lists, points: np.ndarray, scale: float) -> None:
        super().__init__(shadows.points, cells, 1.0, lists)
        self._blur, self._true_points, self._true_scale = shadows.blur, points, scale
        rounding = (2 * shadows.points.shape[1] + 32) * float(np.finfo(np.float32).eps) / 2
        self._kept = np.float32(1 - rounding - 4 * RELATIVE)
        self._given = np.float32(2 * shadows.blur**2 / RELATIVE)

    def _reach(self, part: slice) -> np.ndarray:
        return super()._reach(part) + self._blur

    def _offer(self, *block: np.ndarray, diagonal: bool) -> None:
        from tightcut._kernels.neighbors import offer_if_near

        products, left_halves, right_halves, left, right = block
        lowest = left_halves * self._kept - self._given, right_halves * self._kept
        lists = self._lists.distance, self._lists.number, self._lists.limit
        points = self._true_points, self._true_scale
        offer_if_near(products, *lowest, left, right, self._names, *points, *lists, diagonal)


def _principal_directions(centred: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal columns, those along which the rows spread most first."""
    n = len(centred)
    _, vectors = scipy.linalg.eigh(centred @ centred.T, subset_by_index=(n - count, n - 1))
    return np.linalg.qr(centred.T @ vectors[:, ::-1])[0]


def _projected(points: np.ndarray, centre: np.ndarray, directions: np.ndarray, scale: float) -> np.ndarray:
    projected = np.empty((len(points), directions.shape[1]), np.float32)
    for part in _parts(*points.shape):
        projected[part] = (_scaled(points, part, scale) - centre) @ directions
    return projected


def _reach(points: np.ndarray, queries: np.ndarray, centre: np.ndarray, k: int, scale: float) -> np.ndarray:
    """About half the squared distance from each query, itself a point, to its k-th neighbour."""
    nearest = np.full((len(queries), k + 1), np.inf)
    for part in _parts(*points.shape):
        halves = _half_squares(queries, _scaled(points, part, scale) - centre)
        nearest = np.partition(np.concatenate([nearest, halves], axis=1), k, axis=1)[:, : k + 1]
    return nearest[:, k]


def _shares_within(queries: np.ndarray, others: np.ndarray, reach: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each number of leading coordinates, the share of pairs that are within reach by those alone."""
    halves, shares, start = np.zeros((len(queries), len(others))), [], 0
    for size in sizes.tolist():
        halves += _half_squares(queries[:, start:size], others[:, start:size])
        shares.append(float((halves <= reach[:, None]).mean()))
        start = size
    return np.array(shares)


def _half_squares(queries: np.ndarray, others: np.ndarray) -> np.ndarray:
    norms = (np.einsum("ij,ij->i", some, some) / 2 for some in (queries, others))
    return np.add.outer(*norms) - queries @ others.T


def _parts(n: int, n_features: int) -> list[slice]:
    step = max(1, BLOCK_ENTRIES // n_features)
    return [slice(start, start + step) for start in range(0, n, step)]


def _scaled(points: np.ndarray, rows: np.ndarray | slice, scale: float) -> np.ndarray:
    return points[rows].astype(np.float64) * scale
