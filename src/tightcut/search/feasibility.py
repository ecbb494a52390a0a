"""Can k clusters satisfy the cannot-links? They can if the must-linked components can be coloured with k colours.

A component with fewer than k conflicts can wait: whatever colours the others get, one remains for it. Removing such
components, again and again, leaves the core, where tabu search looks for a colouring and an exact search (DSATUR) finds
one or proves that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tightcut import kernels
from tightcut.search.constrained_graph import ConstrainedGraph


@dataclass(frozen=True)
class ColouringLimits:
    """How long colourings and cliques are searched for."""

    nodes: int = 2_000_000  # of the exact search
    nodes_at_first: int = 20  # of it, per vertex, before any other search
    tabu_steps: int = 20_000
    tabu_work: int = 1_000_000_000  # visits of a vertex and a label, for the least violated belief
    clique_starts: int = 200
    clique_work: int = 20_000_000  # arcs read


LIMITS = ColouringLimits()


@dataclass(frozen=True, eq=False)
class Colourability:
    """The answer: `colours` if there is one; otherwise whether that is `proven`, and a `clique` of k + 1 if one is known.

    `attempt` is always a colouring, with as few conflicts as were found.
    """

    colours: np.ndarray | None
    attempt: np.ndarray
    proven: bool
    clique: list[int]


def find_colouring(graph: ConstrainedGraph, k: int, rng: np.random.Generator, effort: float = 1.0) -> Colourability:
    """Give each vertex one of k colours so that no relation joins equal ones."""
    conflicts = conflict_graph(graph)
    if conflicts.nnz == 0:  # one colour will do, and no kernel is compiled to find it
        attempt = np.zeros(graph.n_vertices, np.int32)
        return Colourability(attempt, attempt, True, [])
    order, is_hard = kernels.peel(conflicts.indptr, conflicts.indices, k)
    hard = np.flatnonzero(is_hard)
    inner = sp.csr_array(conflicts[hard][:, hard])
    core = _colour_core(inner, k, rng, effort)
    attempt = np.full(graph.n_vertices, -1, np.int32)
    attempt[hard] = core.attempt
    complete(graph, attempt, order[::-1], k)
    colours = None if core.colours is None else attempt
    return Colourability(colours, attempt, core.proven, hard[core.clique].tolist())


def repair(graph: ConstrainedGraph, labels: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Recolour towards feasibility, keeping as many labels as the search can; may fail on a hard core."""
    conflicts = conflict_graph(graph)
    order, core = kernels.peel(conflicts.indptr, conflicts.indices, k)
    hard = np.flatnonzero(core)
    inner = sp.csr_array(conflicts[hard][:, hard])
    repaired = labels.astype(np.int32)
    colours = repaired[hard]
    kernels.colour_by_tabu(*_csr(inner), k, colours, 0.0, LIMITS.tabu_steps, _seed(rng))
    repaired[hard] = colours
    wished = repaired.copy()
    repaired[order] = -1
    complete(graph, repaired, order[::-1], k, wished)
    return repaired


def complete(
    graph: ConstrainedGraph, labels: np.ndarray, order: np.ndarray, k: int, wished: np.ndarray | None = None
) -> None:
    """Label the vertices of `order` one by one: as `wished` if that is allowed, else with the best connected allowed label."""
    w, r = graph.weights, graph.relations
    wished = np.full(graph.n_vertices, -1, np.int32) if wished is None else wished
    kernels.complete_labels(
        w.indptr, w.indices, w.data, r.indptr, r.indices, r.data, labels, np.ascontiguousarray(order), wished, k
    )


def fill_empty(graph: ConstrainedGraph, labels: np.ndarray, k: int) -> np.ndarray:
    """Move the vertex with the fewest ties out of a cluster of two or more into every empty cluster."""
    labels = labels.copy()
    count = np.bincount(labels, minlength=k)
    # At most k of these 2 k vertices are alone in their clusters, so one can always move without emptying its own.
    few = min(2 * k, len(labels)) - 1
    light = np.flatnonzero(graph.degrees <= np.partition(graph.degrees, few)[few])
    light = light[np.argsort(graph.degrees[light], kind="stable")]
    for c in np.flatnonzero(count == 0):
        v = light[np.argmax(count[labels[light]] > 1)]
        count[labels[v]] -= 1
        labels[v], count[c] = c, 1
    return labels


