"""The choice: a default that suits most data, left only where the pairs speak clearly against it.

1. The columns say how they are scaled (`judge_columns`). Everything else has a default.
2. Candidates that differ in one or two settings cut the graph without a quarter of the pairs, four times, in short
   searches, and are compared on the pairs that they were not shown (`hold_out`).
3. A candidate that tells these better than the default by more than two standard errors takes its place; the best of
   them if there are several. First the distances are chosen, then the graph and the influence.

All candidates together cost less than a few plain fits: a search of effort 0 is a single start, and where there are many
points they are compared on a sample of `SAMPLE` of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from tightcut.choosing.choice import CandidateScore, Choice
from tightcut.choosing.held_out import Fold, HeldOut, hold_out
from tightcut.choosing.scales import SCALED_TO, SCALES, judge_columns
from tightcut.choosing.setting import AUTO, INFLUENCE, INFLUENCE_FROM, PAPER, Setting
from tightcut.choosing.views import GivenGraph, PointGraphs
from tightcut.clustering import cluster
from tightcut.constraints import Constraints
from tightcut.exceptions import DisconnectedGraphWarning, InconsistentConstraintsError
from tightcut.graph import Graph

Graphs: TypeAlias = PointGraphs | GivenGraph

FEWEST = 10  # pairs of each kind that must be asked about
CLEAR = 2.0  # standard errors by which a candidate must be better than the default; of many, one is better by chance
SAMPLE = 5_000  # points on which candidates are compared
MOST_LEARNED = 300  # features up to which learned distances are tried: the map is a matrix of their number squared


@dataclass(frozen=True, eq=False)
class Problem:
    """What candidates are tried on.

    Attributes
    ----------
    graphs : PointGraphs or GivenGraph
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
        """The same on at most `SAMPLE` points, those with pairs first."""
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
    """What is wanted, with defaults in place of "auto"; and why the columns are scaled as they are, or nothing.

    Parameters
    ----------
    wanted : mapping
        Attributes of `Setting`, any of which may be "auto".
    """
    given = {name: value for name, value in wanted.items() if value != AUTO}
    own: dict[str, Any] = {"influence": INFLUENCE if n_clusters >= INFLUENCE_FROM else 0.0}
    told = ""
    if wanted["scale"] == AUTO and isinstance(graphs, PointGraphs):
        if graphs.knn.metric == "cosine":
            own["scale"], why = "none", "cosine distances compare directions"
        else:
            own["scale"], why = judge_columns(graphs.points)
        undo = "" if own["scale"] == "none" else ' (scale="none" leaves them as they are)'
        told = f"Columns {SCALED_TO[own['scale']]}: {why}{undo}."
    return Setting(**(own | given)), told


