"""A cell of the grid, and the pairs that belong to it whatever the method."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from tightcut.constraints import Constraints
from tightcut.datasets import sample_constraints, sample_constraints_among

SMALLEST_BELIEF = 0.01


@dataclass(frozen=True)
class Cell:
    """One fit.

    Parameters
    ----------
    dataset, method : str
    pairs : float
        A whole number of random pairs; or between 0 and 1 the fraction of the points all whose pairs are given.
    noise : float
        Share of the pairs whose kind is wrong.
    trial : int
    setting : str
        Fingerprint of the method's parameters, the graph and the seed: results of another setting do not count.
    """

    dataset: str
    method: str
    pairs: float
    noise: float
    trial: int
    setting: str = ""

    @property
    def fraction(self) -> float | None:
        return self.pairs if 0 < self.pairs < 1 else None

    @property
    def n_pairs(self) -> int | None:
        return int(self.pairs) if self.fraction is None else None

    def __str__(self) -> str:
        pairs = f"{self.n_pairs} pairs" if self.fraction is None else f"pairs among {self.fraction:.3g} of the points"
        return f"{self.dataset}, {self.method}, {pairs}, trial {self.trial}"


def draw_constraints(y: np.ndarray, cell: Cell, seed: int) -> Constraints:
    """The pairs of a cell: the same for every method, and but for the noise for every level of noise."""
    rng = np.random.default_rng([seed, crc32(cell.dataset.encode()), round(cell.pairs * 1e6), cell.trial])
    if cell.fraction is None:
        known = sample_constraints(y, int(cell.pairs), rng)
    else:
        known = sample_constraints_among(y, cell.fraction, rng)
    return doubted(known, cell.noise, rng) if cell.noise else known


def doubted(known: Constraints, noise: float, rng: np.random.Generator) -> Constraints:
    """The same pairs with round(noise * n_pairs) of them flipped, and beliefs that tell about it.

    A pair is right with a probability p, uniform on (1 - 2 noise, 1): noise is the mean share of wrong ones, and flips
    fall on pairs in proportion to 1 - p. The belief 2 p - 1 is what a pair of that p tells on balance.

    Examples
    --------
    >>> import numpy as np
    >>> known = Constraints.from_pairs(9, [(0, i) for i in range(1, 9)])
    >>> wrong = doubted(known, 0.25, np.random.default_rng(0))
    >>> wrong.n_must_link, wrong.n_cannot_link
    (6, 2)
    """
    right = rng.uniform(1 - 2 * noise, 1, known.n_pairs)
    flipped = np.zeros(known.n_pairs, dtype=bool)
    doubt = (1 - right) / max((1 - right).sum(), np.finfo(float).tiny)
    flipped[rng.choice(known.n_pairs, round(noise * known.n_pairs), replace=False, p=doubt)] = True
    pairs = np.concatenate([known.must_link, known.cannot_link])
    same = (np.arange(known.n_pairs) < known.n_must_link) ^ flipped
    belief = np.maximum(2 * right - 1, SMALLEST_BELIEF)
    return Constraints.from_pairs(known.n_points, pairs[same], pairs[~same], belief[same], belief[~same])
