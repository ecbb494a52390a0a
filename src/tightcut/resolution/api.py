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
from tightcut.resolution.edges import BETWEEN, Roles, find_roles, find_sides, merge_scores, read_probabilities
from tightcut.resolution.ids import IdColumn, id_column, number_ids
from tightcut.resolution.keys import distinct
from tightcut.resolution.result import Resolution, ScoredPairs, spell
from tightcut.resolution.rules import Named, Rules
from tightcut.resolution.tables import Columns, Source, read_source
from tightcut.utils.codes import first_places

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

    A probability above the prior is evidence that two records are one, below it that they are not, and a pair that is
    not in the table says nothing. The clusters are those that contradict the least evidence and no rule; how many there
    are follows from this.

    Parameters
    ----------
    edges : data frame, mapping of columns, structured array, sequence of (id, id, probability), or path
        Two ids and a match probability per row. The tables of splink (`unique_id_l`, `unique_id_r`,
        `match_probability`) and dedupe (the array of its scores) are read as they are, as are CSV, Parquet and
        `FILE.duckdb::TABLE`. Ids are whole numbers or texts. With splink's `source_dataset_l` and `source_dataset_r` an
        id is DATASET-__-ID, since ids may be unique within a dataset only.
    must_link, cannot_link : sequence of pairs of ids, table of two columns, or path, optional
        Records that are certainly the same, or certainly not.
    groups : str, mapping or Series from id to group, table of two columns, or path, optional
        No two members of a group are the same, such as the records of a source without duplicates. A name takes the
        groups from the edges: "source" is in the columns source_l and source_r, or source_dataset_l and _r. An empty
        group means none; a table may give one id several groups.
    labels : mapping or Series from id to label, table of two columns, or path, optional
        Known identities: equal labels are together, different ones apart. None, NaN, -1 and empty mean unknown.
    prior : float, default=0.5
        The probability that is evidence neither for nor against. Raise it for fewer and safer joins.
    columns : sequence of three str, optional
        The names of the columns of `edges`: both ids and the probability. By default the usual names are looked for.

    Returns
    -------
    Resolution

    Notes
    -----
    The weight of a pair is its log odds less those of the prior, :math:`w = \log\frac{p}{1 - p} -
    \log\frac{\pi}{1 - \pi}`, with p clipped to [1e-6, 1 - 1e-6]: no score is as certain as a rule. Scores of the same pair
    are averaged as log odds. Clusters minimise the positive weight between them plus the negative weight inside them.

    Each component of what could join is solved by greedy additive edge contraction, then by moves and exchanges in the
    manner of Kernighan and Lin; up to 20 records also by branch and bound, which for up to 14 finds and proves the best
    clusters. For the others, a packing of contradictory cycles gives the lower bound.

    Nothing is random, and the order of the rows does not matter.

    Rules that contradict each other raise `InconsistentConstraintsError`. Its message tells the contradiction in the ids;
    its `witness` counts the ids of all tables in their order.

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
    _check_prior(prior)
    source = read_source(edges, "edges", ("a", "b", "probability"))
    request = _Request(source, find_roles(source, columns))
    request.add_pairs("must_link", must_link)
    request.add_pairs("cannot_link", cannot_link)
    request.add_groups(groups)
    request.add_values("labels", labels)
    ids = request.number()
    rules = request.rules(len(ids))
    rules.check(lambda record: spell(ids[record]))
    evidence = merge_scores(request.pairs("edges"), request.probability, prior, len(ids))
    return ScoredPairs(Columns(**request.id_columns(ids)), evidence, rules).solved()


def _check_prior(prior: Any) -> None:
    if isinstance(prior, bool) or not isinstance(prior, (int, float, np.floating)) or not 0 < prior < 1:
        raise ValueError(f"prior must be a probability between 0 and 1, both excluded; got {prior!r}.")


