"""Lists of the nearest candidates, one bounded heap per row, and exact distances.

Row r of `distance` and `number` is a heap with the worst candidate first: the larger distance, then the larger number.
`limit[r]` is the distance beyond which a candidate is of no use; never above `distance[r, 0]`.
"""

from __future__ import annotations

import numpy as np

from tightcut._kernels.compiled import compiled, compiled_sum

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
def _any_near(half, right_halves, products, bound, right_bounds):
    """Whether any of a whole chunk of candidates may be entered. The fixed count lets the compiler use vectors."""
    hits = np.int32(0)
    for j in range(CHUNK):
        hits += np.int32(half + right_halves[j] - products[j] <= max(bound, right_bounds[j]))
    return hits > 0


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
            part = slice(start, stop)
            if stop < start + CHUNK or _any_near(
                half, right_halves[part], products[i, part], bound, right_limits[part]
            ):
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
    no_limits = np.full(n_columns, -np.inf, limit.dtype)
    for i in range(len(left)):
        row = left[i]
        half = left_halves[i]
        bound = limit[row]
        start = 0
        while start < n_columns:
            stop = min(start + CHUNK, n_columns)
            part = slice(start, stop)
            if stop < start + CHUNK or _any_near(half, right_halves[part], products[i, part], bound, no_limits[part]):
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
def offer_if_near(
    products, left_halves, right_halves, left, right, names, points, scale, distance, number, limit, diagonal
):
    """Enter each pair of a block whose shadows are near enough into the lists of both, with the points' own distance.

    As `offer_both`, with halves and products that give a lower bound; `names` are the rows of `points`.
    """
    n_columns = len(right)
    right_bounds = np.empty(n_columns, np.float32)
    for j in range(n_columns):
        right_bounds[j] = _above(limit[right[j]])
    for i in range(len(left)):
        row = left[i]
        half = left_halves[i]
        bound = _above(limit[row])
        start = i + 1 if diagonal else 0
        while start < n_columns:
            stop = min(start + CHUNK, n_columns)
            part = slice(start, stop)
            if stop < start + CHUNK or _any_near(
                half, right_halves[part], products[i, part], bound, right_bounds[part]
            ):
                for j in range(start, stop):
                    lowest = half + right_halves[j] - products[i, j]
                    if lowest > bound and lowest > right_bounds[j]:
                        continue
                    column = right[j]
                    value = _half_square(points[names[row]], points[names[column]], scale)
                    if value < limit[row] or (value == limit[row] and names[column] < number[row, 0]):
                        replace_worst(distance, number, row, value, names[column])
                        limit[row] = min(limit[row], distance[row, 0])
                        bound = _above(limit[row])
                    if value < limit[column] or (value == limit[column] and names[row] < number[column, 0]):
                        replace_worst(distance, number, column, value, names[row])
                        limit[column] = min(limit[column], distance[column, 0])
                        right_bounds[j] = _above(limit[column])
            start = stop


@compiled
def _above(limit):
    """Rounded to float32, never down."""
    return np.float32(limit * (1 + 2.0**-22))


@compiled_sum
def _half_square(x, y, scale):
    """Half the squared distance, scaled: float64 differences."""
    total = 0.0
    for f in range(len(x)):
        total += ((np.float64(x[f]) - np.float64(y[f])) * scale) ** 2
    return total / 2


@compiled
def half_squares(points, rows, others, found, scale, out):
    """Half the squared distances from points[rows] to others[found]."""
    for i in range(len(rows)):
        for place in range(found.shape[1]):
            out[i, place] = _half_square(points[rows[i]], others[found[i, place]], scale)
