"""The largest eigenpairs of a symmetric matrix: a dense solver if it is small, Lanczos otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

DENSE_LIMIT = 500  # rows up to which all eigenvalues take less time than Lanczos for a few


def largest_eigenpairs(
    matrix: Any, count: int, start: Callable[[], np.ndarray], metric: sp.csr_array | None = None, **lanczos: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric matrix or `LinearOperator`, decreasing, and their unit eigenvectors.

    With a `metric` M, those of the pencil (matrix, M). Fewer than `count` if Lanczos does not converge; it starts from
    `start()`, and takes further options of `eigsh`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from tightcut.problem.spectral import largest_eigenpairs
    >>> largest_eigenpairs(sp.diags_array([1.0, 3.0, 2.0]), 2, lambda: np.ones(3))[0].tolist()
    [3.0, 2.0]
    """
    n = matrix.shape[0]
    count = min(count, n)
    if n <= max(DENSE_LIMIT, 2 * count):
        dense = matrix @ np.eye(n) if isinstance(matrix, LinearOperator) else matrix.toarray()
        right = None if metric is None else metric.toarray()
        values, vectors = scipy.linalg.eigh((dense + dense.T) / 2, right, subset_by_index=[n - count, n - 1])
    else:
        try:
            values, vectors = eigsh(matrix, count, metric, which="LA", v0=start(), **lanczos)
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(-values)
    return values[order], vectors[:, order]
