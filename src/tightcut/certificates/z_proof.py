"""From approximate multipliers of the Z form to a proof: any y and mu >= 0 will do, once M is positive semidefinite."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tightcut.certificates.eigenvalues import DENSE_LIMIT, lowest_eigenpairs
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import EPS, SIGNS, Proof

ATTEMPTS = 12


@dataclass(frozen=True, eq=False)
class SpinMultipliers:
    """y of the diagonal, mu of the triangles, and the price of violated belief."""

    y: np.ndarray
    triangles: np.ndarray
    mu: np.ndarray
    price: float = 0.0

    def total(self, problem: Problem) -> float:
        """What must be bound V at least: sum y - sum mu + price (beliefs/2 - limit)."""
        doubt = self.price * (np.abs(problem.soft[:, 2]).sum() / 2 - problem.limit)
        return math.fsum(np.concatenate([self.y, -self.mu, [doubt]]))

    def proof(self) -> Proof:
        return {"y": self.y, "triangles": self.triangles, "multipliers": self.mu, "price": np.array(self.price)}


def z_matrix(problem: Problem, found: SpinMultipliers) -> sp.csr_array:
    """M of Lemma 3 without its dense part, bound/V times the outer product of the moments."""
    units, n = problem.signed, problem.signed.n_units
    (i, j, h, kind), soft = found.triangles.T, problem.soft
    s, t = units.unit[soft[:, :2].astype(np.int64)].T
    half = found.price / 4 * soft[:, 2] * units.sign[soft[:, :2].astype(np.int64)].prod(axis=1)
    weight = np.concatenate([(SIGNS[kind].T * (found.mu / 2)).ravel(), half])
    A = sp.csr_array((weight, (np.concatenate([i, i, j, s]), np.concatenate([j, h, h, t]))), shape=(n, n))
    return (units.laplacian - A - A.T - sp.diags_array(found.y)).tocsr()


def with_moment(matrix: sp.csr_array, pull: float, moment: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The product of M with columns: the sparse matrix, and `pull` times the outer product of the moment."""
    return lambda columns: matrix @ columns + np.outer(pull * moment, moment @ columns)


def prove_z(
    problem: Problem, found: SpinMultipliers, near: float, cut: float, rng: np.random.Generator
) -> tuple[float, Proof]:
    """The largest bound up to the cut that these multipliers prove, looked for near the one given; 0 if they prove none.

    Notes
    -----
    With s = max(0, -lowest eigenvalue of M), y - s is feasible, and the bound holds if the total is at least bound V + U s.
    The difference of both sides is concave in the bound, with derivative U (m'v)^2 / V - V for the eigenvector v: Newton's
    method finds its root from above.
    """
    units = problem.signed
    matrix, n, V = z_matrix(problem, found), units.n_units, units.volume
    total, span, bound = found.total(problem), float(np.abs(matrix.diagonal()).max()) + 1e-3, near
    start = rng.normal(size=n)
    for _ in range(6):
        if bound <= 0:
            return 0.0, {}
        product = with_moment(matrix, bound / V, units.moment)
        values, vectors = lowest_eigenpairs(product, n, 1, span, 1e-7, start)
        if len(values) == 0:
            return 0.0, {}
        short, start = max(0.0, -float(values[0])), vectors[:, 0]
        left = total - n * short - bound * V
        slope = (n * float(units.moment @ start) ** 2 / V if short > 0 else 0.0) - V
        root = (total - n * short) / V if left >= 0 else bound - left / slope if slope < 0 else bound / 2
        if left >= 0 or abs(root - bound) <= 1e-9 * bound:
            bound = root
            break
        bound = root
    return _checked(problem, replace(found, y=found.y - short), min(bound, cut))


def _checked(problem: Problem, found: SpinMultipliers, bound: float) -> tuple[float, Proof]:
    """Take a little more from y, at first as much as rounding may need, until the verifier accepts the proof."""
    n, V = problem.signed.n_units, problem.signed.volume
    lift = (1e-9 if n <= DENSE_LIMIT else 2e-6) * bound * V / n
    rounding = EPS * (16 + len(problem.vertex_weights))
    doubt = 8 * EPS * found.price * (np.abs(problem.soft[:, 2]).sum() + problem.limit)
    for _ in range(ATTEMPTS):
        lifted = replace(found, y=found.y - lift)
        value = min((lifted.total(problem) - doubt) / V * (1 - rounding), bound)
        if value <= 0:
            break
        if problem.accepts(value, lifted.proof()):
            return value, lifted.proof()
        lift *= 4
    return 0.0, {}
