"""Branch and bound: where the relaxation leaves a gap, cases close it, and the verifier accepts them together."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import random_graph

from tightcut import Constraints, cluster
from tightcut.certificates import Certificate, ascent, certify
from tightcut.certificates.units import Problem
from tightcut.certificates.verify import covers
from tightcut.certificates.z_form import ZForm
from tightcut.certificates.z_proof import prove_z
from tightcut.problem.objective import normalized_cut


@pytest.fixture
def hasty(monkeypatch):
    """Relaxations that are given up after their first look, so that there is something to branch on."""
    monkeypatch.setattr(ascent, "STALLED", 0)


def case(seed, k):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 12, 0.5, "degree")
    constraints = Constraints.from_pairs(12, [], [(0, 1)])
    return graph, constraints, cluster(graph, constraints, k, random_state=0).labels


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 2), (1, 3)])
def test_cases_close_the_gap_and_are_refused_if_one_is_missing(seed, k, tmp_path):
    graph, constraints, labels = case(seed, k)
    certificate = certify(graph, constraints, labels, random_state=0, seconds=1e6, gap=1e-6)
    certificate.check(graph, constraints)
    proofs = certificate.proofs
    assert len(proofs) > 1
    assert certificate.gap < 1e-6
    assert covers([proof["assumed"] for proof in proofs])
    certificate.save(tmp_path / "proof.npz")
    assert Certificate.load(tmp_path / "proof.npz").verify(graph, constraints)
    assert not replace(certificate, bound=certificate.bound * 1.01).verify(graph, constraints)
    for left_out in range(len(proofs)):
        assert not replace(certificate, proofs=proofs[:left_out] + proofs[left_out + 1 :]).verify(graph, constraints)
    raised = [proof | {"bound": np.array(1.01 * certificate.cut)} for proof in proofs]
    assert not replace(certificate, proofs=raised).verify(graph, constraints)


def test_a_proof_far_below_its_target_is_made_for_a_lower_one():
    """The y of a target that is too high prove less than the multipliers allow."""
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 30, 0.3, "degree")
    constraints = Constraints.from_pairs(30, [], [(0, 1), (2, 3)])
    problem = Problem.of(graph, constraints, 2)
    labels = cluster(graph, constraints, 2, random_state=0).labels
    form = ZForm(problem, labels, rng, 1)
    target = 1.05 * problem.scaled_cut(normalized_cut(graph, labels))
    for _ in range(3):
        form.improve(target, np.inf)
    candidate = form.candidate(target)
    at_once, _ = prove_z(problem, candidate.multipliers, candidate.estimate, target, rng)
    bound, proof = form.prove(candidate, target)
    assert bound > 1.1 * at_once
    assert problem.accepts(bound, proof)
