"""Methods: an estimator, and how it is made ready for a cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha1
from typing import Any

from experiments.problems import Problem
from tightcut import Constraints, InconsistentConstraintsError

FEWEST: dict[str, Any] = {"max_violations": "fewest"}  # violate as few pairs as possible where not all can be satisfied


@dataclass(frozen=True)
class Method:
    """An estimator, with what its parameters cannot say; a bare estimator is a `Method` without extras.

    Parameters
    ----------
    estimator : estimator
        Unfitted, with scikit-learn's `get_params` and `set_params`.
    beliefs : bool, default=False
        Pass the degrees of belief to `fit`, as `must_link_belief` and `cannot_link_belief`.
    adapt : callable, optional
        From the constraints of a cell and its noise to further parameters of the estimator.
    otherwise : dict, optional
        Parameters to fit with again where the constraints turn out to be inconsistent.
    own_graph : bool, default=False
        Fit to the points: the estimator makes a graph of its own, and not that on which the others are compared.
    """

    estimator: Any
    beliefs: bool = False
    adapt: Callable[[Constraints, float], dict[str, Any]] | None = None
    otherwise: dict[str, Any] | None = None
    own_graph: bool = False

    def ready(self, n_clusters: int, random_state: int, constraints: Constraints, noise: float) -> Any:
        """A fresh estimator for one cell."""
        from sklearn.base import clone

        own = self.estimator.get_params(deep=False)
        given: dict[str, Any] = {"n_clusters": n_clusters, "random_state": random_state}
        given |= {} if self.own_graph else {"affinity": "precomputed"}
        adapted = {} if self.adapt is None else self.adapt(constraints, noise)
        return clone(self.estimator).set_params(**{key: given[key] for key in given if key in own}, **adapted)

    def fit(self, estimator: Any, problem: Problem, constraints: Constraints) -> Any:
        """Fit what `ready` has returned, to the graph if it has an `affinity`; the labels."""
        shared = "affinity" in estimator.get_params(deep=False) and not self.own_graph
        X = problem.affinity if shared else problem.X
        pairs = {"must_link": constraints.must_link, "cannot_link": constraints.cannot_link}
        if self.beliefs:
            pairs["must_link_belief"] = constraints.must_link_belief
            pairs["cannot_link_belief"] = constraints.cannot_link_belief
        try:
            return estimator.fit(X, **pairs).labels_
        except InconsistentConstraintsError:
            if self.otherwise is None:
                raise
        return estimator.set_params(**self.otherwise).fit(X, **pairs).labels_

    def fingerprint(self, *more: Any) -> str:
        """Eight characters that change with the method, its parameters, and whatever else is given."""
        own = sorted(self.estimator.get_params(deep=False).items())
        adapt = getattr(self.adapt, "__qualname__", None)
        extras = self.beliefs, adapt, self.otherwise, self.own_graph
        parts = repr((type(self.estimator).__qualname__, own, extras, more))
        return sha1(parts.encode(), usedforsecurity=False).hexdigest()[:8]


def default_methods() -> dict[str, Any]:
    """COSC and the methods it is compared with, in the order of the figures.

    "COSC" is the search for the smallest cut of the paper's graph, "paper" the paper's own algorithm on the same graph,
    and "default" what a user gets who gives nothing but points and pairs: graph, scales and influence are chosen.
    """
    from tightcut import COSC
    from tightcut.rivals import CCSR, CSP, SCLC, FastGE, PCKMeans, SpectralLearning

    return {
        "COSC": COSC(influence=0),
        "SL": SpectralLearning(),
        "CSP": CSP(),
        "CCSR": CCSR(),
        "SCLC": SCLC(),
        "paper": COSC(method="paper"),
        "default": Method(COSC(), own_graph=True),
        "FAST-GE": FastGE(),
        "PCKMeans": PCKMeans(),
    }


def expected_wrong_pairs(constraints: Constraints, noise: float) -> dict[str, Any]:
    return {"max_violations": noise * constraints.n_pairs}


def expected_wrong_belief(constraints: Constraints, noise: float) -> dict[str, Any]:
    """A pair of belief b is wrong with probability (1 - b) / 2."""
    beliefs = constraints.must_link_belief, constraints.cannot_link_belief
    expected = sum(float((belief * (1 - belief) / 2).sum()) for belief in beliefs)
    return {"max_violations": expected if noise else 0.0}


def noise_methods() -> dict[str, Any]:
    """Three answers to wrong pairs."""
    from tightcut import COSC

    return {
        "hard": Method(COSC(influence=0, **FEWEST)),
        "soft": Method(COSC(influence=0), adapt=expected_wrong_pairs, otherwise=FEWEST),
        "weighted": Method(COSC(influence=0), beliefs=True, adapt=expected_wrong_belief, otherwise=FEWEST),
    }
