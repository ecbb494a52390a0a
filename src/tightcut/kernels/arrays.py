"""Helpers shared by kernels: constant arrays, and sums of edge values by cluster."""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled


@compiled
def filled(n, value):
    """An int32 array of n equal entries. `np.full` takes longer to compile than all the rest of a small kernel."""
    array = np.empty(n, np.int32)
    for at in range(n):
        array[at] = value
    return array


@compiled
def tabulate(indptr, indices, values, labels, table):
    """The sum of each vertex's values towards each cluster. O(arcs + n k)."""
    table[:] = 0.0
    for v in range(len(labels)):
        for a in range(indptr[v], indptr[v + 1]):
            table[v, labels[indices[a]]] += values[a]


@compiled
def add_up_between(indptr, indices, values, labels, total):
    """Add the values between each two clusters to a table. O(arcs)."""
    for v in range(len(labels)):
        for a in range(indptr[v], indptr[v + 1]):
            total[labels[v], labels[indices[a]]] += values[a]
