"""Constraints from partial labels, groups, data frames and names.

Each function returns plain pairs for `Constraints.from_pairs`. Reading labels is O(n + K^2) for K classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.problem.closure import check_pair_count, count_within, pairs_within
from tightcut.problem.pairs import as_list, read_beliefs, read_indices, to_array
from tightcut.utils.codes import first_places
from tightcut.utils.validation import did_you_mean
from tightcut.utils.warning import warn

MUST_SPELLINGS = frozenset({"must", "must-link", "mustlink", "ml", "same", "1", "+1", "true"})
CANNOT_SPELLINGS = frozenset({"cannot", "cannot-link", "cannotlink", "cl", "different", "diff", "0", "-1", "false"})


def pairs_from_labels(labels: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """Number of points, must-links from the first point of each class to its others, cannot-links between the firsts.

    Examples
    --------
    >>> from tightcut.problem.sources import pairs_from_labels
    >>> n_points, must_link, cannot_link = pairs_from_labels(["a", None, "b", "a"])
    >>> must_link.tolist(), cannot_link.tolist()
    ([[0, 3]], [[0, 2]])
    """
    codes, n_classes = encode(labels, "labels")
    check_pair_count(
        n_classes * (n_classes - 1) // 2,
        f"Separating {n_classes:,} classes",
        "Are these labels class names, or measurements?",
    )
    known = np.flatnonzero(codes >= 0)
    first = known[first_places(codes[known], n_classes)]
    star = np.stack([first[codes[known]], known], axis=1)
    return len(codes), star[star[:, 0] != star[:, 1]], pairs_within(first, np.array([n_classes]))


def pairs_from_groups(groups: Any, n_points: int | None) -> tuple[int, np.ndarray]:
    """Number of points, and every pair of points that share a group.

    Examples
    --------
    >>> from tightcut.problem.sources import pairs_from_groups
    >>> pairs_from_groups([7, 8, 7, -1], None)[1].tolist()
    [[0, 2]]
    >>> pairs_from_groups([(0, 2), (2, 3)], 4)[1].tolist()
    [[0, 2], [2, 3]]
    """
    if n_points is None:
        codes, count = encode(groups, "groups")
        known = np.flatnonzero(codes >= 0)
        members = known[np.argsort(codes[known], kind="stable")]
        sizes = np.bincount(codes[known], minlength=count)
        n_points = len(codes)
    else:
        members, sizes = _members(groups, n_points)
    check_pair_count(
        count_within(sizes), "Keeping the members of these groups apart", "Split the largest groups, or sample pairs."
    )
    return n_points, pairs_within(members, sizes)


def pairs_from_frame(
    frame: Any, ids: Any, first: Any, second: Any, kind: Any, belief: Any
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Number of points, pairs of row numbers, whether each is a must-link, and its belief."""
    if not (hasattr(frame, "columns") and hasattr(frame, "__getitem__")):
        raise ValueError(f"frame must be a data frame with columns, of pandas or polars; got {type(frame).__name__}.")
    columns = list(frame.columns)
    roles = {"kind": kind, "belief": belief, "first": first, "second": second}
    kind, belief, first, second = (_column_name(columns, name, role) for role, name in roles.items())
    free = [column for column in columns if column not in (kind, belief, first, second)]
    if (first is None) + (second is None) > len(free):
        raise ValueError(f"frame must have two columns of identifiers beside {kind!r}; it has the columns {columns}.")
    first = free.pop(0) if first is None else first
    second = free.pop(0) if second is None else second

    position = _positions(ids)
    pairs = np.stack(
        [_look_up(position, _values(frame, first), first), _look_up(position, _values(frame, second), second)]
    )
    own = pairs[0] == pairs[1]
    if own.any():
        row = int(np.argmax(own))
        raise ValueError(f"frame row {row}: {_values(frame, first)[row]!r} is paired with itself; remove this row.")
    weights = None if belief is None else to_array(frame[belief])
    beliefs = read_beliefs(weights, pairs.shape[1], f"frame column {belief!r}")
    return len(position), pairs.T, _is_must(_values(frame, kind), kind), beliefs


