"""MNIST and extended MNIST on one GPU: every stage, and the whole path from pixels to labels.

    python -m benchmarks.gpu

Needs an NVIDIA GPU, the extra `tightcut[gpu]` and mnist.npz in the folder that TIGHTCUT_DATA names. The table is
written again after every part, so that a run that is cut short leaves what it has. At the end the tests of the GPU
code run; their output goes to results/gpu_tests.txt.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
import warnings
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from benchmarks.instances import HERE, RESULTS, timed, write
from tightcut import Constraints, Graph, cluster, knn_affinity
from tightcut.datasets import Dataset, load, sample_constraints
from tightcut.gpu.backend import DeviceBackend
from tightcut.gpu.fista import DeviceFistaProx
from tightcut.gpu.neighbors import DeviceNeighbors
from tightcut.gpu.sparse import DeviceCsr
from tightcut.metrics import clustering_error
from tightcut.relaxation.prox import FistaProx
from tightcut.search.k_way import ManyClusters
from tightcut.search.multilevel import coarsen, coarsest, uncoarsen
from tightcut.search.partition import merge_must_links
from tightcut.search.problem import Problem
from tightcut.warmup import warmup

COMMAND = "python -m benchmarks.gpu"
DATASETS = ("extended_mnist", "mnist")  # what matters most first: a run may be cut short
N_NEIGHBORS = 10
N_CHECKED = 1000  # queries whose neighbours are compared with exact distances
N_ITERATIONS = 200  # of FISTA, compared with the CPU
N_PAIRS = 10_000
SEEDS = (0, 1, 2, 3, 4)
IMAGE = (3163, 3162)  # pixels
IMAGE_PAIRS = 100_000

TARGETS = {
    ("extended_mnist", "neighbour graph, s"): "<= 8",
    ("extended_mnist", "cluster, cuda, s"): "<= 4",
    ("extended_mnist", "pixels to labels, s"): "<= 7",
    ("extended_mnist", "mean cut, cuda over cpu"): "<= 1.005",
    ("mnist", "cluster, cuda, s"): "<= 1.5",
    ("image", "cluster, cuda, s"): "<= 30",
    ("mnist", "violations"): "0",
    ("extended_mnist", "violations"): "0",
    ("image", "violations"): "0",
}
NOTES = [
    "- Seconds by the wall clock with data in host memory at the start and at the end, after a warm-up (kernels",
    "  compiled, libraries loaded). Medians of three for the neighbours and of the seeds for `cluster`.",
    f"- Neighbours: k = {N_NEIGHBORS}, exact.",
    f"- Path: k = 10, {N_PAIRS} random pairs (seed 0), `cluster` with its defaults and a thread per core;",
    f"  random_state {', '.join(map(str, SEEDS))}, cuts in this order. The path is that of the first seed.",
    "- Two clusters: digits up to 4 against the others, as many pairs, one run each.",
    "- Image: ten million pixels of a smooth random landscape with noise, each joined to twelve neighbours by",
    f"  exp(-8 |difference|); k = 10, {IMAGE_PAIRS} pairs of ten rectangles, one run, given the graph.",
]


class Table:
    """Rows of (data, measured, result, target)."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, data: str, measured: str, result: Any) -> None:
        row = {"data": data, "measured": measured, "result": result, "to reach": TARGETS.get((data, measured), "")}
        self.rows.append(row)
        print(*row.values(), sep=" | ", flush=True)

    def save(self) -> None:
        gpu = torch.cuda.get_device_name()
        machine = f"{gpu}, {os.cpu_count()} CPU cores, PyTorch {torch.__version__}"
        write("gpu", self.rows, NOTES, COMMAND, machine)


def main() -> None:
    warnings.filterwarnings("ignore", message="FISTA stopped")
    table = Table()
    sets = {name: load(name) for name in DATASETS}
    warm_up(sets["mnist"])
    for data in sets.values():
        neighbours(table, data)
        graph, constraints = path(table, data)
        table.save()
        levels(table, data.name, graph, constraints)
        fista(table, data.name, graph, data.y)
        two_clusters(table, data.name, graph, data.y)
        table.save()
    against_the_cpu(table, sets["mnist"])
    image(table)
    table.save()
    tests()


