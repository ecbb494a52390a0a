"""Settings and a number of clusters in place of "auto"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tightcut.problem.graph import Graph
from tightcut.search.spectral_k import ClusterCount, choose_n_clusters
from tightcut.selection.built_graph import BuiltGraph
from tightcut.selection.candidates import choose, default_setting, paper_setting
from tightcut.selection.graph_config import AUTO, Choice, Setting, default_influence
from tightcut.selection.probe import TuningProblem
from tightcut.selection.select_k import admitted_by_pairs


@dataclass(frozen=True, eq=False)
class Selection:
    """The graph to cut, the number of clusters, and why these.

    Attributes
    ----------
    built : BuiltGraph
    choice : Choice
    n_clusters, n_clusters_reason : int, str
    """

    built: BuiltGraph
    choice: Choice
    n_clusters: int
    n_clusters_reason: str


def select(
    problem: TuningProblem,
    wanted: Mapping[str, Any],
    n_clusters: int | str,
    rng: np.random.Generator,
    *,
    by_the_paper: bool = False,
    n_jobs: int | None = None,
) -> Selection:
    """Choose what is "auto" among the settings and the number of clusters, and build the graph.

    Parameters
    ----------
    problem : TuningProblem
        Its `n_clusters` is ignored.
    wanted : mapping
        Attributes of `Setting`, any of which may be "auto".
    n_clusters : int or "auto"
        With "auto" the number is chosen on the default graph, the other settings for this number, and the number again if
        these give another graph.
    by_the_paper : bool
        Take the paper's settings for those that are "auto".
    """

    def chosen(number: int) -> Choice:
        if by_the_paper:
            return Choice(paper_setting(wanted), 'The settings of the paper, because of method="paper".')
        return choose(replace(problem, n_clusters=number), wanted, rng, n_jobs)

    def build(setting: Setting) -> BuiltGraph:
        return problem.source.build(setting, problem.constraints, problem.vertex_weights)

    if not isinstance(n_clusters, str):
        choice = chosen(int(n_clusters))
        return Selection(build(choice.setting), choice, int(n_clusters), "n_clusters was given.")
    first = paper_setting(wanted) if by_the_paper else default_setting(wanted, problem.source, 2)[0]
    built = build(first)
    number_rng = rng.spawn(1)[0]
    by_number = wanted["influence"] == AUTO and not by_the_paper
    count = _counted(problem, first, built.graph, number_rng, n_jobs, by_number=by_number)
    choice = chosen(count.n_clusters)
    if replace(choice.setting, influence=first.influence) != first:
        built = build(choice.setting)
        count = _counted(problem, choice.setting, built.graph, number_rng, n_jobs, by_number=by_number)
    return Selection(replace(built, setting=choice.setting), choice, count.n_clusters, count.reason)


def _counted(
    problem: TuningProblem,
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
