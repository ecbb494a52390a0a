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

All candidates together take the time of a few fits: a short search is a single start, and a sample represents large data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.selection.graph_config import AUTO, PAPER, CandidateScore, Choice, Setting, default_influence
from tightcut.selection.held_out import HeldOut, hold_out
from tightcut.selection.probe import Probe, TuningProblem
from tightcut.selection.scale import SCALED_TO, SCALES, judge_columns
from tightcut.selection.sources import GraphSource, PointSource
from tightcut.utils.display import counted


@dataclass(frozen=True)
class SettingThresholds:
    """What it takes for pairs to replace a default.

    `python -m benchmarks.choosing` shows what these numbers lead to on 25 sets, its "other draws" with candidates chosen
    on other pairs. No record says on what each of them was chosen.
    """

    held_out_pairs: int = 15  # of each kind; with fewer, all defaults stay
    standard_errors: float = 1.0  # by which a candidate must agree with more pairs than the default
    agreement: float = 0.6  # of the best candidate, chance being 1/2; below it cannot-links do not count for neighbours
    searches: int = 3  # of each fold, for candidates that the first does not rule out
    points: int = 3_000  # of the sample on which candidates are compared
    features: int = 300  # with more, distances are not learned: the map is a matrix of their number squared


THRESHOLDS = SettingThresholds()


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
        wanted["learn_distances"] == AUTO
        and 0 < n_columns <= THRESHOLDS.features
        and problem.constraints.n_must_link > 0
    )
    fading = wanted["influence"] == AUTO and default.influence > 0
    if not scales and not learnable and not fading:
        return Choice(default, reason or "All settings were given.")
    if problem.constraints.is_empty:
        return Choice(default, _joined(reason, "No pairs were given: the rest are defaults."))
    small = problem.sample(rng, THRESHOLDS.points)
    if small.constraints.conflict_witness() is not None and problem.max_violations == 0:
        return Choice(default, _joined(reason, "The pairs contradict each other: the rest are defaults."))
    held = hold_out(small.constraints, rng)
    if min(held.n_must, held.n_cannot) < THRESHOLDS.held_out_pairs:
        return Choice(default, _joined(reason, _too_few(small, problem)))
    trials = _Trials(Probe(small, held, n_jobs), default, int(rng.integers(2**31)))
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
        f"{counted(given.n_cannot_link, 'cannot-link')}{among}; {THRESHOLDS.held_out_pairs} of each that others do not "
        "imply are needed): the rest are defaults."
    )


@dataclass(eq=False)
class _Trials:
    """How well settings agree with the held-out pairs, compared with a default, which is tried first."""

    probe: Probe
    default: Setting
    seed: int
    agreements: dict[Setting, list[np.ndarray]] = field(default_factory=dict)

    def run(self, settings: list[Setting]) -> None:
        """Try settings, those that the first searches do not rule out several times."""
        # Searches that may violate some pairs take longer and are not repeated.
        for repeat in range(THRESHOLDS.searches if self.probe.problem.max_violations == 0 else 1):
            hopeful = [one for one in settings if one != self.default and not self._is_ruled_out(one)]
            if repeat > 0 and not hopeful:
                break
            if len(self.agreements.get(self.default, [])) <= repeat:
                hopeful.insert(0, self.default)
            searches = [(setting, self.probe.problem.n_clusters) for setting in hopeful]
            for setting, agrees in zip(
                hopeful, self.probe.agreements(searches, self.seed + 1000 * repeat), strict=True
            ):
                self.agreements.setdefault(setting, []).append(agrees)

    def score(self, setting: Setting) -> CandidateScore:
        """The mean over the searches that were made for both the setting and the default."""
        count = min(len(self.agreements[setting]), len(self.agreements[self.default]))
        own, others = (np.mean(self.agreements[one][:count], axis=0) for one in (setting, self.default))
        held = self.probe.held
        return CandidateScore(setting, held.score(own), *held.compare(own, others))

    def scores(self) -> list[CandidateScore]:
        return [self.score(setting) for setting in self.agreements]

    def _is_ruled_out(self, setting: Setting) -> bool:
        """Whether the searches so far are clearly worse, or all the same."""
        if setting not in self.agreements:
            return False
        score = self.score(setting)
        return score.gain < -score.standard_error or score.gain == score.standard_error == 0


def _decide(tried: list[CandidateScore], reason: str, held: HeldOut, *, fading: bool) -> Choice:
    default = tried[0]
    clear = [score for score in tried if score.gain > THRESHOLDS.standard_errors * score.standard_error]
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
    if fading and best.agreement < THRESHOLDS.agreement:
        setting = replace(setting, influence=0.0)
        verdict += " That is hardly more than chance: cannot-links do not count for neighbours (influence 0)."
    return Choice(setting, _joined(reason, verdict), tuple(tried))


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
