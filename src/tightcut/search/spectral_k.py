"""`choose_n_clusters`: the number of clusters from a gap between similarities, many cannot-links, or the eigengap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from tightcut.exceptions import InconsistentConstraintsError
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.spectral import largest_eigenpairs
from tightcut.search.constrained_graph import ConstrainedGraph
from tightcut.search.feasibility import conflict_graph, find_clique, find_colouring
from tightcut.search.magnitudes import scaled_graph
from tightcut.utils.warning import warn

MAX_CLUSTERS = 20


@dataclass(frozen=True)
class CountRules:
    """What the rules for the number of clusters hold for large, small or few."""

    nearly: float = 0.8  # of the largest gap; among gaps at least this large the fewest clusters are preferred
    near_zero: float = 0.1  # of the square root of the last eigenvalue; ratios of smaller ones say nothing
    largest_small: float = 10.0  # mean number of points of "small clusters", ...
    smallest_small: float = 1.25  # ... and the least
    levels: int = 100  # of the tree that are compared by their violated pairs
    exact_arcs: int = 50_000  # conflicts up to which numbers of colours below the greedy one are tried one by one


RULES = CountRules()

# From numbers of clusters to those that may be right, with the reason in words; None where there is no telling.
Admit: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, str] | None]


@dataclass(frozen=True, eq=False)
class ClusterCount:
    """A number of clusters and why.

    Attributes
    ----------
    n_clusters : int
    reason : str
        Readable sentences: the rule that decided, how clearly, and the next best number.
    eigenvalues : ndarray or None
        The smallest eigenvalues of the graph, where these decided; with must-linked points merged, unless held-out pairs
        took part. The sum of the first k is a lower bound on the cut into k clusters, so a gap after the k-th says that
        cluster k + 1 would be expensive.
    at_least : int
        Fewest clusters the cannot-links allow, as far as was found.
    """

    n_clusters: int
    reason: str
    eigenvalues: np.ndarray | None
    at_least: int


def choose_n_clusters(
    graph: Graph, constraints: Constraints, max_clusters: int = MAX_CLUSTERS, admit: Admit | None = None
) -> ClusterCount:
    """The number of clusters that the graph and the constraints suggest, at least 2.

    Never fewer than the cannot-links can be satisfied with, as far as a colouring was found. Of three rules the first
    that applies decides:

    1. *Small clusters by a gap.* Join points along the strongest links, one after the other. Where clusters are small and
       clear, the links within are all stronger than those between, with a gap. The largest of n random spacings is about
       log n times their mean; a gap twice as large, at a mean of 1.25 to 10 points per cluster, decides.
    2. *Small clusters by many cannot-links*, such as those of groups, at least one per point. If a share p of all pairs is
       cannot-linked, each violated one stands for 1 / p wrong pairs. The level of the same tree with most right minus wrong
       pairs decides, if it has more than `max_clusters`.
    3. *The eigengap* (of square roots) up to `max_clusters`; among gaps of at least four fifths of the largest the one with
       the fewest clusters. It warns where the number chosen is the last one tried. With `admit`, only the numbers that it
       admits are compared, by the gap relative to the larger eigenvalue.

    Parameters
    ----------
    graph : Graph
    constraints : Constraints
    max_clusters : int, default=20
    admit : callable, optional
        Called by the third rule with an array of numbers of clusters; returns those that may be right and the reason in
        words, or None where it cannot tell. See `tightcut.selection.select_k.admitted_by_pairs`.

    Examples
    --------
    Sixty pairs of twins, and four clouds:

    >>> import numpy as np
    >>> from tightcut import Constraints, Graph, knn_affinity
    >>> from tightcut.search.spectral_k import choose_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> twins = np.repeat(rng.normal(size=(60, 5)), 2, axis=0) + 0.02 * rng.normal(size=(120, 5))
    >>> clouds = np.repeat([[0, 0], [0, 9], [9, 0], [9, 9]], 30, axis=0) + rng.normal(size=(120, 2))
    >>> for points in (twins, clouds):
    ...     graph = Graph.from_affinity(knn_affinity(points, connect=False))
    ...     print(choose_n_clusters(graph, Constraints.from_pairs(120)).n_clusters)
    60
    4
    """
    witness = constraints.conflict_witness()
    if witness is not None:
        raise InconsistentConstraintsError(witness)
    count, component = constraints.components()
    if count < 2:
        raise InconsistentConstraintsError(n_clusters=2, reason="empty cluster", n_sets=1)
    merged = graph.contract(component)
    pairs = Constraints.from_pairs(count, cannot_link=component[constraints.cannot_link])
    at_least, why = _fewest_clusters(merged, pairs)
    tree = _Tree.of(graph, component, count)
    small = _by_gap(tree, at_least) or _by_violations(tree, pairs, at_least, max_clusters)
    if small is not None:
        k, reason = small
        return ClusterCount(k, f"{reason} ({why}).", None, at_least)
    most = max(max_clusters, at_least)
    numbers = np.arange(at_least, min(most, count - 1) + 1)
    admitted = admit(numbers) if admit is not None and len(numbers) > 1 else None
    if admitted is not None:
        return _by_relative_gap(graph, *admitted, at_least, most)
    return _by_eigengap(merged, at_least, why, most)


@dataclass(frozen=True, eq=False)
class _Tree:
    """The strongest links that join all vertices, strongest first: single linkage."""

    n: int
    ends: np.ndarray
    strength: np.ndarray

    @classmethod
    def of(cls, graph: Graph, component: np.ndarray, count: int) -> _Tree:
        """The tree of the must-linked sets; two of them are as similar as their most similar points."""
        links = graph.weights.tocoo()
        row, column = component[links.row], component[links.col]
        order = np.lexsort((-links.data, column, row))
        row, column, data = row[order], column[order], links.data[order]
        first = (row < column) & np.append(True, (np.diff(row) != 0) | (np.diff(column) != 0))
        # A minimum spanning tree of positive lengths; zero would mean no link.
        top = 2 * data.max(initial=1.0)
        lengths = sp.coo_array((top - data[first], (row[first], column[first])), shape=(count, count))
        found = minimum_spanning_tree(sp.csr_array(lengths)).tocoo()
        order = np.argsort(found.data, kind="stable")
        return cls(count, np.stack([found.row, found.col], axis=1)[order], top - found.data[order])

    def labels(self, n_clusters: int) -> np.ndarray:
        links = self.ends[: self.n - n_clusters]
        joined = sp.coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(self.n, self.n))
        return connected_components(joined, directed=False)[1]


def _by_gap(tree: _Tree, at_least: int) -> tuple[int, str] | None:
    """The number of small clusters that a gap in the strengths tells, if one does."""
    n, strength = tree.n, np.append(tree.strength, np.zeros(tree.n - 1 - len(tree.strength)))
    numbers = np.arange(max(2, at_least, int(n / RULES.largest_small)), int(n / RULES.smallest_small) + 1)
    numbers = numbers[numbers < n]
    span = float(np.ptp(strength)) if n > 2 else 0.0
    if len(numbers) == 0 or span == 0:
        return None
    gaps = strength[n - numbers - 1] - strength[n - numbers]
    clear = gaps * n / (2 * np.log(n) * span)
    k = int(numbers[np.argmax(clear)])
    if clear.max() < 1:
        return None
    sure = "clearly" if clear.max() > 2 else "not very clearly"
    low, high = strength[n - k], strength[n - k - 1]
    return k, (
        f"The links within {k} small clusters are {sure} stronger (at least {high:.3g}) than those between them (at most "
        f"{low:.3g}), a gap {clear.max():.1f} times as wide as chance makes likely"
    )


def _by_violations(tree: _Tree, pairs: Constraints, at_least: int, max_clusters: int) -> tuple[int, str] | None:
    """The number of clusters after which joining points violates too many of many cannot-links."""
    n, apart = tree.n, pairs.cannot_link
    if len(apart) < n or n - at_least < 2:
        return None
    share = len(apart) / (n * (n - 1) / 2)
    best, k, wrong_share = -np.inf, n, 0.0
    fewest = max(at_least, n - len(tree.ends))
    for number in np.unique(np.linspace(fewest, n - 1, min(RULES.levels, n - fewest)).astype(int)).tolist():
        labels = tree.labels(number)
        sizes = np.bincount(labels).astype(float)
        joined = float((sizes * (sizes - 1) / 2).sum())
        wrong = float((labels[apart[:, 0]] == labels[apart[:, 1]]).sum()) / share
        if joined - 2 * wrong > best:
            best, k, wrong_share = joined - 2 * wrong, number, min(wrong / max(joined, 1), 1)
    if k <= max_clusters:
        return None
    return k, (
        f"Joining the most similar points into about {k} clusters agrees best with the cannot-links: judged by those, "
        f"{wrong_share:.0%} of the pairs that it joins are wrong"
    )


def _by_eigengap(merged: Graph, at_least: int, why: str, most: int) -> ClusterCount:
    count = merged.n_vertices
    eigenvalues = smallest_eigenvalues(merged, min(most + 1, count))
    # Square roots are vibration frequencies: on this scale the spectrum of a featureless graph is evenly spaced.
    gaps = np.diff(np.sqrt(eigenvalues))
    allowed = np.arange(at_least, len(eigenvalues))
    if len(allowed) == 0:
        reason = f"{why[0].upper()}{why[1:]}; there are no more separate sets of points."
        return ClusterCount(at_least, reason, eigenvalues, at_least)
    k, rival = _widest(gaps, allowed)
    reason = f"The eigengap (of square roots) after {k} is {gaps[k - 1]:.3g}"
    if rival is not None:
        largest, second = gaps[k - 1], gaps[rival - 1]
        clear = largest > 1.25 * second
        sure = "clearly the largest" if largest > 2 * second else "the largest" if clear else "but that is not certain"
        reason += f", {sure}: after {rival} it is {second:.3g}"
    if at_least < k == most < count:
        warn(
            f'n_clusters="auto" chose {k}, the largest number it tried; there may be more clusters. Give n_clusters if you '
            "know about how many."
        )
    return ClusterCount(k, f"{reason} (searched from {at_least} to {allowed[-1]}; {why}).", eigenvalues, at_least)


def _by_relative_gap(graph: Graph, admitted: np.ndarray, why: str, at_least: int, most: int) -> ClusterCount:
    """Of the admitted numbers the one after which the eigenvalues rise most, relative to where they rise to."""
    if len(admitted) == 1:
        return ClusterCount(int(admitted[0]), f"{why}.", None, at_least)
    eigenvalues = smallest_eigenvalues(graph, min(most + 1, graph.n_vertices))
    root = np.sqrt(eigenvalues)
    # Parts of the graph that are barely connected have eigenvalues near 0, whose ratios say nothing.
    gaps = np.diff(root) / np.maximum(root[1:] + RULES.near_zero * root[-1], np.finfo(float).tiny)
    k, rival = _widest(gaps, admitted)
    reason = f"{why}. Of these the relative eigengap (of square roots) decides: after {k} it is {gaps[k - 1]:.3g}"
    return ClusterCount(k, f"{reason}, after {rival} {gaps[rival - 1]:.3g}.", eigenvalues, at_least)


def _widest(gaps: np.ndarray, numbers: np.ndarray) -> tuple[int, Any]:
    """The smallest of some numbers of clusters whose gap is nearly the largest, and the best of the others, if any."""
    own = gaps[numbers - 1]
    place = int(np.argmax(own >= RULES.nearly * own.max()))
    others = np.delete(numbers, place)
    return int(numbers[place]), others[np.argmax(gaps[others - 1])] if len(others) else None


def smallest_eigenvalues(graph: Graph, count: int) -> np.ndarray:
    """The smallest eigenvalues of the pencil (Laplacian, vertex weights), in ascending order."""
    if graph.n_edges == 0:
        return np.zeros(count)  # Lanczos does not begin with a matrix of zeros
    graph, exponent = scaled_graph(graph)
    n, scale = graph.n_vertices, 1 / np.sqrt(graph.vertex_weights)
    stiffness = graph.degrees * scale**2
    # Lanczos converges fastest at the largest end, so the spectrum is turned around.
    top = 2 * float(stiffness.max())
    turned = sp.diags_array(top - stiffness) + sp.diags_array(scale) @ graph.weights @ sp.diags_array(scale)
    found, _ = largest_eigenpairs(
        sp.csr_array(turned), count, lambda: np.random.default_rng(0).normal(size=n), tol=1e-6
    )
    if len(found) < count:
        raise np.linalg.LinAlgError(f"{len(found)} of {count} eigenvalues of the graph converged; give n_clusters.")
    return np.ldexp(np.maximum(top - found, 0), exponent)


def _fewest_clusters(merged: Graph, pairs: Constraints) -> tuple[int, str]:
    """The fewest clusters that the cannot-links allow, as far as could be found, and why."""
    if pairs.n_cannot_link == 0:
        return 2, "no cannot-link sets a minimum"
    graph = ConstrainedGraph.from_graph(merged, pairs)
    conflicts = conflict_graph(graph)
    size = max(2, len(find_clique(conflicts)))
    k, enough = size, max(size, _greedy_colours(conflicts))
    if conflicts.nnz > RULES.exact_arcs:
        k = enough  # a search for each smaller number would take longer than the clustering
    while k < enough and find_colouring(graph, k, np.random.default_rng(0)).colours is None:
        k += 1
    if k == size:
        return k, f"{k} sets of points are all kept apart by cannot-links"
    return (
        k,
        f"no assignment to fewer was found that satisfies the cannot-links, although only {size} sets are all kept apart",
    )


def _greedy_colours(conflicts: sp.csr_array) -> int:
    """Colours used by one pass that gives each vertex, those with most conflicts first, the first colour that is free."""
    colours = np.full(conflicts.shape[0], -1)
    for vertex in np.argsort(-np.diff(conflicts.indptr), kind="stable").tolist():
        taken = np.unique(colours[conflicts.indices[conflicts.indptr[vertex] : conflicts.indptr[vertex + 1]]])
        taken = taken[taken >= 0]
        free = np.flatnonzero(taken != np.arange(len(taken)))
        colours[vertex] = free[0] if len(free) else len(taken)
    return int(colours.max()) + 1
