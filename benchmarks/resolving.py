"""Scored pairs resolved: speed, agreement with the planted truth, and distance from the optimum.

    python -m benchmarks.resolving

Planted data: families of one to four similar entities, whose records come from six sources, each of which has an entity
once at most. A pair of one entity is scored with probability 0.8, a pair of one family with probability 0.6; log odds are
normal around 3 and -3 with standard deviation 2, and one pair in fifty of different entities looks like a match by mistake.
So there are chains, missing edges and wrong scores.

Rivals: connected components of the pairs above one half, and joining by falling probability down to one half, never across
a rule; both also with the threshold that is best on the truth, which nobody knows. Seconds are processor seconds of one thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.csgraph import connected_components

from benchmarks.instances import write
from tightcut import kernels, resolve

COMMAND = "python -m benchmarks.resolving"
N_FAMILIES, N_SOURCES = 100_000, 6
N_OPTIMA = 2_000
KNOWN = 0.05  # share of entities of which two records are known to be one, and of neighbours known to be different


@dataclass(frozen=True)
class Planted:
    """Records, their entities and sources, and scored pairs."""

    entity: np.ndarray
    source: np.ndarray
    pairs: np.ndarray
    probability: np.ndarray

    @property
    def n_records(self) -> int:
        return len(self.entity)


def planted(n_families: int, seed: int = 0) -> Planted:
    rng = np.random.default_rng(seed)
    n_entities = rng.integers(1, 5, n_families)
    family_of_entity = np.repeat(np.arange(n_families), n_entities)
    sizes = rng.integers(1, 5, len(family_of_entity))
    entity = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.argsort(rng.random((len(sizes), N_SOURCES)), axis=1)
    rank = np.arange(len(entity)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    source = shuffled[entity, rank]
    family = family_of_entity[entity]
    starts = np.searchsorted(family, np.arange(n_families + 1))
    blocks = [within(starts[:-1][np.diff(starts) == size], size) for size in np.unique(np.diff(starts))]
    pairs = np.concatenate(blocks)
    same = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    scored = rng.random(len(pairs)) < np.where(same, 0.8, 0.6)
    pairs, same = pairs[scored], same[scored]
    looks_same = same | (rng.random(len(pairs)) < 0.02)
    odds = rng.normal(np.where(looks_same, 3, -3), 2)
    order = rng.permutation(len(pairs))
    return Planted(entity, source, pairs[order], (1 / (1 + np.exp(-odds)))[order])


def within(starts: np.ndarray, size: int) -> np.ndarray:
    """All pairs of each run of `size` records."""
    i, j = np.triu_indices(size, 1)
    return np.stack([(starts[:, None] + i).ravel(), (starts[:, None] + j).ravel()], axis=1)


def components(data: Planted, threshold: float) -> np.ndarray:
    above = data.pairs[data.probability > threshold]
    links = sp.csr_array((np.ones(len(above), bool), (above[:, 0], above[:, 1])), shape=(data.n_records,) * 2)
    return connected_components(links, directed=False)[1]


def by_falling_probability(data: Planted, threshold: float) -> np.ndarray:
    """Join by falling probability down to a threshold, never two records of one source."""
    above = np.flatnonzero(data.probability > threshold)
    order = above[np.argsort(-data.probability[above], kind="stable")]
    return join_in_order(data.pairs[order], 1 << data.source)


@njit(cache=False)
def join_in_order(pairs, sources):
    parent = np.arange(len(sources))
    held = sources.copy()
    for row in range(len(pairs)):
        a, b = pairs[row, 0], pairs[row, 1]
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b and held[a] & held[b] == 0:
            parent[b] = a
            held[a] |= held[b]
    for v in range(len(parent)):
        root = v
        while parent[root] != root:
            root = parent[root]
        parent[v] = root
    return parent


def precision_and_recall(truth: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Of pairs of records."""
    both = n_pairs(np.unique(truth * (int(labels.max()) + 1) + labels, return_counts=True)[1])
    return both / n_pairs(np.bincount(labels)), both / n_pairs(np.bincount(truth))


