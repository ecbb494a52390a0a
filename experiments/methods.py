"""Methods: an estimator, and how it is made ready for a cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha1
from inspect import signature
from typing import Any

from tightcut.constraints import Constraints
from tightcut.exceptions import InconsistentConstraintsError
from tightcut.experiments._problems import Problem, read_names

FEWEST = {"max_violations": "fewest"}  # violate as few pairs as possible where not all can be satisfied


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
    """

    estimator: Any
    beliefs: bool = False
    adapt: Callable[[Constraints, float], dict[str, Any]] | None = None
    otherwise: dict[str, Any] | None = None

    def ready(self, n_clusters: int, random_state: int, constraints: Constraints, noise: float) -> Any:
        """A fresh estimator for one cell."""
        from sklearn.base import clone

        own = self.estimator.get_params(deep=False)
        given = {"n_clusters": n_clusters, "random_state": random_state, "affinity": "precomputed"}
        adapted = {} if self.adapt is None else self.adapt(constraints, noise)
        return clone(self.estimator).set_params(**{key: given[key] for key in given if key in own}, **adapted)

    def fit(self, estimator: Any, problem: Problem, constraints: Constraints) -> Any:
        """Fit what `ready` has returned, to the graph if it has an `affinity`; the labels."""
        X = problem.affinity if "affinity" in estimator.get_params(deep=False) else problem.X
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
        """Eight characters that change with those parameters of the method that are not its defaults."""
        kind = type(self.estimator)
        defaults = {name: repr(parameter.default) for name, parameter in signature(kind).parameters.items()}
        own = {name: repr(value) for name, value in self.estimator.get_params(deep=False).items()}
        changed = sorted((name, value) for name, value in own.items() if value != defaults.get(name))
        adapt = getattr(self.adapt, "__qualname__", repr(self.adapt))
        otherwise = () if self.otherwise is None else (self.otherwise,)
        parts = repr((kind.__qualname__, changed, self.beliefs, adapt, *otherwise, *more))
        # Addresses in memory are not parameters.
        return sha1(re.sub(r" at 0x[0-9a-f]+", "", parts).encode(), usedforsecurity=False).hexdigest()[:8]


def default_methods() -> dict[str, Any]:
    """COSC and the methods it is compared with, in the order of the figures.

    Examples
    --------
    >>> from tightcut.experiments import default_methods
    >>> list(default_methods())
    ['COSC', 'SL', 'CSP', 'CCSR', 'SCLC', 'FAST-GE', 'PCKMeans']
    """
    from tightcut.estimator import COSC
    from tightcut.experiments.rivals import CCSR, CSP, SCLC, FastGE, PCKMeans, SpectralLearning

    return {
        "COSC": COSC(influence=0),
        "SL": SpectralLearning(),
        "CSP": CSP(),
        "CCSR": CCSR(),
        "SCLC": SCLC(),
        "FAST-GE": FastGE(),
        "PCKMeans": PCKMeans(),
    }


def read_methods(methods: Mapping[str, Any] | Sequence[str]) -> dict[str, Method]:
    """Names of `default_methods`, or a mapping from names to estimators, as methods."""
    chosen = read_names(methods, default_methods(), "method")
    return {name: method if isinstance(method, Method) else Method(method) for name, method in chosen.items()}
