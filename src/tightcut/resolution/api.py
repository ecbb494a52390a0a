"""`resolve`: from a table of scored pairs to clusters of records."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files import InputError
from tightcut.files.cells import is_missing
from tightcut.files.errors import listed
from tightcut.problem.sources import is_none
from tightcut.resolution.edges import ScoredTable, merge_scores
from tightcut.resolution.ids import IdColumn, number_ids, read_ids
from tightcut.resolution.result import Resolution, ScoredPairs, spell
from tightcut.resolution.rules import Named, Rules
from tightcut.resolution.tables import read_view
from tightcut.utils.codes import distinct

VALUE_NAMES = {"groups": ("group", "groups", "source"), "labels": ("label", "labels", "cluster", "name")}


def resolve(
    edges: Any,
    *,
    must_link: Any = None,
    cannot_link: Any = None,
    groups: Any = None,
    labels: Any = None,
    prior: float = 0.5,
    columns: Sequence[str] | None = None,
) -> Resolution:
    r"""Find the records that are the same, from scored pairs and rules that must hold.

    A probability above the prior is evidence that two records are the same, one below it that they are not; a pair that
    is not in the table is no evidence. The clusters obey every rule and contradict as little evidence as possible, which
    also determines their number.

    Parameters
    ----------
    edges : data frame, mapping of columns, structured array, sequence of (id, id, probability), or path
        Two ids and a match probability per row. The tables of splink (`unique_id_l`, `unique_id_r`,
        `match_probability`) and the score arrays of dedupe are read as they are, as are CSV, Parquet and
        `FILE.duckdb::TABLE`. Ids are whole numbers or texts. With splink's `source_dataset_l` and `source_dataset_r`, ids
        become DATASET-__-ID, since they may be unique only within a dataset.
    must_link, cannot_link : sequence of pairs of ids, table of two columns, or path, optional
        Records that are certainly the same, or certainly not.
    groups : str, mapping or Series from id to group, table of two columns, or path, optional
        No two members of a group are the same; the records of a source without duplicates are such a group. A name
        refers to columns of the edges: "source" to source_l and source_r, or to source_dataset_l and _r. An empty value
        means no group; a table may give one id several groups.
    labels : mapping or Series from id to label, table of two columns, or path, optional
        Known identities: equal labels are together, different ones apart. None, NaN, -1 and empty mean unknown.
    prior : float, default=0.5
        The probability that is no evidence either way. Raise it for fewer and safer joins.
    columns : sequence of three str, optional
        The names of three columns of `edges`: both ids and the probability. By default, the usual names are recognised.

    Returns
    -------
    Resolution

    Notes
    -----
    The weight of a pair is its log odds minus those of the prior, :math:`w = \log\frac{p}{1 - p} -
    \log\frac{\pi}{1 - \pi}`, with p clipped to [1e-6, 1 - 1e-6]: no score is as certain as a rule. Scores of the same pair
    are averaged as log odds. Clusters minimise the positive weight between them plus the negative weight inside them.

    Each connected component of the pairs with positive weight is solved by greedy additive edge contraction, then by
    Kernighan-Lin moves and exchanges; up to 20 records also by branch and bound, which for up to 14 finds and proves an
    optimum. For larger components, a packing of contradictory cycles gives the lower bound.

    The result is deterministic and does not depend on the order of the rows.

    Rules that contradict each other raise `InconsistentConstraintsError`. Its message shows the contradiction by ids, its
    `witness` by their positions among the sorted ids of all tables.

    Examples
    --------
    The first and the third record are different according to their own score. One weak link does not outweigh that:

    >>> from tightcut import resolve
    >>> pairs = [("ann", "anna", 0.99), ("anna", "anne", 0.7), ("ann", "anne", 0.02)]
    >>> found = resolve(pairs)
    >>> found.clusters
       id  cluster
      ann        0
     anna        0
     anne        1
    >>> list(found.cut_edges["reason"]), list(found.cut_edges["because_a"]), list(found.cut_edges["because_b"])
    (['evidence'], ['ann'], ['anne'])

    No source has the same person twice:

    >>> resolve(pairs, groups={"ann": "register", "anna": "register", "anne": "clinic"}).labels.tolist()
    [0, 1, 1]
    """
    if isinstance(prior, bool) or not isinstance(prior, (int, float, np.floating)) or not 0 < prior < 1:
        raise ValueError(f"prior must be a probability between 0 and 1, both excluded; got {prior!r}.")
    table = ScoredTable.read(edges, columns)
    ids, pairs, rules = _number(table, groups, labels, must_link=must_link, cannot_link=cannot_link)
    rules.check(lambda record: spell(ids[record]))
    scores = merge_scores(pairs, table.scores, prior, len(ids))
    return ScoredPairs(table.records(ids, pairs), scores, rules).solved()


def _number(table: ScoredTable, groups: Any, labels: Any, **links: Any) -> tuple[np.ndarray, np.ndarray, Rules]:
    """The ids of all tables, sorted; scored pairs and rules by the positions of ids."""
    columns: dict[str, Sequence[IdColumn]] = {"edges": table.ids}
    columns |= {name: _read_pairs(name, given) for name, given in links.items()}
    values = {}
    sides = table.sides(groups) if isinstance(groups, str) else None
    if sides is not None:
        values["groups"] = [value for side in sides for value in table.view.column(side).tolist()]
    elif isinstance(groups, str) and not Path(groups.partition("::")[0]).exists():
        raise InputError(
            f"groups={groups!r} is neither a file nor in two columns of {table.view.path} such as {groups}_l and "
            f"{groups}_r; its columns are {listed(table.view.names)}."
        )
    else:
        columns["groups"], values["groups"] = _read_values("groups", groups)
    columns["labels"], values["labels"] = _read_values("labels", labels)
    ids, codes = number_ids(columns)
    for name in ("edges", *links):
        own = np.flatnonzero(codes[name][0] == codes[name][1])
        if len(own):
            record = spell(ids[codes[name][0, own[0]]])
            raise InputError(f"{columns[name][0].where(int(own[0]))}: {record} is paired with itself; remove it.")
    _check_overlap(table, ids, codes)
    named = {name: _named(name, codes.get(name, codes["edges"]).ravel(), given) for name, given in values.items()}
    if sides is not None:
        _check_one_group(table, ids, named["groups"])
    # Sorted: the order of the rows must not decide which of several pairs comes first.
    must, cannot = (np.unique(np.sort(codes[name].T, axis=1), axis=0) for name in ("must_link", "cannot_link"))
    return ids, codes["edges"].T, Rules(len(ids), must, cannot, named["groups"], named["labels"])


def _read_pairs(name: str, pairs: Any) -> list[IdColumn]:
    view = read_view([] if pairs is None else pairs, name, ("a", "b"))
    if len(view.names) < 2:
        raise InputError(f"{view.path} needs two columns of ids; it has {listed(view.names)}.")
    return [read_ids(view, column) for column in view.names[:2]]


def _read_values(name: str, table: Any) -> tuple[list[IdColumn], list[Any]]:
    """Ids and the value of each, from a mapping of single values or from a table."""
    if isinstance(table, Mapping) and not any(np.ndim(value) for value in table.values()):
        table = list(table.items())
    elif getattr(table, "ndim", None) == 1 and hasattr(table, "index"):  # a pandas Series
        table = list(zip(table.index.tolist(), table.tolist(), strict=True))
    view = read_view([] if table is None else table, name, ("id", name))
    identifier, value = (
        view.names if len(view.names) == 2 else (view.one(("id", "unique_id")), view.one(VALUE_NAMES[name]))
    )
    if identifier is None or value is None:
        raise InputError(
            f"{view.path} needs two columns, or columns named id and {VALUE_NAMES[name][0]}; it has {listed(view.names)}."
        )
    return [read_ids(view, identifier)], view.column(value).tolist()


def _check_overlap(table: ScoredTable, ids: np.ndarray, codes: Mapping[str, np.ndarray]) -> None:
    """Raise if rules are about none of the scored records."""
    scored = np.zeros(len(ids), bool)
    scored[codes["edges"]] = True
    for name, own in codes.items():
        if own.size and scored.any() and not scored[own].any():
            raise InputError(
                f"No id of {name} occurs in {table.view.path}: they look like {spell(ids[own.flat[0]])} there and like "
                f"{spell(ids[codes['edges'].flat[0]])} here."
            )


def _named(name: str, records: np.ndarray, values: list[Any]) -> Named:
    """The records whose value is known, and the value of each."""
    unknown = {-1, "-1", "-1.0"} if name == "labels" else set()
    if not all(issubclass(kind, Hashable) for kind in set(map(type, values))):
        wrong = next(row for row, value in enumerate(values) if not isinstance(value, Hashable))
        raise InputError(f"{name}, row {wrong}: {values[wrong]!r} is not a name; use numbers or texts.")
    missing = {
        value
        for value in set(values)
        if is_none(value) or value in unknown or (isinstance(value, str) and is_missing(value))
    }
    known = sorted({*values} - missing, key=lambda value: (type(value).__name__, value))
    code = {value: position for position, value in enumerate(known)} | dict.fromkeys(missing, -1)
    # NaN is not equal to itself, so a dict may hold several: each is its own key.
    codes = np.fromiter(map(code.__getitem__, values), np.int64, len(values))
    keys = distinct(records[codes >= 0] * max(len(known), 1) + codes[codes >= 0])
    records, codes = np.divmod(keys, max(len(known), 1))
    return Named([spell(value) for value in known], records, codes)


def _check_one_group(table: ScoredTable, ids: np.ndarray, groups: Named) -> None:
    twice = np.flatnonzero(groups.records[1:] == groups.records[:-1])
    if len(twice):
        row = int(twice[0])
        one, other = (groups.names[value] for value in groups.values[row : row + 2])
        raise InputError(
            f"{table.view.path}: the id {spell(ids[groups.records[row]])} is in the groups {one} and {other}. Ids must be "
            "unique across groups; or give the groups as a table of ids and groups."
        )
