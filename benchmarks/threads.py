"""Two threads against one: seconds of the clock, in turn, and whether both cores were free.

    python -m benchmarks.threads [mnist:10000 ...] [--neighbors FOLDER] [--states 0 1 2 3 4]

Every problem, a set with a number of random pairs, is solved by one thread and by two, once for each random state, in
one process. Before, between and after them two threads run the same short arithmetic as one does before: no search can be
much faster with two threads than that is.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.instances import median, merged, neighbour_graph, peers_pairs, points, timed, write
from tightcut import Constraints, Graph, cluster
from tightcut.utils.parallel import run_tasks

RANDOM_STATES = (0, 1, 2, 3, 4)
ROUNDS, VALUES = 60, np.linspace(0.0, 1.0, 100_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=["mnist:10000"], help="SET:PAIRS")
    parser.add_argument("--neighbors", type=Path, help="folder with a folder for each set; graphs made are kept there")
    parser.add_argument("--states", type=int, nargs="+", default=RANDOM_STATES, help="random states")
    arguments = parser.parse_args()
    for problem in arguments.problems:
        name, n_pairs = problem.split(":")
        y = np.tile(points("mnist")[1], 9) if name == "extended_mnist" else points(name)[1]
        affinity, _ = neighbour_graph(arguments.neighbors, name, lambda name=name: points(name)[0])
        constraints, k = peers_pairs(y, int(n_pairs), 0), len(np.unique(y))
        rows = compared(name, Graph.from_affinity(affinity), constraints, k, arguments.states)
        table = merged("threads", rows, ("set", "pairs", "random_state"))
        write("threads", table, notes(table), "python -m benchmarks.threads", "two cores")


def compared(name: str, graph: Graph, constraints: Constraints, k: int, states: list[int]) -> list[dict]:
    for n_jobs in (1, 2):  # loads the kernels and what threads need
        cluster(graph, constraints, k, effort=0.1, random_state=0, n_jobs=n_jobs)
    rows = []
    for random_state in states:
        free, found, seconds = [free_cores()], [], []
        for n_jobs in (1, 2):
            result, own = timed(partial(cluster, graph, constraints, k, random_state=random_state, n_jobs=n_jobs))
            found.append(result)
            seconds.append(own)
            free.append(free_cores())
        rows.append(
            {
                "set": name,
                "pairs": constraints.n_pairs,
                "k": k,
                "random_state": random_state,
                "one thread s": f"{seconds[0]:.2f}",
                "two threads s": f"{seconds[1]:.2f}",
                "ratio": f"{seconds[0] / seconds[1]:.2f}",
                "free cores": f"{median(free):.2f}",
                "cut": f"{found[0].cut:.6g}",
                "same labels": bool(np.array_equal(found[0].labels, found[1].labels)),
            }
        )
    return rows


def notes(table: list[dict]) -> list[str]:
    lines = [
        "- Seconds of the clock, kernels loaded before. `free cores`: how much faster than one thread two threads did twice",
        "  the same arithmetic, the median of three measurements before, between and after both runs.",
    ]
    for name in dict.fromkeys(row["set"] for row in table):
        rows = [row for row in table if row["set"] == name]
        ratio, free = (median([float(row[key]) for row in rows]) for key in ("ratio", "free cores"))
        lines.append(f"- {name}: {ratio:.2f} in the median, on {free:.2f} free cores.")
    return lines


def free_cores() -> float:
    """How much faster than one thread two threads do twice the work."""
    alone = timed(arithmetic)[1]
    return 2 * alone / timed(lambda: list(run_tasks(arithmetic, [(), ()], 2)))[1]


def arithmetic() -> None:
    for _ in range(ROUNDS):
        np.sin(VALUES)


if __name__ == "__main__":
    main()
