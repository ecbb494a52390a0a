"""Scored pairs: a table of ids and probabilities, and the evidence of each pair for or against a match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from tightcut.files import InputError
from tightcut.files.errors import listed
from tightcut.problem.pairs import pair_keys
from tightcut.resolution.ids import IdColumn, read_ids
from tightcut.resolution.tables import Columns, TableView, read_view
from tightcut.utils.codes import first_places

ROUNDING = 1e-12  # weights below this count as 0
SURE = 1e-6  # scores are clipped to [SURE, 1 - SURE]
ID_NAMES = (
    ("unique_id_l", "unique_id_r"),  # splink
    ("id_l", "id_r"),
    ("record_id_l", "record_id_r"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("record_id_1", "record_id_2"),
    ("id_a", "id_b"),
    ("left_id", "right_id"),
    ("id_left", "id_right"),
    ("left", "right"),
    ("first", "second"),
    ("source", "target"),
    ("a", "b"),
)
SCORE_NAMES = ("match_probability", "probability", "match_score", "confidence_score", "confidence", "score", "p")
SIDES = (("_l", "_r"), ("_1", "_2"), ("_a", "_b"), ("_left", "_right"))
DATASETS = ("source_dataset_l", "source_dataset_r")
BETWEEN = "-__-"  # how splink writes a dataset and an id as one


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """Two ids and a match probability per row.

    Parameters
    ----------
    view : TableView
    ids : pair of IdColumn
        Preceded by their datasets where ids are unique only within these.
    scores : ndarray
        In [0, 1].
    columns : tuple of str
        The names of the columns of ids.
    datasets : tuple of str, optional
        The columns of the datasets of the ids.
    """

    view: TableView
    ids: tuple[IdColumn, IdColumn]
    scores: np.ndarray
    columns: tuple[str, str]
    datasets: tuple[str, str] | None

    @classmethod
    def read(cls, edges: Any, columns: Sequence[str] | None) -> ScoredTable:
        """Read a table whose columns are named, or have usual names, or are just two ids and a score in this order."""
        view = read_view(edges, "edges", ("a", "b", "probability"))
        first, second, score, datasets = _find_columns(view, columns)
        one, other = read_ids(view, first), read_ids(view, second)
        if datasets is not None:
            one, other = (_with_dataset(own, view, name) for own, name in zip((one, other), datasets, strict=True))
        return cls(view, (one, other), _read_probabilities(view, score), (first, second), datasets)

    def sides(self, name: str) -> tuple[str, str] | None:
        """The columns of a property of the two records: NAME_l and NAME_r, or another usual spelling.

        `source` also finds splink's source_dataset.
        """
        for stem, (left, right) in product((name.lower(), f"{name.lower()}_dataset"), SIDES):
            one, other = self.view.one([stem + left]), self.view.one([stem + right])
            if one is not None and other is not None:
                return one, other
        return None

    def records(self, ids: np.ndarray, pairs: np.ndarray) -> Columns:
        """The ids, and the datasets and ids that they were made from, numbers or texts as in the table."""
        if self.datasets is None:
            return Columns(id=ids)
        parts = [str(identifier).partition(BETWEEN) for identifier in ids]
        dataset, own = (np.array([part[side] for part in parts], dtype=object) for side in (0, 2))
        first = first_places(pairs.T.ravel(), len(ids))
        if (first < pairs.size).all():
            own = np.concatenate([self.view.column(name) for name in self.columns])[first]
        return Columns(id=ids, source_dataset=dataset, unique_id=own)


def _find_columns(view: TableView, columns: Sequence[str] | None) -> tuple[str, str, str, tuple[str, str] | None]:
    """The columns of both ids, of the score and, if ids need them, of the datasets."""
    if columns is not None:
        if isinstance(columns, str) or len(columns) != 3:
            raise ValueError(f"columns must name three: the two ids and the probability; got {columns!r}.")
        missing = [name for name in columns if name not in view.names]
        if missing:
            raise InputError(f"{view.path} has no column {listed(missing)}; its columns are {listed(view.names)}.")
        return columns[0], columns[1], columns[2], None
    ends, score = _find_ids({name.lower(): name for name in view.names}), view.one(SCORE_NAMES)
    if ends is not None and score is not None:
        one, other = (view.one([name]) for name in DATASETS)
        return *ends, score, None if one is None or other is None else (one, other)
    if len(view.names) == 3:
        return *view.names, None
    what = "two ids, such as id_l and id_r" if ends is None else 'a probability, such as "probability"'
    raise InputError(
        f"{view.path} has no columns whose names are usual for {what}; its columns are {listed(view.names)}. "
        "Set columns to the names of the two ids and of the probability, in this order."
    )


def _find_ids(known: dict[str, str]) -> tuple[str, str] | None:
    """Two columns with usual names, or the only pair of columns that splink may have named after an id, as in row_id_l."""
    usual = [pair for pair in ID_NAMES if known.keys() >= {*pair}][:1]
    own = [(name, f"{name[:-2]}_r") for name in known if name.endswith("id_l") and f"{name[:-2]}_r" in known]
    possible = usual or own
    return (known[possible[0][0]], known[possible[0][1]]) if len(possible) == 1 else None


def _with_dataset(ids: IdColumn, view: TableView, column: str) -> IdColumn:
    own = ids.values if isinstance(ids.values, list) else ids.values.tolist()
    values = [f"{dataset}{BETWEEN}{one}" for dataset, one in zip(view.texts(column), own, strict=True)]
    return replace(ids, values=values, loose=False)


def _read_probabilities(view: TableView, column: str) -> np.ndarray:
    values = view.numbers([column])[:, 0]
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        hint = " Percentages? Divide by 100." if 1 < values.max() <= 100 and values.min() >= 0 else ""
        raise InputError(f"{view.where(row, column)}: {values[row]:g} is not a probability between 0 and 1.{hint}")
    return values


def log_odds(probability: np.ndarray | float) -> np.ndarray:
    """The evidence of probabilities, clipped lest one outweigh all others.

    Examples
    --------
    >>> from tightcut.resolution.edges import log_odds
    >>> log_odds([0.5, 0.9, 1.0]).round(2).tolist()
    [0.0, 2.2, 13.82]
    """
    clipped = np.clip(np.asarray(probability, dtype=np.float64), SURE, 1 - SURE)
    return np.log(clipped) - np.log1p(-clipped)


@dataclass(frozen=True, eq=False)
class PairScores:
    """Each scored pair once, in order.

    Parameters
    ----------
    pairs : int64 ndarray of shape (m, 2)
        Records, the smaller one first, in lexicographic order.
    weight : ndarray of shape (m,)
        Log odds minus those of the prior: positive for a match, negative against it.
    probability : ndarray of shape (m,)
    """

    pairs: np.ndarray
    weight: np.ndarray
    probability: np.ndarray


def merge_scores(pairs: np.ndarray, probability: np.ndarray, prior: float, n_records: int) -> PairScores:
    """Merge the scores of each pair, in either order: the mean of their log odds."""
    key = pair_keys(pairs, n_records)
    # Equal pairs are sorted by score, since sums of floats depend on the order.
    order = np.lexsort((probability, key))
    key, score = key[order], probability[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    if len(starts) == len(key):
        odds = log_odds(score)
    else:
        counts = np.diff(np.append(starts, len(key)))
        odds = np.add.reduceat(log_odds(score), starts) / counts
        score = np.where(counts == 1, score[starts], 1 / (1 + np.exp(-odds)))
        key = key[starts]
    weight = odds - log_odds(prior)
    weight[np.abs(weight) < ROUNDING] = 0.0
    return PairScores(np.stack(np.divmod(key, max(n_records, 1)), axis=1), weight, score)