def n_pairs(counts: np.ndarray) -> float:
    return float((counts * (counts - 1) // 2).sum())


def disagreement(data: Planted, labels: np.ndarray) -> float:
    odds = np.log(data.probability / (1 - data.probability))
    together = labels[data.pairs[:, 0]] == labels[data.pairs[:, 1]]
    return float(np.abs(odds[together != (odds > 0)]).sum())


def compared(data: Planted) -> list[dict]:
    table = {"id_l": data.pairs[:, 0], "id_r": data.pairs[:, 1], "probability": data.probability}
    sources = {"id": np.arange(data.n_records), "group": data.source}
    must, cannot = known_pairs(data)
    thresholds = np.arange(0.5, 1, 0.02)
    tuned, falling = (
        max(thresholds, key=lambda value: f1(*precision_and_recall(data.entity, method(data, value))))
        for method in (components, by_falling_probability)
    )
    methods = {
        ("none", "components above 0.5"): lambda: components(data, 0.5),
        ("none", f"components above {tuned:.2f} (best)"): lambda: components(data, tuned),
        ("none", "resolve"): lambda: resolve(table),
        ("some pairs known", "resolve"): lambda: resolve(table, must_link=must, cannot_link=cannot),
        ("one per source", "falling probability"): lambda: by_falling_probability(data, 0.5),
        ("one per source", f"falling, above {falling:.2f} (best)"): lambda: by_falling_probability(data, falling),
        ("one per source", "resolve"): lambda: resolve(table, groups=sources),
    }
    join_in_order(data.pairs[:1], 1 << data.source)
    resolve([(0, 1, 0.9)])
    return [row(data, rules, method, call) for (rules, method), call in methods.items()]


def known_pairs(data: Planted) -> tuple[np.ndarray, np.ndarray]:
    """Some pairs that a person has judged: the first two records of an entity, and neighbours of different entities."""
    rng = np.random.default_rng(1)
    neighbours = np.stack([np.arange(data.n_records - 1), np.arange(1, data.n_records)], axis=1)
    judged = neighbours[rng.random(len(neighbours)) < KNOWN]
    same = data.entity[judged[:, 0]] == data.entity[judged[:, 1]]
    return judged[same], judged[~same]


def row(data: Planted, rules: str, method: str, call) -> dict:
    started = time.process_time()
    found = call()
    seconds = time.process_time() - started
    labels = found if isinstance(found, np.ndarray) else np.empty(data.n_records, np.int64)
    if not isinstance(found, np.ndarray):
        labels[:] = np.arange(data.n_records) + found.n_clusters  # records that occur in no pair are alone
        labels[found.ids] = found.labels
    precision, recall = precision_and_recall(data.entity, labels)
    proven = "" if isinstance(found, np.ndarray) else f"{found.n_proven:,} of {found.n_components:,}"
    return {
        "rules": rules,
        "method": method,
        "precision": f"{precision:.4f}",
        "recall": f"{recall:.4f}",
        "F1": f"{f1(precision, recall):.4f}",
        "disagreement": f"{disagreement(data, labels):.0f}",
        "proven": proven,
        "s": f"{seconds:.2f}",
    }


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@njit(cache=False)
def optimum(weights):
    """The least disagreement of any clustering, by dynamic programming over all subsets: O(3^n)."""
    n = len(weights)
    inside = np.zeros(1 << n)  # the weight within each subset
    for s in range(1, 1 << n):
        v = 0
        while not s >> v & 1:
            v += 1
        rest = s & (s - 1)
        total = inside[rest]
        for u in range(v + 1, n):
            if rest >> u & 1:
                total += weights[v, u]
        inside[s] = total
    most = np.zeros(1 << n)  # the largest weight inside the clusters of each subset
    for s in range(1, 1 << n):
        lowest = s & -s
        rest = s ^ lowest
        part = rest
        best = -np.inf
        while True:
            best = max(best, inside[part | lowest] + most[rest ^ part])
            if part == 0:
                break
            part = (part - 1) & rest
        most[s] = best
    positive = 0.0
    for v in range(n):
        for u in range(v):
            positive += max(weights[v, u], 0.0)
    return positive - most[-1]


def optima() -> list[dict]:
    """All components of up to 14 records of random graphs, against the optimum of each."""
    rows = []
    for size in (4, 8, 11, 14):
        matrices = [random_matrix(size, seed) for seed in range(N_OPTIMA if size < 12 else N_OPTIMA // 10)]
        best = np.array([optimum(matrix) for matrix in matrices])
        for method, exact in (("greedy and moves only", 0), ("resolve", 20)):
            costs = np.array([solved(matrix, exact) for matrix in matrices])
            worst = np.max((costs - best) / np.maximum(best, 1e-9), where=best > 1e-9, initial=0)
            rows.append(
                {
                    "records": size,
                    "components": len(matrices),
                    "method": method,
                    "not optimal": f"{np.mean(costs > best + 1e-9):.2%}",
                    "excess in all": f"{costs.sum() / best.sum() - 1:.4%}",
                    "worst excess": f"{worst:.2%}",
                }
            )
    return rows


def random_matrix(size: int, seed: int) -> np.ndarray:
    """Two to four planted entities with very noisy scores, and a third of the pairs missing."""
    rng = np.random.default_rng([size, seed])
    entity = rng.integers(0, rng.integers(2, 5), size)
    odds = rng.normal(np.where(entity[:, None] == entity, 1.0, -1.0), 2)
    odds = np.triu(np.where(rng.random((size, size)) < 2 / 3, odds, 0), 1)
    return odds + odds.T


def solved(matrix: np.ndarray, exact_size: int) -> float:
    graph = sp.csr_array(matrix)
    n, nothing = len(matrix), np.zeros(len(matrix) + 1, np.int32)
    arrays = graph.indptr.astype(np.int32), graph.indices.astype(np.int32), graph.data
    starts = np.array([0, n], np.int32)
    labels, _, _ = kernels.resolve_components(starts, *arrays, nothing, nothing[:0], 1, exact_size, 200_000)
    apart = labels[:, None] != labels
    return float(np.abs(matrix[apart == (matrix > 0)]).sum() / 2)


def compiling() -> float:
    """Processor seconds of a first call in a new process with an empty cache."""
    program = "import time, tightcut; t = time.process_time(); tightcut.resolve([(0, 1, 0.9)]); print(time.process_time() - t)"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        finished = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
    return json.loads(finished.stdout)


def main() -> None:
    data = planted(N_FAMILIES)
    compiled = compiling()
    rows = compared(data)
    best = optima()
    notes = [
        f"- {N_FAMILIES:,} families of {data.entity[-1] + 1:,} entities, {data.n_records:,} records.",
        f"- {len(data.pairs):,} scored pairs.",
        "- Precision and recall are those of pairs of records. `proven`: components that are proven to be solved best.",
        f"- `some pairs known`: {KNOWN:.0%} of neighbouring records were judged, as must-links and cannot-links.",
        "- `s` is for the whole call, with the tables of cut edges and of doubtful decisions, after compilation. Compiling,",
        f"  with the imports, takes {compiled:.0f} s once.",
        f"- Disagreement of small components against the optimum by enumeration: {best[-1]['excess in all']} too much, see",
        "  `resolving_optima.md`.",
    ]
    write("resolving", rows, notes, COMMAND)
    write(
        "resolving_optima",
        best,
        [
            "- Random components with very noisy scores, a third of the pairs missing, against the best of all clusterings."
        ],
        COMMAND,
    )


if __name__ == "__main__":
    main()
