"""The choice of settings: a default that suits most data, replaced only where the pairs clearly favour another setting.

1. The scale is chosen from the columns (`judge_columns`). Everything else has a default.
2. Candidates for the distances, by scale and with or without distances learned from must-links, are compared by four-fold
   cross-validation: short searches without a quarter of the pairs, scored on those pairs (`hold_out`).
3. The best candidate that agrees with more held-out pairs than the default, by more than a standard error, replaces it.
4. Where even the best agrees hardly more than chance, neighbours are often of different classes, and cannot-links should
   not count for them: influence is 0.

Fewer neighbours and graphs without diffusion are not candidates: held-out pairs did not identify the cases where they are
better.

All candidates together take less time than a few fits: a search of effort 0 is a single start, and large data are
represented by a sample of `SAMPLE` points.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from tightcut._support.parallel import run_tasks
from tightcut.choosing.choice import CandidateScore, Choice
from tightcut.choosing.held_out import Fold, HeldOut, hold_out
from tightcut.choosing.scales import SCALED_TO, SCALES, judge_columns
from tightcut.choosing.setting import AUTO, INFLUENCE, INFLUENCE_FROM, PAPER, Setting
from tightcut.choosing.views import DistanceGraphs, GivenGraph, PointGraphs
from tightcut.clustering import cluster
from tightcut.constraints import Constraints
from tightcut.exceptions import DisconnectedGraphWarning, InconsistentConstraintsError
from tightcut.graph import Graph

Graphs: TypeAlias = PointGraphs | DistanceGraphs | GivenGraph

FEWEST = 15  # held-out pairs of each kind that are needed for a choice
CLEAR = 1.0  # standard errors by which a candidate must be better than the default
TELLING = 0.6  # share of held-out pairs, chance being 1/2, below which there is no influence
REPEATS = 3  # short searches of each fold, for candidates that the first does not rule out
SAMPLE = 5_000  # points on which candidates are compared
MOST_LEARNED = 300  # features up to which learned distances are tried: the map is a matrix of their number squared


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem that candidates are compared on.

    Attributes
    ----------
    graphs : PointGraphs, DistanceGraphs or GivenGraph
    constraints : Constraints
    n_clusters : int
    vertex_weights : str or ndarray of shape (n,)
        As `Graph.from_affinity` takes them.
    max_violations : float or "fewest"
    """

    graphs: Graphs
    constraints: Constraints
    n_clusters: int
    vertex_weights: Any = "degree"
    max_violations: Any = 0

    def sample(self, rng: np.random.Generator) -> Problem:
        """The same problem on at most `SAMPLE` points, those with pairs first."""
        n = self.graphs.n_points
        if n <= SAMPLE:
            return self
        paired = np.zeros(n, dtype=bool)
        paired[self.constraints.must_link] = paired[self.constraints.cannot_link] = True
        order = np.lexsort((rng.random(n), ~paired))
        chosen = np.sort(order[:SAMPLE])
        weights = self.vertex_weights
        return replace(
            self,
            graphs=self.graphs.sample(chosen),
            constraints=self.constraints.subset(chosen),
            vertex_weights=weights if isinstance(weights, str) else np.asarray(weights)[chosen],
        )


def default_setting(wanted: Mapping[str, Any], graphs: Graphs, n_clusters: int) -> tuple[Setting, str]:
    """The wanted setting with defaults in place of "auto"; and the reason for the scale, if it was chosen.

    Parameters
    ----------
    wanted : mapping
        Attributes of `Setting`, any of which may be "auto".
    """
    given = {name: value for name, value in wanted.items() if value != AUTO}
    own: dict[str, Any] = {"influence": INFLUENCE if n_clusters >= INFLUENCE_FROM else 0.0}
    reason = ""
    if wanted["scale"] == AUTO and isinstance(graphs, PointGraphs):
        if graphs.knn.metric == "cosine":
            own["scale"], why = "none", "cosine distances compare directions"
        else:
            own["scale"], why = judge_columns(graphs.points)
        undo = "" if own["scale"] == "none" else ' (scale="none" leaves them as they are)'
        reason = f"Columns {SCALED_TO[own['scale']]}: {why}{undo}."
    return Setting(**(own | given)), reason


