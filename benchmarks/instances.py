"""The instances of `reference/`, rebuilt: datasets, graphs and sampled pairs.

Datasets come from the folder named by TIGHTCUT_DATA (see `tightcut.datasets`). The reference figures are results of
the original authors' program (authors.csv), of other libraries (peers.csv) and of the PCCC paper (published.csv);
`reference/README.md` says how they were made.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut import Constraints, Graph, __version__, knn_affinity
from tightcut.datasets import load

HERE = Path(__file__).parent
RESULTS = HERE / "results"


@lru_cache
def points(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Data and classes, float64."""
    dataset = load(name)
    return dataset.X.astype(np.float64), dataset.y


@lru_cache
def graph(name: str) -> Graph:
    """The paper's graph, left as it is where it is not connected, as the reference program had it."""
    return Graph.from_affinity(knn_affinity(points(name)[0], connect=False))


def authors_pairs(name: str, n_pairs: int, seed: int) -> Constraints:
    """The pairs of authors.csv."""
    _, y = points(name)
    rng = np.random.default_rng(1000 * seed + n_pairs)
    pairs = rng.integers(0, len(y), (4 * n_pairs + 50, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs]
    return typed(y, pairs)


def peers_pairs(y: np.ndarray, n_pairs: int, seed: int) -> Constraints:
    """The pairs of peers.csv, drawn without repetition."""
    rng = np.random.default_rng(1000 + seed)
    seen: set[tuple[int, int]] = set()
    while len(seen) < n_pairs:
        i, j = map(int, rng.integers(0, len(y), 2))
        if i != j:
            seen.add((min(i, j), max(i, j)))
    return typed(y, np.array(sorted(seen)))


def typed(y: np.ndarray, pairs: np.ndarray) -> Constraints:
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints.from_pairs(len(y), pairs[same], pairs[~same])


def reference(name: str) -> list[dict[str, str]]:
    with (HERE / "reference" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1 in float32; constant columns are 0."""
    X = X.astype(np.float32)
    deviation = X.std(axis=0, dtype=np.float64)
    return ((X - X.mean(axis=0, dtype=np.float64)) / np.where(deviation > 0, deviation, 1)).astype(np.float32)


def stored_affinity(folder: Path | None, name: str) -> sp.csr_array | None:
    """The paper's graph from FOLDER/NAME, or None if there is nothing.

    Either neighbour lists, indices*.npy and distances*.npy of shape (n, k), or the matrix itself, affinity.npz.
    """
    from tightcut.neighbors.knn import gaussian_similarity

    if folder is None:
        return None
    if (folder / name / "affinity.npz").exists():
        return sp.csr_array(sp.load_npz(folder / name / "affinity.npz"))
    lists, lengths = (sorted((folder / name).glob(f"{kind}*.npy")) for kind in ("indices", "distances"))
    if not lists:
        return None
    neighbors = np.concatenate([np.load(file) for file in lists])
    distances = np.concatenate([np.load(file) for file in lengths]).astype(np.float64)
    n, k = neighbors.shape
    weights = gaussian_similarity(distances, distances.max(axis=1, keepdims=True))
    directed = sp.csr_array((weights.ravel(), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return sp.csr_array(directed.maximum(directed.T))


def neighbour_graph(
    folder: Path | None, name: str, points: Callable[[], np.ndarray]
) -> tuple[sp.csr_array, float | None]:
    """The stored graph, or that of the points; and the seconds that the search took, if it was made here.

    With a folder, a graph that is made is kept there for the next row.
    """
    stored = stored_affinity(folder, name)
    record = None if folder is None else folder / name / "seconds.txt"
    if stored is not None:
        return stored, float(record.read_text()) if record is not None and record.exists() else None
    X = points()
    affinity, seconds = timed(lambda: knn_affinity(X, n_jobs=-1))
    if record is not None:
        record.parent.mkdir(parents=True, exist_ok=True)
        sp.save_npz(record.parent / "affinity.npz", affinity)
        record.write_text(f"{seconds:.1f}")
    return affinity, seconds


def merged(name: str, rows: list[dict[str, Any]], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows of the stored table, with those of the same keys replaced by these, new ones after those of their set.

    The first key names the set. A table with other columns is of an older kind and is not kept.
    """
    path = RESULTS / f"{name}.csv"
    stored: list[dict[str, Any]] = []
    if path.exists():
        with path.open() as file:
            stored = [row for row in csv.DictReader(file) if list(row) == list(rows[0])]
    table = {tuple(str(row[key]) for key in keys): row for row in stored + rows}
    sets = list(dict.fromkeys(str(row[keys[0]]) for row in table.values()))
    return sorted(table.values(), key=lambda row: sets.index(str(row[keys[0]])))


def own_process(module: str, *arguments: str, limit: float | None = None) -> Any:
    """What `python -m module arguments` prints last, read as JSON: peak memory is then that of this work alone."""
    command = [sys.executable, "-m", module, *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit)
    return json.loads(finished.stdout.splitlines()[-1])


def peak_gib() -> float:
    """Peak memory of this process, from Linux; `resource` would count that of the process that started it, too."""
    status = Path("/proc/self/status").read_text()
    return round(int(status.partition("VmHWM:")[2].split()[0]) / 2**20, 2)


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def timed_by_processor(function: Callable[[], Any]) -> tuple[Any, float]:
    """With the seconds of the processor: other work on the machine does not count."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def median(values: list[float]) -> float:
    return statistics.median(values)


def write(
    name: str,
    rows: list[dict[str, Any]],
    notes: list[str],
    command: str,
    machine: str = "single thread",
    *,
    shown: bool = True,
) -> None:
    """Save a table as CSV and as Markdown with its notes, the command, the version and the machine; show it, too."""
    RESULTS.mkdir(exist_ok=True)
    columns = list(rows[0])
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    lines = [
        f"# {name}",
        "",
        f"Made by `{command}`, tightcut {__version__} ({commit()}), {_python()}, {machine}.",
        "",
        *notes,
        "",
    ]
    lines += ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(row[column]) for column in columns) + " |" for row in rows]
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n")
    if shown:
        print("\n".join(lines))


def quiet() -> None:
    """Disconnected graphs are part of the protocol here."""
    warnings.filterwarnings("ignore", message=".*connected components.*")


def commit(folder: Path = HERE) -> str:
    """The commit of the worktree that holds the folder, by default the one that is measured.

    TIGHTCUT_COMMIT says it where there is no repository.
    """
    if "TIGHTCUT_COMMIT" in os.environ:
        return os.environ["TIGHTCUT_COMMIT"]
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "no commit"


def _python() -> str:
    return f"Python {platform.python_version()}, {platform.machine()}"
