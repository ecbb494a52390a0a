"""The Z form: two clusters that cannot be one, as signs of units.

A clustering is z in {-1, 1}^U, and zz' a matrix Z with diagonal 1 that is positive semidefinite and satisfies the triangle
inequalities. With L = S L S' and the moment m = S b (see `units`) every cut is at least a number `target` exactly when

    <L, Z> + target/V m'Zm >= target V    for Z = zz',

so the least of the left side over all such Z is a bound. What may be violated is one more inequality, linear in Z. Z is held
as XX' with unit rows (Burer and Monteiro), and an augmented Lagrangian takes the triangles into account: X by L-BFGS, then
multipliers, then more triangles.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from tightcut import kernels
from tightcut.certificates.eigenvalues import lowest_eigenpairs
from tightcut.certificates.relaxation import Candidate
from tightcut.certificates.triangles import Pairs, new_rows, pair_keys, spin_sides, violated_spin_triangles
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import SIGNS, Proof
from tightcut.certificates.z_proof import SpinMultipliers, prove_z, with_moment, z_matrix

RANK = 24  # of X: with 12 diabetis with 200 pairs stays at 0.94 of the cut, with 24 it reaches 0.998
# The penalty as a share of target V / U, which is what the multipliers of a unit add up to: first, last, and its growth.
PENALTY, LARGEST_PENALTY, GROWTH = 0.07, 0.7, 1.15
STEPS, POLISHING_STEPS = 30, 150  # of L-BFGS
LOWER_TARGETS, CLOSE = 3, 1e-3  # tried where a proof is further below its estimate
DIRECTIONS = 4  # eigenvectors that may be repaired one by one


class ZForm:
    """See `tightcut.certificates.relaxation.Form`."""

    def __init__(self, problem: Problem, labels: np.ndarray, rng: np.random.Generator, n_jobs: int | None) -> None:
        self.problem, self.units, self._rng, self._n_jobs = problem, problem.signed, rng, n_jobs
        units = self.units
        spins = np.zeros(units.n_units)
        spins[units.unit] = np.where(labels == labels[0], 1, -1) * units.sign
        X = 0.3 * rng.normal(size=(units.n_units, min(RANK, units.n_units)))
        X[:, 0] += spins
        self._X = _unit_rows(X)[0]
        self._penalty = PENALTY
        self._rounds = 0
        self._price = 0.0
        self._belief_keys, self._beliefs, self._belief_size, self._least, self._own_belief = self._doubt()
        self._triangles, self._mu = np.zeros((0, 4), np.int64), np.zeros(0)
        self._set_triangles(self._triangles, self._mu)

    def improve(self, target: float, deadline: float) -> None:  # noqa: ARG002 - a round is short
        unit_multiplier = target * self.units.volume / self.units.n_units
        if self._rounds == 0:
            self._minimise(target, self._penalty * unit_multiplier, 2 * STEPS)
        active = self._mu > 0
        triangles, mu = self._triangles[active], self._mu[active]
        found = violated_spin_triangles(self._X, self._pairs, self._n_jobs)
        found = new_rows(found, triangles, self.units.n_units)
        self._set_triangles(np.vstack([triangles, found]), np.concatenate([mu, np.zeros(len(found))]))
        for _ in range(3):
            penalty = self._penalty * unit_multiplier
            self._minimise(target, penalty, STEPS)
            values = 1 + (self._signs * self._inner[self._sides]).sum(1)
            self._mu = np.maximum(self._mu - penalty * values, 0)
            self._price = max(self._price - penalty * float(self._belief @ self._inner - self._least), 0.0)
        self._penalty = min(GROWTH * self._penalty, LARGEST_PENALTY)
        self._rounds += 1

    def candidate(self, target: float) -> Candidate:
        """With y from the X that minimises the plain Lagrangian at these mu, and repaired where that leaves M indefinite."""
        X = self._X
        self._X = _unit_rows(X + 0.01 * self._rng.normal(size=X.shape))[0]
        self._minimise(target, 0.0, POLISHING_STEPS)
        y = self._diagonal(target)
        self._X = X
        active = self._mu > 0
        triangles, mu = self._triangles[active], self._mu[active]
        price = self._price / self._belief_size
        found = SpinMultipliers(y - price * self._own_belief, triangles, mu, price)
        matrix = z_matrix(self.problem, found)
        span = float(np.abs(matrix.diagonal()).max()) + 1e-3
        product = with_moment(matrix, target / self.units.volume, self.units.moment)
        start = self._rng.normal(size=len(y))
        values, vectors = lowest_eigenpairs(product, len(y), DIRECTIONS, span, 1e-3, start)
        found = replace(found, y=found.y - _repair(values, vectors, len(y)))
        return Candidate(min(found.total(self.problem) / self.units.volume, target), found)

    def prove(self, candidate: Candidate, cut: float) -> tuple[float, Proof]:
        """Also with the y of lower targets: an estimate far below the target of the rounds is more than its y can prove.

        At fixed mu the best estimate rises with the target, by less than the target does, so that estimates that are targets
        in their turn fall to the largest bound that mu can prove.
        """
        found, target = candidate.multipliers, candidate.estimate
        best = prove_z(self.problem, found, target, cut, self._rng)
        for _ in range(LOWER_TARGETS):
            if best[0] >= (1 - CLOSE) * target:
                break
            self._price = found.price * self._belief_size
            self._set_triangles(found.triangles, found.mu)
            lower = self.candidate(target)
            attempt = prove_z(self.problem, lower.multipliers, lower.estimate, cut, self._rng)
            best, target = max(best, attempt, key=lambda proven: proven[0]), lower.estimate
        return best

    def undecided(self) -> tuple[int, int] | None:
        """The heaviest unit, and the one whose side is least decided, among those with much weight on their edges."""
        units = self.units
        if units.n_units < 2:
            return None
        heaviest = int(np.argmax(units.weights))
        doubt = (1 - np.abs(self._X @ self._X[heaviest])) * units.laplacian.diagonal()
        doubt[heaviest] = -np.inf
        return int(units.first[heaviest]), int(units.first[np.argmax(doubt)])

    def rounded(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Sides of the first singular vector and of random hyperplanes, the three with the smallest cuts."""
        units = self.units
        normals = np.column_stack(
            [np.linalg.svd(self._X, full_matrices=False)[2][0], rng.normal(size=(self._X.shape[1], 40))]
        )
        spins = np.where(self._X @ normals >= 0, 1.0, -1.0)
        best = np.argsort(units.cuts(spins), kind="stable")[:3]
        return [(spins[units.unit, column] * units.sign > 0).astype(np.int64) for column in best]

    def _doubt(self) -> tuple[np.ndarray, np.ndarray, float, float, np.ndarray]:
        """The inequality of the pairs that may be violated: sum belief/2 z_i z_j >= least, divided to be like a triangle's.

        Keys of the pairs of units, their coefficients, what these are divided by, the least, and each unit's own pairs.
        """
        units, soft = self.units, self.problem.soft
        ends = soft[:, :2].astype(np.int64)
        (s, t), half = units.unit[ends].T, soft[:, 2] * units.sign[ends].prod(axis=1) / 2
        own = s == t
        keys, places = np.unique(pair_keys(units.n_units, s[~own], t[~own]), return_inverse=True)
        beliefs = np.bincount(places, half[~own], len(keys))
        size = float(np.linalg.norm(beliefs)) / np.sqrt(3) or 1.0
        least = np.abs(soft[:, 2]).sum() / 2 - self.problem.limit - half[own].sum() if len(keys) else 0.0
        return keys, beliefs / size, size, float(least) / size, np.bincount(s[own], half[own], units.n_units)

    def _set_triangles(self, triangles: np.ndarray, mu: np.ndarray) -> None:
        units, sides = self.units, spin_sides(self.units.n_units, triangles)
        keys, cost = units.couplings
        self._triangles, self._mu = triangles, mu
        self._pairs = Pairs.of(units.n_units, keys, sides.ravel(), self._belief_keys)
        self._cost = self._pairs.spread(keys, cost)
        self._belief = self._pairs.spread(self._belief_keys, self._beliefs)
        self._sides, self._signs = self._pairs.place(sides), SIGNS[triangles[:, 3]]
        self._ends = self._pairs.ends
        self._inner, self._slope = np.empty_like(self._cost), np.empty_like(self._cost)

    def _lagrangian(self, X: np.ndarray, target: float, penalty: float, gradient: np.ndarray) -> float:
        dual = self._sides, self._signs, self._mu, penalty, self._belief, self._least, self._price
        linear = self.units.moment, target / self.units.volume
        return kernels.spin_lagrangian(X, *self._ends, self._cost, *dual, *linear, gradient, self._inner, self._slope)

    def _minimise(self, target: float, penalty: float, steps: int) -> None:
        """Over X with unit rows; leaves `_inner` and `_slope` of the result."""
        shape = self._X.shape
        gradient = np.empty(shape)

        def value_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
            X, norms = _unit_rows(flat.reshape(shape))
            value = self._lagrangian(X, target, penalty, gradient)
            return value, ((gradient - (gradient * X).sum(1)[:, None] * X) / norms).ravel()

        options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 8, "gtol": 1e-7, "ftol": 0}
        found = minimize(value_and_slope, self._X.ravel(), jac=True, method="L-BFGS-B", options=options)
        self._X = _unit_rows(found.x.reshape(shape))[0]
        self._lagrangian(self._X, target, penalty, gradient)

    def _diagonal(self, target: float) -> np.ndarray:
        """The y at which a minimiser X of the plain Lagrangian satisfies M X = 0."""
        gradient = np.empty_like(self._X)
        self._lagrangian(self._X, target, 0.0, gradient)
        return (gradient * self._X).sum(1) / 2 + self.units.laplacian.diagonal()


def _unit_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    norms = np.sqrt((X * X).sum(1))[:, None]
    return X / norms, norms


def _repair(values: np.ndarray, vectors: np.ndarray, n: int) -> np.ndarray:
    """What to take from y so that M has no negative eigenvalue, at the smallest cost.

    For an eigenpair (w < 0, v) the matrix Diag(|w| |v| sum|v|) + w vv' is positive semidefinite: it is diagonally dominant.
    It costs |w| (sum|v|)^2, and raising all eigenvalues by |w| costs n |w|.
    """
    if len(values) == 0:
        return np.zeros(n)
    negative = -np.minimum(values, 0)
    sums = np.abs(vectors).sum(0)
    costs = [negative[:count] @ sums[:count] ** 2 + n * negative[count] for count in range(len(values))]
    count = int(np.argmin(costs))
    return np.abs(vectors[:, :count]) @ (negative[:count] * sums[:count]) + negative[count]
