"""A table of what an update changed, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.problem import Constraints
from tightcut.utils.contradictions import Link, spell
from tightcut.utils.extras import require_package
from tightcut.utils.sequences import RowSequence

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("born", "split", "merged", "moved", "joined")
CUT, NEW = "smaller cut", "new points"


@dataclass(frozen=True)
class Change:
    """Points that are in another cluster than before, or are new.

    Attributes
    ----------
    kind : {"born", "split", "merged", "moved", "joined"}
        New points formed a new cluster; old points were split off into a new cluster; a cluster ended, and these of its
        points are now in another; old points moved from one cluster to another; new points joined a cluster.
    cluster : int
        Where the points are now.
    source : int or None
        Where they were; None for new points.
    name : str or None
        The name of the cluster where they are now.
    points : tuple of int
        Row numbers.
    constraint : tuple or None
        The constraint that forced the change, as ("must" or "cannot", i, j). None if the cut became smaller, or new points
        went where their neighbours are.
    """

    kind: str
    cluster: int
    source: int | None
    name: str | None
    points: tuple[int, ...]
    constraint: Link | None

    @property
    def reason(self) -> str:
        """The constraint in words, or "smaller cut", or "new points"."""
        if self.constraint is not None:
            return spell(self.constraint)
        return NEW if self.source is None else CUT


@dataclass(frozen=True)
class Changes(RowSequence[Change]):
    """A sequence of `Change`: clusters that are new first, then those that ended, then points that moved or joined.

    Examples
    --------
    >>> from tightcut.fitted import Change, Changes
    >>> changes = Changes((Change("moved", 1, 0, "Anna", (3, 4), ("cannot", 3, 7)),))
    >>> changes[0].reason
    '3 cannot-link 7'
    >>> changes.to_dataframe()[["kind", "cluster", "source", "n_points"]].values.tolist()
    [['moved', 1, 0, 2]]
    """

    rows: tuple[Change, ...] = ()

    def to_dataframe(self, ids: Sequence[Any] | None = None) -> pd.DataFrame:
        """The table as a pandas frame, with the i-th of `ids` in place of point i if given."""
        pd = require_package("pandas", "to_dataframe", "frames")
        columns = ["kind", "cluster", "source", "name", "n_points", "points", "reason"]
        frame = pd.DataFrame(self.table(ids), columns=columns)
        return frame.astype({"cluster": "int64", "source": "Int64", "n_points": "int64"})

    def table(self, ids: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of `to_dataframe`."""
        names = None if ids is None else list(ids)  # a pandas Series would be indexed by its labels
        result = []
        for row in self.rows:
            points = list(row.points) if names is None else [names[point] for point in row.points]
            reason = row.reason
            if names is not None and row.constraint is not None:
                reason = spell(row.constraint, names.__getitem__)
            result.append((row.kind, row.cluster, row.source, row.name, len(points), points, reason))
        return result

    def to_lists(self) -> list[list[Any]]:
        """Plain lists, as they are written into a file."""
        return [list(astuple(row)) for row in self.rows]

    @classmethod
    def from_lists(cls, rows: Any) -> Changes:
        """The inverse of `to_lists`; raises ValueError for anything else."""
        if not isinstance(rows, list) or not all(
            isinstance(row, list) and len(row) == len(fields(Change)) for row in rows
        ):
            raise ValueError("a table of changes must be a list of rows")
        result = []
        for kind, cluster, source, name, points, constraint in rows:
            if kind not in KINDS:
                raise ValueError(f"{kind!r} is not a kind of change")
            numbers = [cluster, *points, *([] if source is None else [source]), *(constraint or ["", 0, 0])[1:]]
            if not (name is None or isinstance(name, str)) or any(type(number) is not int for number in numbers):
                raise ValueError(f"{numbers} are not the numbers of clusters and points, or {name!r} is not a name")
            if constraint is not None and (len(constraint) != 3 or constraint[0] not in ("must", "cannot")):
                raise ValueError(f"{constraint} is not a constraint")
            result.append(Change(kind, cluster, source, name, tuple(points), constraint and tuple(constraint)))
        return cls(tuple(result))


def list_changes(
    before: np.ndarray, after: np.ndarray, held: Constraints, fresh: Constraints, names: Mapping[int, str]
) -> Changes:
    """Compare two clusterings, by ids; -1 before for new points.

    Parameters
    ----------
    held, fresh : Constraints
        All constraints that hold, and those of them that are new.
    names : mapping
        From ids to names.
    """
    moved = np.flatnonzero(before != after)
    reasons = _Reasons(before, after, held, fresh, moved)
    alive_before, alive_after = set(np.unique(before).tolist()), set(np.unique(after).tolist())
    of_old_points = set(np.unique(after[before >= 0]).tolist())
    groups: dict[tuple[str, int, int, Link | None], list[int]] = {}
    for point in moved.tolist():
        source, cluster = int(before[point]), int(after[point])
        if source < 0:
            born = cluster not in of_old_points
            kind, link = ("born", reasons.birth(point)) if born else ("joined", None)
        else:
            kind = "split" if cluster not in alive_before else "moved" if source in alive_after else "merged"
            link = reasons.forced(point)
        if kind == "born":  # one row for the whole cluster
            link = next((known[3] for known in groups if known[:3] == (kind, cluster, source)), link)
        groups.setdefault((kind, cluster, source, link), []).append(point)
    rows = [
        Change(kind, cluster, None if source < 0 else source, names.get(cluster), tuple(points), link)
        for (kind, cluster, source, link), points in groups.items()
    ]
    return Changes(tuple(sorted(rows, key=lambda row: (KINDS.index(row.kind), row.cluster, row.points))))


class _Reasons:
    """Which constraint would be violated if a point that moved had stayed."""

    def __init__(
        self, before: np.ndarray, after: np.ndarray, held: Constraints, fresh: Constraints, moved: np.ndarray
    ) -> None:
        self._before = before
        self._unit = held.components()[1]
        units = np.unique(self._unit[moved])
        self._apart: dict[tuple[int, int], Link] = {}
        self._together: dict[int, Link] = {}
        self._any: dict[int, Link] = {}
        for links in (held, fresh):  # new constraints are written last: they are the reason where there are both
            both = np.concatenate([links.cannot_link, links.cannot_link[:, ::-1]])
            for i, j in both[np.isin(self._unit[both[:, 0]], units)].tolist():
                link: Link = ("cannot", min(i, j), max(i, j))
                self._apart[int(self._unit[i]), int(after[j])] = link
                self._any[int(self._unit[i])] = link
            chosen = np.isin(self._unit[links.must_link[:, 0]], units)
            for i, j in links.must_link[chosen].tolist():
                if before[i] != before[j]:
                    self._together[int(self._unit[i])] = ("must", i, j)
        old = before >= 0
        homes = np.unique(np.stack([self._unit[old], before[old]], axis=1), axis=0)[:, 0]
        several, count = np.unique(homes, return_counts=True)
        self._torn = set(several[count > 1].tolist())

    def forced(self, point: int) -> Link | None:
        unit = int(self._unit[point])
        link = self._apart.get((unit, int(self._before[point])))
        if link is None and unit in self._torn:
            link = self._together.get(unit)
        return link

    def birth(self, point: int) -> Link | None:
        return self._any.get(int(self._unit[point]))
