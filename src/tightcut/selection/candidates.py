"""The choice of settings: a default that suits most data, replaced only where the pairs clearly favour another setting.

1. The scale is chosen from the columns (`judge_columns`). Everything else has a default.
2. Candidates for the distances are compared by four-fold cross-validation: short searches without a quarter of the pairs,
   scored on those pairs (`hold_out`). First come the three scales, then, for the default scale and the best one, distances
   learned from must-links.
3. The best candidate that agrees with more held-out pairs than the default, by more than a standard error, replaces it.
4. Where even the best agrees hardly more than chance, neighbours are often of different classes, and cannot-links should
   not count for them: influence is 0.

Fewer neighbours and graphs without diffusion are not candidates: held-out pairs did not identify the cases where they are
better.

All candidates together take the time of a few fits: a short search is a single start, and large data are represented by a
sample of `SAMPLE` points.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tightcut.exceptions import DisconnectedGraphWarning, InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.selection.graph_config import AUTO, PAPER, Setting, default_influence
from tightcut.selection.held_out import Fold, HeldOut, hold_out
from tightcut.selection.probe import short_search
from tightcut.selection.scale import SCALED_TO, SCALES, judge_columns
from tightcut.selection.selection import CandidateScore, Choice
from tightcut.selection.sources import GraphSource, PointSource
from tightcut.utils.display import counted
from tightcut.utils.parallel import run_tasks

FEWEST = 15  # held-out pairs of each kind that are needed for a choice
CLEAR = 1.0  # standard errors by which a candidate must be better than the default
TELLING = 0.6  # share of held-out pairs, chance being 1/2, below which there is no influence
REPEATS = 3  # short searches of each fold, for candidates that the first does not rule out
SAMPLE = 3_000  # points on which candidates are compared
MOST_LEARNED = 300  # features up to which learned distances are tried: the map is a matrix of their number squared


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


def default_setting(wanted: Mapping[str, Any], source: GraphSource, n_clusters: int) -> tuple[Setting, str]:
    """The wanted setting with defaults in place of "auto"; and the reason for the scale, if it was chosen.

    Parameters
    ----------
    wanted : mapping
        Attributes of `Setting`, any of which may be "auto".
    """
    given = {name: value for name, value in wanted.items() if value != AUTO}
    own: dict[str, Any] = {"influence": default_influence(n_clusters)}
    reason = ""
    if wanted["scale"] == AUTO and isinstance(source, PointSource):
        if source.knn.metric == "cosine":
            own["scale"], why = "none", "cosine distances compare directions"
        else:
            own["scale"], why = judge_columns(source.points)
        undo = "" if own["scale"] == "none" else ' (scale="none" leaves them as they are)'
        reason = f"Columns {SCALED_TO[own['scale']]}: {why}{undo}."
    return Setting(**(own | given)), reason


def paper_setting(wanted: Mapping[str, Any]) -> Setting:
    """The wanted setting with the paper's values in place of "auto"."""
    return replace(PAPER, **{name: value for name, value in wanted.items() if value != AUTO})


def choose(
    problem: TuningProblem, wanted: Mapping[str, Any], rng: np.random.Generator, n_jobs: int | None = None
) -> Choice:
    """The setting to fit with.

    Parameters
    ----------
    problem : TuningProblem
    wanted : mapping
        Attributes of `Setting`; those that are "auto" are chosen.
    rng : Generator
    n_jobs : int, optional
        Candidates to try in parallel, as in joblib. The choice does not depend on it.
    """
    default, reason = default_setting(wanted, problem.source, problem.n_clusters)
    n_columns = problem.source.n_scalable if problem.n_clusters > 1 else 0
    scalable = wanted["scale"] == AUTO and n_columns > 0
    scales = [replace(default, scale=scale) for scale in SCALES if scalable and scale != default.scale]
    learnable = (
        wanted["learn_distances"] == AUTO and 0 < n_columns <= MOST_LEARNED and problem.constraints.n_must_link > 0
    )
    fading = wanted["influence"] == AUTO and default.influence > 0
    if not scales and not learnable and not fading:
        return Choice(default, reason or "All settings were given.")
    if problem.constraints.is_empty:
        return Choice(default, _joined(reason, "No pairs were given: the rest are defaults."))
    small = problem.sample(rng, SAMPLE)
    if small.constraints.conflict_witness() is not None and problem.max_violations == 0:
        return Choice(default, _joined(reason, "The pairs contradict each other: the rest are defaults."))
    held = hold_out(small.constraints, rng)
    if min(held.n_must, held.n_cannot) < FEWEST:
        return Choice(default, _joined(reason, _too_few(small, problem)))
    trials = _Trials(small, held, default, int(rng.integers(2**31)), n_jobs)
    try:
        trials.run([default, *scales])
        best = max([default, *scales], key=lambda setting: trials.score(setting).gain)
        if learnable:
            trials.run([replace(setting, learn_distances=True) for setting in dict.fromkeys([default, best])])
    except InconsistentConstraintsError:
        return Choice(default, _joined(reason, "The pairs contradict each other: the rest are defaults."))
    return _decide(trials.scores(), reason, held, fading=fading)


