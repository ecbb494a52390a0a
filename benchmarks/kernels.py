"""Kernels against the copy bandwidth of the machine: bytes moved per pass, time, and the fraction reached.

    python -m benchmarks.kernels [--sizes 20000 1000000]

On the neighbourhood graph of a Gaussian mixture (four dimensions, points in random order). Bytes are counted from the
arrays: every array that a pass reads or writes counts once, a gather (an array read through the neighbours' indices)
once per arc. A pass is one call, except for the maximum flow, whose pass is one search from all deficits through the
residual graph; the whole total-variation prox is given in units of it. Copies are timed between the calls, of an array
as large as what the kernel moves; processor seconds of the thread, the best of several runs for both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.instances import quiet, timed, write
from tightcut import Constraints, Graph, kernels, knn_affinity
from tightcut.relaxation import Relaxation
from tightcut.relaxation.prox import FlowProx
from tightcut.warmup import warmup

RUNS = 15


@dataclass(frozen=True)
class Pass:
    """A kernel call, the bytes it moves, and what makes a fresh copy of its arguments for a second thread."""

    name: str
    call: Callable[[], Any]
    moved: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 1_000_000])
    arguments = parser.parse_args()
    quiet()
    warmup()
    rows, notes = [], []
    for n in arguments.sizes:
        graph = mixture(n)
        first, second = passes(graph), passes(graph)
        rows += [measure(graph, one, other) for one, other in zip(first, second, strict=True)]
        notes.append(prox_note(graph))
    notes.append(
        "- `fraction` is the kernel's GB/s over that of a copy of as many bytes, with one thread and with two, each on "
        "arrays of its own. Gathers in random order move a cache line of 64 bytes for every 4 or 8 counted here."
    )
    write("kernels", rows, notes, "python -m benchmarks.kernels", "two threads where it says so")


def mixture(n: int) -> Graph:
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(n, centers=2, n_features=4, cluster_std=2.2, random_state=0)
    return Graph.from_affinity(knn_affinity(X.astype(np.float32), connect=False))


def passes(graph: Graph) -> list[Pass]:
    """The kernels with arguments of their own. `n` and `m` count vertices and arcs."""
    w, n, m = graph.weights, graph.n_vertices, graph.weights.nnz
    rng = np.random.default_rng(0)
    csr = w.indptr, w.indices, w.data
    f = rng.standard_normal(n)
    # FISTA: a pass over `ahead` for the values, one over all arcs for the flow, and the same again for the gap.
    target, norm = f * graph.vertex_weights, graph.vertex_weights
    step, flow, ahead, value = np.full(m, 0.05), np.zeros(m), np.zeros(m), np.empty(n)
    fista = partial(kernels.fista_steps, *csr, target, norm, step, flow, ahead, 1.0, 1, value)
    fista_step = m * (8 + 4 + 4 * 8 + 8 + 2 * 8) + n * (2 * 4 + 4 * 8)
    gap = m * (8 + 4 + 2 * 8 + 8) + n * (2 * 4 + 4 * 8)
    relaxation = Relaxation(graph, Constraints.from_pairs(n), 0.0)
    place = rng.permutation(n).astype(np.int32)
    order = rng.permutation(n).astype(np.int32)
    nothing = np.zeros(n + 1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32)
    heaviest = 3 * graph.volume / 20_000
    match = partial(kernels.heavy_edge_matching, *csr, norm, order, heaviest, 0.0, *nothing)
    unit = match()[0]
    members = kernels.members_of(unit, int(unit.max()) + 1)
    coarse = kernels.contract(*csr, unit, *members)
    reverse = kernels.reverse_arcs(w.indptr, w.indices)
    spins = np.where(f > 0, 1, -1).astype(np.int8)
    return [
        Pass("FISTA step and gap", fista, fista_step + gap),
        Pass("total variation", partial(kernels.total_variation, *csr, f), m * (4 + 8 + 8) + n * (4 + 8)),
        Pass("cut along an order", partial(kernels.cut_changes, *csr, place), m * (4 + 8 + 4) + n * (4 + 4 + 8)),
        Pass(
            "thresholding, with the sort",
            partial(relaxation.threshold, f),
            m * (4 + 8 + 4) + n * 16 + m * (4 + 8 + 8) + n * 12 + n * 15 * 8,
        ),
        Pass("matching", match, m * (4 + 8 + 4 + 8) + n * (4 + 4 + 8 + 4 + 1)),
        Pass(
            "contraction",
            partial(kernels.contract, *csr, unit, *members),
            m * (4 + 8 + 4) + len(coarse[1]) * (4 + 8) + n * (4 + 4 + 4),
        ),
        Pass(
            "refinement, measuring",
            partial(kernels.measure, *csr, norm, np.zeros(n), spins, np.empty(n)),
            m * (4 + 8 + 1) + n * (4 + 1 + 3 * 8),
        ),
        Pass(
            "maximum flow, heights",
            flow_heights(graph, reverse, f),
            m * (4 + 4 + 4 + 8 + reverse.itemsize + 8) + n * (3 * 4 + 8 + 2 * 4),
        ),
    ]


def flow_heights(graph: Graph, reverse: np.ndarray, f: np.ndarray) -> Callable[[], Any]:
    """The distances to the deficits, when half of the vertices have one: nothing can be pushed afterwards."""
    w, n = graph.weights, graph.n_vertices
    excess, flow = -np.abs(f), np.zeros(w.nnz)
    excess[f > 0] = 0.0
    members = np.arange(n, dtype=np.int32)
    height, queue, arc = np.empty(n, np.int32), np.empty(n, np.int32), w.indptr[:-1].copy()
    part, queued = np.zeros(n, np.int32), np.zeros(n, bool)
    scratch = height, queue, arc, queued
    return partial(
        kernels.route_excess, w.indptr, w.indices, reverse, w.data, flow, excess, part, members, 1e-12, *scratch
    )


def measure(graph: Graph, one: Pass, other: Pass) -> dict[str, Any]:
    alone, copy_alone = best_of([one.call], one.moved)
    both, copy_both = best_of([one.call, other.call], one.moved)
    return {
        "kernel": one.name,
        "n": graph.n_vertices,
        "arcs": graph.weights.nnz,
        "MB moved": round(one.moved / 1e6, 1),
        "ms": round(1e3 * alone, 3),
        "GB/s": round(one.moved / alone / 1e9, 2),
        "copy GB/s": round(one.moved / copy_alone / 1e9, 2),
        "fraction": round(copy_alone / alone, 2),
        "GB/s, two threads": round(2 * one.moved / both / 1e9, 2),
        "copy GB/s, two threads": round(2 * one.moved / copy_both / 1e9, 2),
        "fraction, two threads": round(copy_both / both, 2),
    }


def best_of(calls: list[Callable[[], Any]], moved: int) -> tuple[float, float]:
    """Least seconds of the calls, side by side in threads, and of copies that move as many bytes each."""
    size = min(moved // 2, 1 << 28)
    arrays = [(np.ones(size, np.uint8), np.empty(size, np.uint8)) for _ in calls]
    copies = [partial(np.copyto, there, here) for here, there in arrays]
    seconds, copy_seconds = [], []
    with ThreadPoolExecutor(len(calls)) as pool:
        for _ in range(RUNS):
            seconds.append(max(pool.map(thread_seconds, calls)))
            copy_seconds.append(max(pool.map(thread_seconds, copies)))
    return min(seconds), min(copy_seconds) * moved / (2 * size)


def thread_seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of the calling thread: what it waits for memory counts, what it waits for a processor does not."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def prox_note(graph: Graph) -> str:
    """The whole prox from zero flow, as RatioDCA's first step poses it from a smooth start, in units of one pass."""
    f = np.random.default_rng(1).standard_normal(graph.n_vertices)
    walk = graph.weights / graph.vertex_weights[:, None]
    for _ in range(20):
        f = walk @ f
    relaxation = Relaxation(graph, Constraints.from_pairs(graph.n_vertices), 0.0)
    side, value = relaxation.threshold(f)
    solver = FlowProx(graph.weights, graph.vertex_weights)
    _, seconds = timed(partial(solver.prox, value * relaxation.s(side.astype(np.float64))))
    reverse = kernels.reverse_arcs(graph.weights.indptr, graph.weights.indices)
    heights = flow_heights(graph, reverse, f)
    one = min(timed(heights)[1] for _ in range(RUNS))
    return (
        f"- n = {graph.n_vertices:,}: the exact prox of a first step takes {seconds:.2f} s and {solver.n_flows} maximum "
        f"flows, as long as {seconds / one:.0f} passes over the residual graph."
    )


if __name__ == "__main__":
    main()
