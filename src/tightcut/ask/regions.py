"""The opinion of a plain cut: a point belongs to the group that is commonest among the answered points of its part."""

from __future__ import annotations

import numpy as np

from tightcut.ask.spreading import part_priors


class Regions:
    """Forecasts from the parts of a cut.

    Parameters
    ----------
    parts : int ndarray of shape (n,)
        The part of each point.
    points : int ndarray of shape (m,)
        The answered points.

    Examples
    --------
    >>> import numpy as np
    >>> regions = Regions(np.array([0, 0, 0, 1]), np.array([0, 1]))
    >>> answered = np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> regions.shares(answered).round(2).tolist()
    [[0.87, 0.13], [0.87, 0.13], [0.87, 0.13], [0.0, 1.0]]
    >>> regions.foresee(answered).round(2).tolist()
    [[0.77, 0.23], [0.77, 0.23]]
    """

    def __init__(self, parts: np.ndarray, points: np.ndarray) -> None:
        self.parts, self.part, self.n_parts = parts, parts[points], int(parts.max()) + 1

    def foresee(self, answered: np.ndarray) -> np.ndarray:
        """What the other answered points of its part say of each answered point."""
        prior, moved = part_priors(self.part, answered, self.n_parts)
        return prior[self.part] - moved

    def shares(self, answered: np.ndarray) -> np.ndarray:
        """What the answered points of its part say of every point."""
        prior, _ = part_priors(self.part, answered, self.n_parts)
        return prior[self.parts]
