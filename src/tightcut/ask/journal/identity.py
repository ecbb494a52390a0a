"""Which data a journal belongs to: their number of rows, and a fingerprint of all values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.ask.journal.schema import Event
from tightcut.neighbors.points import check_mask, check_size
from tightcut.utils.display import count_noun
from tightcut.utils.sparse import to_csr
from tightcut.utils.validation import check_choice


def identify(X: Any, affinity: str = "knn") -> Event:
    """What the first line of a journal says of its data, points or with "precomputed" similarities."""
    X = check_data(X, affinity)
    return {"rows": int(X.shape[0]), "fingerprint": fingerprint(X)}


def check_data(X: Any, affinity: str) -> Any:
    """Points or similarities as an array, finite and with at least two rows."""
    check_choice("affinity", affinity, ("knn", "precomputed"))
    check_mask(X)
    if sp.issparse(X):
        X = to_csr(X)
        if affinity == "knn":
            X = X.toarray()
    else:
        try:
            X = np.asarray(X, dtype=None if _is_number_array(X) else np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must hold numbers, one row for each point: {error}") from None
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, one row for each point; got shape {X.shape}.")
    if X.shape[0] < 2:
        raise ValueError(f"There is nothing to ask about {count_noun(X.shape[0], 'point')}; at least 2 are needed.")
    if affinity == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(
            f'With affinity="precomputed" X holds the similarity of every two points; got shape {X.shape}.'
        )
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError("X contains NaN or infinity; fill or remove these values first.")
    if affinity == "knn" and X.size:
        check_size(X)
    return X


def _is_number_array(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind in "fiub"


def fingerprint(X: Any) -> str:
    """A short name of the data that changes with every value of it.

    Examples
    --------
    >>> import numpy as np
    >>> fingerprint(np.zeros((2, 2))) == fingerprint(np.zeros((2, 2)))
    True
    >>> fingerprint(np.zeros((2, 2))) == fingerprint(np.zeros((4, 1)))
    False
    """
    digest = hashlib.blake2b(repr(tuple(X.shape)).encode(), digest_size=16)
    for block in _blocks(X):
        digest.update(block)
    return digest.hexdigest()


def _blocks(X: Any) -> Iterable[bytes]:
    if hasattr(X, "indptr"):
        X = X.tocsr()
        for part in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(np.float64)):
            yield part.tobytes()
        return
    rows = max(1, (1 << 20) // max(1, X.shape[1]))
    for start in range(0, X.shape[0], rows):
        yield np.ascontiguousarray(X[start : start + rows], dtype=np.float64).tobytes()
