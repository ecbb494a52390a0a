"""`select`: replace every "auto" by a setting or a number of clusters, and build the graph.

Settings have defaults that suit most data, replaced only where the pairs clearly favour another one.

1. The scale is chosen from the columns (`judge_columns`). Everything else has a default.
2. Candidates for the distances are compared by four-fold cross-validation: a short search without a quarter of the pairs,
   scored on those pairs (`hold_out`). First comes the default, and that is all where even a candidate without a fault would
   not be clearly better; then the other scales, then distances learned from must-links, for the default scale and the
   best one. They race: after each fold, candidates that are not ahead of the default drop out, and those clearly ahead after
   all folds are compared with it again, over up to three searches.
3. The best candidate that agrees with more held-out pairs than the default, by more than a standard error, replaces it.
4. Where even the best agrees hardly more than chance, neighbours are often of different classes, and cannot-links should
   not count for them: influence is 0.

Fewer neighbours and graphs without diffusion are not candidates: held-out pairs did not identify the cases where they are
better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.search.spectral_k import ClusterCount, choose_n_clusters
from tightcut.selection.built_graph import BuiltGraph
from tightcut.selection.graph_config import AUTO, PAPER, CandidateScore, Choice, Setting, default_influence
from tightcut.selection.held_out import N_FOLDS, HeldOut, hold_out
from tightcut.selection.probe import Trials, TuningProblem
from tightcut.selection.scale import SCALED_TO, SCALES, are_standardised, judge_columns
from tightcut.selection.select_k import admitted_by_pairs
from tightcut.selection.sources import GraphSource, PointSource
from tightcut.utils.display import count_noun


@dataclass(frozen=True)
class SettingThresholds:
    """What it takes for pairs to replace a default.

    `python -m benchmarks.choosing` shows what these numbers lead to on 25 sets, its "other draws" with candidates chosen
    on other pairs. No record says on what each of them was chosen.
    """

    held_out_pairs: int = 15  # of each kind; with fewer, all defaults stay
    standard_errors: float = 1.0  # by which a candidate must agree with more pairs than the default
    agreement: float = 0.6  # of the best candidate, chance being 1/2; below it cannot-links do not count for neighbours
    points: int = 3_000  # of the sample on which candidates are compared
    features: int = 300  # with more, distances are not learned: the map is a matrix of their number squared


THRESHOLDS = SettingThresholds()
# Searches of each fold, and folds, after which candidates are compared with the default.
ROUNDS = (*((1, folds) for folds in range(2, N_FOLDS + 1)), (2, N_FOLDS), (3, N_FOLDS))


def select(
    problem: TuningProblem,
    wanted: Mapping[str, Any],
    n_clusters: int | str,
    rng: np.random.Generator,
    *,
    by_the_paper: bool = False,
    quick: bool = False,
    n_jobs: int | None = None,
) -> tuple[BuiltGraph, Choice, int, str]:
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
    quick : bool
        Try no candidates: defaults stand for all settings that are "auto".

    Returns
    -------
    built : BuiltGraph
    choice : Choice
    n_clusters : int
    reason : str
        Why so many clusters.
    """

    def choice_for(number: int) -> Choice:
        if by_the_paper:
            return Choice(paper_setting(wanted), 'The settings of the paper, because of method="paper".')
        return choose_setting(replace(problem, n_clusters=number), wanted, rng, n_jobs, quick=quick)

    if not isinstance(n_clusters, str):
        choice = choice_for(int(n_clusters))
        return problem.build(choice.setting), choice, int(n_clusters), "n_clusters was given."
    number_rng = rng.spawn(1)[0]

    def count_clusters(built: BuiltGraph) -> ClusterCount:
        def setting_for(number: int) -> Setting:
            is_default = wanted["influence"] == AUTO and not by_the_paper
            return replace(built.setting, influence=default_influence(number)) if is_default else built.setting

        admit = partial(admitted_by_pairs, problem, setting_for, rng=number_rng, n_jobs=n_jobs)
        return choose_n_clusters(built.graph, problem.constraints, admit=admit)

    first = paper_setting(wanted) if by_the_paper else default_setting(wanted, problem.source, 2)[0]
    built = problem.build(first)
    count = count_clusters(built)
    choice = choice_for(count.n_clusters)
    if replace(choice.setting, influence=first.influence) != first:
        built = problem.build(choice.setting)
        count = count_clusters(built)
    return replace(built, setting=choice.setting), choice, count.n_clusters, count.reason


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


