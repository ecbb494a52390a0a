"""Short searches without some of the pairs, and how well their labels agree with these."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
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


@dataclass(eq=False)
class Probe:
    """Clusterings without the pairs of each fold. A graph is built once for each fold, and once for all where it can be.

    Parameters
    ----------
    problem : TuningProblem
    held : HeldOut
        Folds of its pairs.
    n_jobs : int or None
        Searches in parallel, as in joblib. The result does not depend on it.
    """

    problem: TuningProblem
    held: HeldOut
    n_jobs: int | None = None
    _graphs: dict[tuple[Setting, int], Graph] = field(default_factory=dict, repr=False)

    def agreements(self, searches: Iterable[tuple[Setting, int]], seed: int, *, required: bool = True) -> np.ndarray:
        """For each setting and number of clusters, whether labels agree with each held-out pair that was left out.

        Where no clustering satisfies the other pairs, InconsistentConstraintsError is raised if one is `required`, and
        otherwise no held-out pair agrees.
        """
        searches = list(searches)
        self._build(dict.fromkeys(replace(setting, influence=0.0) for setting, _ in searches))
        places = list(product(enumerate(searches), enumerate(self.held.folds)))
        limit = self.problem.max_violations
        tasks = [
            (self._graphs[replace(setting, influence=0.0), number], fold.known, n_clusters, setting.influence, limit,
             seed + number, required)
            for (_, (setting, n_clusters)), (number, fold) in places
        ]  # fmt: skip
        agrees = np.zeros((len(searches), len(self.held.pairs)))
        for ((row, _), (_, fold)), labels in zip(places, run_tasks(_labels, tasks, self.n_jobs), strict=True):
            if labels is not None:
                agrees[row, fold.asked] = self.held.agreement(fold, labels)
        return agrees

    def _build(self, settings: Iterable[Setting]) -> None:
        """The graphs of these settings; learned distances know the pairs that are left in a fold, others know none."""
        numbers = range(len(self.held.folds))
        missing = [setting for setting in settings if (setting, 0) not in self._graphs]
        learned = [(setting, number) for setting in missing if setting.learn_distances for number in numbers]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            for setting in missing:
                if not setting.learn_distances:
                    graph = _graph(self.problem, setting, self.problem.constraints)
                    self._graphs |= {(setting, number): graph for number in numbers}
            tasks = [(self.problem, setting, self.held.folds[number].known) for setting, number in learned]
            self._graphs |= dict(zip(learned, run_tasks(_graph, tasks, self.n_jobs), strict=True))


def _graph(problem: TuningProblem, setting: Setting, known: Constraints) -> Graph:
    return Graph.from_affinity(problem.source.affinity(setting, known), problem.vertex_weights)


def _labels(
    graph: Graph,
    known: Constraints,
    k: int,
    influence: float,
    limit: Any,
    seed: int,
    required: bool,  # noqa: FBT001
) -> np.ndarray | None:
    try:
        return short_search(graph, known, k, influence, limit, seed)
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
