"""Scaling of columns (none, standard, quantile), and its automatic choice.

A distance between rows adds up squared differences over the columns. A column whose unit makes its numbers a thousand
times larger dominates all others. Pixels and embeddings share one unit, and their deviations are meaningful.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tightcut.neighbors.points import Points, is_memory_mapped, row_blocks
from tightcut.selection.categories import category_groups, step_between_neighbors
from tightcut.utils.validation import check_choice

SCALES = ("none", "standard", "quantile")
SCALED_TO = {"none": "as they are", "standard": "scaled to variance 1", "quantile": "replaced by their quantiles"}
BLOCK_ENTRIES = 1 << 22
ROWS_SAMPLED = 10_000  # from which deviations and quantiles are estimated
# Columns are scaled where their deviations differ by a larger factor, and less than this share of them counts.
LARGEST_RATIO, LEAST_SHARE = 30.0, 0.15
WITH_CATEGORIES = "a step from one category to another is as long as the way to a neighbour"
ALIKE = 1.05  # ratio of the largest to the smallest deviation of columns that are standardised already


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """A map of each column, learned from the points of a fit and applied to new points.

    Attributes
    ----------
    name : {"none", "standard", "quantile"}
    centre, divisor : ndarray of shape (n_features,) or None
        Mean and standard deviation, for "standard"; a constant column is divided by 1. Columns of categories
        (`tightcut.selection.categories`) are divided so that a step from one to another is as long as the way to a
        neighbour, also for "quantile".
    reference : ndarray of shape (n_features, m) or None
        Sorted values of each column, for "quantile".
    """

    name: str
    centre: np.ndarray | None = None
    divisor: np.ndarray | None = None
    reference: np.ndarray | None = None

    def transform(self, points: Points) -> Points:
        """The scaled points: float64 stays float64, other types become float32, and a file becomes a temporary file."""
        if self.name == "none":
            return points
        dtype = np.dtype(np.float64 if points.dtype == np.float64 else np.float32)
        blocks = (self._scaled(points[rows]) for rows in row_blocks(points, BLOCK_ENTRIES))
        if is_memory_mapped(points):
            return written(blocks, points.shape, dtype)
        return np.concatenate([block.astype(dtype, copy=False) for block in blocks])

    def _scaled(self, rows: np.ndarray) -> np.ndarray:
        if self.reference is None:
            return np.asarray((rows - self.centre) / self.divisor)
        # The mean of the shares of values that are smaller, and of those that are not larger: ties share their rank.
        shares = np.empty(rows.shape)
        for column, values in enumerate(self.reference):
            left, right = (np.searchsorted(values, rows[:, column], side) for side in ("left", "right"))
            shares[:, column] = (left + right) / (2 * len(values))
        return shares if self.divisor is None else shares / self.divisor


def fit_scale(points: Points, name: str) -> ColumnScale:
    """Learn one of `SCALES` from points.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.selection.scale import fit_scale
    >>> X = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 900.0]])
    >>> fit_scale(X, "quantile").transform(X).round(2).tolist()
    [[0.17, 0.33], [0.5, 0.33], [0.83, 0.83]]
    """
    check_choice("scale", name, SCALES)
    if name == "none":
        return ColumnScale(name)
    if sp.issparse(points):
        raise ValueError(f'scale="{name}" would make a sparse X dense; use scale="none", or give a dense array.')
    if name == "quantile":
        return _with_categories(ColumnScale(name, reference=np.sort(_sample(points).T, axis=1)), points)
    mean, deviation = moments(points)
    return _with_categories(ColumnScale(name, mean, np.where(deviation > 0, deviation, 1.0)), points)


def _with_categories(scale: ColumnScale, points: np.ndarray) -> ColumnScale:
    """The same scale, in which a step between categories is as long as the way to a neighbour by the numbers."""
    sample = _sample(points)
    groups = category_groups(sample)
    divisor = np.ones(points.shape[1]) if scale.divisor is None else scale.divisor.copy()
    is_number = np.ones(len(divisor), dtype=bool)
    for group in groups:
        is_number[group] = False
    if not groups or not is_number.any():
        return scale
    way = step_between_neighbors(np.asarray(scale.transform(sample), dtype=np.float64)[:, is_number])
    if way == 0:
        return scale
    # From one category to another two columns change: by 1, or by half in quantiles.
    divisor[~is_number] = np.sqrt(2) * (0.5 if scale.name == "quantile" else 1.0) / way
    return replace(scale, divisor=divisor)


def moments(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, in blocks of rows."""
    n, total = len(points), np.zeros(points.shape[1])
    for rows in row_blocks(points, BLOCK_ENTRIES):
        total += points[rows].sum(axis=0, dtype=np.float64)
    mean, squares = total / n, np.zeros(points.shape[1])
    for rows in row_blocks(points, BLOCK_ENTRIES):
        squares += np.square(points[rows] - mean).sum(axis=0)
    return mean, np.sqrt(squares / n)


