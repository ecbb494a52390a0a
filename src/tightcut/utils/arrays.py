"""Read numeric matrices; scikit-learn, whose import takes a second, is imported only if something must be converted."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.utils.sparse import to_csr

NUMBERS = (np.float64, np.float32)
LONGEST = 60  # characters of a value in a message


def read_matrix(
    X: Any,
    *,
    dtype: tuple[type, ...] = NUMBERS,
    ensure_min_samples: int = 1,
    ensure_non_negative: bool = False,
    **options: Any,
) -> Any:
    """A matrix of finite numbers, dense or in CSR form, as `sklearn.utils.check_array` returns it.

    Takes the parameters of that function, and calls it only for what it would not return unchanged: lists, data frames,
    other number types, and invalid input.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.arrays import read_matrix
    >>> X = np.eye(3)
    >>> read_matrix(X) is X, read_matrix([[1, 2]]).dtype
    (True, dtype('float64'))
    """
    if sp.issparse(X):
        X = to_csr(X, options.get("input_name", "X"))
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
    with np.errstate(over="ignore", invalid="ignore"):  # where the sum overflows, check_array looks at the entries
        return bool(np.isfinite(values.sum()))


def standardized(X: np.ndarray, ddof: int = 0) -> np.ndarray:
    """The columns scaled to mean 0 and variance 1, constant columns to 0. Variances divide by n - `ddof`.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.utils.arrays import standardized
    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    deviation = X.std(axis=0, ddof=ddof)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def why_unreadable(frame: Any) -> str | None:
    """Why a data frame is not a matrix of numbers: its first column with other values, and the first of these.

    Examples
    --------
    >>> import pandas as pd
    >>> from tightcut.utils.arrays import why_unreadable
    >>> why_unreadable(pd.DataFrame({"height": [1.8, 1.7], "town": ["Bern", "Rome"]}))
    "X, column 'town': 'Bern' is not a number. Leave the column out, or turn it into numbers first."
    """
    if hasattr(frame, "collect") and hasattr(frame, "collect_schema"):
        return "X is a lazy frame, whose values are not there yet; pass X.collect()."
    if not (hasattr(frame, "columns") and hasattr(frame, "dtypes")):
        return None
    for name in frame.columns:
        values = np.asarray(frame[name])
        bad = next((value for value in values.ravel().tolist() if not _is_number(value)), None)
        if values.dtype.kind in "mM":
            bad = values.ravel()[0]
        if bad is not None:
            return f"X, column {name!r}: {_quoted(bad)} is not a number. Leave the column out, or turn it into numbers first."
    return None


def where_not_finite(X: Any) -> str | None:
    """Where a matrix first holds NaN or infinity, and what to do about it; None if it does not.

    Examples
    --------
    >>> from tightcut.utils.arrays import where_not_finite
    >>> where_not_finite([[1.0, 2.0], [3.0, float("nan")]])
    'Input X contains NaN, first in row 1, column 1. Fill in such values (sklearn.impute does) or leave the rows out.'
    """
    try:
        matrix = sp.coo_array(X) if sp.issparse(X) else None
        entries = np.asarray(X if matrix is None else matrix.data)
        values = entries.astype(np.float64) if entries.dtype.kind != "c" else entries
    except (TypeError, ValueError):
        return None
    bad = ~np.isfinite(values)
    if not bad.any() or (matrix is None and values.ndim != 2):
        return None
    first = int(np.argmax(bad))
    what = "NaN" if np.isnan(values.ravel()[first]) else "infinity"
    row, column = divmod(first, values.shape[1]) if matrix is None else (matrix.row[first], matrix.col[first])
    name = repr(list(X.columns)[column]) if hasattr(X, "columns") else column
    return (
        f"Input X contains {what}, first in row {row}, column {name}. Fill in such values (sklearn.impute does) or leave the "
        "rows out."
    )


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        # pandas.NA and None are missing values, which have a message of their own.
        return value is None or type(value).__name__ in ("NAType", "NaTType")
    return True


def _quoted(value: Any) -> str:
    text = str(value) if isinstance(value, np.datetime64 | np.timedelta64) else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
