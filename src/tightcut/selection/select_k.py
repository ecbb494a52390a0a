"""The numbers of clusters that held-out pairs admit.

Short searches for every number cluster the points without a quarter of the pairs, four times. Too few clusters join
points of held-out cannot-links, and too many separate must-linked points. A number is excluded where it agrees with
clearly fewer held-out pairs than the best number does. Must-links and cannot-links count in the proportion in which they
were given: among pairs drawn at random, there are the fewer must-links the more classes there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tightcut.selection.graph_config import Setting
from tightcut.selection.held_out import hold_out
from tightcut.selection.probe import Trials, TuningProblem


@dataclass(frozen=True)
class CountThresholds:
    """What it takes for pairs to exclude a number of clusters.

    `python -m benchmarks.choosing_number` shows what these numbers lead to on 22 sets. No record says on what each of
    them was chosen.
    """

    held_out_pairs: int = 5  # of each kind; with fewer, no number is excluded
    standard_errors: float = 1.75  # by which an excluded number agrees with fewer pairs than the best
    points: int = 2_000  # of the sample that is clustered


THRESHOLDS = CountThresholds()


def admitted_by_pairs(
    problem: TuningProblem,
    setting_for: Callable[[int], Setting],
    numbers: np.ndarray,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, str] | None:
    """The numbers of clusters that held-out pairs do not exclude, and the reason in words; None if pairs are too few.

    Parameters
    ----------
    problem : TuningProblem
        Its `n_clusters` is ignored, and its short searches satisfy all pairs that are not held out.
    setting_for : callable
        From a number of clusters to the setting of its search; graphs must not depend on the number.
    numbers : ndarray of int
    rng : Generator
    n_jobs : int, optional
        As in joblib. The result does not depend on it.
    """
    small = replace(problem, max_violations=0).sample(rng, THRESHOLDS.points)
    held = hold_out(small.constraints, rng, balanced=False)
    if min(held.n_must, held.n_cannot) < THRESHOLDS.held_out_pairs:
        return None
    searches = [(setting_for(number), number) for number in numbers.tolist()]
    agrees = Trials(small, held, int(rng.integers(2**31)), n_jobs, required=False).agreements(searches)
    best = agrees[np.argmax(agrees @ held.weight)]
    differences = [held.compare(best, row) for row in agrees]
    admitted = numbers[[loss <= THRESHOLDS.standard_errors * error for loss, error in differences]]
    named = ", ".join(map(str, admitted))
    return admitted, (
        f"Of {numbers[0]} to {numbers[-1]} clusters, {held.in_words} exclude all but {named}"
        if len(admitted) < len(numbers)
        else f"Of {numbers[0]} to {numbers[-1]} clusters, {held.in_words} exclude none"
    )