def written(blocks: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Blocks of rows, one after the other, in a temporary file."""
    with tempfile.TemporaryFile(prefix="tightcut") as file:
        array: np.ndarray = np.memmap(file, dtype=dtype, mode="w+", shape=shape)
    start = 0
    for block in blocks:
        array[start : start + len(block)] = block
        start += len(block)
    array.flags.writeable = False
    return array


def judge_columns(points: Points) -> tuple[str, str]:
    r"""The scale that suits the columns, without looking at pairs, and the reason in one sentence.

    Returns
    -------
    scale : {"none", "standard", "quantile"}
        "standard" where there are numbers with one unit, and categories.
    reason : str

    Notes
    -----
    With variances :math:`v_j`, the number of columns that count in a distance is :math:`m = (\sum v_j)^2 / \sum v_j^2`:
    all of them if they vary alike, 1 if a single one dominates. Columns are replaced by their quantiles where
    :math:`m - 1 < 0.15 \, (d - 1)` of d columns that vary, and the largest standard deviation is more than 30 times the
    smallest. Pixels, spectra and embeddings have a large m; clusters far apart along one of a few columns, a small ratio.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.selection.scale import judge_columns
    >>> rng = np.random.default_rng(0)
    >>> people = np.column_stack([rng.normal(40, 12, 200), rng.lognormal(10, 1, 200)])  # age and income
    >>> judge_columns(people)[0], judge_columns(rng.normal(size=(200, 5)))[0]
    ('quantile', 'none')
    """
    if sp.issparse(points):
        return "none", "X is sparse"
    if points.dtype == np.uint8:
        return "none", "bytes, such as pixels, have one unit"
    sample = _sample(points)
    deviation = moments(sample)[1]
    categories = category_groups(sample)
    for group in categories:
        deviation[group] = 0
    largest = float(deviation.max(initial=0.0))
    if largest == 0:
        return "none", "only categories vary" if categories else "no column varies"
    variances = np.square(deviation[deviation > 0] / largest)
    count, n_columns = float(variances.sum() ** 2 / np.square(variances).sum()), len(variances)
    if n_columns == 1:
        return ("standard", WITH_CATEGORIES) if categories else ("none", "only one column varies")
    share = f"distances depend on about {max(round(count), 1)} of {n_columns} columns"
    if count - 1 < LEAST_SHARE * (n_columns - 1) and variances.min() * LARGEST_RATIO**2 < 1:
        return "quantile", f"units differ, and as they are, {share}"
    return ("standard", WITH_CATEGORIES) if categories else ("none", f"units are alike, and {share}")


def are_standardised(points: np.ndarray) -> bool:
    """Whether the columns that vary do so alike, up to 5 %: scaled to variance 1 they give the same neighbours."""
    deviation = moments(_sample(points))[1]
    varying = deviation[deviation > 0]
    return len(varying) == 0 or varying.max() < ALIKE * varying.min()


def _sample(points: np.ndarray) -> np.ndarray:
    """At most `ROWS_SAMPLED` rows, evenly spaced."""
    return np.asarray(points[:: -(-len(points) // ROWS_SAMPLED)])
