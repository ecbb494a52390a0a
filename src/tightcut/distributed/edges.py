"""Edges from the caller: checked, their vertices numbered, turned into arcs between units."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.distributed.levels import Level
from tightcut.distributed.running import Runner, read_parquet
from tightcut.problem.graph import LARGEST_WEIGHT

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("i", "j", "weight")
SAMPLED = 1 << 10  # identifiers of a partition from one sample to the next
IDS_OF_A_RANGE = 1 << 22  # identifiers merged at a time, and rows in a partition of the labels
MOST = 2**63 - 1
MOST_VERTICES = 2**31 - 1  # that 32 bits number
Survey = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Vertices:
    """The vertices that edges name.

    Attributes
    ----------
    ids : ndarray of shape (n,)
        In increasing order.
    arcs : ndarray of shape (n,)
        How many rows name each.
    degrees : ndarray of shape (n,)
        Their weight. The last bits of these sums depend on how the rows are split into partitions.
    """

    ids: np.ndarray
    arcs: np.ndarray
    degrees: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def spread(self, n: int) -> Vertices:
        """All vertices 0, ..., n - 1, including those without an edge."""
        if len(self) and not 0 <= self.ids[0] <= self.ids[-1] < n:
            stranger = int(self.ids[0] if self.ids[0] < 0 else self.ids[-1])
            raise ValueError(
                f"The edges name the vertex {stranger}, and the constraints are on the points 0 to {n - 1}. For other "
                "identifiers give the pairs as a data frame that names them."
            )
        arcs, degrees = np.zeros(n, np.int64), np.zeros(n)
        arcs[self.ids], degrees[self.ids] = self.arcs, self.degrees
        return Vertices(np.arange(n), arcs, degrees)


def read_edges(edges: Any) -> Any:
    """A Dask data frame with columns i, j and weight, from such a frame or a folder of Parquet files."""
    import dask.dataframe as dd
    import pandas as pd

    if isinstance(edges, (str, Path)):
        frame = read_parquet(edges)
    elif isinstance(edges, pd.DataFrame):
        frame = dd.from_pandas(edges, npartitions=1)
    elif isinstance(edges, dd.DataFrame):
        frame = edges
    else:
        raise TypeError(
            f"edges must be a Dask data frame or the path of a folder of Parquet files, not {type(edges).__name__}."
        )
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        names = ", ".join(map(str, frame.columns))
        raise ValueError(f"The edges have no column {missing[0]!r}; they need i, j and weight, and have {names}.")
    return frame[list(COLUMNS)]


def survey(runner: Runner, frame: Any, place: Level) -> Vertices:
    """Check every row, and find the vertices, one range of identifiers after the other, in the folder of `place`."""
    import dask

    look = dask.delayed(_survey_partition, pure=False)
    parts = frame.to_delayed()
    samples = runner.compute("read", [look(part, number, place) for number, part in enumerate(parts)])
    bounds = np.sort(np.concatenate(samples))[:: IDS_OF_A_RANGE // SAMPLED].tolist()
    if not bounds:
        raise ValueError("There are no edges: every partition is empty.")
    ranges = [(place, len(parts), *ends) for ends in zip(bounds, [*bounds[1:], None], strict=True)]
    found = runner.map("read, merge", _merge_range, ranges)
    place.delete("seen-*")
    vertices = Vertices(*(np.concatenate(column) for column in zip(*found, strict=True)))
    largest = float(vertices.degrees.max())
    if not largest <= LARGEST_WEIGHT or 0 < largest < 1 / LARGEST_WEIGHT:
        raise ValueError(f"The largest degree is {largest:g}; divide all weights by it, the clusters stay the same.")
    return vertices


def _survey_partition(frame: pd.DataFrame, number: int, place: Level) -> np.ndarray:
    """Save the vertices of a partition with their degrees; returns every k-th identifier from the first on."""
    i, j, weight = _check_columns(frame, number)
    ids, at, arcs = np.unique(np.concatenate([i, j]), return_inverse=True, return_counts=True)
    proper = np.where(i == j, 0.0, weight)
    degrees = np.bincount(at, np.concatenate([proper, proper]), len(ids))
    place.save(**{f"seen-{number}-ids": ids, f"seen-{number}-arcs": arcs, f"seen-{number}-degrees": degrees})
    return ids[::SAMPLED]


def _merge_range(place: Level, n_parts: int, first: int, stop: int | None) -> Survey:
    """The identifiers from first to stop - 1 in any partition, their numbers of arcs and their degrees."""
    pieces = []
    for number in range(n_parts):
        columns = place.arrays(*(f"seen-{number}-{name}" for name in ("ids", "arcs", "degrees")))
        start, end = np.searchsorted(columns[0], [first, MOST if stop is None else stop]).tolist()
        within = slice(start, None if stop is None else end)
        pieces.append([column[within] for column in columns])
    all_ids, arcs, degrees = (np.concatenate(column) for column in zip(*pieces, strict=True))
    ids, at = np.unique(all_ids, return_inverse=True)
    return ids, np.bincount(at, arcs, len(ids)).astype(np.int64), np.bincount(at, degrees, len(ids))


def _check_columns(frame: pd.DataFrame, number: int) -> Survey:
    """The columns of a partition as arrays, or an error that names the first bad row."""
    for name in COLUMNS[:2]:
        kind = frame[name].dtype
        if kind.kind not in "iu":
            raise ValueError(
                f"Column {name!r} of the edges holds {kind}; vertices are named by whole numbers. Number them first."
            )
        if frame[name].isna().any():
            raise ValueError(f"Column {name!r} of the edges has an empty cell in partition {number}; remove the row.")
        if kind.kind == "u" and len(frame) and frame[name].max() > MOST:
            raise ValueError(f"Column {name!r} of the edges holds {frame[name].max()}, more than 63 bits; renumber.")
    if frame["weight"].dtype.kind not in "iuf":
        raise ValueError(f"Column 'weight' of the edges holds {frame['weight'].dtype}, not numbers.")
    i, j = (frame[name].to_numpy(np.int64) for name in COLUMNS[:2])
    weight = frame["weight"].to_numpy(np.float64, na_value=np.nan)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"The edge between {i[row]} and {j[row]} (row {row} of partition {number}) has the weight {weight[row]:g}; "
            "weights must be finite and not negative. Turn distances into similarities first."
        )
    return i, j, weight


def runs_of_arcs(frame: Any, points: Level, level: Level) -> list[Any]:
    """Tasks that write every edge as two arcs between units; `points` has the arrays `ids` and `unit`."""
    import dask

    write = dask.delayed(_write_run, pure=False)
    return [write(part, number, points, level) for number, part in enumerate(frame.to_delayed())]


def _write_run(frame: pd.DataFrame, number: int, points: Level, level: Level) -> None:
    ids, unit = points.arrays("ids", "unit")
    i, j, weight = (frame[name].to_numpy() for name in COLUMNS)
    kept = (i != j) & (weight > 0)
    i, j = (unit[_place_of(ids, column[kept])] for column in (i, j))
    i, j = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.argsort(i, kind="stable")
    # Parallel arcs are added up later, all together: sums of some of them would depend on the partitions.
    level.write_run(number, i[order], j[order], np.tile(weight[kept].astype(np.float64), 2)[order])


def _place_of(ids: np.ndarray, values: np.ndarray) -> np.ndarray:
    if ids[0] == 0 and ids[-1] == len(ids) - 1:
        return values
    return np.searchsorted(ids, values)
