"""Memory of the search of what contraction leaves of a graph with long ties, per arc.

    python -m benchmarks.search_memory

Units stand in ten rings, tied to the three next ones. Long ties lead anywhere within the ring, two of seven anywhere at all:
so many that contraction leaves nearly all of them, until units are few enough for ties to meet. Every row runs in a
process of its own.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.instances import own_process, peak_gib, write
from tightcut import Graph, cluster
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.search_memory"
K, STEPS = 10, 3
ROWS = [(100_000, 3_100_000), (20_000, 3_100_000), (20_000, 9_400_000), (10_000, 9_400_000)]
NOTES = [
    "- `ties`: long ones that were drawn. `graph GiB`: arcs as `cluster` takes them, 12 bytes each.",
    "- `above GiB`: the peak of the process less what it held before the search, effort 0.3, ten clusters.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=2, type=int, metavar=("UNITS", "TIES"), help="one row, as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(*given.one)))
        return
    rows = [own_process("benchmarks.search_memory", "--one", *map(str, row)) for row in ROWS]
    write("search_memory", rows, NOTES, COMMAND)


def measure(n_units: int, n_ties: int) -> dict[str, Any]:
    warmup()
    graph = rings(n_units, n_ties)
    n_arcs = 2 * graph.n_edges
    Path("/proc/self/clear_refs").write_text("5")  # the peak of a process starts again
    before = peak_gib()
    cluster(graph, None, K, effort=0.3, influence=0.0, random_state=0)
    above = peak_gib() - before
    return {
        "units": n_units,
        "ties": n_ties,
        "arcs": n_arcs,
        "graph GiB": round(12 * n_arcs / 2**30, 2),
        "above GiB": round(above, 2),
        "bytes per arc": round(above * 2**30 / n_arcs),
    }


def rings(n: int, n_ties: int) -> Graph:
    rng, length = np.random.default_rng(0), n // K
    i = rng.integers(n, size=n_ties)
    near = i // length * length + rng.integers(length, size=n_ties)
    j = np.where(rng.random(n_ties) < 5 / 7, near, rng.integers(n, size=n_ties))
    own = np.repeat(np.arange(n), STEPS)
    following = own // length * length + (own + np.tile(np.arange(1, STEPS + 1), n)) % length
    i, j = np.concatenate([i, own]), np.concatenate([j, following])
    weight = np.concatenate([rng.uniform(0.5, 1.5, n_ties), np.full(len(own), 100.0)])
    half = sp.coo_array((weight, (i, j)), shape=(n, n)).tocsr()
    return Graph.from_affinity(half + half.T)


if __name__ == "__main__":
    main()
