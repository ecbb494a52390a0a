r"""Beliefs of all points: harmonic over the graph between the answered points, shrunk towards what is known of their part.

The beliefs U (one column for each group, the last one for "not known yet") solve

.. math:: (1 + \epsilon) D u - W u = \epsilon D \, \mathrm{prior}

at the free points and equal the given beliefs B at the answered points S, where D holds the degrees and the prior of a point
is what the answers in its part say. With :math:`A = (1 + \epsilon) D - W` fixed, everything is a combination of columns of
its inverse G: those that belong to the parts, computed once, and one column for each answered point. So

.. math:: U = P c + G_S \alpha, \qquad \alpha = G_{SS}^{-1} (B - (P c)_S),

a dense product whose result does not depend on the order of the answers, and leaving out one point has a closed form:
its neighbours would have said :math:`B_i - \alpha_i / (G_{SS}^{-1})_{ii}`. A column costs a few dozen passes over the edges.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tightcut.ask.beliefs.column_cache import KeptColumns

# Chosen on digits, USPS, COIL-20 and letter.
DRAW = 0.03  # epsilon: how strongly a point is drawn to its part
UNKNOWN = 0.3  # answers that say "not known yet" in every part
TOLERANCE = 1e-5


class HarmonicField:
    """Solves for harmonic beliefs; keeps the columns of the inverse that it has computed.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
    parts : int ndarray of shape (n,)
        The part of each point, 0, ..., f - 1.
    draw : float
        How strongly a point is drawn to its part.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]]))
    >>> spreading = HarmonicField(path, np.zeros(3, int), draw=0.5)
    >>> spreading.inverse.column(0).astype(float).round(3).tolist()
    [0.933, 0.4, 0.267]
    """

    def __init__(self, weights: sp.csr_array, parts: np.ndarray, draw: float = DRAW) -> None:
        self.weights, self.parts, self.draw = weights, parts, draw
        degrees = np.asarray(weights.sum(axis=1)).ravel()
        smallest = degrees[degrees > 0].min(initial=np.inf)
        self.degrees = np.where(degrees > 0, degrees, smallest if np.isfinite(smallest) else 1.0)
        self.diagonal = self.degrees * (1 + draw)
        self.inverse = KeptColumns(len(parts), self._column)
        indicator = np.zeros((len(parts), int(parts.max()) + 1))
        indicator[np.arange(len(parts)), parts] = draw * self.degrees
        self.part_columns = self.solve(indicator).astype(np.float32)
        self.part_sums = self.part_columns.sum(axis=0)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Conjugate gradients for all columns at once."""
        diagonal = self.diagonal if right.ndim == 1 else self.diagonal[:, None]
        x = right / diagonal
        residual = right - (diagonal * x - self.weights @ x)
        z = residual / diagonal
        p, rz = z, (residual * z).sum(axis=0)
        limit = TOLERANCE * np.abs(x).max()
        while np.abs(z).max() > limit:
            Ap = diagonal * p - self.weights @ p
            step = rz / np.maximum((p * Ap).sum(axis=0), 1e-300)
            x = x + step * p
            residual = residual - step * Ap
            z = residual / diagonal
            rz, old = (residual * z).sum(axis=0), rz
            p = z + rz / np.maximum(old, 1e-300) * p
        return x

    def _column(self, row: int) -> np.ndarray:
        unit = np.zeros(len(self.parts))
        unit[row] = 1.0
        return self.solve(unit)


class Harmonic:
    """The opinion of one graph: beliefs that are harmonic between the answered points."""

    def __init__(self, spreading: HarmonicField, points: np.ndarray) -> None:
        self.spreading, self.points = spreading, points
        self.columns = spreading.inverse.columns(points)
        inner = self.columns[points].astype(np.float64)
        self.inverse = np.linalg.inv((inner + inner.T) / 2)
        self.parts = spreading.part_columns[points]
        self.part = spreading.parts[points]

    def foresee(self, answered: np.ndarray) -> np.ndarray:
        """What would be believed of each answered point without its own answers."""
        prior, moved = part_priors(self.part, answered, self.parts.shape[1])
        alpha = self.inverse @ (answered - self.parts @ prior)
        own = self.parts[np.arange(len(self.points)), self.part][:, None]
        foreseen = np.clip(answered - alpha / self.inverse.diagonal()[:, None] - own * moved, 1e-6, 1)
        return foreseen / foreseen.sum(axis=1, keepdims=True)

    def reach(self, answered: np.ndarray) -> np.ndarray:
        """Share of the points that follow each answered one, on its way over the edges or through its part."""
        own = self.spreading.inverse.sums(self.points) @ self.inverse
        weight = answered[:, :-1].sum(axis=1)
        held = np.bincount(self.part, weight, self.parts.shape[1])[self.part]
        through = self.spreading.part_sums[self.part] * weight / (held + UNKNOWN)
        return (np.maximum(own, 0) + through) / len(self.spreading.parts)

    def nearness(self) -> np.ndarray:
        """How much the beliefs of any two answered points follow each other, from 0 to 1, of shape (m, m)."""
        root = np.sqrt(self.inverse.diagonal())
        near = np.clip(-self.inverse / root[:, None] / root, 0, 1)
        np.fill_diagonal(near, 0)
        return near

    def shares(self, answered: np.ndarray) -> np.ndarray:
        """The belief of every point."""
        prior, _ = part_priors(self.part, answered, self.parts.shape[1])
        alpha = self.inverse @ (answered - self.parts @ prior)
        shares = self.spreading.part_columns @ prior.astype(np.float32) + self.columns @ alpha.astype(np.float32)
        return np.clip(shares, 0, 1)


def part_priors(part: np.ndarray, answered: np.ndarray, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """What is known of each part, and by how much each answered point has moved its own part."""
    count = np.zeros((n_parts, answered.shape[1]))
    np.add.at(count, part, answered)
    count[:, -1] += UNKNOWN
    prior = count / count.sum(axis=1, keepdims=True)
    without = count[part] - answered
    without /= without.sum(axis=1, keepdims=True)
    return prior, prior[part] - without
