"""Check a proof that no clustering has a cut below a bound. Needs numpy and scipy, and nothing of what found the proof.

A proof is a dict of arrays: with `y` one of the Z form (Lemma 3 of the documentation), else of the P form (Lemma 4). Each
entry of its matrix M is a sum of at most `terms` terms, whose absolute values add up to at most `size` over a row.
"""

import math

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf
from scipy.sparse.csgraph import connected_components

Array = np.ndarray
Proof = dict[str, Array]
EPS, RANGE = 2.0**-52, 1e100  # twice the unit roundoff; within 1/RANGE to RANGE nothing that matters underflows
INTEGERS = "assumed", "triangles", "pairs"
SIGNS = np.array([[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]], float)  # of z_i z_j, z_i z_h, z_j z_h


@np.errstate(all="ignore")  # what overflows is refused
def verify(W: sp.csr_array, b: Array, must: Array, cannot: Array, k: int, bound: float, proofs: list[Proof]) -> None:
    """Return if the proofs show that any k clusters that respect the pairs have a cut of at least `bound`, else raise."""
    demand((W.data >= 0).all() and (W != W.T).nnz == 0 and (b > 0).all(), "its weights are none of a graph")
    demand(bound == 0 or 1 / RANGE < bound < RANGE, f"its bound is {bound}")
    proofs = [{n: np.asarray(x, np.int64 if n in INTEGERS else float) for n, x in proof.items()} for proof in proofs]
    demand(bound == 0 or covers([proof["assumed"] for proof in proofs]), "its cases do not cover all clusterings")
    for proof in proofs if bound > 0 else []:  # no cut is negative
        together, apart = (proof["assumed"][proof["assumed"][:, 2] == kind, :2] for kind in (1, -1))
        links, own_bound = (np.r_[must, together], np.r_[cannot, apart]), max(bound, float(proof.get("bound", 0)))
        (check_z if "y" in proof else check_p)(W, b, *links, k, own_bound, proof)


def demand(condition: object, otherwise: str) -> None:
    if not condition:
        raise ValueError(f"The certificate is refused: {otherwise}.")


def covers(cases: list[Array], depth: int = 0) -> bool:
    """Whether each clustering agrees with one of the cases: rows (i, j, 1 for together or -1 for apart). Lemma 5."""
    if any(len(case) == depth for case in cases):
        return len(cases) == 1
    one_pair = len({tuple(case[depth, :2]) for case in cases}) == 1
    return one_pair and all(covers([case for case in cases if case[depth, 2] == d], depth + 1) for d in (1, -1))


def check_z(W: sp.csr_array, b: Array, must: Array, cannot: Array, k: int, bound: float, proof: Proof) -> None:
    """Lemma 3, for two clusters."""
    unit, sign = signed_units(len(b), must, cannot)
    if k == 2 and not sign.all():
        return  # no two clusters respect these pairs
    (i, j, h, kind), mu, y, U, V = proof["triangles"].T, proof["multipliers"], proof["y"], unit.max() + 1, math.fsum(b)
    demand(k == 2 and (U, *i.shape) == y.shape + mu.shape and (mu >= 0).all(), "its multipliers are none of a proof")
    demand(((i >= 0) & (i < j) & (j < h) & (h < U) & (kind >= 0) & (kind < 4)).all(), "a triangle is none of units")
    demand(math.fsum(np.r_[y, -mu]) >= bound * V * (1 + 4 * EPS), "its multipliers add up to less than the bound")
    S, L, size, terms = contract(W, unit, sign)
    corner, moment = np.r_[i, j, h], S @ b
    A = sp.csr_array(((SIGNS[kind].T * (mu / 2)).ravel(), (np.r_[i, i, j], np.r_[j, h, h])), shape=(U, U))
    size += np.abs(y) + bound * (abs(S) @ b) + np.bincount(corner, np.tile(mu, 3), U)
    terms += np.bincount(corner, minlength=1).max()
    demand_semidefinite(np.multiply.outer(bound / V * moment, moment), L - A - A.T - sp.diags_array(y), size, terms)