def paper_setting(wanted: Mapping[str, Any]) -> Setting:
    """The wanted setting with the paper's values in place of "auto"."""
    return replace(PAPER, **{name: value for name, value in wanted.items() if value != AUTO})


def choose(problem: Problem, wanted: Mapping[str, Any], rng: np.random.Generator, n_jobs: int | None = None) -> Choice:
    """The setting to fit with.

    Parameters
    ----------
    problem : Problem
    wanted : mapping
        Attributes of `Setting`; those that are "auto" are chosen.
    rng : Generator
    n_jobs : int, optional
        Candidates to try in parallel, as in joblib. The choice does not depend on it.
    """
    default, reason = default_setting(wanted, problem.graphs, problem.n_clusters)
    others = _alternatives(problem, wanted, default) if problem.n_clusters > 1 else []
    fading = wanted["influence"] == AUTO and default.influence > 0
    if not others and not fading:
        return Choice(default, reason or "Nothing was left to choose.")
    if problem.constraints.is_empty:
        return Choice(default, _joined(reason, "No pairs were given: the rest are defaults."))
    small = problem.sample(rng)
    if small.constraints.conflict_witness() is not None and problem.max_violations == 0:
        return Choice(default, _joined(reason, "The pairs contradict each other: the rest are defaults."))
    held = hold_out(small.constraints, rng)
    if min(held.n_must, held.n_cannot) < FEWEST:
        few = f"{held.n_must} must-links and {held.n_cannot} cannot-links that others do not imply"
        return Choice(default, _joined(reason, f"There are too few pairs to choose by ({few}): the rest are defaults."))
    try:
        tried = _tried(small, held, [default, *others], int(rng.integers(2**31)), n_jobs)
    except InconsistentConstraintsError:
        return Choice(default, _joined(reason, "The pairs contradict each other: the rest are defaults."))
    return _decide(tried, reason, held, fading=fading)


def _alternatives(problem: Problem, wanted: Mapping[str, Any], default: Setting) -> list[Setting]:
    """Settings with other distances than the default."""
    graphs = problem.graphs
    if not isinstance(graphs, PointGraphs) or sp.issparse(graphs.points) or graphs.knn.metric != "euclidean":
        return []
    scales = SCALES if wanted["scale"] == AUTO else (default.scale,)
    learnable = graphs.points.shape[1] <= MOST_LEARNED and problem.constraints.n_must_link > 0
    learned = (False, True) if wanted["learn_distances"] == AUTO and learnable else (default.learn_distances,)
    found = [replace(default, scale=scale, learn_distances=flag) for flag in learned for scale in scales]
    return [setting for setting in found if setting != default]


def _tried(
    problem: Problem, held: HeldOut, settings: list[Setting], seed: int, n_jobs: int | None
) -> list[CandidateScore]:
    """How well each setting agrees with the held-out pairs; the first is the default."""
    agreements: dict[Setting, list[np.ndarray]] = {setting: [] for setting in settings}
    graphs: dict[tuple[Setting, int], Graph] = {}
    # Searches that may violate some pairs take longer and are not repeated.
    for repeat in range(REPEATS if problem.max_violations == 0 else 1):
        hopeful = [one for one in settings if repeat == 0 or not _ruled_out(held, agreements, one, settings[0])]
        for setting, agrees in zip(
            hopeful, _agreement(problem, held, hopeful, graphs, seed + 1000 * repeat, n_jobs), strict=True
        ):
            agreements[setting].append(agrees)
        if hopeful == settings[:1]:
            break
    return [_scored(held, agreements, setting, settings[0]) for setting in settings]


