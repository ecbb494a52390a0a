"""Small random instances for the rivals' own conditions."""

from types import SimpleNamespace

import numpy as np
import pytest
from strategies import dense_pairs

from tightcut import Constraints, Graph
from tightcut.datasets import sample_constraints


@pytest.fixture(params=range(4))
def instance(request):
    """A connected random graph, constraints of random belief from two random classes, and their matrices.

    | field | meaning |
    |---|---|
    | A, D, L | affinities, degrees as a diagonal matrix, Laplacian |
    | Q | belief of must-links minus belief of cannot-links |
    """
    rng = np.random.default_rng(request.param)
    n, n_pairs = 30, 12
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1) + np.diag(rng.random(n - 1), 1)
    graph = Graph.from_affinity(upper + upper.T)
    known = sample_constraints(rng.integers(0, 2, n), n_pairs, rng)
    beliefs = rng.uniform(0.2, 1, n_pairs)
    split = known.n_must_link
    constraints = Constraints.from_pairs(n, known.must_link, known.cannot_link, beliefs[:split], beliefs[split:])
    A = graph.weights.toarray()
    D = np.diag(A.sum(axis=1))
    q = dense_pairs(n, constraints.must_link, constraints.must_link_belief)
    q -= dense_pairs(n, constraints.cannot_link, constraints.cannot_link_belief)
    return SimpleNamespace(graph=graph, constraints=constraints, n=n, A=A, D=D, L=D - A, Q=q)


@pytest.fixture
def fitted(instance):
    """Fit a rival to the instance."""

    def fit(model):
        known = instance.constraints
        return model.set_params(affinity="precomputed", random_state=0).fit(
            instance.A,
            must_link=known.must_link,
            cannot_link=known.cannot_link,
            must_link_belief=known.must_link_belief,
            cannot_link_belief=known.cannot_link_belief,
        )

    return fit
