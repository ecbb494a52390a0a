"""From what an estimator is given to the graph that it cuts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tightcut.fitted.inputs import read_similarities
from tightcut.neighbors import GIVEN, KnnGraph, check_distances, check_points
from tightcut.neighbors.points import Points
from tightcut.neighbors.threads import Progress
from tightcut.problem.graph import Graph
from tightcut.search.spectral_k import ClusterCount, choose_n_clusters
from tightcut.selection.graph_config import AUTO, N_NEIGHBORS, Setting, default_influence
from tightcut.selection.parameters import knn_settings
from tightcut.selection.select import Graphs, Problem, choose, default_setting, paper_setting
from tightcut.selection.select_k import admitted_by_pairs
from tightcut.selection.selection import Choice
from tightcut.selection.sources import DistanceGraphs, GivenGraph, PointGraphs, View


@dataclass(frozen=True, eq=False)
class Prepared:
    """The graph to cut, and how it came about.

    Attributes
    ----------
    graph : Graph
    choice : Choice
    n_clusters, n_clusters_reason : int, str
    view : View or None
        How points are seen; None for a given graph and for given distances.
    points : ndarray, csr_array or None
        The points of the fit, as they were given.
    viewed : ndarray, csr_array or None
        The points in that view.
    found : KnnGraph or None
        Their neighbours, in that view.
    """

    graph: Graph
    choice: Choice
    n_clusters: int
    n_clusters_reason: str
    view: View | None = None
    points: Points | None = None
    viewed: Points | None = None
    found: KnnGraph | None = None


def read_graphs(X: Any, estimator: Any, progress: Progress | None) -> Graphs:
    """The graph that was given, or the points whose graphs are to be made, checked."""
    if estimator.affinity == "precomputed":
        return GivenGraph(read_similarities(X, estimator))
    if estimator.metric == GIVEN:
        return DistanceGraphs(check_distances(X, ensure_min_samples=2, estimator=estimator), knn_settings(estimator))
    points = check_points(X, ensure_min_samples=2, estimator=estimator)
    return PointGraphs(points, knn_settings(estimator), N_NEIGHBORS, progress)


def prepare(
    problem: Problem,
    wanted: Mapping[str, Any],
    n_clusters: int | str,
    rng: np.random.Generator,
    *,
    by_the_paper: bool = False,
    n_jobs: int | None = None,
) -> Prepared:
    """Choose what is "auto" among the settings and the number of clusters, and make the graph.

    Parameters
    ----------
    problem : Problem
        Its `n_clusters` is not looked at.
    wanted : mapping
        Attributes of `Setting`, any of which may be "auto".
    n_clusters : int or "auto"
        With "auto" the number is chosen on the default graph, the other settings for this number, and the number again if
        these make another graph.
    by_the_paper : bool
        Take the paper's settings for those that are "auto".
    """

    def chosen(number: int) -> Choice:
        if by_the_paper:
            return Choice(paper_setting(wanted), 'The settings of the paper, because of method="paper".')
        return choose(replace(problem, n_clusters=number), wanted, rng, n_jobs)

    if not isinstance(n_clusters, str):
        choice = chosen(int(n_clusters))
        graph, *seen = _made(problem, choice.setting)
        return Prepared(graph, choice, int(n_clusters), "n_clusters was given.", *seen)
    first = paper_setting(wanted) if by_the_paper else default_setting(wanted, problem.graphs, 2)[0]
    graph, *seen = _made(problem, first)
    number_rng = rng.spawn(1)[0]
    by_number = wanted["influence"] == AUTO and not by_the_paper
    count = _counted(problem, first, graph, number_rng, n_jobs, by_number=by_number)
    choice = chosen(count.n_clusters)
    if replace(choice.setting, influence=first.influence) != first:
        graph, *seen = _made(problem, choice.setting)
        count = _counted(problem, choice.setting, graph, number_rng, n_jobs, by_number=by_number)
    return Prepared(graph, choice, count.n_clusters, count.reason, *seen)


def _counted(
    problem: Problem,
    setting: Setting,
    graph: Graph,
    rng: np.random.Generator,
    n_jobs: int | None,
    *,
    by_number: bool,
) -> ClusterCount:
    """The number of clusters on the graph of a setting; its influence may depend on the number."""

    def setting_for(number: int) -> Setting:
        return replace(setting, influence=default_influence(number)) if by_number else setting

    def admit(numbers: np.ndarray) -> tuple[np.ndarray, str] | None:
        return admitted_by_pairs(problem, setting_for, numbers, rng, n_jobs)

    return choose_n_clusters(graph, problem.constraints, admit=admit)


def _made(problem: Problem, setting: Setting) -> tuple[Any, ...]:
    graphs = problem.graphs
    if isinstance(graphs, GivenGraph):
        return (Graph.from_affinity(graphs.matrix, problem.vertex_weights),)
    if isinstance(graphs, DistanceGraphs):
        known = graphs.make(setting)
        return Graph.from_affinity(known.affinity, problem.vertex_weights), None, None, None, known
    view, viewed, found = graphs.make(setting, problem.constraints)
    return Graph.from_affinity(found.affinity, problem.vertex_weights), view, graphs.points, viewed, found