def _ruled_out(held: HeldOut, agreements: dict[Setting, list[np.ndarray]], setting: Setting, default: Setting) -> bool:
    """Whether the searches so far are clearly worse, or all the same."""
    if setting == default:
        return False
    score = _scored(held, agreements, setting, default)
    return score.gain < -score.standard_error or score.gain == score.standard_error == 0


def _scored(
    held: HeldOut, agreements: dict[Setting, list[np.ndarray]], setting: Setting, other: Setting
) -> CandidateScore:
    """The mean over the searches that were made for both."""
    count = min(len(agreements[setting]), len(agreements[other]))
    own, others = (np.mean(agreements[one][:count], axis=0) for one in (setting, other))
    return CandidateScore(setting, held.score(own), *held.compare(own, others))


def _agreement(
    problem: Problem,
    held: HeldOut,
    settings: list[Setting],
    graphs: dict[tuple[Setting, int], Graph],
    seed: int,
    n_jobs: int | None,
) -> list[np.ndarray]:
    """For each setting, whether it agrees with each held-out pair. Graphs are kept for the next call."""
    keys = list(product(settings, range(len(held.folds))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        for setting, fold in keys:
            if not setting.learn_distances:  # neighbours are then found here, once for all folds
                graphs.setdefault((setting, fold), _graph(problem, setting, problem.constraints))
        tasks = [
            (problem, held.folds[fold], setting, graphs.get((setting, fold)), seed + fold) for setting, fold in keys
        ]
        found = list(run_tasks(_cut, tasks, n_jobs))
    agrees = {setting: np.zeros(len(held.pairs)) for setting in settings}
    for (setting, number), (graph, labels) in zip(keys, found, strict=True):
        graphs[setting, number] = graph
        out = held.folds[number]
        agrees[setting][out.asked] = held.agreement(out, labels)
    return list(agrees.values())


def _cut(problem: Problem, fold: Fold, setting: Setting, graph: Graph | None, seed: int) -> tuple[Graph, np.ndarray]:
    """The graph of a setting, and the labels of a short search without the held-out pairs of the fold."""
    graph = graph if graph is not None else _graph(problem, setting, fold.known)
    found = cluster(
        graph,
        fold.known,
        problem.n_clusters,
        max_violations=problem.max_violations,
        effort=0,
        influence=setting.influence,
        n_jobs=1,
        random_state=seed,
    )
    return graph, found.labels


def _graph(problem: Problem, setting: Setting, known: Constraints) -> Graph:
    return Graph.from_affinity(problem.graphs.affinity(setting, known), problem.vertex_weights)


def _decide(tried: list[CandidateScore], reason: str, held: HeldOut, *, fading: bool) -> Choice:
    default = tried[0]
    clear = [score for score in tried if score.gain > CLEAR * score.standard_error]
    best = max(clear, key=lambda score: score.gain, default=default)
    asked = f"{held.n_must + held.n_cannot:,} held-out pairs"
    shares = f"{best.agreement:.1%} (must-links and cannot-links in equal shares)"
    if best is default:
        others = f"; none of {len(tried) - 1} others is clearly better" if len(tried) > 1 else ""
        verdict = f"On {asked} the default agrees with {shares}{others}."
    else:
        learned = ", distances learned from must-links" if best.setting.learn_distances else ""
        verdict = (
            f"On {asked}, columns {SCALED_TO[best.setting.scale]}{learned} agree with {shares}, {best.gain:.1%} more than the "
            f"default (standard error {best.standard_error:.1%})."
        )
        reason = ""
    setting = best.setting
    if fading and best.agreement < TELLING:
        setting = replace(setting, influence=0.0)
        verdict += " That is hardly more than chance: cannot-links do not count for neighbours (influence 0)."
    return Choice(setting, _joined(reason, verdict), tuple(tried))


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
