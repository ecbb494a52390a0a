"""The algorithm of the paper, end to end: RatioDCA from random starts under a rising penalty, and recursion for k > 2.

`tightcut.search` finds smaller cuts in less time; this is what it is compared with, and what the experiments of the paper
were made with. Where the text leaves a choice, docs/mathematics.md says which is taken here and what the others give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut
from tightcut.relaxation.penalty_path import PathSettings, PenaltyPath
from tightcut.relaxation.ratio_dca import Descent
from tightcut.relaxation.recursion import Criterion, cut_and_violations, recursive_partitions, separate_sets

# At an effort of 1: random initialisations for two clusters, as in the paper, and whole recursions for more.
STARTS, RECURSIONS = 10, 1
SHARE_OF_PATIENCE = 0.4  # for each split of a recursion, of that for two clusters


@dataclass(frozen=True)
class PaperSettings:
    """How the paper's algorithm runs.

    Attributes
    ----------
    effort : float
        Scales the number of random starts; there is at least one.
    report : callable
        Called with (stage, done, total, cut).
    path : PathSettings
    criterion : callable
        Which split a recursion takes; see `tightcut.relaxation.recursion`.
    """

    effort: float
    report: Callable[[str, int, int, float], None]
    path: PathSettings = field(default_factory=PathSettings)
    criterion: Criterion = cut_and_violations

    def number(self, of: int) -> int:
        """How many of the starts or recursions that an effort of 1 makes."""
        return max(1, round(of * self.effort))


def paper_bipartition(
    graph: Graph,
    constraints: Constraints,
    limit: float,
    rng: np.random.Generator,
    settings: PaperSettings,
    known: list[np.ndarray] | None = None,
) -> Descent:
    """Two clusters that violate at most `limit` units of belief, the best of several random starts and of `known` sides."""
    if limit > 0:
        found, nearest = _best_of_starts(
            PenaltyPath(graph, constraints, rng, limit, settings.path), settings, known or []
        )
        if found is not None:
            return found
        try:  # clusters that violate nothing are within every limit
            return paper_bipartition(graph, constraints, 0.0, rng, settings, known)
        except InconsistentConstraintsError as error:
            raise InconsistentConstraintsError(
                error.witness,
                proven=False,
                best_labels=nearest.astype(np.int64),
                n_clusters=2,
                reason="limit",
                needed=constraints.violations(nearest).belief,
                limit=limit,
            ) from None
    unit, opposite = implied_units(constraints)
    path = PenaltyPath(graph.contract(unit), opposite, rng, 0.0, settings.path)
    sizes = np.bincount(unit)
    starts = [np.bincount(unit, side) / sizes for side in known or []]
    found, _ = _best_of_starts(path, settings, starts)
    if found is None:  # a two-colouring satisfies everything, and Theorem 3.1 starts from any such partition
        side = np.zeros(len(sizes), bool)
        side[opposite.cannot_link[:, 0]] = True
        found = path.finish(side)
    return replace(found, side=found.side[unit])


def implied_units(constraints: Constraints) -> tuple[np.ndarray, Constraints]:
    """Sets of points that any two clusters keep together, numbered, and the pairs of them that are kept apart.

    Must-links are merged (Lemma 2.3), and so are those that cannot-links imply: where p and q are apart, and q and r,
    two clusters hold p and r together. Every unit is then apart from at most one other. Without it the penalty path
    stalls: in a component of three or more sets that are apart, satisfying one more pair means turning half of it, and
    the linearised R2 charges for each pair that turns.
    """
    separate_sets(constraints, 2)
    colouring = constraints.require_two_colourable()
    _, unit = np.unique(2 * colouring.component + colouring.colour, return_inverse=True)
    return unit, Constraints.from_pairs(int(unit.max()) + 1, cannot_link=unit[constraints.cannot_link])


def paper_partitions(
    graph: Graph, constraints: Constraints, k: int, rng: np.random.Generator, settings: PaperSettings
) -> tuple[np.ndarray, ...]:
    """The recursive clusterings into 2, 3, ..., k parts, the best of several recursions; cannot-links may be violated."""
    few = replace(settings.path, patience=round(SHARE_OF_PATIENCE * settings.path.patience))

    def split(part: Graph, links: Constraints, allowed: float) -> np.ndarray:
        path = PenaltyPath(part, links, rng, allowed, few)
        free = path.descend_perturbed(rng.normal(size=part.n_vertices), 0.0)
        return path.follow(free.f).side

    def recursion(done: int) -> tuple[np.ndarray, ...]:
        def report(n_clusters: int, cut: float) -> None:
            settings.report("recursion", done * (k - 1) + n_clusters - 1, total * (k - 1), cut)

        return recursive_partitions(graph, constraints, k, split, report, settings.criterion)

    total = settings.number(RECURSIONS)
    return min(
        map(recursion, range(total)),
        key=lambda own: (constraints.violations(own[-1]).belief, normalized_cut(graph, own[-1])),
    )


def _best_of_starts(
    path: PenaltyPath, settings: PaperSettings, known: list[np.ndarray]
) -> tuple[Descent | None, np.ndarray]:
    """The smallest cut within the limit from `known` vectors and random ones, and the side that violates least.

    The former is None if no path came down to the limit.
    """
    starts = [partial(_side_within, path, start) for start in known if np.ptp(start) > 0]
    starts += [partial(_side_from_noise, path)] * settings.number(STARTS)
    found: list[Descent] = []
    sides: list[np.ndarray] = []
    for done, begin in enumerate(starts):
        settings.report("paper", done, len(starts), min((own.value for own in found), default=np.nan))
        sides.append(begin())
        if path.allows(sides[-1]):
            found.append(path.finish(sides[-1]))
    best = min(found, key=lambda own: own.value, default=None)
    if best is not None:
        settings.report("paper", len(starts), len(starts), best.value)
    return best, min(sides, key=lambda side: path.constraints.violations(side).belief)


def _side_within(path: PenaltyPath, start: np.ndarray) -> np.ndarray:
    """A given partition if it is within the limit, or else where the path leads from it."""
    side = start > 0.5
    return side if side.any() and path.allows(side) else path.follow(start).side


def _side_from_noise(path: PenaltyPath) -> np.ndarray:
    return path.follow(path.rng.normal(size=path.graph.n_vertices)).side
