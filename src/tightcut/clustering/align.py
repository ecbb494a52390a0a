"""Give a new clustering the numbers of an old one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tightcut.problem.pairs import to_array
from tightcut.problem.sources import is_none
from tightcut.utils.codes import factorize

NO_CLUSTER = -1
TOO_LARGE = 2**63  # for an array of 64-bit integers


def align(labels_old: Any, labels_new: Any) -> np.ndarray:
    """Give the clusters of a new clustering the labels of the old clusters that they overlap most.

    The two clusters with the most points in common are matched first, then the next two of which neither is matched yet,
    and so on. A new cluster without a match gets a label that no old cluster has, so that no label changes its meaning:
    numbers above all old ones, or "new 1", "new 2", ... where labels are names.

    Parameters
    ----------
    labels_old : array-like of shape (n,)
        Whole numbers or names; -1, None and NaN for points that had no cluster, such as those that are new.
    labels_new : array-like of shape (n,)
        Labels of the same points in the same order. Points with -1, None or NaN stay without a cluster.

    Returns
    -------
    ndarray of shape (n,)
        The new clustering in the labels of the old one; an array of objects if they are names, or do not fit into 64 bits.

    Examples
    --------
    >>> from tightcut import align
    >>> align([5, 5, 5, 8, 8, 8], [1, 1, 1, 1, 0, 0]).tolist()
    [5, 5, 5, 5, 8, 8]
    >>> align(["anna", "anna", "ben", None], [2, 2, 0, 1]).tolist()
    ['anna', 'anna', 'ben', 'new 1']
    """
    old_names, old = _read(labels_old, "labels_old")
    new_names, new = _read(labels_new, "labels_new")
    if len(old) != len(new):
        raise ValueError(
            f"labels_old has {len(old)} entries but labels_new has {len(new)}; give both for the same points, with -1 or "
            "None in labels_old for points that are new."
        )
    match = _match(old, new, len(old_names), len(new_names))
    fresh = _fresh_names(old_names, int((match < 0).sum()))
    named = [old_names[own] if own >= 0 else next(fresh) for own in match.tolist()]
    textual = any(isinstance(name, str) for name in named or old_names)
    nothing = None if textual else NO_CLUSTER
    values = [*named, nothing]
    large = not textual and (max(values) >= TOO_LARGE or min(values) < -TOO_LARGE)
    return np.array(values, dtype=object if textual or large else np.int64)[new]


def _read(labels: Any, name: str) -> tuple[list[Any], np.ndarray]:
    """The distinct labels in order of appearance, and for each point the position of its label; -1 for none."""
    array = to_array(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one label per point, shape (n,); got shape {array.shape}.")
    values = [None if is_none(value) or value == NO_CLUSTER else value for value in array.tolist()]
    known, found = factorize([value for value in values if value is not None])
    for value in known:
        if not isinstance(value, (str, int)) and not (isinstance(value, float) and value.is_integer()):
            raise ValueError(f"{name}: {value!r} is not a label; use whole numbers or names.")
    if len({isinstance(value, str) for value in known}) > 1:
        raise ValueError(f"{name} mixes whole numbers and names; use one of the two.")
    codes = np.full(len(values), NO_CLUSTER)
    codes[[value is not None for value in values]] = found
    return [value if isinstance(value, str) else int(value) for value in known], codes


def _match(old: np.ndarray, new: np.ndarray, n_old: int, n_new: int) -> np.ndarray:
    """The old cluster of each new one, -1 for none: greedily by overlap; of equal overlaps the earlier cluster first."""
    both = (old >= 0) & (new >= 0)
    keys, overlap = np.unique(old[both] * max(n_new, 1) + new[both], return_counts=True)
    match, taken = np.full(n_new, -1), np.zeros(n_old, bool)
    for key in keys[np.argsort(-overlap, kind="stable")].tolist():
        own, other = divmod(key, max(n_new, 1))
        if not taken[own] and match[other] < 0:
            match[other], taken[own] = own, True
    return match


def _fresh_names(known: list[Any], count: int) -> Any:
    """Labels that differ from all known ones."""
    if known and isinstance(known[0], str):
        used = set(known)
        names = (f"new {number}" for number in range(1, len(known) + count + 1))
        return (name for name in names if name not in used)
    start = max([NO_CLUSTER, *known]) + 1
    return iter(range(start, start + count))
