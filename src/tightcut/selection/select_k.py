"""The numbers of clusters that held-out pairs admit.

Short searches for every number cluster the points without a quarter of the pairs, four times. Too few clusters join
points of held-out cannot-links, and too many separate must-linked points. A number is excluded where it agrees with
clearly fewer held-out pairs than the best number does. Must-links and cannot-links count in the proportion in which they
were given: among pairs drawn at random, there are the fewer must-links the more classes there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from tightcut.exceptions import DisconnectedGraphWarning, InconsistentConstraintsError
from tightcut.problem.graph import Graph
from tightcut.selection.candidates import TuningProblem, graph_of
from tightcut.selection.graph_config import Setting
from tightcut.selection.held_out import Fold, hold_out
from tightcut.selection.probe import short_search
from tightcut.utils.parallel import run_tasks


@dataclass(frozen=True)
class Evidence:
    """What it takes for pairs to exclude a number of clusters.

    `python -m benchmarks.choosing_number` shows what these numbers lead to on 22 sets. No record says on what each of
    them was chosen.
    """

    held_out_pairs: int = 5  # of each kind; with fewer, no number is excluded
    standard_errors: float = 1.75  # by which an excluded number agrees with fewer pairs than the best
    points: int = 2_000  # of the sample that is clustered


EVIDENCE = Evidence()


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
    small = problem.sample(rng, EVIDENCE.points)
    held = hold_out(small.constraints, rng).as_given()
    if min(held.n_must, held.n_cannot) < EVIDENCE.held_out_pairs:
        return None
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        setting = setting_for(int(numbers[0]))
        if setting.learn_distances:
            graphs = [graph_of(small, setting, fold.known) for fold in held.folds]
        else:
            graphs = [graph_of(small, setting, small.constraints)] * len(held.folds)
    tasks = [
        (graphs[fold], held.folds[fold], int(number), setting_for(int(number)).influence, seed + fold)
        for number, fold in product(numbers, range(len(held.folds)))
    ]
    found = iter(run_tasks(_labels, tasks, n_jobs))
    agrees = np.zeros((len(numbers), len(held.pairs)))
    for row, fold in product(agrees, held.folds):
        labels = next(found)
        if labels is not None:
            row[fold.asked] = held.agreement(fold, labels)
    best = agrees[np.argmax(agrees @ held.weight)]
    differences = [held.compare(best, row) for row in agrees]
    admitted = numbers[[loss <= EVIDENCE.standard_errors * error for loss, error in differences]]
    named = ", ".join(map(str, admitted))
    return admitted, (
        f"Of {numbers[0]} to {numbers[-1]} clusters, {held.in_words} exclude all but {named}"
        if len(admitted) < len(numbers)
        else f"Of {numbers[0]} to {numbers[-1]} clusters, {held.in_words} exclude none"
    )


def _labels(graph: Graph, fold: Fold, number: int, influence: float, seed: int) -> np.ndarray | None:
    """The labels of a short search, None where the constraints admit no such number of clusters."""
    try:
        return short_search(graph, fold.known, number, influence, 0, seed)
    except InconsistentConstraintsError:
        return None
