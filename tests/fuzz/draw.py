"""Random sizes, numbers from 1e-320 to 1e300 and beyond, graphs and labels; small, so that many of them are tried."""

import numpy as np

LOWEST, HIGHEST = -320, 300  # powers of ten; below 1e-308 numbers are subnormal
BROKEN = (np.inf, -np.inf, np.nan, 0.0, -1.0)


def size(rng, most=24):
    """One in three is 1, 2 or 3; one in thirty may be four times as large as the others."""
    kind = rng.random()
    return int(rng.integers(1, 4 if kind < 1 / 3 else most + 1 if kind < 0.97 else 4 * most + 1))


def clusters(rng, n):
    return int(rng.choice([1, min(2, n), n, rng.integers(1, n + 1)]))


def positive(rng, n, lowest=LOWEST, highest=HIGHEST):
    """Ordinary numbers, equal ones, two far apart, or powers of ten from a part or all of the range."""
    ends = np.sort(rng.uniform(lowest, highest, 2))
    kind = rng.integers(5)
    if kind == 0:
        return rng.uniform(0.1, 1.0, n)
    if kind == 1:
        return np.full(n, 10.0 ** rng.choice([0.0, ends[0]]))
    if kind == 2:
        return 10.0 ** rng.choice(ends, n)
    return 10.0 ** rng.uniform(*(ends if kind == 3 else (lowest, highest)), n)


def any_numbers(rng, n):
    """What a kernel may be given by mistake: positive numbers, or also negative ones, infinite ones and NaN."""
    values = positive(rng, n)
    if rng.random() < 0.3:
        broken = rng.random(n) < rng.choice([0.05, 0.5])
        values = np.where(broken, rng.choice(BROKEN, n), values)
    return values


def symmetric(rng, n, draw=positive, signed=False):
    """A dense symmetric matrix with zeros on the diagonal; between none and all of its entries are 0."""
    upper = np.triu(draw(rng, n * n).reshape(n, n), 1)
    if signed:
        upper = upper * rng.choice([-1, 1], (n, n))
    upper = np.where(rng.random((n, n)) < rng.choice([0.1, 0.4, 1.0]), upper, 0.0)
    return upper + upper.T


def csr(matrix):
    """indptr, indices and values of the entries that are not 0, in the types that kernels are compiled for."""
    rows, columns = np.nonzero(matrix)
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(matrix)))).astype(np.int32)
    return indptr, columns.astype(np.int32), np.ascontiguousarray(matrix[rows, columns], dtype=np.float64)


def graph(rng, n, draw=any_numbers, signed=False):
    with np.errstate(all="ignore"):
        return csr(symmetric(rng, n, draw, signed))


def labels(rng, n, k):
    """Each of k labels at least once."""
    values = rng.integers(k, size=n).astype(np.int32)
    values[rng.permutation(n)[:k]] = np.arange(k, dtype=np.int32)
    return values


def order(rng, n):
    return rng.permutation(n).astype(np.int32)


def seed(rng):
    return rng.integers(1, 2**63, 1, dtype=np.uint64)


def number(rng):
    return float(any_numbers(rng, 1)[0])


def assert_labels(found, k, *, all_used=False):
    assert len(found) == 0 or (found.min() >= 0 and found.max() < k), (found, k)
    if all_used:
        assert len(np.unique(found)) == k, (found, k)


def assert_numbered(found):
    """0, 1, ... with none left out."""
    assert_labels(found, int(found.max(initial=-1)) + 1, all_used=True)
