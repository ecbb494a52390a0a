"""The paper's schedule: minimise F without constraints, then raise the penalty until at most the allowed belief is violated.

"Use the previously obtained clustering as initialization", says the text. Here the vector that the descent ended at goes
on from penalty to penalty, and not its best level set: a set is much closer to the next critical point, and a descent
from there ends at once. At each penalty the vector is also perturbed and descends again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.objective import normalized_cut, penalty_bound
from tightcut.relaxation import Relaxation
from tightcut.relaxation.balance import BalanceOf, MeanDeviation
from tightcut.relaxation.prox import FistaProx, InnerSolver, TotalVariationProx, inner_solver
from tightcut.relaxation.ratio_dca import Descent, ratio_dca
from tightcut.utils.rounding import BELIEF_ROUNDING

# Of the penalty, which starts at a share of vol(V) Ncut / 4 with the unconstrained cut in place of a consistent one.
FIRST_SHARE, MAX_DOUBLINGS = 2.0**-8, 40
LEAST_CUT = 1e-4  # of the mean degree, for that share: a disconnected graph has an unconstrained cut of 0
PATIENCE = 15  # perturbations in a row that bring nothing worthwhile end the search at a penalty
WORTHWHILE = 1e-3
MOST_STEPS = 20  # of the walk that smooths a perturbation
SIZES = 1.0, 3.0  # of a perturbation, in standard deviations of the vector
TOLERANCE = 1e-2  # of FISTA: a step only has to descend
INNER: InnerSolver = partial(FistaProx, tolerance=TOLERANCE)


@dataclass(frozen=True)
class PathSettings:
    """How F is minimised at each penalty.

    Attributes
    ----------
    inner : {"flow", "fista"} or callable
        As in `ratio_dca`; by default FISTA with a tolerance of `TOLERANCE`.
    balance : callable
        S, as a function of the vertex weights; see `tightcut.relaxation.balance`.
    patience : int
        How many perturbations in a row may bring nothing; 0 for none at all.
    """

    inner: str | InnerSolver = INNER
    balance: BalanceOf = MeanDeviation
    patience: int = PATIENCE


class PenaltyPath:
    """Descents at rising penalties on one graph.

    Parameters
    ----------
    graph, constraints
    rng : Generator
        Of perturbations, and of subgradients where there are several.
    limit : float, default=0
        Units of belief that may be violated in the end.
    settings : PathSettings, optional
    """

    def __init__(
        self,
        graph: Graph,
        constraints: Constraints,
        rng: np.random.Generator,
        limit: float = 0.0,
        settings: PathSettings | None = None,
    ) -> None:
        self.graph, self.constraints, self.rng, self.limit = graph, constraints, rng, limit
        self.settings = settings or PathSettings()
        self._unconstrained = Constraints.from_pairs(graph.n_vertices)
        degrees = np.maximum(graph.degrees, np.finfo(float).tiny)
        self._walk = sp.diags_array(1 / degrees) @ graph.weights
        self._inner = one_solver(inner_solver(self.settings.inner))

    def follow(self, start: np.ndarray) -> Descent:
        """From any vector to a partition that violates no more than the limit, or to the last penalty."""
        found = self.descend(start, 0.0)
        scale = self.graph.volume * max(found.value, LEAST_CUT * self.graph.weights.sum() / self.graph.volume) / 4
        penalty = FIRST_SHARE * scale
        for _ in range(MAX_DOUBLINGS):
            if self.allows(found.side):
                break
            found = self.descend_perturbed(found.f, penalty)
            penalty *= 2
        return found

    def allows(self, side: np.ndarray) -> bool:
        """Whether a partition violates no more than the limit."""
        return self.constraints.violations(side).belief <= self.limit + BELIEF_ROUNDING

    def descend(self, start: np.ndarray, penalty: float) -> Descent:
        """Algorithm 1 at one penalty."""
        constraints = self.constraints if penalty > 0 else self._unconstrained
        relaxation = Relaxation(self.graph, constraints, penalty, self.settings.balance)
        return ratio_dca(relaxation, start, inner=self._inner, by_sets=False, rng=self.rng)

    def descend_perturbed(self, start: np.ndarray, penalty: float) -> Descent:
        """The best of a descent and of further ones, each from the best vector so far with noise added."""
        best, idle = self.descend(start, penalty), 0
        while idle < self.settings.patience:
            again = self.descend(self._perturbed(best.f), penalty)
            idle = 0 if again.value < best.value * (1 - WORTHWHILE) else idle + 1
            best = again if again.value < best.value else best
        return best

    def _perturbed(self, f: np.ndarray) -> np.ndarray:
        """The vector with noise added; noise alone where the spread of f is lost to rounding."""
        size, noise = self.rng.uniform(*SIZES), self._noise()
        moved = f + size * f.std() * noise
        return moved if np.ptp(moved) > 0 else noise

    def _noise(self) -> np.ndarray:
        """Noise of standard deviation 1; every second time smoothed by a lazy random walk, so that it turns regions."""
        rough = noise = self.rng.normal(size=self.graph.n_vertices)
        for _ in range(int(self.rng.integers(-MOST_STEPS, MOST_STEPS + 1))):
            noise = noise + self._walk @ noise
        spread = noise.std()
        return noise / spread if spread > 0 else rough

    def finish(self, side: np.ndarray) -> Descent:
        """A partition with its cut; one that satisfies everything is improved at the certified penalty (Theorem 3.1)."""
        cut = normalized_cut(self.graph, side.astype(np.int64))
        start = Descent(side, cut, (cut,), side.astype(np.float64))
        if self.constraints.violations(side).n_violations > 0:
            return start
        better = self.descend(start.f, 1.001 * penalty_bound(self.graph, self.constraints, cut))
        return better if better.value < cut and self.allows(better.side) else start


def one_solver(inner: InnerSolver) -> InnerSolver:
    """An inner solver that goes on from its last dual solution as long as the weights are the same."""
    kept: dict[int, tuple[sp.csr_array, TotalVariationProx]] = {}

    def solver(weights: sp.csr_array, vertex_weights: np.ndarray) -> TotalVariationProx:
        if id(weights) not in kept:
            kept.clear()
            kept[id(weights)] = weights, inner(weights, vertex_weights)
        return kept[id(weights)][1]

    return solver
