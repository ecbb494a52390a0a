"""More than two clusters against the authors' own program and other libraries.

    python -m benchmarks.many_clusters

Two tables: every row of reference/authors.csv with k > 2, five seeds each (the authors ran seed 0); digits as in
reference/peers.csv, with every method that gets the same pairs. Seconds are those of the processor, given the
graph: per run, after a warm-up.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.instances import (
    authors_pairs,
    geometric_mean,
    graph,
    median,
    peers_pairs,
    points,
    quiet,
    reference,
    timed_by_processor,
    write,
)
from tightcut import Graph, cluster, knn_affinity
from tightcut.metrics import clustering_error
from tightcut.warmup import warmup

SEEDS = range(5)
FRESH_SEEDS = range(100, 120)
COMMAND = "python -m benchmarks.many_clusters"


def main() -> None:
    quiet()
    warmup()
    against_authors()
    against_peers()


def against_authors() -> None:
    grouped: dict[tuple[str, int, int], dict[str, dict[str, str]]] = {}
    for row in reference("authors"):
        if row["k"] != "2":
            grouped.setdefault((row["dataset"], int(row["k"]), int(row["n_pairs"])), {})[row["mode"]] = row
    rows = []
    for (dataset, k, n_pairs), modes in grouped.items():
        own, y = graph(dataset), points(dataset)[1]
        runs = []
        for seed in SEEDS:
            constraints = authors_pairs(dataset, n_pairs, seed)
            runs.append(timed_by_processor(partial(cluster, own, constraints, k, random_state=0)))
        mode = "full" if "full" in modes else "fast"
        theirs, (first, _) = modes[mode], runs[0]
        seconds = median([time for _, time in runs])
        rows.append(
            {
                "dataset": dataset,
                "pairs": n_pairs,
                "authors": mode,
                "authors cut": f"{float(theirs['cut']):.4f}",
                "cut": f"{first.cut:.4f}",
                "cut ratio": f"{first.cut / float(theirs['cut']):.4f}",
                "authors violations": theirs["violations"],
                "violations": first.n_violations,
                "violations, 5 seeds": sum(result.n_violations for result, _ in runs),
                "authors error": theirs["error"],
                "error": f"{clustering_error(y, first.labels):.6f}",
                "error, 5 seeds": f"{np.mean([clustering_error(y, result.labels) for result, _ in runs]):.4f}",
                "ARI, 5 seeds": f"{np.mean([adjusted_rand_score(y, result.labels) for result, _ in runs]):.4f}",
                "authors s": theirs["seconds"],
                "s (median)": f"{seconds:.2f}",
                "times faster": f"{float(theirs['seconds']) / seconds:.0f}",
            }
        )
        print(rows[-1], flush=True)
    ratios = [float(row["cut ratio"]) for row in rows]
    full = [row for row in rows if row["authors"] == "full"]
    theirs, ours = (sum(float(row[key]) for row in full) for key in ("authors s", "s (median)"))
    notes = [
        (
            f"- Cut ratio {geometric_mean(ratios):.4f} in the geometric mean over {len(rows)} rows (theirs violate "
            f"{sum(int(row['authors violations']) for row in rows)} pairs in all, ours "
            f"{sum(int(row['violations, 5 seeds']) for row in rows)} over five seeds)."
        ),
        f"- Against `full`: {ours:.1f} s against {theirs:.0f} s in all, {theirs / ours:.0f} times faster.",
    ]
    write("many_clusters_authors", rows, notes, COMMAND)


def against_peers() -> None:
    X, y = points("digits")
    graphs = {name: Graph.from_affinity(knn_affinity(X / 16, symmetrize=name)) for name in ("maximum", "mean")}
    rows = []
    for n_pairs in (200, 500, 1000):
        fair = [
            row
            for row in reference("peers")
            if row["dataset"] == "digits" and int(row["n_pairs"]) == n_pairs and row["ari"] and "*" not in row["method"]
        ]
        best = sorted(fair, key=lambda row: -float(row["ari"]))[:3]
        for (symmetrize, own), influence in product(graphs.items(), (0, 1)):
            runs = {
                seed: timed_by_processor(
                    partial(cluster, own, peers_pairs(y, n_pairs, seed), 10, influence=influence, random_state=0)
                )
                for seed in (*SEEDS, *FRESH_SEEDS)
            }
            score = {seed: adjusted_rand_score(y, result.labels) for seed, (result, _) in runs.items()}
            rows.append(
                {
                    "pairs": n_pairs,
                    "symmetrize": symmetrize,
                    "influence": influence,
                    "ARI, seed 0": f"{score[0]:.4f}",
                    "ARI, seeds 0-2": f"{np.mean([score[seed] for seed in range(3)]):.4f}",
                    "ARI, seeds 0-4": f"{np.mean([score[seed] for seed in SEEDS]):.4f}",
                    "ARI, seeds 100-119": f"{np.mean([score[seed] for seed in FRESH_SEEDS]):.4f}",
                    "violations, 25 seeds": sum(result.n_violations for result, _ in runs.values()),
                    "s (median)": f"{median([time for _, time in runs.values()]):.2f}",
                    "best others (ARI, runs)": "; ".join(f"{r['method']} {r['ari']} ({r['runs_ok']})" for r in best),
                }
            )
    notes = [
        "- Same pairs for all; methods that are told more than the pairs (marked `*` in the reference) are left out. The",
        "  others' figures are on seeds 0 to 2, or on seed 0 alone where the runs are 1.",
        '- `symmetrize="maximum"` and `influence=0` are the defaults: the smallest cut of the paper\'s graph.',
        "- Both settings were found on seeds 20 to 45 of the digits and on usps, mnist, coil20, wine and iris, among some 50",
        "  (neighbour counts, other weights, heavier edges, propagated pairs; six of influence itself). Seeds 0 to 4 had been",
        '  looked at on the way. `symmetrize="mean"` with `influence=1` was then fixed as the setting to recommend, for its',
        "  mean over seeds 20 to 39 (0.844, 0.948, 0.970; the defaults: 0.843, 0.909, 0.969), before any of the seeds 100 to",
        "  119 had been run: that column is of untouched draws.",
        "- `blobs20k` of the reference is not described there, so it could not be rebuilt.",
    ]
    write("many_clusters_peers", rows, notes, COMMAND)


if __name__ == "__main__":
    main()
