"""Nearest-neighbour kernels: candidate heaps, exact distances, and search among sparse rows.

A candidate list is a row of three arrays. `half_squares` and `neighbors` form a binary heap with the worst candidate
first: the larger half squared distance, then the larger neighbour. `bounds` holds the half squared distance beyond
which a candidate is of no use; it never exceeds the first entry of the heap.

A sparse matrix comes as the tuple (indptr, indices, data) of its CSR form, with sorted indices.
"""

from __future__ import annotations

import numpy as np

from tightcut.kernels.compiled import compiled, compiled_sum

CHUNK = 32  # candidates compared at a time, in vector registers
ACCURATE = 1e-12  # relative error of a half squared distance that needs no second computation


@compiled
def replace_worst(half_squares, neighbors, row, value, neighbor):
    """Put a candidate in the place of the worst one. Time O(log k)."""
    size = half_squares.shape[1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (
            half_squares[row, other] > half_squares[row, below]
            or (half_squares[row, other] == half_squares[row, below] and neighbors[row, other] > neighbors[row, below])
        ):
            below = other
        if half_squares[row, below] < value or (half_squares[row, below] == value and neighbors[row, below] < neighbor):
            break
        half_squares[row, at] = half_squares[row, below]
        neighbors[row, at] = neighbors[row, below]
        at = below
    half_squares[row, at] = value
    neighbors[row, at] = neighbor


@compiled
def _enter(half_squares, neighbors, bounds, row, value, neighbor):
    """Enter a candidate where it is among the best; the smaller neighbour wins a tie."""
    if value < bounds[row] or (value == bounds[row] and neighbor < neighbors[row, 0]):
        replace_worst(half_squares, neighbors, row, value, neighbor)
        bounds[row] = min(bounds[row], half_squares[row, 0])


@compiled
def _next_chunk(start, half_norm, right_half_norms, products, bound, right_bounds):
    """Where the next chunk begins that may hold a candidate; the last one, if incomplete, always may."""
    while start + CHUNK <= len(products):
        if _any_near(half_norm, right_half_norms[start:], products[start:], bound, right_bounds[start:]):
            break
        start += CHUNK
    return start


@compiled
def _any_near(half_norm, right_half_norms, products, bound, right_bounds):
    """Whether any of CHUNK candidates may be entered. The fixed count lets the compiler use vector registers."""
    hits = np.int32(0)
    for j in range(CHUNK):
        hits += np.int32(half_norm + right_half_norms[j] - products[j] <= max(bound, right_bounds[j]))
    return hits > 0


@compiled
def update_lists(products, left, right, queries, points, scale, own, diagonal, half_squares, neighbors, bounds):
    """Enter each pair of a block into the lists of both its ends, where it is among the best.

    IN products (rows, columns); left and right, each a tuple of half norms (half the squared norms), rows of the lists
    (-1 for a point without a list, on the right only) and ids (rows of the queries and of the points); own (the queries
    are the points: equal ids are no pair); diagonal (both sides are the same points: every pair once). Where `points`
    has rows, norms and products give lower bounds, and the pairs within bounds are measured by differences. INOUT
    half_squares, neighbors, bounds.
    """
    left_half_norms, left_rows, left_ids = left
    right_half_norms, right_rows, right_ids = right
    n_columns = len(right_ids)
    right_bounds = np.full(n_columns, -np.inf, np.float32)
    for j in range(n_columns):
        if right_rows[j] >= 0:
            right_bounds[j] = _rounded_up(bounds[right_rows[j]])
    for i in range(len(left_rows)):
        row, half_norm = left_rows[i], left_half_norms[i]
        bound = _rounded_up(bounds[row])
        start = i + 1 if diagonal else 0
        start = _next_chunk(start, half_norm, right_half_norms, products[i], bound, right_bounds)
        while start < n_columns:
            for j in range(start, min(start + CHUNK, n_columns)):
                value = np.float64(half_norm + right_half_norms[j] - products[i, j])
                if (value > bound and value > right_bounds[j]) or (own and left_ids[i] == right_ids[j]):
                    continue
                if len(points):
                    value = _half_square(queries[left_ids[i]], points[right_ids[j]], scale)
                value = max(value, 0.0)
                _enter(half_squares, neighbors, bounds, row, value, right_ids[j])
                bound = _rounded_up(bounds[row])
                if right_rows[j] >= 0:
                    _enter(half_squares, neighbors, bounds, right_rows[j], value, left_ids[i])
                    right_bounds[j] = _rounded_up(bounds[right_rows[j]])
            start = _next_chunk(start + CHUNK, half_norm, right_half_norms, products[i], bound, right_bounds)


@compiled
def _rounded_up(bound):
    """As float32, never below the bound; the second term is for numbers below the normal ones."""
    return np.float32(bound * (1 + 2.0**-22) + 2.0**-149)


@compiled_sum
def _half_square(x, y, scale):
    """Half the squared distance, scaled, by differences in float64."""
    total = 0.0
    for f in range(len(x)):
        total += ((np.float64(x[f]) - np.float64(y[f])) * scale) ** 2
    return total / 2


@compiled
def pair_half_squares(queries, rows, points, candidates, scale, out):
    """Half the squared distances from queries[rows] to points[candidates]."""
    for i in range(len(rows)):
        for place in range(candidates.shape[1]):
            out[i, place] = _half_square(queries[rows[i]], points[candidates[i, place]], scale)


@compiled
def _sparse_half_square(queries, row, points, other):
    """Half the squared distance of two sparse rows, by differences. Time O(entries of both)."""
    starts, features, values = queries
    other_starts, other_features, other_values = points
    a, b = starts[row], other_starts[other]
    total = 0.0
    while a < starts[row + 1] or b < other_starts[other + 1]:
        difference = 0.0
        left = features[a] if a < starts[row + 1] else np.int32(2**31 - 1)
        right = other_features[b] if b < other_starts[other + 1] else np.int32(2**31 - 1)
        if left <= right:
            difference += values[a]
            a += 1
        if right <= left:
            difference -= other_values[b]
            b += 1
        total += difference**2
    return total / 2


@compiled
def sparse_pair_half_squares(queries, rows, points, candidates, out):
    """As `pair_half_squares`, for sparse rows."""
    for i in range(len(rows)):
        for place in range(candidates.shape[1]):
            out[i, place] = _sparse_half_square(queries, rows[i], points, candidates[i, place])


@compiled
def sparse_nearest(
    queries, query_half_norms, points, half_norms, postings, start, stop, own, error, half_squares, neighbors
):
    """The nearest points of the queries from `start` to `stop`, as heaps.

    IN postings (the transposed points), own (queries are the points, none its own neighbour), error (of a computed half
    squared distance, relative to the sum of the two half norms). OUT half_squares, neighbors.
    """
    starts, features, values = queries
    posting_starts, posting_points, posting_values = postings
    n_points = len(half_norms)
    for row in range(start, stop):
        products = np.zeros(n_points)
        for a in range(starts[row], starts[row + 1]):
            for b in range(posting_starts[features[a]], posting_starts[features[a] + 1]):
                products[posting_points[b]] += values[a] * posting_values[b]
        # Pass 1: no fewer than k points are surely within the k-th smallest upper bound.
        half_squares[row] = np.inf
        for j in range(n_points):
            norms = query_half_norms[row] + half_norms[j]
            upper = norms * (1 + error) - products[j]
            if upper < half_squares[row, 0] and not (own and j == row):
                replace_worst(half_squares, neighbors, row, upper, j)
        within = half_squares[row, 0]
        # Pass 2: only points with a lower bound within that can be among the k nearest.
        half_squares[row] = np.inf
        for j in range(n_points):
            norms = query_half_norms[row] + half_norms[j]
            value = norms - products[j]
            if value - error * norms <= within and not (own and j == row):
                if error * norms > ACCURATE * value:
                    value = _sparse_half_square(queries, row, points, j)
                if value < half_squares[row, 0]:
                    replace_worst(half_squares, neighbors, row, value, j)
