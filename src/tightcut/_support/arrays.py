"""Arrays as they are expected; all else is left to scikit-learn, whose import takes a second."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

NUMBERS = (np.float64, np.float32)


def read_matrix(
    X: Any,
    *,
    dtype: tuple[type, ...] = NUMBERS,
    ensure_min_samples: int = 1,
    ensure_non_negative: bool = False,
    **options: Any,
) -> Any:
    """A matrix of finite numbers, dense or in CSR form, as `sklearn.utils.check_array` returns it.

    Takes the parameters of that function, which is called only for what it would not return unchanged: lists, data frames,
    other types of numbers, and whatever is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut._support.arrays import read_matrix
    >>> X = np.eye(3)
    >>> read_matrix(X) is X, read_matrix([[1, 2]]).dtype
    (True, dtype('float64'))
    """
    if _is_as_expected(X, dtype) and X.shape[0] >= ensure_min_samples and not (ensure_non_negative and X.min() < 0):
        return X
    from sklearn.utils import check_array

    given: dict[str, Any] = {"accept_sparse": "csr", "input_name": "X"} | options
    given |= {"ensure_min_samples": ensure_min_samples, "ensure_non_negative": ensure_non_negative}
    return check_array(X, dtype=dtype, **given)


def _is_as_expected(X: Any, dtypes: tuple[type, ...]) -> bool:
    if isinstance(X, sp.csr_array):
        values = X.data
    elif type(X) is np.ndarray and X.flags.c_contiguous:
        values = X
    else:
        return False
    if X.ndim != 2 or 0 in X.shape or X.dtype not in dtypes:
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # a sum that overflows is looked at more closely
        return bool(np.isfinite(values.sum()))