def choose_setting(
    problem: TuningProblem,
    wanted: Mapping[str, Any],
    rng: np.random.Generator,
    n_jobs: int | None = None,
    *,
    quick: bool = False,
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
    quick : bool
        As in `select`.
    """
    default, reason = default_setting(wanted, problem.source, problem.n_clusters)
    n_columns = problem.source.n_scalable if problem.n_clusters > 1 else 0
    scalable = wanted["scale"] == AUTO and n_columns > 0
    scales = [
        replace(default, scale=scale)
        for scale in (SCALES if scalable else ())
        if scale != default.scale and not (scale == "standard" and are_standardised(problem.source.points))  # type: ignore[attr-defined]
    ]
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
    if quick:
        return Choice(default, _joined(reason, "With effort=0 the pairs choose nothing: the rest are defaults."))
    small = problem.sample(rng, THRESHOLDS.points)
    if small.constraints.conflict_witness() is not None and problem.max_violations == 0:
        return Choice(default, _joined(reason, "The pairs contradict each other: the rest are defaults."))
    held = hold_out(small.constraints, rng)
    if min(held.n_must, held.n_cannot) < THRESHOLDS.held_out_pairs:
        return Choice(default, _joined(reason, _too_few(small, problem)))
    try:
        trials = Trials(small, held, int(rng.integers(2**31)), n_jobs)
        tried = compare_candidates(trials, default, scales, problem.n_clusters, learnable=learnable)
    except InconsistentConstraintsError:
        return Choice(default, _joined(reason, "The pairs contradict each other: the rest are defaults."))
    return _decide(tried, reason, held, fading=fading)


def _too_few(small: TuningProblem, whole: TuningProblem) -> str:
    """Why the pairs decide nothing, in terms of what was given."""
    given, n_points = small.constraints, small.constraints.n_points
    among = "" if n_points == whole.constraints.n_points else f" among the {n_points:,} points of a sample"
    return (
        f"There are too few pairs to choose by ({count_noun(given.n_must_link, 'must-link')} and "
        f"{count_noun(given.n_cannot_link, 'cannot-link')}{among}; {THRESHOLDS.held_out_pairs} of each that others do not "
        "imply are needed): the rest are defaults."
    )


def compare_candidates(
    trials: Trials, default: Setting, scales: list[Setting], n_clusters: int, *, learnable: bool
) -> list[CandidateScore]:
    """How well the default agrees with the held-out pairs, and then whatever may be clearly better."""
    held = trials.held

    def race(settings: list[Setting]) -> list[CandidateScore]:
        """Compare each with the default for as long as it is ahead."""
        scores: dict[Setting, CandidateScore] = {}
        running = settings
        for n_searches, n_folds in ROUNDS:
            own, *rows = trials.agreements([(one, n_clusters) for one in (default, *running)], n_searches, n_folds)
            share = held.share(n_folds)
            if share == 0:  # nothing is asked in these folds
                continue
            for one, row in zip(running, rows, strict=True):
                gain, error = held.compare(row, own)
                scores[one] = CandidateScore(one, held.score(row) / share, gain / share, error / share)
            errors = THRESHOLDS.standard_errors if n_folds == N_FOLDS else 0.0
            running = [one for one in running if scores[one].gain > errors * scores[one].standard_error]
            if not running:
                break
        return [scores[one] for one in settings]

    own = trials.agreements([(default, n_clusters)])[0]
    tried = [CandidateScore(default, held.score(own), 0.0, 0.0)]
    gain, error = held.compare(held.weight > 0, own)
    if not _is_clear(gain, error):
        return tried
    tried += race(scales)
    if learnable:
        best = max(tried, key=lambda score: score.gain).setting
        tried += race([replace(setting, learn_distances=True) for setting in dict.fromkeys([default, best])])
    return tried


def _is_clear(gain: float, standard_error: float) -> bool:
    return gain > THRESHOLDS.standard_errors * standard_error


def _decide(tried: list[CandidateScore], reason: str, held: HeldOut, *, fading: bool) -> Choice:
    default = tried[0]
    clear = [score for score in tried if _is_clear(score.gain, score.standard_error)]
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
