"""The multilevel solver against the direct one, on sets where both run.

    python -m benchmarks.multilevel [SET ...] [--neighbors FOLDER]

Sets that are not asked for keep the rows they have. FOLDER may hold neighbour lists or a graph of Covertype.
Both coarsen at random, start at the coarsest level and refine on the way back. *Direct* then lets the solutions evolve in
the graph itself, whatever its size. *Multilevel*, the automatic choice for graphs of more than `direct_limit` units and
forced on smaller ones here, joins them, a few at a time: they evolve in the small graph of what they do not agree on.
Same graph, pairs and random_state, eight draws of these (two on Covertype); ratios are multilevel over direct,
`within 2 %` counts those up to 1.02.
*RatioDCA* is the paper's way, with no coarsening anywhere: from four smooth random starts, a doubling penalty until
every pair is satisfied (two clusters only, first draw).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.instances import (
    authors_pairs,
    geometric_mean,
    graph,
    median,
    merged,
    neighbour_graph,
    quiet,
    standardised,
    typed,
    write,
)
from tightcut import Constraints, Graph, cluster, knn_affinity
from tightcut.datasets import load
from tightcut.relaxation.paper import implied_units
from tightcut.relaxation.penalty_path import PathSettings, PenaltyPath
from tightcut.search.k_way import ManyClusters
from tightcut.search.two_way import TwoClusters
from tightcut.warmup import warmup

SETS = {
    "spam": (2, 1000),
    "usps0": (2, 100),
    "digits": (10, 500),
    "usps": (10, 1000),
    "letter": (26, 2000),
    "moons": (2, 600),
    "mixture2": (2, 600),
    "shuttle": (7, 1000),
    "mixture10": (10, 600),
    "covertype": (7, 1000),
}
MADE = {"moons", "mixture2", "mixture10"}
N_MADE = 100_000
DRAWS = range(8)  # of pairs, each with its own random_state
FEW_DRAWS = range(2)  # where one takes more than a minute
RATIO_DCA_LIMIT = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", choices=[*SETS, []])
    parser.add_argument("--neighbors", type=Path, help="folder with a folder of neighbour lists for each set")
    arguments = parser.parse_args()
    quiet()
    warmup()
    rows: list[dict[str, Any]] = []
    for name in arguments.sets or SETS:
        k, n_pairs = SETS[name]
        if name == "covertype":
            own, problems = covertype(n_pairs, arguments.neighbors)
        else:
            own, problems = made(name, k, n_pairs) if name in MADE else (graph(name), stored(name, n_pairs))
        draws = range(len(problems))
        n = own.n_vertices
        chosen = n > (TwoClusters if k == 2 else ManyClusters).direct_limit
        direct, coarse = ([solved(limit, own, problems[draw], k, draw) for draw in draws] for limit in (n, 0))
        ratios = [theirs[0] / ours[0] for theirs, ours in zip(coarse, direct, strict=True)]
        compared = k == 2 and n <= RATIO_DCA_LIMIT
        seconds, coarse_seconds = (median([run[1] for run in runs]) for runs in (direct, coarse))
        rows.append(
            {
                "set": name,
                "n": n,
                "k": k,
                "pairs": n_pairs,
                "direct cut": f"{median([cut for cut, _ in direct]):.6f}",
                "cut ratio (median)": f"{median(ratios):.4f}",
                "cut ratio (worst)": f"{max(ratios):.4f}",
                "within 2 %": f"{sum(ratio <= 1.02 for ratio in ratios)} of {len(ratios)}",
                "direct s": f"{seconds:.2f}",
                "time ratio": f"{coarse_seconds / seconds:.2f}",
                "RatioDCA / direct": ratio_dca_ratio(own, problems[0], direct[0][0]) if compared else "",
                "automatic": "multilevel" if chosen else "direct",
            }
        )
        print(rows[-1], flush=True)
    rows = merged("multilevel", rows, ("set",))
    ratios = [float(row["cut ratio (median)"]) for row in rows]
    worst = max(float(row["cut ratio (worst)"]) for row in rows)
    notes = [
        f"- All sets: cut ratio {geometric_mean(ratios):.4f} in the geometric mean, {worst:.4f} at worst.",
        f"- Where multilevel is the automatic choice: {automatic(rows)}.",
        "- Processor seconds of one thread, medians. RatioDCA on the first draw only.",
    ]
    write("multilevel", rows, notes, "python -m benchmarks.multilevel")


def automatic(rows: list[dict[str, Any]]) -> str:
    chosen = [row for row in rows if row["automatic"] == "multilevel"]
    worst = max(float(row["cut ratio (worst)"]) for row in chosen)
    times = geometric_mean([float(row["time ratio"]) for row in chosen])
    cuts = geometric_mean([float(row["cut ratio (median)"]) for row in chosen])
    return f"cut ratio {cuts:.4f} in the geometric mean, {worst:.4f} at worst, time ratio {times:.2f}"


def covertype(n_pairs: int, folder: Path | None) -> tuple[Graph, list[Constraints]]:
    """A real set of more than half a million points, its features standardised."""
    data = load("covertype")
    own = Graph.from_affinity(neighbour_graph(folder, "covertype", lambda: standardised(data.X))[0])
    return own, [drawn_pairs(data.y, n_pairs, draw) for draw in FEW_DRAWS]


def drawn_pairs(y: np.ndarray, n_pairs: int, draw: int) -> Constraints:
    pairs = np.random.default_rng(draw).integers(0, len(y), (n_pairs, 2))
    return typed(y, pairs[pairs[:, 0] != pairs[:, 1]])


def stored(name: str, n_pairs: int) -> list[Constraints]:
    return [authors_pairs(name, n_pairs, draw) for draw in DRAWS]


def made(name: str, k: int, n_pairs: int) -> tuple[Graph, list[Constraints]]:
    from sklearn.datasets import make_blobs, make_moons

    if name == "moons":
        X, y = make_moons(N_MADE, noise=0.12, random_state=0)
    else:
        X, y = make_blobs(N_MADE, centers=k, n_features=4, cluster_std=2.2, random_state=0)
    own = Graph.from_affinity(knn_affinity(X.astype(np.float32), connect=False))
    return own, [drawn_pairs(y, n_pairs, draw) for draw in DRAWS]


def solved(limit: int, own: Graph, constraints: Constraints, k: int, state: int) -> tuple[float, float]:
    """The cut and the processor seconds with a limit for the direct search."""
    patched = (mock.patch.object(problem, "direct_limit", limit) for problem in (TwoClusters, ManyClusters))
    with next(patched), next(patched):
        result, seconds = processor_timed(partial(cluster, own, constraints, k, random_state=state))
    if result.n_violations:
        raise RuntimeError(f"{result.n_violations} pairs are violated.")
    return result.cut, seconds


def processor_timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def ratio_dca_ratio(own: Graph, constraints: Constraints, known_cut: float) -> str:
    """Best cut of RatioDCA from random starts over a known one; no start may end with a violated pair."""
    unit, opposite = implied_units(constraints)
    merged_graph, settings = own.contract(unit), PathSettings("flow", patience=0)
    walk = merged_graph.weights / merged_graph.degrees.clip(min=np.finfo(float).tiny)[:, None]
    cuts = []
    for start in range(4):
        rng = np.random.default_rng(start)
        f = rng.standard_normal(merged_graph.n_vertices)
        for _ in range(30):
            f = walk @ f
        path = PenaltyPath(merged_graph, opposite, rng, 0, settings)
        side = path.follow(f).side
        if path.allows(side):
            cuts.append(path.finish(side).value)
    return f"{min(cuts) / known_cut:.4f}" if cuts else "none feasible"


if __name__ == "__main__":
    main()
