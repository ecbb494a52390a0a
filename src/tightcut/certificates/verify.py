"""Check a proof that no clustering has a cut below a bound. Needs numpy and scipy, and no code that found the proof."""

import math

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

Array = np.ndarray
Proof = dict[str, Array]
EPS, RANGE = 2.0**-52, 1e100  # twice the unit roundoff; within 1/RANGE to RANGE nothing that matters underflows
INTEGERS = "assumed", "triangles", "pairs"
SIGNS = np.array([[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]], float)  # of z_i z_j, z_i z_h, z_j z_h


@np.errstate(all="ignore")  # what overflows is refused
def verify(W: csr_array, b: Array, pairs: Array, k: int, bound: float, proofs: list[Proof], limit: float = 0.0) -> None:
    """Return if the proofs show that any k clusters that respect the pairs have a cut of at least `bound`, else raise.

    Rows of `pairs` are (i, j, belief), with belief < 0 for cannot-links; what is violated may add up to `limit`.
    """
    W, b, pairs = csr_array(W, dtype=float), np.asarray(b, float), np.asarray(pairs, float)
    demand((W.data >= 0).all() and (W != W.T).nnz == 0 and (b > 0).all(), "its weights are none of a graph")
    demand(np.isfinite(pairs).all() and 0 <= limit < math.inf, "its pairs or their limit are none")
    demand(bound == 0 or 1 / RANGE < bound < RANGE, f"its bound is {bound}")
    proofs = [{n: np.asarray(x, np.int64 if n in INTEGERS else float) for n, x in proof.items()} for proof in proofs]
    demand(bound == 0 or covers([proof["assumed"] for proof in proofs]), "its cases do not cover all clusterings")
    is_soft = np.abs(pairs[:, 2]) <= limit  # no other pair can be violated
    hard, soft = np.c_[pairs[:, :2], np.sign(pairs[:, 2])][~is_soft].astype(int), pairs[is_soft]
    for proof in proofs if bound > 0 else []:  # no cut is negative
        own = W, b, np.r_[hard, proof["assumed"]], k, max(bound, float(proof.get("bound", 0))), proof
        check_z(*own, soft, limit) if "y" in proof else check_p(*own)


def demand(condition: object, otherwise: str) -> None:
    if not condition:
        raise ValueError(f"The certificate is refused: {otherwise}.")


def covers(cases: list[Array], depth: int = 0) -> bool:
    """Whether each clustering agrees with one of the cases: rows (i, j, 1 for together or -1 for apart). Lemma 5."""
    if any(len(case) == depth for case in cases):
        return len(cases) == 1
    one_pair = len({tuple(case[depth, :2]) for case in cases}) == 1
    return one_pair and all(covers([case for case in cases if case[depth, 2] == d], depth + 1) for d in (1, -1))


def check_z(W: csr_array, b: Array, hard: Array, k: int, bound: float, proof: Proof, soft: Array, limit: float) -> None:
    """Lemma 3, for two clusters."""
    unit, sign = signed_units(len(b), hard)
    if k == 2 and not sign.all():
        return  # no two clusters respect these pairs
    (i, j, h, kind), mu, y, U, V = proof["triangles"].T, proof["multipliers"], proof["y"], unit.max() + 1, math.fsum(b)
    price, belief, (s, t) = float(proof["price"]), np.abs(soft[:, 2]), soft[:, :2].astype(int).T
    demand(k == 2 and [y.shape, mu.shape] == [(U,), i.shape] and (mu >= 0).all() and price >= 0, "wrong multipliers")
    demand(((i >= 0) & (i < j) & (j < h) & (h < U) & (kind >= 0) & (kind < 4)).all(), "a triangle is none of units")
    total, loss = np.r_[y, -mu, price / 2 * belief, -price * limit], bound * V + price * (belief.sum() + limit)
    demand(math.fsum(total) - 4 * EPS * loss >= bound * V, "its multipliers add up to less than the bound")
    S, L, size, terms = contract(W, unit, sign)
    moment, weight = S @ b, np.r_[(SIGNS[kind].T * (mu / 2)).ravel(), price / 4 * soft[:, 2] * sign[s] * sign[t]]
    M, ends = np.multiply.outer(bound / V * moment, moment), (np.r_[i, i, j, unit[s]], np.r_[j, h, h, unit[t]])
    demand_semidefinite(M, L, y, ends, weight, size + bound * (abs(S) @ b), terms)


