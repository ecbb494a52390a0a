r"""Correlation clustering under rules: the clusters of least disagreement with the evidence.

Disagreement is :math:`\sum_{w_{ij} > 0,\ \text{apart}} w_{ij} + \sum_{w_{ij} < 0,\ \text{together}} |w_{ij}|`, and the
number of clusters is free. No optimal cluster falls into parts without a positive edge between them, so each connected
component of the positive edges is a problem of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tightcut.problem.pairs import pair_keys
from tightcut.problem.two_colouring import link_graph
from tightcut.resolution.edges import PairScores
from tightcut.resolution.rules import Rules
from tightcut.utils.codes import distinct, renumber
from tightcut.utils.interruption import interruptible


@dataclass(frozen=True)
class SolverLimits:
    """The limits of branch and bound: all components of up to 14 units in `resolving_optima.md` are solved within them."""

    most_units: int = 20  # of a component that is tried
    most_nodes: int = 200_000  # of the search
    proven: float = 1e-9  # relative distance from the bound at which a solution counts as optimal


LIMITS = SolverLimits()


@dataclass(frozen=True, eq=False)
class UnitEdges:
    """The total evidence between pairs of units, the smaller one first, sorted; -inf where a rule keeps them apart."""

    first: np.ndarray
    second: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False)
class Solution:
    """Clusters, and a bound on their distance from the optimum.

    Parameters
    ----------
    labels : int64 ndarray of shape (n_records,)
        Numbered by first appearance.
    gap : float
        Disagreement minus a lower bound.
    n_components, n_proven : int
        Components of two units or more, and how many of them are proven to be optimal.
    """

    labels: np.ndarray
    gap: float
    n_components: int
    n_proven: int


def edges_between_units(evidence: PairScores, rules: Rules) -> UnitEdges:
    """Sum the evidence between units, and mark the pairs that rules forbid; pairs without evidence are left out."""
    n, pairs = max(rules.n_units, 1), rules.units[evidence.pairs]
    key = pair_keys(pairs, n)
    scored = np.flatnonzero((pairs[:, 0] != pairs[:, 1]) & (evidence.weight != 0))
    if len(rules.joined):
        scored = scored[np.argsort(key[scored], kind="stable")]
    starts = np.flatnonzero(np.diff(key[scored], prepend=-1))  # without must-links pairs are in order already
    keys = key[scored[starts]]
    weights = np.add.reduceat(evidence.weight[scored], starts) if len(starts) else np.empty(0)
    forbidden = distinct(pair_keys(rules.units[rules.cannot_link], n))
    if len(forbidden):
        forbidden = forbidden[~np.isin(forbidden, keys, kind="sort")]
        keys, weights = np.append(keys, forbidden), np.append(weights, np.full(len(forbidden), -np.inf))
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
    first, second = np.divmod(keys, n)
    weights[rules.between(rules.units, first, second).any] = -np.inf
    return UnitEdges(first, second, weights)


def solve(edges: UnitEdges, rules: Rules) -> Solution:
    """Cluster each component, all in one call of a kernel."""
    from tightcut import kernels

    n = rules.n_units
    could = edges.weight > 0
    links = np.stack([edges.first[could], edges.second[could]], axis=1)
    count, component = connected_components(link_graph(n, links), directed=False)
    order = np.argsort(component, kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    starts = np.concatenate([[0], np.cumsum(np.bincount(component, minlength=count))]).astype(np.int32)
    inside = component[edges.first] == component[edges.second]
    ends = place[np.stack([edges.first[inside], edges.second[inside]])]
    both = np.concatenate([ends, ends[::-1]], axis=1)
    signed = sp.csr_array((np.tile(edges.weight[inside], 2), tuple(both)), shape=(n, n))
    signed.sort_indices()
    indices = signed.indptr.astype(np.int32), signed.indices.astype(np.int32)
    group_starts, group_values = _groups(rules, place)
    with interruptible():
        own, costs, bounds = kernels.resolve_components(
            starts,
            *indices,
            signed.data,
            group_starts,
            group_values,
            rules.n_groups,
            LIMITS.most_units,
            LIMITS.most_nodes,
        )
    # A component has at most as many clusters as units, so these numbers differ between components.
    labels = (own + np.repeat(starts[:-1], np.diff(starts)))[place][rules.units]
    several = np.diff(starts) > 1
    proven = several & (costs <= bounds + LIMITS.proven * np.maximum(1, costs))
    return Solution(
        renumber(labels) if len(labels) else labels.astype(np.int64),
        float((costs - bounds).sum()),
        int(several.sum()),
        int(proven.sum()),
    )


def _groups(rules: Rules, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The groups of each unit, by its place, CSR-style."""
    records, values = rules.memberships
    keys = distinct(place[rules.units[records]] * rules.n_groups + values)
    units, values = np.divmod(keys, rules.n_groups)
    starts = np.searchsorted(units, np.arange(rules.n_units + 1))
    return starts.astype(np.int32), values.astype(np.int32)
