"""Branches of the search, each switched off; instances that none of them was chosen on."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

import tightcut
from benchmarks.ablation.variants import replaced
from benchmarks.instances import points, typed
from tightcut import Constraints, Graph, knn_affinity

SCORE = "cut"
STATES = (0, 1, 2)
WARM_UP = ["iris 3, 30", "sonar 2, 20", "letter 2, 100 of 3000", "wine 3, 60 soft", "heart 2, 80 soft"]
NOTES = [
    "Cut without the branch / cut with it, over instances and three random states; `differs` says how often it was another.",
    "Each instance takes about a second; numbers of points after `of` are random subsets.",
]

# Name: dataset, points (0 for all), clusters, pairs, settings of `cluster`.
INSTANCES = {
    "diabetis 2, 60": ("diabetis", 0, 2, 60, {}),
    "sonar 2, 20": ("sonar", 0, 2, 20, {}),
    "heart 2, 40": ("heart", 0, 2, 40, {}),
    "ionosphere 2, 100": ("ionosphere", 0, 2, 100, {}),
    "spam 2, 200": ("spam", 0, 2, 200, {"effort": 0.5}),
    "usps 2, 500 of 3000": ("usps", 3000, 2, 500, {"effort": 0.5}),
    "letter 2, 100 of 3000": ("letter", 3000, 2, 100, {"effort": 0.5}),
    "iris 3, 30": ("iris", 0, 3, 30, {}),
    "wine 3, 60": ("wine", 0, 3, 60, {}),
    "heart 6, 80": ("heart", 0, 6, 80, {}),
    "diabetis 9, 100": ("diabetis", 0, 9, 100, {}),
    "ionosphere 15, 60": ("ionosphere", 0, 15, 60, {}),
    "usps 10, 200 of 2000": ("usps", 2000, 10, 200, {"effort": 0.5}),
    "usps 10, 1000 of 2000": ("usps", 2000, 10, 1000, {"effort": 0.5}),
    "letter 26, 500 of 2000": ("letter", 2000, 26, 500, {"effort": 0.5}),
    "letter 26, 1000 of 11000": ("letter", 11_000, 26, 1000, {"effort": 0.15}),
    "covertype 7, 100 of 11000": ("covertype", 11_000, 7, 100, {"effort": 0.2}),
    "mnist 10, 500 of 2000": ("mnist", 2000, 10, 500, {"effort": 0.5}),
    "iris 3, colours": ("iris", 0, 3, -330, {"effort": 0.3}),
    "wine 3, 60 soft": ("wine", 0, 3, 60, {"max_violations": 3, "effort": 0.5}),
    "usps 10, 60 of 300 soft": ("usps", 300, 10, 60, {"max_violations": 3, "effort": 0.3}),
    "iris 3, 80 soft": ("iris", 0, 3, 80, {"max_violations": 2.5, "effort": 0.5}),
    "heart 2, 80 soft": ("heart", 0, 2, 80, {"max_violations": 4, "effort": 0.5}),
    "sonar 2, 60 soft": ("sonar", 0, 2, 60, {"max_violations": 3, "effort": 0.5}),
    "ionosphere 2, 100 soft": ("ionosphere", 0, 2, 100, {"max_violations": 5, "effort": 0.5}),
}

VARIANTS = [
    replaced("no V-cycles", "search/evolve.py", "CYCLES, LEAST_GAIN = 3, 2e-4", "CYCLES, LEAST_GAIN = 0, 2e-4"),
]


def prepare(name: str, state: int) -> Callable[[], float]:
    dataset, n, k, n_pairs, settings = INSTANCES[name]
    graph, y = subset(dataset, n)
    noise = 0.15 if "max_violations" in settings else 0.0
    known = random_pairs(y, n_pairs, state, noise) if n_pairs > 0 else colours(len(y), k, -n_pairs, state)

    def run() -> float:
        return tightcut.cluster(graph, known, k, random_state=state, n_jobs=1, **settings).cut

    return run


@lru_cache
def subset(dataset: str, n: int) -> tuple[Graph, np.ndarray]:
    X, y = points(dataset)
    chosen = np.random.default_rng(0).permutation(len(y))[: n or None]
    return Graph.from_affinity(knn_affinity(X[chosen], connect=False)), y[chosen]


def random_pairs(y: np.ndarray, n_pairs: int, state: int, noise: float) -> Constraints:
    rng = np.random.default_rng([state, n_pairs])
    pairs = rng.integers(0, len(y), (2 * n_pairs, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = rng.permutation(pairs)[:n_pairs]
    if noise == 0:
        return typed(y, pairs)
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) != (rng.random(len(pairs)) < noise)
    return Constraints.from_pairs(len(y), pairs[same], pairs[~same])


def colours(n: int, k: int, n_pairs: int, state: int) -> Constraints:
    """Cannot-links that leave few ways to satisfy them, because they ignore the graph."""
    rng = np.random.default_rng(state)
    own = rng.integers(0, k, n)
    pairs = rng.integers(0, n, (3 * n_pairs, 2))
    return Constraints.from_pairs(n, cannot_link=pairs[own[pairs[:, 0]] != own[pairs[:, 1]]][:n_pairs])
