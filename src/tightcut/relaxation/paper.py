"""The paper's own algorithm, whole: RatioDCA with FISTA from random starts, a rising penalty, recursion.

`tightcut.search` finds smaller cuts in less time; this is what it is compared with, and what the experiments of the paper
were made with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut, penalty_bound
from tightcut.relaxation.penalty_path import penalty_path
from tightcut.relaxation.prox import InnerSolver
from tightcut.relaxation.ratio_dca import Descent, ratio_dca
from tightcut.relaxation.recursion import recursive_partitions, separate_sets
from tightcut.relaxation.relaxation import Relaxation
from tightcut.utils.rounding import BELIEF_ROUNDING

STARTS = 10  # random initialisations at an effort of 1
FIRST_STEP, MAX_DOUBLINGS = 2.0**-8, 40  # of the penalty, from a share of the certified one


@dataclass(frozen=True)
class PaperSettings:
    """How the paper's algorithm runs.

    Attributes
    ----------
    effort : float
        Scales the number of random starts; there is at least one.
    report : callable
        Called with (stage, done, total, cut).
    inner : {"flow", "fista"} or callable, default="fista"
        As in `ratio_dca`.
    """

    effort: float
    report: Callable[[str, int, int, float], None]
    inner: str | InnerSolver = "fista"

    @property
    def starts(self) -> int:
        return max(1, round(STARTS * self.effort))

    def descend(self, relaxation: Relaxation, start: np.ndarray) -> Descent:
        return ratio_dca(relaxation, start, inner=self.inner)


def paper_bipartition(
    graph: Graph, constraints: Constraints, limit: float, rng: np.random.Generator, settings: PaperSettings
) -> Descent:
    """Two clusters that violate at most `limit` units of belief, the best of several random starts.

    Must-links are merged first where nothing may be violated (Lemma 2.3).
    """
    if limit > 0:
        return _best_of_starts(graph, constraints, limit, rng, settings, strict=True)
    component = separate_sets(constraints, 2)
    pairs = Constraints.from_pairs(int(component.max()) + 1, cannot_link=component[constraints.cannot_link])
    found = _best_of_starts(graph.contract(component), pairs, 0, rng, settings, strict=True)
    return replace(found, side=found.side[component])


def paper_partitions(
    graph: Graph, constraints: Constraints, k: int, rng: np.random.Generator, settings: PaperSettings
) -> tuple[np.ndarray, ...]:
    """The recursive clusterings into 2, 3, ..., k parts; cannot-links may be violated."""
    quiet = replace(settings, report=lambda *_: None)

    def split(part: Graph, links: Constraints, allowed: float) -> np.ndarray:
        return _best_of_starts(part, links, allowed, rng, quiet, strict=False).side

    def report(n_clusters: int, cut: float) -> None:
        settings.report("recursion", n_clusters - 1, k - 1, cut)

    return recursive_partitions(graph, constraints, k, split, report)


def _best_of_starts(
    graph: Graph,
    constraints: Constraints,
    limit: float,
    rng: np.random.Generator,
    settings: PaperSettings,
    *,
    strict: bool,
) -> Descent:
    """The best of several random starts. Unless `strict`, more than the limit may be violated in the end."""
    found: list[Descent] = []
    for done in range(settings.starts):
        best = min((descent.value for descent in found), default=np.nan)
        settings.report("paper", done, settings.starts, best)
        found.append(_from_random_start(graph, constraints, limit, rng, settings, strict=strict))
    chosen = min(
        found,
        key=lambda descent: (constraints.violations(descent.side).belief > limit + BELIEF_ROUNDING, descent.value),
    )
    settings.report("paper", settings.starts, settings.starts, chosen.value)
    return chosen


def _from_random_start(
    graph: Graph,
    constraints: Constraints,
    limit: float,
    rng: np.random.Generator,
    settings: PaperSettings,
    *,
    strict: bool,
) -> Descent:
    """Minimise without constraints, then double the penalty, each time from the last partition, until few are violated.

    A partition that satisfies everything is improved once more at the certified penalty, at which it can neither become
    worse nor violate anything (Theorem 2.3).
    """
    free = Relaxation(graph, Constraints.from_pairs(graph.n_vertices), 0.0)
    descent = settings.descend(free, rng.normal(size=graph.n_vertices))
    scale = graph.volume * max(descent.value, np.finfo(float).eps) / 4
    path = penalty_path(graph, constraints, descent.side, _doubling(scale * FIRST_STEP), inner=settings.inner)
    side = descent.side
    while constraints.violations(side).belief > limit + BELIEF_ROUNDING:
        latest = next(path, None)
        if latest is None:
            break
        _, side = latest
    if strict and constraints.violations(side).belief > limit + BELIEF_ROUNDING:
        side = nearest_consistent(constraints, side)
    if constraints.violations(side).n_violations == 0:
        penalty = 1.001 * penalty_bound(graph, constraints, normalized_cut(graph, side.astype(np.int64)))
        return settings.descend(Relaxation(graph, constraints, penalty), side)
    return Descent(side, normalized_cut(graph, side.astype(np.int64)), descent.history)


def _doubling(penalty: float) -> Iterator[float]:
    for _ in range(MAX_DOUBLINGS):
        yield penalty
        penalty *= 2


def nearest_consistent(constraints: Constraints, side: np.ndarray) -> np.ndarray:
    """The partition that satisfies all constraints and keeps most points of each linked component where they are."""
    colouring = constraints.require_two_colourable()
    sign = 1 - 2 * colouring.colour.astype(np.int64)
    agreement = np.bincount(colouring.component, np.where(side, 1, -1) * sign, colouring.n_components)
    nearest = np.where(agreement >= 0, 1, -1)[colouring.component] * sign > 0
    if nearest.all() or not nearest.any():
        smallest = int(np.argmin(np.bincount(colouring.component)))
        nearest[colouring.component == smallest] ^= True
    return nearest
