"""The Lagrangians of both forms: their gradients are those of their values, augmented or not."""

import numpy as np
import pytest

from tightcut import kernels

H = 1e-6


def drawn(seed, n=6, rank=3):
    rng = np.random.default_rng(seed)
    head, tail = (ends.astype(np.int32) for ends in np.triu_indices(n, 1))
    m = len(head)
    sides = rng.integers(m, size=(4, 3)).astype(np.int32)
    return rng, rng.normal(size=(n, rank)), (head, tail, rng.normal(size=m)), sides


def assert_gradient(value_and_gradient, X, rng):
    direction = rng.normal(size=X.shape)
    _, gradient = value_and_gradient(X)
    slope = (gradient * direction).sum()
    ahead, behind = (value_and_gradient(X + step * direction)[0] for step in (H, -H))
    assert (ahead - behind) / (2 * H) == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0.0, 0.7])
def test_the_z_form(seed, penalty):
    """With penalty 0 the triangles and the violated belief count, too: polishing minimises that function."""
    rng, X, (head, tail, cost), sides = drawn(seed)
    m, signs, mu = len(head), rng.choice([-1.0, 1.0], (4, 3)), rng.exponential(size=4)
    belief = rng.normal(size=m), 0.3, rng.exponential()
    moment = rng.normal(size=len(X)), 0.4

    def lagrangian(X):
        gradient, inner, slope = np.empty_like(X), np.empty(m), np.empty(m)
        arrays = sides, signs, mu, penalty, *belief, *moment, gradient, inner, slope
        return kernels.spin_lagrangian(X, head, tail, cost, *arrays), gradient

    assert_gradient(lagrangian, X, rng)


@pytest.mark.parametrize("seed", range(6))
def test_the_p_form(seed):
    rng, X, (head, tail, cost), sides = drawn(seed)
    n, m = len(X), len(head)
    corners = np.column_stack([rng.integers(n, size=4), sides]).astype(np.int32)
    places, free = np.arange(5, dtype=np.int32), np.array([True, True, False, False, False])
    duals = corners, rng.exponential(size=4), rng.uniform(0.5, 1, 4), places, free, rng.exponential(size=5)
    pair_step, own_cost = rng.uniform(0.5, 1, 5), rng.normal(size=n)

    def lagrangian(X):
        gradient, filled = np.empty_like(X), (np.empty(m), np.empty(n), np.empty(m), np.empty(n))
        arrays = cost, own_cost, *duals, pair_step, gradient, *filled
        return kernels.partition_lagrangian(X, 0.2, head, tail, *arrays), gradient

    assert_gradient(lagrangian, X, rng)
