"""The lowest eigenpairs of a symmetric matrix that is the sum of a sparse one and a few dense columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

DENSE_LIMIT = 900  # rows up to which the dense solver takes less time


def lowest_eigenpairs(
    product: Callable[[np.ndarray], np.ndarray], n: int, count: int, span: float, accuracy: float, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Increasing eigenvalues, approximate, and their unit eigenvectors.

    Parameters
    ----------
    product : callable
        The matrix times a matrix of columns.
    count : int
        How many; all, if there are no more. Lanczos returns those that it has found.
    span : float
        The size of the largest eigenvalues. Lanczos measures its residuals against it, and not against eigenvalues that
        may be 0.
    accuracy : float
        Of residuals, as a share of the span.
    start : ndarray of shape (n,)
        Where Lanczos begins.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.certificates.eigenvalues import lowest_eigenpairs
    >>> lowest_eigenpairs(lambda x: np.diag([2.0, 0.0, 1.0]) @ x, 3, 2, 2.0, 1e-6, np.ones(3))[0].tolist()
    [0.0, 1.0]
    """
    count = min(count, n)
    if n <= max(DENSE_LIMIT, 2 * count + 20):
        dense = product(np.eye(n))
        return scipy.linalg.eigh((dense + dense.T) / 2, subset_by_index=[0, count - 1], check_finite=False)
    shifted = LinearOperator((n, n), matvec=lambda x: product(x[:, None])[:, 0] - span * x, dtype=np.float64)
    subspace = min(n, max(4 * count + 20, 60))
    try:
        values, vectors = eigsh(shifted, count, which="SA", tol=accuracy, v0=start, ncv=subspace, maxiter=300)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(values)
    return values[order] + span, vectors[:, order]
