"""The formulas of docs/beliefs.md that are exact, each against a slow and obvious program."""

import numpy as np
import pytest
import scipy.sparse as sp

from tightcut.ask.beliefs import inference
from tightcut.ask.beliefs.evidence import gather
from tightcut.ask.beliefs.feature_models import newness
from tightcut.ask.beliefs.harmonic import DRAW, UNKNOWN, Harmonic, HarmonicField
from tightcut.ask.beliefs.inference import DOUBT, share_of_errors, temper, weigh
from tightcut.ask.beliefs.mixture import mixture_weights
from tightcut.ask.beliefs.regression import NEARNESS, RIDGE, Kernel, Regression
from tightcut.ask.records import Answer

SEEDS = range(5)


def random_graph(rng, n=40):
    """A connected graph with parts, answered points, and what is believed of them."""
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.2), 1)
    weights[np.arange(n - 1), np.arange(1, n)] += 0.1
    weights += weights.T
    points = rng.choice(n, 8, replace=False)
    return weights, rng.permutation(np.arange(n) % 4), points, rng.dirichlet(np.ones(4), len(points))


def dense_parts(weights, parts, points, answered):
    """The matrix A, what draws each point to its part (epsilon D P_0), and what is known of each part."""
    degrees = weights.sum(axis=1)
    known = np.zeros((parts.max() + 1, answered.shape[1]))
    np.add.at(known, parts[points], answered)
    known[:, -1] += UNKNOWN
    known /= known.sum(axis=1, keepdims=True)
    return (1 + DRAW) * np.diag(degrees) - weights, DRAW * degrees[:, None] * np.eye(parts.max() + 1)[parts], known


def solved(matrix, right, points, answered):
    """The solution with given values at some points."""
    free = np.setdiff1d(np.arange(len(matrix)), points)
    found = np.zeros((len(matrix), answered.shape[1]))
    found[points] = answered
    inner = matrix[np.ix_(free, free)]
    found[free] = np.linalg.solve(inner, right[free] - matrix[np.ix_(free, points)] @ answered)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_beliefs_are_harmonic_between_the_answered_points(seed):
    weights, parts, points, answered = random_graph(np.random.default_rng(seed))
    matrix, drawn, known = dense_parts(weights, parts, points, answered)
    found = Harmonic(HarmonicField(sp.csr_array(weights), parts), points).shares(answered)
    assert np.allclose(found, solved(matrix, drawn @ known, points, answered), atol=2e-4)
    assert np.allclose(found.sum(axis=1), 1, atol=2e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_others_would_have_said_of_a_point(seed):
    weights, parts, points, answered = random_graph(np.random.default_rng(seed))
    matrix, drawn, known = dense_parts(weights, parts, points, answered)
    graph = Harmonic(HarmonicField(sp.csr_array(weights), parts), points)
    alpha = graph.inverse @ (answered - graph.parts @ known)
    without = answered - alpha / graph.inverse.diagonal()[:, None]
    for i in range(len(points)):
        others = np.delete(np.arange(len(points)), i)
        expected = solved(matrix, drawn @ known, points[others], answered[others])[points[i]]
        assert np.allclose(without[i], expected, atol=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_regression_without_a_row_says_of_it(seed):
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(30, 3)), rng.choice(30, 12, replace=False)
    group = np.arange(12) % 3
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    similar = 1 + np.exp(-NEARNESS * np.square(z[:, None] - z).sum(axis=2) / 3)
    inside = Regression(Kernel(X), rows, group).held_out
    for i in range(len(rows)):
        others = np.delete(rows, i)
        alpha = np.linalg.solve(
            similar[np.ix_(others, others)] + RIDGE * np.eye(len(others)), np.eye(3)[np.delete(group, i)]
        )
        said = np.clip(similar[rows[i], others] @ alpha, 1e-3, 1)
        assert np.allclose(inside[i], said / said.sum(), atol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_weights_are_the_likeliest(seed):
    rng = np.random.default_rng(seed)
    each, answered = rng.dirichlet(np.ones(4), (3, 60)), np.eye(4)[rng.integers(3, size=60)]
    each[0] = 0.6 * each[0] + 0.4 * answered
    spread = each[:, :, :-1] + each[:, :, -1:] / 4
    likelihood = (spread * answered[:, :-1]).sum(axis=2) + 1e-3

    def objective(weights):
        return np.log(weights @ likelihood).sum() + np.log(weights).mean()

    best = objective(mixture_weights(each, answered))
    assert all(objective(rng.dirichlet(np.ones(3))) < best + 1e-3 for _ in range(300))


def answered_pairs(rng, n_answers):
    """Answers about rows that were asked about before and new ones, every other one founding a group."""
    answers = []
    for number in range(n_answers):
        choice = str(rng.choice(["same", "different"]))
        founds = number + 1 if choice == "different" and number < 2 else None
        pair = number + 1, int(rng.integers(number + 1))
        answers.append(Answer(number, "pair", *pair, choice, "", None, None, "", founds=founds))
    return answers


@pytest.mark.parametrize("seed", SEEDS)
def test_beliefs_agree_with_the_answers_about_them(seed, monkeypatch):
    """A fixed point of mean field, in which founders start in their groups and the anchor was named."""
    monkeypatch.setattr(inference, "SWEEPS", 300)  # ten come near it
    evidence = gather(answered_pairs(np.random.default_rng(seed), 8), 0)
    k, m = evidence.n_groups, len(evidence.points)
    belief = weigh(evidence)
    share = np.full((m, k + 1), 1 / (k + 1))
    for group, i in evidence.founders.items():
        share[i, group] += k * share[i, -1]
        share[i, -1] = 0
    expected = temper(share, 1.0)
    expected[0, 0] *= (1 - DOUBT) / DOUBT
    for i, j, same in evidence.pairs.tolist():
        for one, other in ((i, j), (j, i)):
            agree = DOUBT + (1 - 2 * DOUBT) * belief[other, :-1]
            expected[one] *= np.append(agree, DOUBT) if same else np.append(1 - agree, 1)
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(belief, expected, atol=1e-6)


def test_the_share_of_errors_has_a_prior():
    evidence = gather([Answer(0, "pair", 1, 0, "same", "", None, None, "")], 0)
    apart, together = np.array([[1, 0.0], [0, 1]]), np.array([[1, 0.0], [1, 0]])
    assert share_of_errors(evidence, together) == pytest.approx(0.5 / 26)
    assert share_of_errors(evidence, apart) == pytest.approx(1.5 / 26)


def test_new_groups_are_as_likely_as_groups_seen_once():
    answered = np.eye(4)[[0, 0, 1, 2]]
    assert newness(answered) == pytest.approx(2.1 / 5)
