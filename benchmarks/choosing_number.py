"""The number of clusters that COSC("auto") chooses, with and without a look at held-out pairs.

    python -m benchmarks.choosing_number [iris wine ...] [--draws 5] [--first 0] [--jobs 16] [--points 1200] [--raw FILE]

Pairs: a fifth of the points. `eigengap`: the largest gap of the graph with must-linked points merged, where cannot-links
allow it. `chosen`: held-out pairs exclude numbers, and the relative eigengap ranks the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

from benchmarks.choosing import PLANTED, REAL, points
from benchmarks.instances import write
from tightcut import COSC, Constraints, Graph, knn_affinity
from tightcut.datasets import sample_constraints
from tightcut.neighbors import check_points
from tightcut.search.spectral_k import choose_n_clusters
from tightcut.selection import fit_scale, judge_columns

COMMAND = "python -m benchmarks.choosing_number"
SETS = (*REAL, *PLANTED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS), metavar="SET")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--points", type=int, default=1200, help="most points of a set")
    parser.add_argument("--raw", type=Path, help="file of finished cells, one JSON object in each line")
    arguments = parser.parse_args()
    raw = arguments.raw
    cells = [json.loads(line) for line in raw.read_text().splitlines()] if raw and raw.exists() else []
    draws = range(arguments.first, arguments.first + arguments.draws)
    for cell in _measured(
        [(name, draw, arguments.points) for draw in draws for name in arguments.sets], arguments.jobs
    ):
        cells.append(cell)
        if raw:
            with raw.open("a") as file:
                file.write(json.dumps(cell) + "\n")
    rows = table(cells)
    write("choosing_number", rows, _notes(rows), COMMAND, "one thread for each process")


def _measured(tasks: list[tuple], jobs: int) -> Iterator[dict]:
    if jobs == 1:
        yield from map(measure, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for finished in as_completed([pool.submit(measure, task) for task in tasks]):
            yield finished.result()


def measure(task: tuple[str, int, int]) -> dict:
    """One cell: a set and a draw."""
    name, draw, most = task
    warnings.simplefilter("ignore")
    X, y = points(name, draw, most)
    known = sample_constraints(y, round(len(y) / 5), random_state=30_000 + draw)
    model = COSC("auto", effort=0.1, random_state=draw, n_jobs=1).fit(X, constraints=known)
    return {
        "set": name,
        "draw": draw,
        "points": len(y),
        "classes": len(np.unique(y)),
        "eigengap": _by_eigengap(X, known),
        "chosen": model.n_clusters_,
        "reason": model.n_clusters_reason_,
    }


def _by_eigengap(X: np.ndarray, known: Constraints) -> int:
    checked = check_points(X)
    scaled = fit_scale(checked, judge_columns(checked)[0]).transform(checked)
    graph = Graph.from_affinity(knn_affinity(scaled, symmetrize="mean", diffusion=2))
    return choose_n_clusters(graph, known).n_clusters


def table(cells: list[dict]) -> list[dict]:
    """One row for each set: the numbers of its draws, and the share that is right."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell["set"]].append(cell)
    return [
        {
            "set": name,
            "points": groups[name][0]["points"],
            "classes": groups[name][0]["classes"],
            "eigengap": _counted(groups[name], "eigengap"),
            "right": _right(groups[name], "eigengap"),
            "chosen": _counted(groups[name], "chosen"),
            "chosen, right": _right(groups[name], "chosen"),
        }
        for name in SETS
        if name in groups
    ]


def _counted(group: list[dict], column: str) -> str:
    counts = Counter(cell[column] for cell in group)
    return ", ".join(f"{number} ({count})" if count > 1 else str(number) for number, count in sorted(counts.items()))


def _right(group: list[dict], column: str) -> str:
    return f"{np.mean([cell[column] == cell['classes'] for cell in group]):.2f}"


def _notes(rows: list[dict]) -> list[str]:
    notes = [
        "- Number of clusters in each draw (how often); pairs: a fifth of the points. `right`: share of the draws.",
        "- `eigengap`: the largest gap of the default graph with must-linked points merged. `chosen`: `COSC('auto')`, where",
        "  held-out pairs exclude numbers and the relative eigengap ranks the rest.",
    ]
    for title, own in (("real", REAL), ("planted", PLANTED)):
        found = [row for row in rows if row["set"] in own]
        before, now = (sum(float(row[column]) for row in found) for column in ("right", "chosen, right"))
        notes.append(f"- Right on {now:.1f} of {len(found)} {title} sets; by the eigengap alone on {before:.1f}.")
    return notes


if __name__ == "__main__":
    main()