def pairs_by_name(pairs: Any, names: Sequence[Any] | None, what: str) -> Any:
    """Pairs of row numbers for pairs of names; pairs that are row numbers, or no pairs at all, as they are.

    Numbers are row numbers, unless they are the names, as vertices of a graph object may be.

    Examples
    --------
    >>> from tightcut.problem.sources import pairs_by_name
    >>> pairs_by_name([("ann", "eve")], ["ann", "bob", "eve"], "must_link").tolist()
    [[0, 2]]
    >>> pairs_by_name([(0, 2)], ["ann", "bob", "eve"], "must_link")
    [(0, 2)]
    """
    if names is None or pairs is None or sp.issparse(pairs):
        return pairs
    texts = all(isinstance(name, str) for name in names)
    if texts and isinstance(pairs, np.ndarray) and pairs.dtype.kind in "iuf":
        return pairs
    pairs = as_list(pairs)
    listed = to_array(pairs).tolist() if hasattr(pairs, "to_numpy") else pairs
    try:
        ends = [end for pair in listed for end in pair]
    except TypeError:
        return pairs
    by_number = texts and not any(isinstance(end, str) for end in ends)
    if by_number or len(ends) != 2 * len(listed):
        return pairs
    position = _positions(names)
    try:
        unknown = next((row for row, end in enumerate(ends) if end not in position), None)
    except TypeError:
        return pairs
    if unknown is not None:
        known = f"they look like {next(iter(position), None)!r}"
        raise ValueError(
            f"{what} row {unknown // 2}: {ends[unknown]!r} is not among the {len(position):,} names of the data ({known})."
            f"{did_you_mean(str(ends[unknown]), list(map(str, position)))}"
        )
    return np.array([position[end] for end in ends], dtype=np.int64).reshape(-1, 2)


def encode(values: Any, name: str) -> tuple[np.ndarray, int]:
    """Codes 0, 1, ... for the distinct values, -1 for unknown ones (-1, None, NaN), and the number of codes.

    A text is never unknown; there is a warning if several points have an empty one, or "-1".

    Examples
    --------
    >>> from tightcut.problem.sources import encode
    >>> codes, count = encode(["cat", None, "dog", "cat"], "labels")
    >>> codes.tolist(), count
    ([0, -1, 1, 0], 2)
    """
    values = as_list(values)
    try:
        array = to_array(values)
    except ValueError:
        raise ValueError(
            f"{name} must hold one value per point, shape (n,); got lists of different lengths. Lists of the members "
            "of groups go to Constraints.from_groups together with n_points."
        ) from None
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # numpy turns the list [-1, "cat"] into strings, and -1 with it.
        array = np.array(list(values), dtype=object)
    if array.ndim != 1:
        raise ValueError(f"{name} must hold one value per point, shape (n,); got shape {array.shape}.")
    if array.dtype.kind == "f":
        known = ~np.isnan(array) & (array != -1)
        fractional = known & ~(np.isfinite(array) & (array == np.floor(array)))
        if fractional.any():
            row = int(np.argmax(fractional))
            raise ValueError(f"{name} row {row}: {array[row]:g} is not a whole number; these look like measurements.")
    elif array.dtype.kind in "biuUS":
        known = array != -1 if array.dtype.kind == "i" else np.ones(len(array), dtype=bool)
    else:
        return _encode_objects(array.tolist(), name)
    distinct, inverse = np.unique(array[known], return_inverse=True)
    if array.dtype.kind == "U":
        _warn_of_blanks(distinct.tolist(), np.bincount(inverse), name)
    codes = np.full(len(array), -1)
    codes[known] = inverse
    return codes, len(distinct)


def _encode_objects(values: list[Any], name: str) -> tuple[np.ndarray, int]:
    seen: dict[Any, int] = {}
    codes = np.full(len(values), -1)
    for row, value in enumerate(values):
        if (isinstance(value, Real) and value == -1) or is_none(value):
            continue
        try:
            codes[row] = seen.setdefault(value, len(seen))
        except TypeError:
            raise ValueError(f"{name} row {row}: {value!r} cannot name a class; use a number or a string.") from None
    _warn_of_blanks(list(seen), np.bincount(codes[codes >= 0]), name)
    return codes, len(seen)


def _warn_of_blanks(distinct: list[Any], counts: np.ndarray, name: str) -> None:
    """Warn if texts that probably stand for unknown values become the name of a class."""
    for value, count in zip(distinct, counts.tolist(), strict=True):
        if isinstance(value, str) and value.strip() in ("", "-1", "-1.0") and count > 1:
            warn(
                f"{name} holds the text {value!r} {count} times, and takes it for the name of a class or group. If it "
                "stands for unknown, replace it by None, or by the number -1 in an array of objects."
            )


