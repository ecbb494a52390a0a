"""Lists of the nearest candidates, one bounded heap per row, and exact distances.

Row r of `distance` and `number` is a heap with the worst candidate first: the larger distance, then the larger number.
`limit[r]` is the distance beyond which a candidate is of no use; never above `distance[r, 0]`.
"""

from __future__ import annotations

import numpy as np

from tightcut._kernels.compiled import compiled

CHUNK = 32  # candidates that are looked at together: one comparison each, in vector registers


@compiled
def replace_worst(distance, number, row, value, name):
    """Enter a candidate in place of the worst one."""
    size = distance.shape[1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (
            distance[row, other] > distance[row, below]
            or (distance[row, other] == distance[row, below] and number[row, other] > number[row, below])
        ):
            below = other
        if distance[row, below] < value or (distance[row, below] == value and number[row, below] < name):
            break
        distance[row, at] = distance[row, below]
        number[row, at] = number[row, below]
        at = below
    distance[row, at] = value
    number[row, at] = name


@compiled
def offer_both(products, left_halves, right_halves, left, right, names, distance, number, limit, diagonal):
    """Enter each pair of a block into the lists of both its points, where it is among the best.

    IN products (rows, columns), halves (half the squared norms), left and right (rows of the lists), names, diagonal
    (both sides are the same points: every pair once, none with itself). INOUT distance, number, limit.
    """
    n_columns = len(right)
    right_limits = limit[right]
    for i in range(len(left)):
        row = left[i]
        half = left_halves[i]
        bound = limit[row]
        start = i + 1 if diagonal else 0
        while start < n_columns:
            stop = min(start + CHUNK, n_columns)
            hits = 0
            for j in range(start, stop):
                value = half + right_halves[j] - products[i, j]
                hits += (value <= bound) | (value <= right_limits[j])
            if hits > 0:
                for j in range(start, stop):
                    value = max(half + right_halves[j] - products[i, j], 0 * half)
                    column = right[j]
                    if value < bound or (value == bound and names[column] < number[row, 0]):
                        replace_worst(distance, number, row, value, names[column])
                        bound = min(bound, distance[row, 0])
                    if value < right_limits[j] or (value == right_limits[j] and names[row] < number[column, 0]):
                        replace_worst(distance, number, column, value, names[row])
                        right_limits[j] = min(right_limits[j], distance[column, 0])
            start = stop
        limit[row] = bound
        if diagonal and i + 1 < n_columns:
            limit[right[i + 1]] = right_limits[i + 1]
    if not diagonal:
        for j in range(n_columns):
            limit[right[j]] = right_limits[j]


@compiled
def offer_left(products, left_halves, right_halves, left, own_names, right_names, distance, number, limit):
    """Enter the columns of a block into the lists of its rows; a column with the row's own name does not count."""
    n_columns = len(right_names)
    for i in range(len(left)):
        row = left[i]
        half = left_halves[i]
        bound = limit[row]
        start = 0
        while start < n_columns:
            stop = min(start + CHUNK, n_columns)
            hits = 0
            for j in range(start, stop):
                hits += half + right_halves[j] - products[i, j] <= bound
            if hits > 0:
                for j in range(start, stop):
                    value = max(half + right_halves[j] - products[i, j], 0 * half)
                    name = right_names[j]
                    better = value < bound or (value == bound and (value < distance[row, 0] or name < number[row, 0]))
                    if better and name != own_names[i]:
                        replace_worst(distance, number, row, value, name)
                        bound = min(bound, distance[row, 0])
            start = stop
        limit[row] = bound


@compiled
def half_squares(points, rows, others, found, scale, out):
    """Half the squared distances from points[rows] to others[found], scaled: float64 differences, four running sums."""
    n_features = points.shape[1]
    for i in range(len(rows)):
        x = points[rows[i]]
        for place in range(found.shape[1]):
            y = others[found[i, place]]
            a = b = c = d = 0.0
            for f in range(0, n_features - 3, 4):
                a += ((np.float64(x[f]) - np.float64(y[f])) * scale) ** 2
                b += ((np.float64(x[f + 1]) - np.float64(y[f + 1])) * scale) ** 2
                c += ((np.float64(x[f + 2]) - np.float64(y[f + 2])) * scale) ** 2
                d += ((np.float64(x[f + 3]) - np.float64(y[f + 3])) * scale) ** 2
            for f in range(n_features - n_features % 4, n_features):
                a += ((np.float64(x[f]) - np.float64(y[f])) * scale) ** 2
            out[i, place] = ((a + b) + (c + d)) / 2
