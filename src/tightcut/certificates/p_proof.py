"""From approximate multipliers of the P form to a proof, by Fan's theorem; without multipliers it is the spectral bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut.certificates.eigenvalues import DENSE_LIMIT, lowest_eigenpairs
from tightcut.certificates.units import Problem, Units
from tightcut.certificates.verify import EPS, Proof

ATTEMPTS = 16
FURTHER = 6  # eigenvectors beyond those that Fan's theorem needs: Lanczos finds the first ones sooner


@dataclass(frozen=True, eq=False)
class PartitionMultipliers:
    """mu of triangles (u, v, w), nu of pairs of units: what the entries of P between them may not do."""

    triangles: np.ndarray
    mu: np.ndarray
    pairs: np.ndarray
    nu: np.ndarray

    @classmethod
    def none(cls) -> PartitionMultipliers:
        return cls(np.zeros((0, 3), np.int64), np.zeros(0), np.zeros((0, 2), np.int64), np.zeros(0))


def p_matrix(units: Units, multipliers: PartitionMultipliers) -> sp.csr_array:
    """L - G of Lemma 4."""
    (u, v, w), (s, t), n = multipliers.triangles.T, multipliers.pairs.T, units.n_units
    mu, nu = multipliers.mu, multipliers.nu
    rows, columns = np.concatenate([u, u, u, v, s]), np.concatenate([u, v, w, w, t])
    half = sp.csr_array((np.concatenate([mu, -mu, -mu, mu, nu]) / 2, (rows, columns)), shape=(n, n))
    return (units.laplacian - half - half.T).tocsr()


def low_spectrum(
    units: Units, matrix: sp.csr_array, count: int, accuracy: float, start: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """1'M1/V; the lowest eigenvalues of D^-1/2 M D^-1/2 on the complement of D^1/2 1; and their vectors, times D^-1/2."""
    root = np.sqrt(units.weights)
    scaled = (sp.diags_array(1 / root) @ matrix @ sp.diags_array(1 / root)).tocsr()
    q = root / np.linalg.norm(root)
    span = float(abs(scaled).sum(axis=1).max())

    def product(columns: np.ndarray) -> np.ndarray:
        along = q @ columns
        image = scaled @ (columns - np.outer(q, along))
        return image + np.outer(q, span * along - q @ image)

    values, vectors = lowest_eigenpairs(product, len(q), min(count, len(q) - 1), span, accuracy, start)
    return float(q @ (scaled @ q)), values, vectors / root[:, None]


def prove_p(problem: Problem, multipliers: PartitionMultipliers, rng: np.random.Generator) -> tuple[float, Proof]:
    """The bound that these multipliers prove, and its proof; 0 if they prove none.

    Notes
    -----
    With M = L - G, r = M1, al = 1'r/(2V) and a = (r - al d)/V the constants are in the kernel of M - ad' - da'. For the
    lowest eigenpairs (w_j, u_j) of D^-1/2 M D^-1/2 on the complement of D^1/2 1, theta = w_k - e, c_j = w_k - w_j,
    v_j = D^-1/2 u_j and kappa = (theta + 4e)/V, the value of Lemma 4 is that of Fan's theorem, 1'M1/V + w_1 + ... +
    w_{k-1}, up to (k + 3) e. e is what rounding and inexact eigenvectors need.
    """
    units, k = problem.linked, problem.n_clusters
    d, V, n = units.weights, units.volume, units.n_units
    matrix = p_matrix(units, multipliers)
    sums = matrix.sum(axis=1)
    start = rng.normal(size=n)
    fan, values, vectors = low_spectrum(units, matrix, k - 1 + FURTHER, 1e-7, start)
    if len(values) == 0:
        return 0.0, {}
    top = values[min(k - 1, len(values) - 1)]
    low = values < top
    fan += float(values[: k - 1].sum())
    e = 1e-10 * top if n <= DENSE_LIMIT else 1e-5 * max(fan, 0.0) / (k + 3)
    shared = {"triangles": multipliers.triangles, "multipliers": multipliers.mu, "pairs": multipliers.pairs}
    shared |= {
        "pair_multipliers": multipliers.nu,
        "a": (sums - sums.sum() / (2 * V) * d) / V,
        "assumed": problem.assumed,
    }
    for _ in range(ATTEMPTS):
        e = max(abs(e), 1e-14)
        constants = {"theta": np.array(top - e), "kappa": np.array((top + 3 * e) / V)}
        proof = shared | constants | {"c": (top - values)[low], "vectors": vectors[:, low]}
        bound = _value(units, k, proof)
        if bound <= 0:
            return 0.0, {}
        if problem.accepts(bound, proof):
            return bound, proof
        e *= 4
    return 0.0, {}


def _value(units: Units, k: int, proof: Proof) -> float:
    """What Lemma 4 gives, less what the verifier takes off for rounding, twice over."""
    c, quadratic = proof["c"], units.weights @ proof["vectors"] ** 2
    parts = np.concatenate(
        [2 * proof["a"], [k * float(proof["theta"]), -float(proof["kappa"]) * units.volume], -c * quadratic]
    )
    corners = np.concatenate([proof["triangles"].ravel(), proof["pairs"].ravel()])
    terms = units.terms + 4 * int(np.bincount(corners, minlength=1).max()) + len(c)
    return math.fsum(parts) - 2 * EPS * (units.n_units + terms) * float(np.abs(parts).sum())