def warm_up(data: Dataset) -> None:
    """Compile the kernels of the CPU and of the device, and load the device's libraries."""
    warmup()
    constraints = sample_constraints(data.y, N_PAIRS, random_state=0)
    graph = Graph.from_affinity(knn_affinity(data.X, N_NEIGHBORS, device="cuda"))
    cluster(graph, constraints, 10, random_state=0, device="cuda", n_jobs=os.cpu_count())


def tests() -> None:
    """The output of the GPU tests, with no path of the machine in it."""
    command = [sys.executable, "-m", "pytest", "tests/gpu", "-q", "-n", "0", "-p", "no:cacheprovider"]
    if find_spec("xdist") is None:
        del command[5:7]
    finished = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)
    lines = (finished.stdout + finished.stderr).replace(str(HERE.parent), ".").replace(sys.prefix, "PREFIX")
    machine = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Python {sys.version.split()[0]}"
    text = f"python -m pytest tests/gpu -q ({machine})\n\n{lines}"
    (RESULTS / "gpu_tests.txt").write_text(text)
    print(text)
    finished.check_returncode()


def neighbours(table: Table, data: Dataset) -> None:
    DeviceNeighbors(data.X[:10_000]).kneighbors(n_neighbors=N_NEIGHBORS)
    torch.cuda.reset_peak_memory_stats()
    runs = [timed(partial(search, data.X)) for _ in range(3)]
    distances, n_repeated = runs[0][0]
    table.add(data.name, "neighbours, s", f"{statistics.median(seconds for _, seconds in runs):.2f}")
    table.add(data.name, "device memory, GB", f"{torch.cuda.max_memory_allocated() / 1e9:.1f}")
    table.add(data.name, "rows searched again in float64", n_repeated)
    chosen = np.random.default_rng(0).choice(len(data.X), N_CHECKED, replace=False)
    wrong = np.rint(distances[chosen] ** 2) != exact_squares(data.X, chosen)
    table.add(data.name, f"wrong distances among the neighbours of {N_CHECKED} points", int(wrong.sum()))


def search(X: np.ndarray) -> tuple[np.ndarray, int]:
    index = DeviceNeighbors(X)
    distances, _ = index.kneighbors(n_neighbors=N_NEIGHBORS)
    return distances, index.n_repeated