def _too_few(small: TuningProblem, whole: TuningProblem) -> str:
    """Why the pairs decide nothing, in terms of what was given."""
    given, n_points = small.constraints, small.constraints.n_points
    among = "" if n_points == whole.constraints.n_points else f" among the {n_points:,} points of a sample"
    return (
        f"There are too few pairs to choose by ({counted(given.n_must_link, 'must-link')} and "
        f"{counted(given.n_cannot_link, 'cannot-link')}{among}; {FEWEST} of each that others do not imply are needed): the "
        "rest are defaults."
    )


@dataclass(eq=False)
class _Trials:
    """How well settings agree with the held-out pairs, compared with a default, which is tried first."""

    problem: TuningProblem
    held: HeldOut
    default: Setting
    seed: int
    n_jobs: int | None
    agreements: dict[Setting, list[np.ndarray]] = field(default_factory=dict)
    graphs: dict[tuple[Setting, int], Graph] = field(default_factory=dict)

    def run(self, settings: list[Setting]) -> None:
        """Try settings, those that the first searches do not rule out several times."""
        # Searches that may violate some pairs take longer and are not repeated.
        for repeat in range(REPEATS if self.problem.max_violations == 0 else 1):
            hopeful = [one for one in settings if one != self.default and not self._is_ruled_out(one)]
            if repeat > 0 and not hopeful:
                break
            if len(self.agreements.get(self.default, [])) <= repeat:
                hopeful.insert(0, self.default)
            for setting, agrees in zip(hopeful, self._agreement(hopeful, self.seed + 1000 * repeat), strict=True):
                self.agreements.setdefault(setting, []).append(agrees)

    def score(self, setting: Setting) -> CandidateScore:
        """The mean over the searches that were made for both the setting and the default."""
        count = min(len(self.agreements[setting]), len(self.agreements[self.default]))
        own, others = (np.mean(self.agreements[one][:count], axis=0) for one in (setting, self.default))
        return CandidateScore(setting, self.held.score(own), *self.held.compare(own, others))

    def scores(self) -> list[CandidateScore]:
        return [self.score(setting) for setting in self.agreements]

    def _is_ruled_out(self, setting: Setting) -> bool:
        """Whether the searches so far are clearly worse, or all the same."""
        if setting not in self.agreements:
            return False
        score = self.score(setting)
        return score.gain < -score.standard_error or score.gain == score.standard_error == 0

    def _agreement(self, settings: list[Setting], seed: int) -> list[np.ndarray]:
        """For each setting, whether it agrees with each held-out pair. Graphs are kept for the next call."""
        keys = list(product(settings, range(len(self.held.folds))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            for setting in settings:
                if not setting.learn_distances and (setting, 0) not in self.graphs:  # the same for all folds
                    graph = graph_of(self.problem, setting, self.problem.constraints)
                    self.graphs |= {(setting, fold): graph for fold in range(len(self.held.folds))}
            tasks = [
                (self.problem, self.held.folds[fold], setting, self.graphs.get((setting, fold)), seed + fold)
                for setting, fold in keys
            ]
            found = list(run_tasks(_cut, tasks, self.n_jobs))
        agrees = {setting: np.zeros(len(self.held.pairs)) for setting in settings}
        for (setting, number), (graph, labels) in zip(keys, found, strict=True):
            self.graphs[setting, number] = graph
            out = self.held.folds[number]
            agrees[setting][out.asked] = self.held.agreement(out, labels)
        return list(agrees.values())


def _cut(
    problem: TuningProblem, fold: Fold, setting: Setting, graph: Graph | None, seed: int
) -> tuple[Graph, np.ndarray]:
    """The graph of a setting, and the labels of a short search without the held-out pairs of the fold."""
    graph = graph if graph is not None else graph_of(problem, setting, fold.known)
    found = short_search(graph, fold.known, problem.n_clusters, setting.influence, problem.max_violations, seed)
    return graph, found


def graph_of(problem: TuningProblem, setting: Setting, known: Constraints) -> Graph:
    """The graph of a setting; learned distances know the given constraints only."""
    return Graph.from_affinity(problem.source.affinity(setting, known), problem.vertex_weights)


def _decide(tried: list[CandidateScore], reason: str, held: HeldOut, *, fading: bool) -> Choice:
    default = tried[0]
    clear = [score for score in tried if score.gain > CLEAR * score.standard_error]
    best = max(clear, key=lambda score: score.gain, default=default)
    shares = f"{best.agreement:.1%} (must-links and cannot-links in equal shares)"
    if best is default:
        others = f"; none of {len(tried) - 1} others is clearly better" if len(tried) > 1 else ""
        verdict = f"On {held.in_words} the default agrees with {shares}{others}."
    else:
        learned = ", distances learned from must-links" if best.setting.learn_distances else ""
        verdict = (
            f"On {held.in_words} columns {SCALED_TO[best.setting.scale]}{learned} agree with {shares}, {best.gain:.1%} more "
            f"than the default (standard error {best.standard_error:.1%})."
        )
        reason = ""
    setting = best.setting
    if fading and best.agreement < TELLING:
        setting = replace(setting, influence=0.0)
        verdict += " That is hardly more than chance: cannot-links do not count for neighbours (influence 0)."
    return Choice(setting, _joined(reason, verdict), tuple(tried))


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
