"""Points: checked once, then brought into the form whose euclidean distances are used."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from tightcut.utils.arrays import read_matrix, where_not_finite, why_unreadable

Points: TypeAlias = Any  # an ndarray or a csr_array, which has no type of its own

GIVEN = "precomputed"  # the metric of distances that are given
METRICS = ("euclidean", "cosine", GIVEN)
POINT_TYPES = (np.float64, np.float32, np.uint8)
BLOCK_ENTRIES = 1 << 20  # coordinates handled at a time
LARGEST_COORDINATE = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e37, np.dtype(np.uint8): 255}


def check_points(X: Any, check: Callable[..., Any] | None = None, **options: Any) -> Points:
    """The points as an array of one of `POINT_TYPES` in C order, or as a CSR array in canonical form.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features)
    check : callable, optional
        With the parameters of `sklearn.utils.check_array`; an estimator passes `partial(validate_data, self)`.
    **options
        Passed on to `check`.
    """
    # Neighbour search is fast on C order only; data frames arrive in Fortran order.
    options = {"dtype": POINT_TYPES, "order": "C", "accept_sparse": "csr"} | options
    try:
        points = (check or read_matrix)(X, **options)
    except (TypeError, ValueError) as error:
        reason = why_unreadable(X) or where_not_finite(X)
        if reason is None:
            raise
        raise ValueError(reason) from error
    check_mask(X)
    if sp.issparse(points):
        points = canonical(points)
    check_size(points)
    return points


def check_mask(X: Any) -> None:
    """Refuse masked values, which numpy and scikit-learn would use as if they were not masked."""
    if np.ma.is_masked(X):
        raise ValueError(
            f"X is a masked array, and {np.ma.count_masked(X)} of its values are masked: they have no distances. Leave their "
            "rows out, or fill them in: X.filled(value)."
        )


def check_size(points: Points) -> None:
    """Refuse numbers so large that their squares overflow."""
    largest = largest_coordinate(points)
    if largest > LARGEST_COORDINATE.get(points.dtype, np.inf):
        raise ValueError(f"X holds a value of size {largest:g}, whose square overflows; rescale the features first.")


def canonical(matrix: Any) -> sp.csr_array:
    """A CSR array with sorted indices, each once; the caller's matrix stays as it is."""
    points = sp.csr_array(matrix)
    if not points.has_canonical_format:
        points = points.copy()
        points.sum_duplicates()
    return points


def apply_metric(points: Points, metric: str) -> Points:
    """Points whose euclidean distances have the order of the metric: for "cosine" rows of norm 1, a copy in float64.

    The squared distance of two rows of norm 1 is twice their cosine distance. Rows are divided by their largest entry
    first, which is correctly rounded: a row and its exact multiples then give the same row, and no square overflows.
    """
    if metric == "euclidean":
        return points
    if sp.issparse(points):
        lengths = np.diff(points.indptr)
        size = abs(points).max(axis=1).toarray().ravel()
        _refuse_zero_rows(size)
        data = points.data / np.repeat(size, lengths).astype(np.float64)
        squares = sp.csr_array((data**2, points.indices, points.indptr), shape=points.shape).sum(axis=1)
        data /= np.repeat(np.sqrt(squares), lengths)
        return sp.csr_array((data, points.indices, points.indptr), shape=points.shape)
    size = np.maximum(points.max(axis=1), -points.min(axis=1).astype(np.float64))
    _refuse_zero_rows(size)
    rows = np.divide(points, size[:, None], dtype=np.float64)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def _refuse_zero_rows(size: np.ndarray) -> None:
    zero = np.flatnonzero(size == 0)
    if len(zero):
        rows = f"row {zero[0]} is" if len(zero) == 1 else f"{len(zero)} rows are, the first of them row {zero[0]}"
        raise ValueError(f'metric="cosine" needs rows that are not all zero; {rows}. Drop such rows first.')


def largest_coordinate(points: Points) -> float:
    return max(float(points.max()), -float(points.min()))


def check_units(new: Points, points: Points) -> None:
    """An error if two sets differ so much in size that the squares of one of them over- or underflow."""
    size, own = (largest_coordinate(some) for some in (new, points))
    if size > 1e100 * own > 0:
        raise ValueError(
            f"The new points reach {size:g}, those they are compared with {own:g}; are their units the same?"
        )


def unit_scale(points: Points) -> float:
    """A power of two that brings all coordinates into [-1/2, 1/2], so that no square over- or underflows.

    It is a number of the points' own precision, which the smallest float32 would need more than.
    """
    largest = largest_coordinate(points)
    if largest == 0:
        return 1.0
    return float(2.0 ** min(-np.ceil(np.log2(2 * largest)), 1000 if points.dtype == np.float64 else 120))


def row_blocks(points: np.ndarray, n_entries: int = BLOCK_ENTRIES) -> Iterator[slice]:
    """Consecutive rows, in blocks of about a given number of coordinates."""
    step = max(1, n_entries // points.shape[1])
    return (slice(start, start + step) for start in range(0, len(points), step))


def is_memory_mapped(array: Any) -> bool:
    """Whether an array, or the one that it is a view of, lies in a file."""
    while array is not None:
        if isinstance(array, (np.memmap, mmap.mmap)):
            return True
        array = getattr(array, "base", None)
    return False


def alike_blocks(lengths: np.ndarray, rows: np.ndarray, n_entries: int = BLOCK_ENTRIES) -> Iterator[np.ndarray]:
    """The rows in blocks of similar length, the longest first, of about `n_entries` if all are as long as the longest."""
    rows = rows[np.argsort(-lengths[rows], kind="stable")]
    while len(rows):
        block, rows = np.split(rows, [max(1, n_entries // max(int(lengths[rows[0]]), 1))])
        yield block
