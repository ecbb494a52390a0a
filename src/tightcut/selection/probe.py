"""Cross-validation of settings: short searches without held-out pairs, scored on these."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, product
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tightcut.clustering.arguments import ClusterOptions
from tightcut.clustering.cluster import solve
from tightcut.exceptions import DisconnectedGraphWarning, InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.search.magnitudes import Scaled
from tightcut.selection.built_graph import BuiltGraph
from tightcut.selection.graph_config import Setting
from tightcut.selection.held_out import HeldOut
from tightcut.selection.sources import GraphSource
from tightcut.utils.parallel import run_tasks

Trial: TypeAlias = tuple[Setting, int, int, int]  # the number of clusters, of the search and of the fold


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
    _agreements: dict[Trial, np.ndarray] = field(default_factory=dict, repr=False)

    def agreements(
        self, searches: Sequence[tuple[Setting, int]], n_searches: int = 1, n_folds: int | None = None
    ) -> np.ndarray:
        """For each setting and number of clusters, the share of searches that agree with each held-out pair.

        With `n_folds` only pairs of the first folds are looked at, and the shares of the others are 0.
        """
        folds = self.held.folds[:n_folds]
        wanted = [[(*search, *place) for place in product(range(n_searches), range(len(folds)))] for search in searches]
        self._search([one for one in dict.fromkeys(chain.from_iterable(wanted)) if one not in self._agreements])
        shares = np.zeros((len(searches), len(self.held.pairs)))
        for row, trials in zip(shares, wanted, strict=True):
            for trial in trials:
                row[folds[trial[-1]].asked] += self._agreements[trial]
        return shares / n_searches

    def _search(self, wanted: list[Trial]) -> None:
        folds = self.held.folds
        self._build(list(dict.fromkeys(_graph_key(setting, fold) for setting, _, _, fold in wanted)))
        tasks = [
            (
                self._graphs[_graph_key(setting, fold)],
                folds[fold].known,
                k,
                trial_options(self.problem.max_violations, setting.influence),
                self.seed + 1000 * repeat + fold,
            )
            for setting, k, repeat, fold in wanted
        ]
        labels_of = partial(_labels, required=self.required)
        for trial, labels in zip(wanted, run_tasks(labels_of, tasks, self.n_jobs), strict=True):
            fold = folds[trial[-1]]
            agrees = np.zeros(len(fold.asked), bool) if labels is None else self.held.agreement(fold, labels)
            self._agreements[trial] = agrees

    def _build(self, keys: list[tuple[Setting, int]]) -> None:
        new = [key for key in keys if key not in self._graphs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            building = [(self.problem, setting, self.held.folds[fold].known) for setting, fold in new]
            self._graphs.update(zip(new, run_tasks(_graph, building, self.n_jobs), strict=True))


def trial_options(max_violations: float | str, influence: float) -> ClusterOptions:
    """A single start, refined. RatioDCA, which would take most of the time and move hardly a point, is left out."""
    return ClusterOptions(max_violations, effort=0, influence=influence, n_jobs=1, polish=False)


def _graph_key(setting: Setting, fold: int) -> tuple[Setting, int]:
    """What the graph of a setting depends on."""
    return replace(setting, influence=0.0), fold if setting.learn_distances else 0


def _graph(problem: TuningProblem, setting: Setting, known: Constraints) -> Graph:
    return problem.build(setting, known).graph


def _labels(
    graph: Graph, known: Constraints, n_clusters: int, options: ClusterOptions, seed: int, *, required: bool
) -> np.ndarray | None:
    problem = Scaled.of(graph, known)
    search, rng = options.of_search(None), np.random.default_rng(seed)
    try:
        return solve(problem.graph, problem.constraints, n_clusters, options, search, rng).labels
    except InconsistentConstraintsError:
        if required:
            raise
        return None
