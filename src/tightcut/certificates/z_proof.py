"""From approximate multipliers of the Z form to a proof: any y and mu >= 0 will do, once M is positive semidefinite."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from tightcut.certificates.eigenvalues import DENSE_LIMIT, lowest_eigenpairs
from tightcut.certificates.units import Problem, Units
from tightcut.certificates.verify import EPS, SIGNS, Proof

ATTEMPTS = 12


def z_matrix(units: Units, y: np.ndarray, triangles: np.ndarray, mu: np.ndarray) -> sp.csr_array:
    """M of Lemma 3 without its dense part, bound/V times the outer product of the moments."""
    i, j, h, kind = triangles.T
    half, n = SIGNS[kind].T * (mu / 2), units.n_units
    sides = sp.csr_array((half.ravel(), (np.concatenate([i, i, j]), np.concatenate([j, h, h]))), shape=(n, n))
    return (units.laplacian - sides - sides.T - sp.diags_array(y)).tocsr()


def with_moment(matrix: sp.csr_array, pull: float, moment: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The product of M with columns: the sparse matrix, and `pull` times the outer product of the moment."""
    return lambda columns: matrix @ columns + np.outer(pull * moment, moment @ columns)


def prove_z(
    problem: Problem,
    y: np.ndarray,
    triangles: np.ndarray,
    mu: np.ndarray,
    near: float,
    cut: float,
    rng: np.random.Generator,
) -> tuple[float, Proof]:
    """The largest bound up to the cut that these multipliers prove, looked for near the one given; 0 if they prove none.

    Notes
    -----
    With s = max(0, -lowest eigenvalue of M), y - s is feasible, and the bound holds if sum(y) - sum(mu) - U s is at
    least bound V. The difference of both sides is concave in the bound, with derivative U (m'v)^2 / V - V for the
    eigenvector v: Newton's method finds its root from above.
    """
    units = problem.signed
    matrix, n, V = z_matrix(units, y, triangles, mu), units.n_units, units.volume
    total, span, bound = math.fsum(y) - math.fsum(mu), float(np.abs(matrix.diagonal()).max()) + 1e-3, near
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
    return _checked(problem, y - short, triangles, mu, min(bound, cut))


def _checked(
    problem: Problem, y: np.ndarray, triangles: np.ndarray, mu: np.ndarray, bound: float
) -> tuple[float, Proof]:
    """Take a little more from y, at first as much as rounding may need, until the verifier accepts the proof."""
    n, V = problem.signed.n_units, problem.signed.volume
    lift = (1e-9 if n <= DENSE_LIMIT else 2e-6) * bound * V / n
    for _ in range(ATTEMPTS):
        lifted = y - lift
        rounding = EPS * (16 + len(problem.vertex_weights))
        value = min(math.fsum(np.concatenate([lifted, -mu])) / V * (1 - rounding), bound)
        if value <= 0:
            break
        proof = {"y": lifted, "triangles": triangles, "multipliers": mu}
        if problem.accepts(value, proof):
            return value, proof
        lift *= 4
    return 0.0, {}