def paper_setting(wanted: Mapping[str, Any]) -> Setting:
    """What is wanted, with the paper's settings in place of "auto"."""
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
        Candidates at a time, as in joblib. The choice does not depend on it.
    """
    default, told = default_setting(wanted, problem.graphs, problem.n_clusters)
    rounds = _rounds(problem, wanted) if problem.n_clusters > 1 else []
    if not any(len(alternatives(default)) for alternatives in rounds):
        return Choice(default, told or "All settings were given.")
    if problem.constraints.is_empty:
        return Choice(default, _joined(told, "No pairs were given: the rest are defaults."))
    small = problem.sample(rng)
    held = hold_out(small.constraints, rng)
    if min(held.n_must, held.n_cannot) < FEWEST:
        few = f"{held.n_must} must-links and {held.n_cannot} cannot-links that others do not imply"
        return Choice(default, _joined(told, f"The pairs are too few to choose by ({few}): the rest are defaults."))
    try:
        tried = _tried(small, held, default, rounds, int(rng.integers(2**31)), n_jobs)
    except InconsistentConstraintsError:
        return Choice(default, _joined(told, "The pairs contradict each other: the rest are defaults."))
    return _decide(default, told, tried, held)


def _rounds(problem: Problem, wanted: Mapping[str, Any]) -> list[Any]:
    """For each round a function from the best setting so far to alternatives."""
    graphs = problem.graphs
    auto = {name for name, value in wanted.items() if value == AUTO}
    dense = isinstance(graphs, PointGraphs) and not sp.issparse(graphs.points)
    by_column = dense and isinstance(graphs, PointGraphs) and graphs.knn.metric == "euclidean"

    def distances(best: Setting) -> list[Setting]:
        scales = SCALES if "scale" in auto and by_column else (best.scale,)
        learnable = (
            "learn_distances" in auto and by_column and graphs.points.shape[1] <= MOST_LEARNED  # type: ignore[union-attr]
        )
        learned = (False, True) if learnable and problem.constraints.n_must_link else (best.learn_distances,)
        both = [replace(best, scale=scale, learn_distances=flag) for flag in learned for scale in scales]
        return [setting for setting in both if setting != best]

    def shapes(best: Setting) -> list[Setting]:
        found = []
        if isinstance(graphs, PointGraphs) and {"n_neighbors", "symmetrize", "diffusion"} <= auto:
            found += [replace(best, n_neighbors=5), replace(best, symmetrize="maximum", diffusion=0)]
        if "influence" in auto and problem.n_clusters > 2:
            found.append(replace(best, influence=0.0 if best.influence else INFLUENCE))
        return found

    return [distances, shapes]


def _tried(
    problem: Problem, held: HeldOut, default: Setting, rounds: list[Any], seed: int, n_jobs: int | None
) -> list[CandidateScore]:
    """All candidates, the default first; each round starts from the best of those before."""
    agrees = {default: _agreement(problem, held, [default], seed, n_jobs)[0]}
    best = default
    for alternatives in rounds:
        settings = [setting for setting in alternatives(best) if setting not in agrees]
        agrees.update(zip(settings, _agreement(problem, held, settings, seed, n_jobs), strict=True))
        scores = [_scored(held, setting, agrees[setting], agrees[best]) for setting in settings]
        clear = [score for score in scores if score.gain > CLEAR * score.standard_error]
        if clear:
            best = max(clear, key=lambda score: score.gain).setting
    found = [_scored(held, setting, told, agrees[default]) for setting, told in agrees.items()]
    return sorted(found, key=lambda score: score.setting != best)


def _scored(held: HeldOut, setting: Setting, agrees: np.ndarray, other: np.ndarray) -> CandidateScore:
    return CandidateScore(setting, held.score(agrees), *held.compare(agrees, other))


def _agreement(
    problem: Problem, held: HeldOut, settings: list[Setting], seed: int, n_jobs: int | None
) -> list[np.ndarray]:
    """For each setting, whether it tells each pair rightly that is asked about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        tasks = []
        for setting in settings:
            # Found here and once; only learned distances depend on the pairs that are known.
            graph = None if setting.learn_distances else _graph(problem, setting, problem.constraints)
            tasks += [(problem, held, fold, setting, graph, seed + i) for i, fold in enumerate(held.folds)]
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        found = parallel(delayed(_ask)(*task) for task in tasks)
    agrees = []
    for place in range(len(settings)):
        told = np.zeros(len(held.pairs))
        for fold, answer in zip(held.folds, found[place * len(held.folds) :], strict=False):
            told[fold.asked] = answer
        agrees.append(told)
    return agrees


def _ask(problem: Problem, held: HeldOut, fold: Fold, setting: Setting, graph: Graph | None, seed: int) -> np.ndarray:
    """Whether a short search that knows the other pairs tells those of the fold rightly."""
    found = cluster(
        graph if graph is not None else _graph(problem, setting, fold.known),
        fold.known,
        problem.n_clusters,
        max_violations=problem.max_violations,
        effort=0,
        influence=setting.influence,
        n_jobs=1,
        random_state=seed,
    )
    return held.agreement(fold, found.labels)


def _graph(problem: Problem, setting: Setting, known: Constraints) -> Graph:
    return Graph.from_affinity(problem.graphs.affinity(setting, known), problem.vertex_weights)


def _decide(default: Setting, told: str, tried: list[CandidateScore], held: HeldOut) -> Choice:
    best = tried[0]
    tried = sorted(tried, key=lambda score: score.setting != default)
    asked = f"{held.n_must + held.n_cannot:,} pairs held out"
    shares = f"{best.agreement:.1%} (must-links and cannot-links in equal shares)"
    if best.setting == default:
        verdict = f"Of {asked} the default tells {shares}; none of {len(tried) - 1} others is clearly better."
        return Choice(default, _joined(told, verdict), tuple(tried))
    verdict = (
        f"Chosen by the pairs: {best.setting}. Of {asked} it tells {shares}, {best.gain:.1%} more than the default "
        f"(standard error {best.standard_error:.1%})."
    )
    return Choice(best.setting, verdict, tuple(tried))


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
