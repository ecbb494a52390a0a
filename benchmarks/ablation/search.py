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
STATES = (0, 1)
WARM_UP = ["iris 3, 30", "sonar 2, 20", "letter 2, 100 of 3000", "wine 3, 60 soft", "heart 2, 80 soft"]
NOTES = [
    "Cut without the branch / cut with it, over instances and two random states; `differs` says how often it was another.",
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
    "iris 40, 30": ("iris", 0, 40, 30, {}),
    "usps 10, 200 of 2000": ("usps", 2000, 10, 200, {"effort": 0.5}),
    "usps 10, 1000 of 2000": ("usps", 2000, 10, 1000, {"effort": 0.5}),
    "letter 26, 500 of 1500": ("letter", 1500, 26, 500, {"effort": 0.3}),
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

EVOLVE, K_WAY, TWO_WAY = "search/evolve.py", "search/k_way.py", "search/two_way.py"
FEASIBILITY, BOUNDARIES, PARETO = "search/feasibility.py", "search/boundaries.py", "search/pareto.py"
SOFT, TRADEOFF, EXCHANGE = "search/soft.py", "search/tradeoff.py", "search/exchange.py"

SOFT_TWO = tuple(name for name in INSTANCES if name.endswith("soft") and " 2," in name)
SOFT_MANY = tuple(name for name in INSTANCES if name.endswith("soft") and " 2," not in name)
TWO = tuple(name for name in INSTANCES if " 2," in name and not name.endswith("soft"))
MANY = tuple(name for name in INSTANCES if " 2," not in name and not name.endswith("soft"))
IN_BATCHES = tuple(name for name in INSTANCES if name.endswith(("spam 2, 200", "of 3000", "of 11000")))
MANY_IN_BATCHES = tuple(name for name in IN_BATCHES if name in MANY)
TIGHT = tuple(name for name in MANY if "1000" in name or "colours" in name)

VARIANTS = [
    # Batches, joins and generations
    replaced("no V-cycles at the end", EVOLVE, "cycles: int = 3", "cycles: int = 0", IN_BATCHES),
    replaced(
        "no V-cycle between batches",
        EVOLVE,
        "if options.effort <= 1 and float(np.median(scores)) <= LIMITS.nearly_alike * best:",
        "if False:",
        IN_BATCHES,
    ),
    replaced(
        "all batches",
        EVOLVE,
        "if number == last or _should_end(",
        "if number == last or 0 and _should_end(",
        IN_BATCHES,
    ),
    replaced("exchange in every join", EVOLVE, "exchange=exchange)[", "exchange=True)[", MANY_IN_BATCHES),
    replaced("no exchange in joins", EVOLVE, "exchange=exchange)[", "exchange=False)[", MANY_IN_BATCHES),
    replaced("joined at the low price only", EVOLVE, "dict.fromkeys((small, strict))", "(small,)", IN_BATCHES),
    replaced("joined however far", EVOLVE, "close: float = 3.0", "close: float = 1e9", IN_BATCHES),
    replaced("two parents", EVOLVE, "int(rng.integers(2, 5))", "2", TWO + MANY),
    # Starts
    replaced("units of any weight", "search/multilevel.py", "heaviest = 3 *", "heaviest = np.inf *", TWO + MANY),
    replaced(
        "one middle for all sizes", K_WAY, "middle_of_large: int = 4_000", "middle_of_large: int = 400", MANY_IN_BATCHES
    ),
    replaced("one depth of coarsening", K_WAY, "int(rng.integers(3, 11)) * self.k", "6 * self.k", MANY),
    replaced("all starts by joining", K_WAY, "if levels or rng.random() < 0.25 else", "if True else", MANY),
    replaced("starts judged at the full price", K_WAY, "return self.compare(", "return self.judge(", MANY),
    replaced("weak couplings matched", "search/signed_graph.py", "WEAKEST = 0.1", "WEAKEST = 0.0", TWO),
    replaced(
        "spins start without tabu search",
        TWO_WAY,
        "_, spins = small.tabu(_two_sided(small.graph, spins), 10 * LIMITS.handful, rng)",
        "_two_sided(small.graph, spins)",
        TWO,
    ),
    replaced("children without tabu search", TWO_WAY, "if self.size <= LIMITS.tabu:", "if False:", TWO),
    replaced("children of spins without restarts", TWO_WAY, "restarts(self, rng) if self.size", "[] if self.size", TWO),
    replaced("one solution polished", TWO_WAY, "polished: int = 3", "polished: int = 1", TWO),
    # Many clusters
    replaced("no boundaries", K_WAY, "if self.size > self.direct_limit:", "if False:", MANY_IN_BATCHES),
    replaced("one sweep over boundaries", K_WAY, "sweeps: int = 3", "sweeps: int = 1", MANY_IN_BATCHES),
    replaced(
        "short boundaries as well",
        BOUNDARIES,
        "least_share: float = 0.003",
        "least_share: float = 0.0",
        MANY_IN_BATCHES,
    ),
    replaced("all boundaries", BOUNDARIES, "if idle >= LIMITS.idle:", "if False:", MANY_IN_BATCHES),
    replaced("no exchange at the end", K_WAY, "if self.size <= LIMITS.exchange else", "if False else", MANY),
    replaced("one round of exchange", K_WAY, "exchanges: int = 5", "exchanges: int = 1", MANY),
    replaced(
        "no splitting and merging",
        K_WAY,
        "labels = solution[1] if moved is None else moved",
        "labels = solution[1]",
        MANY,
    ),
    replaced(
        "no splitting of pairs again",
        K_WAY,
        "improve(self, resplit_pairs(self.graph, labels, self.k, rng, options))",
        "improve(self, labels)",
        MANY,
    ),
    replaced("no table of all splits", EXCHANGE, "if len(members) <= FEW:", "if False:", MANY),
    # Constraints
    replaced(
        "no repair",
        "search/partition.py",
        "repaired = fill_empty(merged, repair(merged, labels, k, rng), k)",
        "continue",
        TIGHT,
    ),
    replaced("no quick exact colouring", FEASIBILITY, "nodes_at_first: int = 20", "nodes_at_first: int = 0", TIGHT),
    replaced("no clique before colouring", FEASIBILITY, "clique = find_clique(inner, k + 1)", "clique = []", TIGHT),
    # Violations
    replaced("no walks along the front", PARETO, "if steps < LIMITS.fewest_steps:", "if True:", SOFT_TWO + SOFT_MANY),
    replaced("no pairs released", SOFT, "rounds: int = 4", "rounds: int = 0", SOFT_TWO + SOFT_MANY),
    replaced(
        "released from the best only", SOFT, "judged[place][1]), least", "judged[place][1]),", SOFT_TWO + SOFT_MANY
    ),
    replaced(
        "labels: no falling prices",
        SOFT,
        "candidates += _price_path(problem, problem.limit, candidates)",
        "pass",
        SOFT_MANY,
    ),
    replaced(
        "labels: no search at the low price", SOFT, "in search(many, rng, options, candidates)]", "in []]", SOFT_MANY
    ),
    replaced(
        "labels: no search at the full price", SOFT, "in search(strict, rng, options, candidates)]", "in []]", SOFT_MANY
    ),
    replaced("labels: no tabu search on pairs", SOFT, "tabu_starts: int = 4", "tabu_starts: int = 0", SOFT_MANY),
    replaced("spins: no search at falling penalties", TRADEOFF, "in enumerate(penalties):", "in []:", SOFT_TWO),
    replaced(
        "spins: half of the penalties",
        TRADEOFF,
        "2.0 ** np.arange(-HALVINGS, 1)",
        "2.0 ** np.arange(-HALVINGS, 1, 2)",
        SOFT_TWO,
    ),
    replaced(
        "spins: no tightening",
        TRADEOFF,
        "return _undominated(graph, constraints, sides + [tighten(graph, constraints, side) for side in sides])",
        "return sides",
        SOFT_TWO,
    ),
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