def check_p(W: sp.csr_array, b: Array, must: Array, cannot: Array, k: int, bound: float, proof: Proof) -> None:
    """Lemma 4."""
    unit = linked_units(len(b), must)
    kept_apart = np.sort(unit[cannot], axis=1)
    if (kept_apart[:, 0] == kept_apart[:, 1]).any():
        return  # no clustering respects these pairs
    (u, v, w), (s, t), U, V = proof["triangles"].T, np.sort(proof["pairs"], axis=1).T, unit.max() + 1, math.fsum(b)
    mu, nu, a, c, vectors = (proof[name] for name in ("multipliers", "pair_multipliers", "a", "c", "vectors"))
    theta, kappa, end = float(proof["theta"]), float(proof["kappa"]), (np.r_[u, u, u, v, s], np.r_[u, v, w, w, t])
    shapes = [u.shape, s.shape, (U,), (vectors.size // U,), (U, c.size)]
    demand([x.shape for x in (mu, nu, a, c, vectors)] == shapes and np.isin(end, range(U)).all(), "it has wrong shapes")
    free = np.isin(s * U + t, kept_apart @ [U, 1])  # P is 0 between units that are kept apart
    demand((mu >= 0).all() and ((nu >= 0) | free).all() and (c >= 0).all(), "a multiplier is negative")
    S, L, size, terms = contract(W, unit, np.ones(len(b)))
    d, weight, Y = S @ b, np.r_[mu, -mu, -mu, mu, nu] / 2, vectors * np.sqrt(c)
    parts = np.r_[2 * a, k * theta, -kappa * V, -(d @ Y**2)]
    demand(math.fsum(parts) - EPS * (U + terms) * np.abs(parts).sum() >= bound, "it adds up to less than the bound")
    G, X = sp.csr_array((weight, end), shape=(U, U)), d[:, None] * Y
    size += np.bincount(np.r_[end], np.tile(np.abs(weight), 2), U) + np.abs(a) * V + d * np.abs(a).sum()
    size += (abs(kappa) * V + abs(theta)) * d + np.abs(X) @ np.abs(X).sum(0)
    terms += len(c) + np.bincount(np.r_[end], minlength=1).max()
    low_rank = np.c_[kappa * d - a, -d, X] @ np.c_[d, a, X].T
    demand_semidefinite(low_rank, L - G - G.T - sp.diags_array(theta * d), size, terms)


def signed_units(n: int, must: Array, cannot: Array) -> tuple[Array, Array]:
    """Unit and sign of each vertex, which the pairs give up to the sign of a whole unit; sign 0 in a contradiction."""
    side = linked_units(2 * n, np.r_[must, must + n, cannot + np.r_[0, n], cannot + np.r_[n, 0]])  # (v, -) is v + n
    first, unit = np.unique(np.minimum(side[:n], side[n:]), return_index=True, return_inverse=True)[1:]
    return unit, np.where(side[:n] == side[n:], 0, np.where(side[:n] == side[first][unit], 1, -1))


def linked_units(n: int, links: Array) -> Array:
    """Unit of each vertex, which scipy numbers by their first vertices: what the links join."""
    return connected_components(sp.csr_array((np.ones(len(links)), links.T), (n, n)), directed=False)[1]


def contract(W: sp.csr_array, unit: Array, sign: Array) -> tuple[sp.csr_array, sp.csr_array, Array, int]:
    """S, with the sign of each vertex at its unit; S L S' of the Laplacian L of W; its `size` and `terms`."""
    n, U, degrees = len(unit), unit.max() + 1, W.sum(axis=1)
    S = sp.csr_array((sign.astype(float), (unit, np.arange(n))), shape=(U, n))
    terms = 16 + int(np.bincount(unit, 2 + np.diff(W.indptr)).max())
    return S, S @ (sp.diags_array(degrees) - W) @ S.T, 2 * np.bincount(unit, degrees, U), terms


def demand_semidefinite(M: Array, sparse: sp.csr_array, size: Array, terms: int) -> None:
    """Of the sum of both, in spite of all rounding; overwrites M. Lemmas 1 and 2."""
    demand(size.min() > 1 / RANGE and size.max() < RANGE, "its numbers are too large or too small")
    entries, scale = sparse.tocoo(), np.ldexp(1.0, -(np.frexp(size)[1] // 2))  # powers of two round nothing
    M[entries.row, entries.col] += entries.data
    M *= scale[:, None]
    M *= scale
    diagonal = M.diagonal() - EPS * terms * size * scale**2
    np.fill_diagonal(M, diagonal - 1.2 * (len(M) + 2) * EPS * np.abs(diagonal).sum() - 1e-280)  # Rump's margin
    factor, failed = dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
    demand(not failed and np.isfinite(factor.diagonal()).all(), "its matrix is not positive semidefinite")