def violate_least(
    graph: ConstrainedGraph, labels: np.ndarray, k: int, rng: np.random.Generator, effort: float = 1.0
) -> np.ndarray:
    """Labels with less violated belief, if a tabu search over the related vertices finds any; the others stay."""
    related = np.flatnonzero(np.diff(graph.relations.indptr))
    if len(related) == 0:
        return labels
    inner = sp.csr_array(graph.relations[related][:, related])
    changed = labels.astype(np.int32)
    colours = changed[related]
    steps = int(min(LIMITS.tabu_steps * max(effort, 0.1), LIMITS.tabu_work / (k * len(related))))
    kernels.colour_by_tabu(*_csr(inner), k, colours, 0.0, steps, _seed(rng))
    changed[related] = colours
    return changed


def _csr(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return matrix.indptr, matrix.indices, matrix.data


def conflict_graph(graph: ConstrainedGraph) -> sp.csr_array:
    """The cannot-links among the relations."""
    conflicts = graph.relations.copy()
    conflicts.data = np.where(conflicts.data > 0, 1.0, 0.0)
    conflicts.eliminate_zeros()
    return conflicts


def find_clique(conflicts: sp.csr_array, enough: int | None = None) -> list[int]:
    """A large set of vertices that are all joined, grown greedily from several starts; one of `enough` ends the search.

    The vertex with most neighbours among the candidates joins next. O(arcs among the candidates) each time, and no more
    than `LIMITS.clique_work` arcs in all once there is a first answer.
    """
    degree = np.diff(conflicts.indptr)
    best: list[int] = []
    work = 0
    for start in np.argsort(-degree, kind="stable")[: LIMITS.clique_starts].tolist():
        if degree[start] < len(best) or work > LIMITS.clique_work:
            break
        clique, candidates = [start], _neighbours(conflicts, start)
        inside = np.zeros(conflicts.shape[0])
        while len(candidates) and len(clique) + len(candidates) > len(best):
            inside[:] = 0
            inside[candidates] = 1
            work += int(degree[candidates].sum())
            chosen = int(candidates[np.argmax(conflicts[candidates] @ inside)])
            clique.append(chosen)
            candidates = np.intersect1d(candidates, _neighbours(conflicts, chosen), assume_unique=True)
        best = max(best, clique, key=len)
        if enough is not None and len(best) >= enough:
            break
    return best


def _colour_core(inner: sp.csr_array, k: int, rng: np.random.Generator, effort: float) -> Colourability:
    """The answer for the core alone. The long searches are spared where a clique rules a colouring out."""
    n = inner.shape[0]
    if n == 0:
        return _coloured(np.zeros(0, np.int32))
    status, colours = kernels.colour_exactly(inner.indptr, inner.indices, k, LIMITS.nodes_at_first * n)
    if status == 1:
        return _coloured(colours)
    clique = find_clique(inner, k + 1)
    attempt = rng.integers(k, size=n).astype(np.int32)
    steps = int(LIMITS.tabu_steps * max(effort, 0.1))
    least = float(clashes_of_clique(len(clique), k))
    if kernels.colour_by_tabu(*_csr(inner), k, attempt, least, steps, _seed(rng)) == 0:
        return _coloured(attempt)
    if len(clique) > k:
        return Colourability(None, attempt, True, clique[: k + 1])
    if status == -1:
        status, colours = kernels.colour_exactly(inner.indptr, inner.indices, k, int(LIMITS.nodes * effort))
    return _coloured(colours) if status == 1 else Colourability(None, attempt, status == 0, [])


def _coloured(colours: np.ndarray) -> Colourability:
    return Colourability(colours, colours, True, [])


def clashes_of_clique(size: int, k: int) -> int:
    """The least number of pairs of equal colour in a clique: it has as many vertices of each colour as of any other."""
    every, rest = divmod(size, k)
    return k * every * (every - 1) // 2 + rest * every


def _neighbours(conflicts: sp.csr_array, v: int) -> np.ndarray:
    return conflicts.indices[conflicts.indptr[v] : conflicts.indptr[v + 1]]


def _seed(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 2**63, 1, dtype=np.uint64)
