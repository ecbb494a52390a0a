"""The relaxation on the device against the CPU's, and RatioDCA with every step on the device."""

import numpy as np
import pytest
from strategies import random_graph

from tightcut import Constraints
from tightcut.relaxation import Relaxation
from tightcut.relaxation.inner import clip_range
from tightcut.relaxation.ratio_dca import Steps, ratio_dca

pytest.importorskip("torch", reason="needs PyTorch: pip install torch")

from tightcut.gpu.relaxation import DeviceRelaxation
from tightcut.gpu.sparse import send


def problem(seed, n=40, n_pairs=12, penalty=0.7):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, 0.2, rng.uniform(0.5, 2, n))
    pairs = np.unique(np.sort(rng.integers(0, n, (2 * n_pairs, 2)), axis=1), axis=0)
    pairs = rng.permutation(pairs[pairs[:, 0] < pairs[:, 1]])
    must, cannot = pairs[:n_pairs], pairs[n_pairs:]
    weights = rng.uniform(0.2, 1, len(must)), rng.uniform(0.2, 1, len(cannot))
    return Relaxation(graph, Constraints.from_pairs(n, must, cannot, *weights), penalty)


def vectors(n, seed=0):
    """Distinct values, many ties, two values, one value that differs."""
    rng = np.random.default_rng(seed)
    yield rng.normal(size=n)
    yield rng.integers(0, 4, n).astype(float)
    yield (rng.random(n) < 0.4).astype(float)
    yield np.eye(n)[3]


@pytest.mark.parametrize(("seed", "penalty", "n_pairs"), [(0, 0.7, 12), (1, 0.0, 12), (2, 1.0, 0)])
def test_the_same_numbers_as_on_the_cpu(seed, penalty, n_pairs, torch_device):
    cpu = problem(seed, penalty=penalty, n_pairs=n_pairs)
    device = DeviceRelaxation(cpu, torch_device)
    tie = np.random.default_rng(seed).uniform(-2, 2, cpu.constraints.n_cannot_link)
    for f in vectors(40, seed):
        there = send(f, torch_device)
        for name in ("R1", "R2", "S", "F"):
            assert getattr(device, name)(there) == pytest.approx(getattr(cpu, name)(f), rel=1e-12)
        np.testing.assert_allclose(device.s(there).cpu().numpy(), cpu.s(f), atol=1e-14)
        np.testing.assert_allclose(device.r2(there).cpu().numpy(), cpu.r2(f), atol=1e-14)
        np.testing.assert_allclose(device.r2(there, tie).cpu().numpy(), cpu.r2(f, tie), atol=1e-14)


def test_a_side_that_weighs_next_to_nothing(torch_device):
    """A set whose rest weighs less than the rounding error has no ratio; where there is no other, it is returned."""
    graph = random_graph(np.random.default_rng(0), 8, 0.9, np.append(np.ones(7), 1e-30))
    cpu = Relaxation(graph, Constraints.from_pairs(8), 0.0)
    device = DeviceRelaxation(cpu, torch_device)
    for f in (np.eye(8)[7], -np.eye(8)[7], -np.arange(8.0)):
        expected, value = cpu.threshold(f)
        side, found = device.threshold(send(f, torch_device))
        np.testing.assert_array_equal(side.cpu().numpy(), expected)
        assert found == pytest.approx(value, rel=1e-12)
        assert device.F(send(f, torch_device)) == pytest.approx(cpu.F(f), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_same_threshold_as_on_the_cpu(seed, torch_device):
    cpu = problem(seed)
    device = DeviceRelaxation(cpu, torch_device)
    for f in vectors(40, seed):
        expected, value = cpu.threshold(f)
        side, found = device.threshold(send(f, torch_device))
        np.testing.assert_array_equal(side.cpu().numpy(), expected)
        assert found == pytest.approx(value, rel=1e-12)


def test_a_constant_vector_has_no_threshold(torch_device):
    device = DeviceRelaxation(problem(0), torch_device)
    with pytest.raises(ValueError, match="not constant"):
        device.threshold(send(np.ones(40), torch_device))


@pytest.mark.parametrize("penalty", [0.0, 0.01, 0.5, 50.0])
def test_the_same_clip_as_on_the_cpu(penalty, torch_device):
    cpu = problem(3, penalty=penalty)
    device = DeviceRelaxation(cpu, torch_device)
    for f in vectors(40, 3):
        expected = clip_range(f, cpu.c, cpu.graph.vertex_weights)
        np.testing.assert_allclose(device.clip(send(f, torch_device)).cpu().numpy(), expected, atol=1e-13)


def test_the_same_inner_step_as_on_the_cpu(triton_device):
    from tightcut.gpu.steps import DeviceSteps

    cpu = problem(0, n=15, n_pairs=4, penalty=0.05)
    ours, theirs = DeviceSteps(cpu, triton_device), Steps(cpu, "fista")
    start = np.random.default_rng(0).random(15) < 0.5
    f = theirs.vector(start)
    lam = theirs.F(f)
    assert ours.F(ours.vector(start)) == pytest.approx(lam)
    tie = np.ones(cpu.constraints.n_cannot_link)
    expected = theirs.inner(f, lam, tie)
    found = ours.inner(ours.vector(start), lam, tie).cpu().numpy()
    assert found == pytest.approx(expected, abs=1e-10 * (1 + np.abs(expected).max()))


def test_the_same_descent_as_on_the_cpu(triton_device, monkeypatch):
    from tightcut.gpu import steps

    monkeypatch.setattr(steps.DeviceSteps.__init__, "__defaults__", (triton_device,))
    cpu = problem(0, n=15, n_pairs=3, penalty=0.05)
    start = np.random.default_rng(0).random(15) < 0.5
    expected = ratio_dca(cpu, start, inner="fista")
    found = ratio_dca(cpu, start, inner="fista", device="cuda")
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    np.testing.assert_array_equal(found.side, expected.side)
    assert found.history == pytest.approx(expected.history, rel=1e-6)