def check_p(W: csr_array, b: Array, hard: Array, k: int, bound: float, proof: Proof) -> None:
    """Lemma 4."""
    unit, _ = signed_units(len(b), hard[hard[:, 2] > 0])
    kept_apart = np.sort(unit[hard[hard[:, 2] < 0, :2]], axis=1)
    if (kept_apart[:, 0] == kept_apart[:, 1]).any():
        return  # no clustering respects these pairs
    (u, v, w), (s, t), U, V = proof["triangles"].T, np.sort(proof["pairs"], axis=1).T, unit.max() + 1, math.fsum(b)
    mu, nu, a, c, vectors = (proof[name] for name in ("multipliers", "pair_multipliers", "a", "c", "vectors"))
    theta, kappa, ends = float(proof["theta"]), float(proof["kappa"]), (np.r_[u, u, u, v, s], np.r_[u, v, w, w, t])
    shapes = [u.shape, s.shape, (U,), (vectors.size // U,), (U, c.size)]
    demand([x.shape for x in (mu, nu, a, c, vectors)] == shapes and np.isin(ends, range(U)).all(), "wrong shapes")
    free = np.isin(s * U + t, kept_apart @ [U, 1])  # P is 0 between units that are kept apart
    demand((mu >= 0).all() and ((nu >= 0) | free).all() and (c >= 0).all(), "a multiplier is negative")
    S, L, size, terms = contract(W, unit, np.ones(len(b)))
    d, Y = S @ b, vectors * np.sqrt(c)
    parts, X = np.r_[2 * a, k * theta, -kappa * V, -(d @ Y**2)], d[:, None] * Y
    demand(math.fsum(parts) - EPS * (U + terms) * np.abs(parts).sum() >= bound, "it adds up to less than the bound")
    size += np.abs(a) * V + d * np.abs(a).sum() + abs(kappa) * V * d + np.abs(X) @ np.abs(X).sum(0)
    low_rank, weight = np.c_[kappa * d - a, -d, X] @ np.c_[d, a, X].T, np.r_[mu, -mu, -mu, mu, nu] / 2
    demand_semidefinite(low_rank, L, theta * d, ends, weight, size, terms + len(c))


def signed_units(n: int, hard: Array) -> tuple[Array, Array]:
    """Unit and sign of each vertex, which the pairs give up to the sign of a whole unit; sign 0 in a contradiction."""
    swap = np.where(hard[:, 2:] > 0, 0, [0, n])  # (v, -) is v + n
    ends = np.r_[hard[:, :2] + swap, hard[:, :2] + n - swap].T
    side = connected_components(csr_array((np.ones(ends.shape[1]), (*ends,)), (2 * n, 2 * n)), directed=False)[1]
    first, unit = np.unique(np.minimum(side[:n], side[n:]), return_index=True, return_inverse=True)[1:]
    return unit, np.where(side[:n] == side[n:], 0, np.where(side[:n] == side[first][unit], 1, -1))


def contract(W: csr_array, unit: Array, sign: Array) -> tuple[csr_array, csr_array, Array, int]:
    """S, with the sign of each vertex at its unit; S L S' of the Laplacian L of W; its `size` and `terms`."""
    n, U, degrees = len(unit), unit.max() + 1, W.sum(axis=1)
    S = csr_array((sign.astype(float), (unit, np.arange(n))), shape=(U, n))
    terms = 16 + int(np.bincount(unit, 2 + np.diff(W.indptr)).max())
    return S, S @ (diags_array(degrees) - W) @ S.T, 2 * np.bincount(unit, degrees, U), terms


def demand_semidefinite(M: Array, L: csr_array, y: Array, ends: tuple, weight: Array, size: Array, terms: int) -> None:
    """Of M + L - Diag(y) - A - A', with these weights in A, in spite of all rounding; overwrites M. Lemmas 1 and 2."""
    (n, _), A, corners = M.shape, csr_array((weight, ends), M.shape), np.r_[ends]
    size = size + np.abs(y) + np.bincount(corners, np.tile(np.abs(weight), 2), n)
    demand(size.min() > 1 / RANGE and size.max() < RANGE, "its numbers are too large or too small")
    sparse, scale = (L - A - A.T - diags_array(y)).tocoo(), np.ldexp(1.0, -(np.frexp(size)[1] // 2))
    M[sparse.row, sparse.col] += sparse.data
    M *= scale[:, None]  # by powers of two, which rounds nothing
    M *= scale
    entries = M.diagonal() - EPS * (terms + np.bincount(corners, minlength=1).max()) * size * scale**2
    np.fill_diagonal(M, entries - 1.2 * (n + 2) * EPS * np.abs(entries).sum() - 1e-280)  # Rump's margin
    factor, failed = dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
    demand(not failed and np.isfinite(factor.diagonal()).all(), "its matrix is not positive semidefinite")
