"""Extremely randomised trees (Geurts, Ernst and Wehenkel, 2006): random thresholds of random columns, the best of a few.

scikit-learn's forests spend a few milliseconds on every tree before and after growing it. Here trees are grown from dozens
or hundreds of rows, again and again, while a person answers questions.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled
from tightcut.kernels.random import next_random


@compiled
def grow_trees(X, group, n_groups, kept, n_tried, state):
    """One tree for each row of `kept`, grown until every leaf is of one group or cannot be split.

    Parameters
    ----------
    X : float32 ndarray of shape (m, d)
    group : int32 ndarray of shape (m,)
    n_groups : int
    kept : bool ndarray of shape (t, m)
        The rows that each tree learns from; at least one.
    n_tried : int
        Columns that vary, tried for each split.
    state : uint64 ndarray of shape (1,)
        State of the random numbers; changed.

    Returns
    -------
    feature, child : int32 ndarray of shape (t, 2 * m)
        The column that a node splits by, -1 for a leaf; the first of its two children, the second comes after it.
    threshold : float32 ndarray of shape (t, 2 * m)
        Rows up to it go to the first child.
    value : float32 ndarray of shape (t, 2 * m, n_groups)
        Share of each group among the rows of a node.
    """
    m, d = X.shape
    n_trees = len(kept)
    feature, child = np.full((n_trees, 2 * m), -1, np.int32), np.zeros((n_trees, 2 * m), np.int32)
    threshold, value = np.zeros((n_trees, 2 * m), np.float32), np.zeros((n_trees, 2 * m, n_groups), np.float32)
    rows, columns = np.empty(m, np.int64), np.arange(d)
    begin, end = np.empty(2 * m, np.int64), np.empty(2 * m, np.int64)
    count, left = np.empty(n_groups), np.empty(n_groups)
    for t in range(n_trees):
        size = 0
        for i in range(m):
            if kept[t, i]:
                rows[size] = i
                size += 1
        begin[0], end[0], n_nodes, node = 0, size, 1, 0
        while node < n_nodes:
            first, last = begin[node], end[node]
            count[:] = 0
            for r in range(first, last):
                count[group[rows[r]]] += 1
            value[t, node] = count / (last - first)
            if count.max() < last - first:
                column, limit = _best_split(X, group, rows[first:last], count, left, columns, n_tried, state)
                if column >= 0:
                    middle = first + _partition(X, rows[first:last], column, limit)
                    feature[t, node], threshold[t, node], child[t, node] = column, limit, n_nodes
                    begin[n_nodes], end[n_nodes] = first, middle
                    begin[n_nodes + 1], end[n_nodes + 1] = middle, last
                    n_nodes += 2
            node += 1
    return feature, child, threshold, value


@compiled
def _best_split(X, group, rows, count, left, columns, n_tried, state):
    """The column and the threshold with the purest sides (Gini) among a few random ones; -1 if no column varies."""
    best, best_column, best_limit, tried = -1.0, -1, np.float32(0), 0
    for remaining in range(len(columns), 0, -1):
        drawn = int(next_random(state) * remaining)
        columns[drawn], columns[remaining - 1] = columns[remaining - 1], columns[drawn]
        column = columns[remaining - 1]
        low = high = X[rows[0], column]
        for row in rows:
            low, high = min(low, X[row, column]), max(high, X[row, column])
        if low == high:
            continue
        limit = np.float32(low + next_random(state) * (high - low))
        if limit >= high:  # by rounding; a side would be empty
            limit = low
        left[:] = 0
        for row in rows:
            if X[row, column] <= limit:
                left[group[row]] += 1
        n_left = left.sum()
        purity = (left * left).sum() / n_left + ((count - left) ** 2).sum() / (len(rows) - n_left)
        if purity > best:
            best, best_column, best_limit = purity, column, limit
        tried += 1
        if tried == n_tried:
            break
    return best_column, best_limit


@compiled
def _partition(X, rows, column, limit):
    """Put the rows up to a limit first; returns how many they are."""
    first, last = 0, len(rows) - 1
    while first <= last:
        if X[rows[first], column] <= limit:
            first += 1
        else:
            rows[first], rows[last] = rows[last], rows[first]
            last -= 1
    return first


@compiled
def average_votes(X, feature, child, threshold, value, counted):
    """What the trees say of each row on average; zeros for a row without votes.

    Parameters
    ----------
    X : float32 ndarray of shape (n, d)
    feature, child, threshold, value : ndarray
        Trees, as `grow_trees` returns them.
    counted : bool ndarray of shape (t, n)
        The trees that count for each row.

    Returns
    -------
    float32 ndarray of shape (n, n_groups)
    """
    votes = np.zeros((len(X), value.shape[2]), np.float32)
    for i in range(len(X)):
        n_counted = 0
        for t in range(len(feature)):
            if not counted[t, i]:
                continue
            node = 0
            while feature[t, node] >= 0:
                node = child[t, node] + (X[i, feature[t, node]] > threshold[t, node])
            votes[i] += value[t, node]
            n_counted += 1
        if n_counted:
            votes[i] /= np.float32(n_counted)
    return votes