def exact_squares(X: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The smallest squared distances by integer arithmetic on the CPU: sums of pixels are exact in float64."""
    queries = X[chosen].astype(np.float64)
    best = np.full((len(chosen), N_NEIGHBORS + 1), np.inf)
    for start in range(0, len(X), 20_000):
        block = X[start : start + 20_000].astype(np.float64)
        squares = (queries**2).sum(axis=1)[:, None] + (block**2).sum(axis=1) - 2 * queries @ block.T
        both = np.concatenate([best, squares], axis=1)
        best = np.partition(both, N_NEIGHBORS, axis=1)[:, : N_NEIGHBORS + 1]
    return np.sort(best, axis=1)[:, 1:]  # the first is the point itself, or an equal one


def against_the_cpu(table: Table, data: Dataset) -> None:
    points = data.X.astype(np.float32)
    expected, seconds = timed(lambda: knn_affinity(points, N_NEIGHBORS, neighbors="blocked", n_jobs=-1))
    found = knn_affinity(data.X, N_NEIGHBORS, device="cuda")
    table.add(data.name, "neighbour graph on the CPU, s", f"{seconds:.1f}")
    difference = abs(found - expected)
    table.add(data.name, "edges that differ from the CPU's by more than 1e-9", int((difference.data > 1e-9).sum()))


def path(table: Table, data: Dataset) -> tuple[Graph, Constraints]:
    """From pixels to labels, with the GPU and, given the graph, without."""
    name = data.name
    constraints = sample_constraints(data.y, N_PAIRS, random_state=0)
    solve = partial(cluster, constraints=constraints, n_clusters=10, n_jobs=os.cpu_count())
    start = time.perf_counter()
    affinity, graph_seconds = timed(lambda: knn_affinity(data.X, N_NEIGHBORS, device="cuda"))
    graph, check_seconds = timed(lambda: Graph.from_affinity(affinity))
    result, seconds = timed(lambda: solve(graph, random_state=SEEDS[0], device="cuda"))
    whole = time.perf_counter() - start
    others = [timed(lambda seed=seed: solve(graph, random_state=seed, device="cuda")) for seed in SEEDS[1:]]
    without = [timed(lambda seed=seed: solve(graph, random_state=seed)) for seed in SEEDS]
    near, near_seconds = timed(lambda: solve(graph, random_state=SEEDS[0], device="cuda", influence=1))
    runs = [(result, seconds), *others]
    table.add(name, "neighbour graph, s", f"{graph_seconds:.2f}")
    table.add(name, "directed edges", graph.weights.nnz)
    table.add(name, "check of the graph, s", f"{check_seconds:.2f}")
    for device, results in (("cuda", runs), ("cpu", without)):
        table.add(name, f"cluster, {device}, s", f"{statistics.median(seconds for _, seconds in results):.2f}")
        table.add(name, f"cluster, {device}, cuts", ", ".join(f"{found.cut:.5f}" for found, _ in results))
    means = [statistics.mean(found.cut for found, _ in results) for results in (runs, without)]
    table.add(name, "mean cut, cuda over cpu", f"{means[0] / means[1]:.4f}")
    table.add(name, "pixels to labels, s", f"{whole:.2f}")
    table.add(name, "error", f"{clustering_error(data.y, result.labels):.4f}")
    table.add(name, "ARI", f"{adjusted_rand_score(data.y, result.labels):.4f}")
    table.add(name, "influence=1, cluster, cuda, s", f"{near_seconds:.2f}")
    table.add(name, "influence=1, error", f"{clustering_error(data.y, near.labels):.4f}")
    table.add(name, "influence=1, ARI", f"{adjusted_rand_score(data.y, near.labels):.4f}")
    table.add(name, "violations", result.n_violations + near.n_violations)
    return graph, constraints


def two_clusters(table: Table, name: str, graph: Graph, y: np.ndarray) -> None:
    """Digits up to 4 against the others; the last row is the paper's own algorithm with one start."""
    constraints = sample_constraints(y < 5, N_PAIRS, random_state=0)
    solve = partial(cluster, graph, constraints, 2, random_state=0, n_jobs=os.cpu_count())
    ways = {"cuda": {"device": "cuda"}, "cpu": {}}
    if name == "mnist":
        ways["paper on cuda"] = {"device": "cuda", "method": "paper", "effort": 0}
    for way, settings in ways.items():
        result, seconds = timed(lambda settings=settings: solve(**settings))
        table.add(name, f"two clusters, {way}, s", f"{seconds:.2f}")
        table.add(name, f"two clusters, {way}, cut", f"{result.cut:.6f}")


def levels(table: Table, name: str, graph: Graph, constraints: Constraints) -> None:
    """Coarsening to where starts are made, and one start carried back."""
    here = ManyClusters.of(merge_must_links(graph, constraints, 10).small, 10)
    problems: dict[str, Problem] = {"cuda": DeviceBackend().on_device(here), "cpu": here}
    for device, problem in problems.items():
        middle = problem.middle(large=True)
        coarsen(problem, middle, np.random.default_rng(0))
        made, seconds = timed(lambda p=problem, m=middle: coarsen(p, m, np.random.default_rng(0)))
        sizes = [problem.size, *(level.small.size for level in made)]
        table.add(name, f"coarsening, {device}, s", f"{seconds:.3f}")
        table.add(name, f"coarsening, {device}, levels", ", ".join(map(str, sizes)))
        _, state = coarsest(problem, made).start(np.random.default_rng(0))
        uncoarsen(problem, made, state)
        carried, seconds = timed(lambda p=problem, m=made, s=state: uncoarsen(p, m, s))
        table.add(name, f"a start carried back, {device}, s", f"{seconds:.3f}")
        table.add(name, f"a start carried back, {device}, cut", f"{problem.settle(carried)[0]:.5f}")


def image(table: Table) -> None:
    """Ten million vertices and sixty million edges."""
    graph, classes = image_graph()
    constraints = sample_constraints(classes, IMAGE_PAIRS, random_state=0)
    torch.cuda.reset_peak_memory_stats()
    solve = partial(cluster, graph, constraints, 10, n_jobs=os.cpu_count(), random_state=0, device="cuda")
    result, seconds = timed(solve)
    table.add("image", "vertices", graph.n_vertices)
    table.add("image", "edges", graph.n_edges)
    table.add("image", "cluster, cuda, s", f"{seconds:.2f}")
    table.add("image", "cluster, cuda, cut", f"{result.cut:.6f}")
    table.add("image", "violations", result.n_violations)
    table.add("image", "device memory, GB", f"{torch.cuda.max_memory_allocated() / 1e9:.1f}")


def image_graph() -> tuple[Graph, np.ndarray]:
    """Pixels joined to twelve neighbours by the likeness of their heights; and ten rectangles as classes."""
    height, width = IMAGE
    generator = torch.Generator(device="cuda").manual_seed(0)
    coarse = torch.rand((1, 1, 40, 40), device="cuda", generator=generator, dtype=torch.float64)
    noise = torch.randn(IMAGE, device="cuda", generator=generator, dtype=torch.float64)
    heights = (torch.nn.functional.interpolate(coarse, size=IMAGE, mode="bicubic")[0, 0] + 0.05 * noise).ravel()
    number = torch.arange(height * width, device="cuda").view(IMAGE)
    keys, values = [], []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1), (0, 2), (2, 0)):
        here = number[: height - down, max(0, -right) : width - max(0, right)].ravel()
        there = number[down:, max(0, right) : width + min(0, right)].ravel()
        weight = torch.exp(-8 * (heights[here] - heights[there]).abs())
        keys += [here * number.numel() + there, there * number.numel() + here]
        values += [weight, weight]
    ordered, order = torch.cat(keys).sort()
    matrix = DeviceCsr.from_keys(ordered, torch.cat(values)[order], number.numel())
    row, column = np.divmod(np.arange(number.numel()), width)
    return Graph(
        matrix.to_scipy(), matrix.row_sums(matrix.data).cpu().numpy()
    ), row * 2 // height * 5 + column * 5 // width