def is_none(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or the missing values of pandas, which cannot be compared.

    Examples
    --------
    >>> from tightcut.problem.sources import is_none
    >>> is_none(None), is_none(float("nan")), is_none("")
    (True, True, False)
    """
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        # Neither pandas.NA nor an array has a truth value; only the array has a length.
        return not hasattr(value, "__len__")


def missing(values: np.ndarray) -> np.ndarray:
    """Which values of an array are missing."""
    if values.dtype.kind != "O":
        return np.asarray(values != values)
    return np.array([is_none(value) for value in values.ravel().tolist()], dtype=bool).reshape(values.shape)


def _members(groups: Iterable[Any], n_points: int) -> tuple[np.ndarray, np.ndarray]:
    arrays = [to_array(group) for group in groups]
    flat = next((number for number, array in enumerate(arrays) if array.ndim != 1), None)
    if flat is not None:
        raise ValueError(
            f"groups[{flat}] is {arrays[flat].tolist()!r}, not a list of points. With n_points, groups lists the "
            "members of each group; without it, groups gives one group id per point."
        )
    # An empty list becomes a float array; it must stay for the numbers of the groups to be right.
    arrays = [array if len(array) else np.empty(0, dtype=np.int64) for array in arrays] or [np.empty(0, dtype=np.int64)]
    if any(array.dtype.kind not in "iuf" for array in arrays):
        # Concatenation would convert masks and strings before they can be rejected.
        arrays = [array.astype(object) for array in arrays]
    sizes = np.array([len(array) for array in arrays])
    owner = np.repeat(np.arange(len(arrays)), sizes)
    members = read_indices(np.concatenate(arrays), n_points, lambda row: f"groups[{owner[row]}]")
    keys = np.sort(owner * n_points + members)
    repeated = keys[1:] == keys[:-1]
    if repeated.any():
        group, point = divmod(int(keys[np.argmax(repeated)]), n_points)
        raise ValueError(f"groups[{group}] lists point {point} twice; list it once.")
    return members, sizes


def _column_name(columns: list[Any], name: Any, role: str) -> Any:
    if name in columns or (name is None and role != "kind"):
        return name
    if isinstance(name, int) and -len(columns) <= name < len(columns):
        return columns[name]
    raise ValueError(f"{role}={name!r} is not a column of the frame; its columns are {columns}.")


def _values(frame: Any, column: Any) -> list[Any]:
    array = to_array(frame[column])
    if array.ndim != 1:
        raise ValueError(f"The frame has several columns named {column!r}; rename them.")
    return array.tolist()


def _positions(ids: Any) -> dict[Any, int]:
    listed = to_array(ids).tolist() if hasattr(ids, "to_numpy") or isinstance(ids, np.ndarray) else list(ids)
    position: dict[Any, int] = {}
    for row, identifier in enumerate(listed):
        if not isinstance(identifier, Hashable):
            raise ValueError(f"ids row {row}: {identifier!r} cannot identify a point; use a number or a string.")  # noqa: TRY004
        if position.setdefault(identifier, row) != row:
            raise ValueError(
                f"ids row {row}: {identifier!r} duplicates row {position[identifier]}; ids must be unique."
            )
    return position


def _look_up(position: dict[Any, int], identifiers: list[Any], column: Any) -> np.ndarray:
    rows = np.fromiter(map(position.get, identifiers, repeat(-1)), np.int64, len(identifiers))
    unknown = rows < 0
    if unknown.any():
        row = int(np.argmax(unknown))
        value = identifiers[row]
        known = next(iter(position), None)
        hint = "" if known is None else f" (they look like {known!r})"
        raise ValueError(f"frame row {row}, column {column!r}: {value!r} is not among the {len(position)} ids{hint}.")
    return rows


def _is_must(kinds: list[Any], column: Any) -> np.ndarray:
    meaning = {kind: _spelling(kind) for kind in set(kinds)}
    for kind, spelling in meaning.items():
        if spelling not in MUST_SPELLINGS and spelling not in CANNOT_SPELLINGS:
            raise ValueError(
                f"frame row {kinds.index(kind)}, column {column!r}: {kind!r} is neither a must-link "
                f"({', '.join(sorted(MUST_SPELLINGS))}) nor a cannot-link ({', '.join(sorted(CANNOT_SPELLINGS))})."
            )
    must = {kind: spelling in MUST_SPELLINGS for kind, spelling in meaning.items()}
    return np.fromiter(map(must.__getitem__, kinds), bool, len(kinds))


def _spelling(kind: Any) -> str:
    if isinstance(kind, Real):
        return f"{kind:g}"
    return str(kind).strip().lower().replace("_", "-").replace(" ", "-").removesuffix(".0")
