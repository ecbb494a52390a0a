"""Scored pairs: the roles of the columns of a table, and each pair as evidence for or against a match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tightcut.files import InputError
from tightcut.files.errors import listed
from tightcut.resolution.tables import Source, numbers_of

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
class Roles:
    """The columns of the two ids and of the score; and of the datasets that they belong to, if ids need them."""

    first: str
    second: str
    score: str
    datasets: tuple[str, str] | None = None


def find_roles(source: Source, columns: Sequence[str] | None) -> Roles:
    """The columns of ids and scores: as named, by their usual names, or in order if there are three."""
    if columns is not None:
        return _named(source, columns)
    ends = _find_ids({name.lower(): name for name in source.names})
    score = source.one(SCORE_NAMES)
    if ends is None or score is None:
        if len(source.names) == 3:
            first, second, score = source.names
            return Roles(first, second, score)
        what = "two columns of ids" if ends is None else "a column of probabilities"
        raise InputError(
            f"{source.name} has no columns that are known as {what}; its columns are {listed(source.names)}. Name the two "
            "ids and the probability: columns=(first, second, probability), or --columns FIRST,SECOND,PROBABILITY."
        )
    return Roles(*ends, score, _datasets(source))


def _find_ids(known: dict[str, str]) -> tuple[str, str] | None:
    """Two columns with usual names, or the only ones that splink may have made from a name of an id: row_id_l, row_id_r."""
    own = [(name, f"{name[:-2]}_r") for name in known if name.endswith("id_l")]
    usual = [pair for pair in ID_NAMES if pair[0] in known and pair[1] in known]
    possible = usual or [pair for pair in own if pair[1] in known]
    return (known[possible[0][0]], known[possible[0][1]]) if usual or len(possible) == 1 else None


def _named(source: Source, columns: Sequence[str]) -> Roles:
    if isinstance(columns, str) or len(columns) != 3:
        raise ValueError(f"columns must name three: the two ids and the probability; got {columns!r}.")
    missing = [name for name in columns if name not in source.names]
    if missing:
        raise InputError(f"{source.name} has no column {listed(missing)}; its columns are {listed(source.names)}.")
    first, second, score = columns
    return Roles(first, second, score)


def _datasets(source: Source) -> tuple[str, str] | None:
    one, other = (source.one([name]) for name in DATASETS)
    return None if one is None or other is None else (one, other)


def find_sides(source: Source, name: str) -> tuple[str, str] | None:
    """The two columns that say something of the two records: NAME_l and NAME_r, or spelled in another usual way.

    splink calls the source of a record source_dataset, which `source` finds, too.
    """
    for stem in (name.lower(), f"{name.lower()}_dataset"):
        for sides in SIDES:
            one, other = (source.one([stem + side]) for side in sides)
            if one is not None and other is not None:
                return one, other
    return None


def read_probabilities(source: Source, column: str) -> np.ndarray:
    """Scores in [0, 1]."""
    values = numbers_of(source, column)
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        hint = " Percentages? Divide by 100." if 1 < values.max() <= 100 and values.min() >= 0 else ""
        raise InputError(
            f"{source.where(row)}, column {column!r}: {values[row]:g} is not a probability between 0 and 1.{hint}"
        )
    return values


def log_odds(probability: np.ndarray | float) -> np.ndarray:
    """The evidence in probabilities, clipped so that none outweighs everything else.

    Examples
    --------
    >>> from tightcut.resolution.edges import log_odds
    >>> log_odds([0.5, 0.9, 1.0]).round(2).tolist()
    [0.0, 2.2, 13.82]
    """
    clipped = np.clip(np.asarray(probability, dtype=np.float64), SURE, 1 - SURE)
    return np.log(clipped) - np.log1p(-clipped)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Each scored pair once, in order.

    Parameters
    ----------
    pairs : int64 ndarray of shape (m, 2)
        Records, the smaller one first, in lexicographic order.
    weight : ndarray of shape (m,)
        Log odds less those of the prior: positive for, negative against.
    probability : ndarray of shape (m,)
    """

    pairs: np.ndarray
    weight: np.ndarray
    probability: np.ndarray


def merge_scores(pairs: np.ndarray, probability: np.ndarray, prior: float, n_records: int) -> Evidence:
    """Of a pair that was scored several times, in either order, the mean of its log odds counts."""
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    key = low * n_records + high
    # Equal pairs by their score, so that sums do not depend on the order of the rows.
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
    return Evidence(np.stack(np.divmod(key, max(n_records, 1)), axis=1), weight, score)
