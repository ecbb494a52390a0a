"""The lemmas of docs/certificates.md, one test each."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import random_graph

from tightcut import Constraints
from tightcut.certificates.p_proof import PartitionMultipliers, p_matrix, prove_p
from tightcut.certificates.spectral import spectral_bound
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import EPS, SIGNS, check_p, covers, demand_semidefinite
from tightcut.certificates.z_form import _repair
from tightcut.certificates.z_proof import SpinMultipliers, z_matrix
from tightcut.problem.objective import normalized_cut

SEEDS = range(8)


def problem(seed, k=2):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    graph = random_graph(rng, n, 0.6, ["degree", "ones", rng.uniform(0.2, 3, n)][seed % 3])
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])[rng.permutation(n)]
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(3)])
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return rng, graph, Constraints.from_pairs(n, pairs[same], pairs[~same]), labels


def lowest(matrix):
    return np.linalg.eigvalsh(matrix)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_1_what_building_a_matrix_loses(seed):
    """Sums of many terms that cancel, in double precision and exactly."""
    rng = np.random.default_rng(seed)
    n, terms = 4, 30
    parts = rng.normal(size=(terms, n, n)) * 10.0 ** rng.uniform(0, 6, (terms, 1, 1))
    parts = parts + parts.transpose(0, 2, 1)
    parts[terms // 2 :] = -parts[: terms // 2] * (1 + 1e-9 * rng.random((terms // 2, 1, 1)))
    computed, size = np.add.reduce(parts, axis=0), np.abs(parts).sum(axis=(0, 2))
    exact = [[sum(Fraction(float(x)) for x in parts[:, i, j]) for j in range(n)] for i in range(n)]
    error = np.array([[float(exact[i][j] - Fraction(float(computed[i, j]))) for j in range(n)] for i in range(n)])
    assert np.abs(error).max() > 0
    assert lowest(error + EPS * terms * np.diag(size)) >= 0


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_2_a_factorisation_that_ends_is_a_proof(seed):
    """Integer matrices of lower rank, with the smallest perturbation that makes them indefinite, and a larger one upwards."""
    rng = np.random.default_rng(seed)
    n = 6
    columns = rng.integers(-9, 10, (n, n - 2)).astype(float)
    singular, size = columns @ columns.T, np.abs(columns @ columns.T).sum(1)
    zeros, none = np.zeros(n), np.zeros(0, int)
    nothing = sp.csr_array((n, n)), zeros, (none, none), np.zeros(0), size, 16
    for shift in (0.0, -EPS, -1e-10):
        with pytest.raises(ValueError, match="not positive semidefinite"):
            demand_semidefinite(singular + shift * np.eye(n), *nothing)
    demand_semidefinite(singular + 1e-10 * np.diag(size), *nothing)


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_3_the_z_form(seed):
    """Its formula is the cut, its triangles hold for all signs, and its inequality for the best bound."""
    rng, graph, constraints, _ = problem(seed)
    scaled = Problem.of(graph, constraints, 2)
    units, n = scaled.signed, scaled.signed.n_units
    triples = np.array([(i, j, h, kind) for i in range(n) for j in range(i) for h in range(j) for kind in range(4)])
    triples = np.column_stack([triples.reshape(-1, 4)[:, 2::-1], triples.reshape(-1, 4)[:, 3]]).astype(np.int64)
    mu, y = rng.exponential(size=len(triples)), rng.normal(size=n)
    for z in np.array(list(product([-1, 1], repeat=n))):
        side = (z[units.unit] * units.sign > 0).astype(int)
        if 0 < side.sum() < len(side):
            assert scaled.given_cut(units.cuts(z[:, None].astype(float))[0]) == pytest.approx(
                normalized_cut(graph, side)
            )
        assert constraints.violations(side).n_violations == 0
        i, j, h, kind = triples.T
        left = SIGNS[kind] * np.column_stack([z[i] * z[j], z[i] * z[h], z[j] * z[h]])
        assert (left.sum(1) >= -1).all()
        found = SpinMultipliers(y, triples, mu)
        assert z @ (z_matrix(scaled, found) @ z) <= z @ (units.laplacian @ z) - found.total(scaled) + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_3_with_violations(seed):
    """The price of violated belief: its inequality holds for all clusterings within the limit, and is tight at the limit."""
    rng, graph, constraints, _ = problem(seed)
    beliefs = rng.uniform(0.1, 1, constraints.n_must_link), rng.uniform(0.1, 1, constraints.n_cannot_link)
    constraints = Constraints.from_pairs(graph.n_vertices, constraints.must_link, constraints.cannot_link, *beliefs)
    limit = float(np.concatenate(beliefs).min() + 0.2 * rng.random())
    scaled = Problem.of(graph, constraints, 2, limit)
    units, n = scaled.signed, scaled.signed.n_units
    found = SpinMultipliers(rng.normal(size=n), np.zeros((0, 4), np.int64), np.zeros(0), float(rng.exponential()))
    matrix, counted = z_matrix(scaled, found), 0
    for z in np.array(list(product([-1, 1], repeat=n))):
        violated = constraints.violations((z[units.unit] * units.sign > 0).astype(int)).belief
        excess = z @ (matrix @ z) - (z @ (units.laplacian @ z) - found.total(scaled))
        assert excess == pytest.approx(found.price * (violated - limit), abs=1e-9)
        counted += violated <= limit
    assert counted > 1
    assert len(scaled.soft) + len(scaled.hard) == constraints.n_pairs


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_4_the_p_form(seed):
    """What is said of P holds for every clustering; `check_p` uses nothing else."""
    _, graph, constraints, _ = problem(seed, k=3)
    units = Problem.of(graph, constraints, 3).linked
    d, n = units.weights, units.n_units
    for z in product(range(3), repeat=n):
        of_unit = np.array(z)
        if len(set(z)) < 3 or (of_unit[units.apart[:, 0]] == of_unit[units.apart[:, 1]]).any():
            continue
        members = np.equal.outer(of_unit, np.arange(3)).astype(float)
        P = members / (d @ members) @ members.T
        assert np.allclose(P @ d, 1)
        assert np.isclose(np.trace(d[:, None] * P), 3)
        root = np.sqrt(d)
        values = np.linalg.eigvalsh(root[:, None] * P * root)
        assert values.min() > -1e-9
        assert values.max() < 1 + 1e-9
        assert (P[units.apart[:, 0], units.apart[:, 1]] == 0).all()
        corners = np.diagonal(P)[:, None, None] - P[:, :, None] - P[:, None, :] + P[None]
        assert corners.min() > -1e-12
        assert (units.laplacian.toarray() * P).sum() == pytest.approx(
            normalized_cut_of_units(units, of_unit), rel=1e-9, abs=1e-12
        )


def normalized_cut_of_units(units, of_unit):
    adjacency = -units.laplacian.toarray()
    crossing = np.not_equal.outer(of_unit, of_unit)
    leaving = (adjacency * crossing).sum(1)
    return sum(leaving[of_unit == c].sum() / units.weights[of_unit == c].sum() for c in np.unique(of_unit))


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_5_cases_cover_every_clustering(seed):
    """Cases are accepted exactly if they are the leaves of a tree of decisions; then each clustering agrees with one."""
    rng = np.random.default_rng(seed)
    leaves = [[]]
    for _ in range(4):
        leaf = leaves.pop(int(rng.integers(len(leaves))))
        pair = rng.choice(6, 2, replace=False).tolist()
        leaves += [[*leaf, (*pair, 1)], [*leaf, (*pair, -1)]]
    cases = [np.array(leaf).reshape(-1, 3) for leaf in leaves]
    assert covers(cases)
    for labels in product(range(3), repeat=6):
        agreeing = [all((labels[i] == labels[j]) == (kind == 1) for i, j, kind in case.tolist()) for case in cases]
        assert sum(agreeing) == 1
    assert not covers(cases[1:])
    assert not covers([*cases, cases[0]])


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_6_repairs(seed):
    rng = np.random.default_rng(seed)
    n = 12
    matrix = rng.normal(size=(n, n))
    matrix = matrix @ matrix.T - 3 * np.eye(n)
    values, vectors = np.linalg.eigh(matrix)
    lift = _repair(values[:4], vectors[:, :4], n)
    assert lowest(matrix + np.diag(lift)) > -1e-9
    assert lift.sum() <= -n * values[0] + 1e-9
    single = np.abs(vectors[:, 0]) * np.abs(vectors[:, 0]).sum()
    assert lowest(np.diag(single) - np.outer(vectors[:, 0], vectors[:, 0])) > -1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_lemma_7_the_value_of_a_proof_is_that_of_fan(seed):
    """Without multipliers it is the spectral bound, the sum of the lowest k eigenvalues."""
    k = 3
    rng, graph, constraints, _ = problem(seed, k)
    scaled = Problem.of(graph, constraints, k)
    units = scaled.linked
    root = np.sqrt(units.weights)
    spectrum = np.linalg.eigvalsh(units.laplacian.toarray() / np.outer(root, root))
    bound, proof = spectral_bound(scaled, rng)
    assert bound == pytest.approx(spectrum[:k].sum(), abs=1e-7)
    n = units.n_units
    if bound > 0:
        check_p(scaled.weights, scaled.vertex_weights, scaled.hard, k, bound, proof)
    triangles = np.array([rng.choice(n, 3, replace=False) for _ in range(5)])
    pairs = np.concatenate([units.apart, np.array([rng.choice(n, 2, replace=False) for _ in range(3)])])
    nu = np.concatenate([0.01 * rng.normal(size=len(units.apart)), 0.01 * rng.random(3)])
    multipliers = PartitionMultipliers(triangles, 0.01 * rng.random(5), pairs, nu)
    bound, _ = prove_p(scaled, multipliers, rng)
    matrix = p_matrix(units, multipliers).toarray()
    q = root / np.linalg.norm(root)
    B = matrix / np.outer(root, root)
    hidden = np.eye(n) - np.outer(q, q)
    values = np.linalg.eigvalsh(hidden @ B @ hidden + 100 * np.outer(q, q))
    fan = q @ B @ q + values[: k - 1].sum()
    assert bound == pytest.approx(max(fan, 0), abs=1e-6)
