"""Correlation clustering (multicut) of all components of a signed graph: one call per stage, since most are tiny."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.arrays import filled
from tightcut.kernels.compiled import compiled
from tightcut.kernels.multicut_bound import pack_cycles
from tightcut.kernels.multicut_exact import best_partition
from tightcut.kernels.multicut_greedy import contract_greedily
from tightcut.kernels.multicut_lns import solve_neighbourhoods
from tightcut.kernels.multicut_moves import improve_clusters

EPSILON = 1e-9
TINY = 8  # vertices up to which branch and bound needs no better start than greedy clusters


def resolve_components(starts, indptr, indices, weights, group_starts, group_values, n_groups, exact_size, most_nodes):
    """Clusters of each component, numbered from 0 in each; also their costs and lower bounds of these.

    Not compiled itself: each stage is a kernel of its own for all components that it concerns, compiled when there is one.

    Parameters
    ----------
    starts : int32 array
        Component c has the vertices starts[c], ..., starts[c + 1] - 1, and no positive edge leaves it.
    indptr, indices, weights : CSR arrays
        Symmetric, with sorted indices and no edges between components. The weight -inf forbids a common cluster.
    group_starts, group_values : int32 arrays
        Groups of each vertex, 0 to n_groups - 1. Vertices that share one are never in one cluster.
    exact_size, most_nodes : int
        Components of at most `exact_size` vertices are solved by branch and bound with at most `most_nodes` nodes. With
        0, no part of a component is solved in this way, either.
    """
    graph, groups = (indptr, indices, weights), (group_starts, group_values)
    labels, costs = join_components(starts, graph, groups, n_groups)
    bounds, sizes = np.zeros(len(costs)), np.diff(starts)

    def left(*others):
        """Components whose cost may be too high, among those for which all else holds."""
        return np.flatnonzero(np.logical_and.reduce([costs > bounds + EPSILON, *others])).astype(np.int32)

    tiny = sizes <= min(exact_size, TINY)
    chosen = left(~tiny)
    if len(chosen):
        improve_components(chosen, starts, graph, groups, n_groups, labels, costs)
    chosen = left(sizes <= exact_size)
    if len(chosen):
        solve_components(chosen, starts, graph, groups, most_nodes, labels, costs, bounds)
    chosen = left(np.full(len(costs), exact_size > 0))
    if len(chosen):
        chosen = chosen[solve_parts(chosen, starts, graph, groups, labels) > 0]
        improve_components(chosen, starts, graph, groups, n_groups, labels, costs)
    chosen = left()
    if len(chosen):
        bound_components(chosen, starts, graph, groups, n_groups, costs, bounds)
    return labels, costs, bounds


@compiled
def join_components(starts, graph, groups, n_groups):
    """Greedy clusters of all components, and their costs."""
    count = len(starts) - 1
    labels, costs, mark = filled(starts[count], 0), np.zeros(count), filled(n_groups, 0)
    for c in range(count):
        first, n = starts[c], starts[c + 1] - starts[c]
        if n <= 2:  # what holds a component of two together is a positive edge
            continue
        label = contract_greedily(first, n, graph, groups, mark)
        costs[c] = _cost(first, n, graph, label)
        for v in range(n):
            labels[first + v] = label[v]
    return labels, costs


@compiled
def improve_components(chosen, starts, graph, groups, n_groups, labels, costs):
    """Improve the clusters of some components by moves and exchanges."""
    mark = filled(n_groups, 0)
    for c in chosen:
        first, n = starts[c], starts[c + 1] - starts[c]
        label = labels[first : first + n]
        improve_clusters(first, n, graph, groups, mark, label)
        costs[c] = _cost(first, n, graph, label)


@compiled
def solve_components(chosen, starts, graph, groups, most_nodes, labels, costs, bounds):
    """Solve some small components by branch and bound."""
    for c in chosen:
        first, n = starts[c], starts[c + 1] - starts[c]
        costs[c], bounds[c] = _solve_exactly(first, n, graph, groups, labels[first : first + n], costs[c], most_nodes)


@compiled
def solve_parts(chosen, starts, graph, groups, labels):
    """Solve parts of some components exactly; returns which of these have changed."""
    changed = filled(len(chosen), 0)
    for at in range(len(chosen)):
        first, n = starts[chosen[at]], starts[chosen[at] + 1] - starts[chosen[at]]
        if solve_neighbourhoods(first, n, graph, groups, labels[first : first + n]):
            changed[at] = 1
    return changed


@compiled
def bound_components(chosen, starts, graph, groups, n_groups, costs, bounds):
    """Lower bounds for some components by packing."""
    mark = filled(n_groups, 0)
    for c in chosen:
        first, n = starts[c], starts[c + 1] - starts[c]
        bounds[c] = max(bounds[c], min(costs[c], pack_cycles(first, n, graph, groups, mark)))


@compiled
def _cost(first, n, graph, label):
    """Positive weight between clusters and negative weight inside them."""
    indptr, indices, weights = graph
    cost = 0.0
    for v in range(n):
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            u = indices[arc] - first
            if u > v and (weights[arc] > 0) != (label[u] == label[v]) and weights[arc] > -np.inf:
                cost += abs(weights[arc])
    return cost


@compiled
def _solve_exactly(first, n, graph, groups, label, cost, most_nodes):
    """Improve labels by branch and bound; returns their cost and a lower bound. Heavy vertices are assigned first."""
    indptr, indices, weights = graph
    heavy = np.zeros(n)
    for v in range(n):
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            heavy[v] -= min(abs(weights[arc]), 1e3)
    order, rank = filled(n, 0), filled(n, 0)
    for v in range(n):
        for u in range(n):
            rank[v] += heavy[u] < heavy[v] or (heavy[u] == heavy[v] and u < v)
        order[rank[v]] = v
    matrix = np.zeros((n, n))
    for v in range(n):
        for arc in range(indptr[first + v], indptr[first + v + 1]):
            matrix[rank[v], rank[indices[arc] - first]] = weights[arc]
        for u in range(v):
            if _share_a_group(first + v, first + u, groups):
                matrix[rank[v], rank[u]] = matrix[rank[u], rank[v]] = -np.inf
    ordered = filled(n, 0)
    for i in range(n):
        ordered[i] = label[order[i]]
    cost, bound = best_partition(matrix, ordered, cost, most_nodes)
    for i in range(n):
        label[order[i]] = ordered[i]
    return cost, bound


@compiled
def _share_a_group(v, u, groups):
    starts, values = groups
    for one in range(starts[v], starts[v + 1]):
        for other in range(starts[u], starts[u + 1]):
            if values[one] == values[other]:
                return True
    return False
