"""The units of an update: must-linked points move together, and constraints say which of them cannot stay.

Clusters are numbered 0, ..., k - 1 here, whatever their ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph


@dataclass(frozen=True, eq=False)
class Units:
    """Sets of must-linked points: their clusters, and how many of their points are to be kept.

    Attributes
    ----------
    unit : ndarray of shape (n,)
        The unit of each point.
    labels : ndarray of shape (n_units,)
        The cluster in which each unit is at first.
    n_kept, n_old : ndarray of shape (n_units,)
        How many points of each unit are to be kept, and how many are old.
    apart : ndarray of shape (m, 2)
        Units between which there is a cannot-link.
    """

    unit: np.ndarray
    labels: np.ndarray
    n_kept: np.ndarray
    n_old: np.ndarray
    apart: np.ndarray

    @property
    def count(self) -> int:
        return len(self.labels)

    @property
    def violated(self) -> np.ndarray:
        """The cannot-links whose ends are in one cluster at first."""
        return self.apart[self.labels[self.apart[:, 0]] == self.labels[self.apart[:, 1]]]


def make_units(constraints: Constraints, placed: np.ndarray, old: np.ndarray, kept: np.ndarray) -> Units:
    """The units of some points. A unit whose points are in several clusters goes to the one with most of its points.

    Points to be kept are counted first; ties are decided by old points, then by new ones.

    Parameters
    ----------
    placed : ndarray of shape (n,)
        The cluster of each point before constraints are applied.
    old, kept : ndarray of bool, shape (n,)

    Raises
    ------
    InconsistentConstraintsError
        If a cannot-link lies within a unit.
    """
    witness = constraints.conflict_witness()
    if witness is not None:
        raise InconsistentConstraintsError(witness)
    count, unit = constraints.components()
    n, k = len(unit), int(placed.max()) + 1
    places, inverse = np.unique(unit.astype(np.int64) * k + placed, return_inverse=True)
    votes = [np.bincount(inverse, some, len(places)) for some in (kept, old, np.ones(n))]
    order = np.lexsort((-places, votes[2], votes[1], votes[0], places // k))
    labels = np.empty(count, np.int32)
    labels[places[order] // k] = places[order] % k  # of repeated units the last is written
    apart = np.unique(np.sort(unit[constraints.cannot_link].astype(np.int64), axis=1), axis=0)
    held, aged = (np.bincount(unit, some, count).astype(np.int64) for some in (kept & (placed == labels[unit]), old))
    return Units(unit, labels, held, aged, apart)


def place_new(graph: Graph, labels: np.ndarray, k: int) -> np.ndarray:
    """Labels for the points that have none (-1): the weighted vote of their neighbours, nearest to the others first.

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut import Graph
    >>> path = Graph.from_affinity(np.diag([1.0, 3, 1, 2], 1) + np.diag([1.0, 3, 1, 2], -1))
    >>> place_new(path, np.array([0, 1, -1, -1, -1]), 2).tolist()
    [0, 1, 1, 1, 1]
    """
    labels = labels.copy()
    waiting = np.flatnonzero(labels < 0)
    while len(waiting):
        pull = graph.ties(labels, k, waiting)
        reached = pull.sum(axis=1) > 0
        if not reached.any():
            labels[waiting] = 0  # they have no edges; the local search moves them where the cut is smallest
            break
        labels[waiting[reached]] = pull[reached].argmax(axis=1)
        waiting = waiting[~reached]
    return labels


def release_units(units: Units, graph: Graph, placed: np.ndarray, k: int) -> np.ndarray:
    """A mask of units to remove from their clusters so that the others violate no cannot-link.

    Of two units that cannot stay together, the one with fewer points to be kept leaves; ties are decided by fewer old
    points, then by the weaker connection to its own cluster relative to others.
    """
    loose = np.zeros(units.count, bool)
    violated = units.violated
    if len(violated) == 0:
        return loose
    ends = np.unique(violated)
    margin = dict(zip(ends.tolist(), _margins(units, graph, placed, ends, k).tolist(), strict=True))
    for u, v in violated.tolist():
        if not loose[u] and not loose[v]:
            weak = min(u, v, key=lambda end: (units.n_kept[end], units.n_old[end], margin[end], -end))
            loose[weak] = True
    return loose


def _margins(units: Units, graph: Graph, placed: np.ndarray, chosen: np.ndarray, k: int) -> np.ndarray:
    """How much more strongly each chosen unit is connected to its own cluster than to any other."""
    place = np.full(units.count, -1)
    place[chosen] = np.arange(len(chosen))
    points = np.flatnonzero(place[units.unit] >= 0)
    owner = sp.csr_array((np.ones(len(points)), (place[units.unit[points]], np.arange(len(points)))))
    pull = owner @ graph.ties(placed, k, points)
    own = pull[np.arange(len(chosen)), units.labels[chosen]].copy()
    pull[np.arange(len(chosen)), units.labels[chosen]] = -np.inf
    return own - pull.max(axis=1, initial=0.0)
