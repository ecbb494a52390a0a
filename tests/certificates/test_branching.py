"""Branch and bound: where the relaxation leaves a gap, cases close it, and the verifier accepts them together."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import random_graph

from tightcut import Constraints, cluster
from tightcut.certificates import Certificate, ascent, certify
from tightcut.certificates.verify import covers


@pytest.fixture
def hasty(monkeypatch):
    """Relaxations that are given up after their first look, so that there is something to branch on."""
    monkeypatch.setattr(ascent, "STALLED", 0)


def case(seed, k):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 12, 0.5, "degree")
    constraints = Constraints.from_pairs(12, [], [(0, 1)])
    return graph, constraints, cluster(graph, constraints, k, random_state=0).labels


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 2), (0, 3), (1, 3)])
def test_cases_close_the_gap_and_are_refused_if_one_is_missing(seed, k, tmp_path):
    graph, constraints, labels = case(seed, k)
    certificate = certify(graph, constraints, labels, random_state=0, seconds=1e6, gap=1e-6)
    certificate.check(graph, constraints)
    assert certificate.gap < 1e-3
    proofs = certificate.proofs
    assert covers([proof["assumed"] for proof in proofs])
    certificate.save(tmp_path / "proof.npz")
    assert Certificate.load(tmp_path / "proof.npz").verify(graph, constraints)
    assert not replace(certificate, bound=certificate.bound * 1.01).verify(graph, constraints)
    for left_out in range(len(proofs)):
        assert not replace(certificate, proofs=proofs[:left_out] + proofs[left_out + 1 :]).verify(graph, constraints)


@pytest.mark.slow
@pytest.mark.usefixtures("hasty")
def test_there_is_something_to_branch_on():
    counts = [len(certify(*case(seed, 3), random_state=0, seconds=1e6, gap=1e-6).proofs) for seed in range(3)]
    assert max(counts) > 1
