"""Short searches without some of the pairs, and whether their labels agree with these."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tightcut.clustering.cluster import cluster
from tightcut.exceptions import DisconnectedGraphWarning, InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.evolve import search
from tightcut.search.magnitudes import scaled_graph
from tightcut.search.options import QUICK
from tightcut.search.two_way import TwoClusters, reduce_to_units
from tightcut.selection.built_graph import BuiltGraph
from tightcut.selection.graph_config import Setting
from tightcut.selection.held_out import HeldOut
from tightcut.selection.sources import GraphSource
from tightcut.utils.parallel import run_tasks


@dataclass(frozen=True, eq=False)
class TuningProblem:
    """The problem that candidates are compared on.

    Attributes
    ----------
    source : GraphSource
    constraints : Constraints
    n_clusters : int
    vertex_weights : str or ndarray of shape (n,)
        As `Graph.from_affinity` takes them.
    max_violations : float or "fewest"
    """

    source: GraphSource
    constraints: Constraints
    n_clusters: int
    vertex_weights: Any = "degree"
    max_violations: Any = 0

    def build(self, setting: Setting, known: Constraints | None = None) -> BuiltGraph:
        """The graph of a setting; learned distances know only some of the pairs, if these are given."""
        return self.source.build(setting, self.constraints if known is None else known, self.vertex_weights)

    def sample(self, rng: np.random.Generator, size: int) -> TuningProblem:
        """The same problem on at most `size` points: those with pairs first, chains of pairs as whole as possible."""
        n = self.source.n_points
        if n <= size:
            return self
        pairs = np.concatenate([self.constraints.must_link, self.constraints.cannot_link])
        links = sp.csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
        count, chain = connected_components(links, directed=False)
        unpaired = np.bincount(chain, minlength=count)[chain] == 1
        order = np.lexsort((rng.random(n), rng.random(count)[chain], unpaired))
        chosen = np.sort(order[:size])
        weights = self.vertex_weights
        return replace(
            self,
            source=self.source.sample(chosen),
            constraints=self.constraints.subset(chosen),
            vertex_weights=weights if isinstance(weights, str) else np.asarray(weights)[chosen],
        )


@dataclass(frozen=True, eq=False)
class Trials:
    """Short searches without some of the pairs, none of which is made twice; results do not depend on `n_jobs`.

    A graph is built once for each setting, and once for each fold where distances are learned.

    Attributes
    ----------
    problem : TuningProblem
        Its `n_clusters` is ignored.
    held : HeldOut
    seed : int
    n_jobs : int, optional
    required : bool
        Where no clustering satisfies the pairs that are left, InconsistentConstraintsError is raised if one is required,
        and otherwise no held-out pair agrees.
    """

    problem: TuningProblem
    held: HeldOut
    seed: int
    n_jobs: int | None = None
    required: bool = True
    _graphs: dict[tuple[Setting, int], Graph] = field(default_factory=dict, repr=False)
    _agreements: dict[tuple[Setting, int, int], np.ndarray] = field(default_factory=dict, repr=False)

    def agreements(self, searches: Sequence[tuple[Setting, int]], n_searches: int = 1) -> np.ndarray:
        """For each setting and number of clusters, the share of searches that agree with each held-out pair."""
        wanted = [(*search, repeat) for repeat in range(n_searches) for search in searches]
        self._search([one for one in dict.fromkeys(wanted) if one not in self._agreements])
        totals = [sum(self._agreements[(*search, repeat)] for repeat in range(n_searches)) for search in searches]
        return np.array(totals) / n_searches

    def _search(self, wanted: list[tuple[Setting, int, int]]) -> None:
        places = list(product(wanted, enumerate(self.held.folds)))
        self._build([_graph_key(setting, number) for (setting, _, _), (number, _) in places])
        arguments = [
            (
                self._graphs[_graph_key(setting, number)],
                fold.known,
                k,
                setting.influence,
                self.problem.max_violations,
                self.seed + 1000 * repeat + number,
                self.required,
            )
            for (setting, k, repeat), (number, fold) in places
        ]
        self._agreements.update((one, np.zeros(len(self.held.pairs))) for one in wanted)
        for (one, (_, fold)), labels in zip(places, run_tasks(_labels, arguments, self.n_jobs), strict=True):
            if labels is not None:
                self._agreements[one][fold.asked] += self.held.agreement(fold, labels)

    def _build(self, keys: list[tuple[Setting, int]]) -> None:
        new = [key for key in dict.fromkeys(keys) if key not in self._graphs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            building = [(self.problem, setting, self.held.folds[number].known) for setting, number in new]
            self._graphs.update(zip(new, run_tasks(_graph, building, self.n_jobs), strict=True))


def _graph_key(setting: Setting, fold: int) -> tuple[Setting, int]:
    """What the graph of a setting depends on."""
    return replace(setting, influence=0.0), fold if setting.learn_distances else 0


def _graph(problem: TuningProblem, setting: Setting, known: Constraints) -> Graph:
    return problem.build(setting, known).graph


def _labels(*arguments: Any) -> np.ndarray | None:
    """Those of `short_search`; the last argument says whether there must be some."""
    *given, required = arguments
    try:
        return short_search(*given)
    except InconsistentConstraintsError:
        if required:
            raise
        return None


def short_search(
    graph: Graph, known: Constraints, n_clusters: int, influence: float, max_violations: Any, seed: int
) -> np.ndarray:
    """The labels of a single start, refined.

    `cluster` with an effort of 0, but two clusters are not polished by RatioDCA, which takes most of the time and moves
    hardly a point.
    """
    if n_clusters > 2 or influence > 0 or max_violations != 0:
        options: dict[str, Any] = {"max_violations": max_violations, "influence": influence, "n_jobs": 1}
        return cluster(graph, known, n_clusters, effort=0, random_state=seed, **options).labels
    units = reduce_to_units(scaled_graph(graph)[0], known)
    _, spins = search(TwoClusters(units.small), np.random.default_rng(seed), QUICK)[0]
    return (units.lift(spins) > 0).astype(np.int64)