class _Request:
    """All arguments of `resolve`, with the ids of all tables as numbers of the same records."""

    def __init__(self, source: Source, roles: Roles) -> None:
        self.source, self.roles = source, roles
        self.columns: dict[tuple[str, int], IdColumn] = {}
        self.codes: dict[tuple[str, int], np.ndarray] = {}
        self.values: dict[str, list[Any]] = {}
        for side, name in enumerate((roles.first, roles.second)):
            self.columns["edges", side] = self._with_dataset(id_column(source, name), side)
        self.probability = read_probabilities(source, roles.score)

    def _with_dataset(self, column: IdColumn, side: int) -> IdColumn:
        if self.roles.datasets is None:
            return column
        ids = column.values if column.is_text else np.asarray(column.values).tolist()
        datasets = self.source.texts(self.roles.datasets[side])
        texts = [f"{dataset}{BETWEEN}{identifier}" for dataset, identifier in zip(datasets, ids, strict=True)]
        return IdColumn(texts, False, column.where)

    def add_pairs(self, name: str, pairs: Any) -> None:
        source = read_source([] if pairs is None else pairs, name, ("a", "b"))
        if len(source.names) < 2:
            raise InputError(f"{source.name} needs two columns of ids; it has {listed(source.names)}.")
        for side in (0, 1):
            self.columns[name, side] = id_column(source, source.names[side])

    def add_values(self, name: str, table: Any) -> None:
        """Ids and a value of each, from a mapping of single values or a table."""
        if isinstance(table, Mapping) and not any(np.ndim(value) for value in table.values()):
            table = list(table.items())
        elif getattr(table, "ndim", None) == 1 and hasattr(table, "index"):  # a pandas Series
            table = list(zip(table.index.tolist(), table.tolist(), strict=True))
        source = read_source([] if table is None else table, name, ("id", name))
        identifier, value = source.one(["id", "unique_id"]), source.one(VALUE_NAMES[name])
        if len(source.names) == 2:
            identifier, value = source.names
        if identifier is None or value is None:
            raise InputError(
                f"{source.name} needs two columns, or columns named id and {VALUE_NAMES[name][0]}; it has "
                f"{listed(source.names)}."
            )
        self.columns[name, 0] = id_column(source, identifier)
        self.values[name] = source.cells(value).tolist()

    def add_groups(self, groups: Any) -> None:
        sides = find_sides(self.source, groups) if isinstance(groups, str) else None
        if sides is None:
            if isinstance(groups, str) and not Path(groups.partition("::")[0]).exists():
                raise InputError(
                    f"groups={groups!r} is neither a file nor in two columns of {self.source.name} such as {groups}_l and "
                    f"{groups}_r; its columns are {listed(self.source.names)}."
                )
            self.add_values("groups", groups)
            return
        self.values["groups"] = [value for name in sides for value in self.source.cells(name).tolist()]

    def number(self) -> np.ndarray:
        """Number the ids of all tables; returns them in order."""
        ids, codes = number_ids(list(self.columns.values()))
        self.codes = dict(zip(self.columns, codes, strict=True))
        pairs = self.pairs("edges")
        own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
        if len(own):
            raise InputError(
                f"{self.source.where(int(own[0]))}: {spell(ids[pairs[own[0], 0]])} is paired with itself; remove it."
            )
        scored = np.zeros(len(ids), bool)
        scored[pairs] = True
        for name in dict.fromkeys(name for name, _ in self.codes):
            column = np.concatenate([codes for (own, _), codes in self.codes.items() if own == name])
            if len(column) and len(pairs) and not scored[column].any():
                raise InputError(
                    f"No id of {name} occurs in {self.source.name}: they look like {spell(ids[column[0]])} there and like "
                    f"{spell(ids[pairs[0, 0]])} here."
                )
        if ("groups", 0) not in self.codes:
            self.codes["groups", 0] = np.concatenate([pairs[:, 0], pairs[:, 1]])
            self._check_one_group(ids)
        return ids

    def pairs(self, name: str) -> np.ndarray:
        return np.stack([self.codes[name, 0], self.codes[name, 1]], axis=1)

    def rules(self, n_records: int) -> Rules:
        must, cannot = (self._rule_pairs(name) for name in ("must_link", "cannot_link"))
        return Rules(n_records, must, cannot, self._named("groups"), self._named("labels"))

    def _rule_pairs(self, name: str) -> np.ndarray:
        """The pairs of a rule in one order, so that the first of several does not depend on the rows."""
        pairs = self.pairs(name)
        own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
        if len(own):
            raise InputError(f"{self.columns[name, 0].where(int(own[0]))}: a record is paired with itself; remove it.")
        return np.unique(np.sort(pairs, axis=1), axis=0)

    def _named(self, name: str) -> Named:
        records, values = self.codes[name, 0], self.values[name]
        unknown = {-1, "-1", "-1.0"} if name == "labels" else set()
        wrong = next((row for row, value in enumerate(values) if not isinstance(value, Hashable)), None)
        if wrong is not None:
            raise InputError(f"{name} row {wrong}: {values[wrong]!r} is not a name; use numbers or texts.")
        missing = {value for value in set(values) if _is_unknown(value) or value in unknown}
        known = sorted({*values} - missing, key=lambda value: (type(value).__name__, value))
        code = {value: position for position, value in enumerate(known)} | dict.fromkeys(missing, -1)
        codes = np.fromiter(map(code.__getitem__, values), np.int64, len(values))
        # NaN is not equal to itself, so a dict may hold several: each is its own key.
        keys = distinct(records[codes >= 0] * max(len(known), 1) + codes[codes >= 0])
        records, codes = np.divmod(keys, max(len(known), 1))
        return Named([repr(value) if isinstance(value, str) else str(value) for value in known], records, codes)

    def _check_one_group(self, ids: np.ndarray) -> None:
        named = self._named("groups")
        twice = np.flatnonzero(named.records[1:] == named.records[:-1])
        if len(twice):
            row = int(twice[0])
            one, other = (named.names[named.values[row + step]] for step in (0, 1))
            raise InputError(
                f"{self.source.name}: the id {spell(ids[named.records[row]])} is in the groups {one} and {other}. Ids must be "
                "unique across groups; or give the groups as a table of ids and groups."
            )

    def id_columns(self, ids: np.ndarray) -> dict[str, np.ndarray]:
        """The column of ids; and the datasets and ids that they are made of."""
        if self.roles.datasets is None:
            return {"id": ids}
        parts = [str(identifier).partition(BETWEEN) for identifier in ids]
        dataset, own = (np.array([part[side] for part in parts], dtype=object) for side in (0, 2))
        codes = np.concatenate([self.codes["edges", 0], self.codes["edges", 1]])
        cells = [self.source.cells(name) for name in (self.roles.first, self.roles.second)]
        first = first_places(codes, len(ids))
        if (first < len(codes)).all():  # as they were given, numbers or texts
            own = np.concatenate(cells)[first]
        return {"id": ids, "source_dataset": dataset, "unique_id": own}


def _is_unknown(value: Any) -> bool:
    return is_none(value) or (isinstance(value, str) and is_missing(value))