def fista(table: Table, name: str, graph: Graph, y: np.ndarray) -> None:
    target = descent_target(graph, y < 5)
    cpu = FistaProx(graph.weights, graph.vertex_weights, -1.0, N_ITERATIONS)
    cpu.prox(target)
    expected, seconds = timed(lambda: cpu.prox(target))
    table.add(name, "FISTA on one CPU core, ms per iteration", f"{1e3 * seconds / N_ITERATIONS:.2f}")
    solver = DeviceFistaProx(graph.weights, graph.vertex_weights, -1.0, N_ITERATIONS)
    solver.prox(target)
    found, seconds = timed(lambda: solver.prox(target))
    error = np.abs(found - expected).max() / np.abs(expected).max()
    table.add(name, "FISTA, ms per iteration with checks and transfers", f"{1e3 * seconds / N_ITERATIONS:.4f}")
    table.add(name, f"FISTA, relative difference from the CPU after {2 * N_ITERATIONS}", f"{error:.1e}")


def descent_target(graph: Graph, side: np.ndarray) -> np.ndarray:
    """What RatioDCA asks for at the indicator of a set."""
    b = graph.vertex_weights
    signs = b * np.sign(side - b[side].sum() / b.sum())
    return (signs - b * (signs.sum() / b.sum())) / 4


if __name__ == "__main__":
    main()
