"""One way to make a graph of points and to cut it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightcut.neighbors import SEARCHES
from tightcut.neighbors import SYMMETRIZE as SYMMETRIZATIONS
from tightcut.selection.scale import SCALED_TO
from tightcut.utils.validation import check_choice, check_count

AUTO = "auto"
N_NEIGHBORS, SYMMETRIZE, DIFFUSION = 10, "mean", 2
INFLUENCE = 1.0
INFLUENCE_FROM = 5  # clusters


@dataclass(frozen=True)
class KnnAffinity:
    """A nearest-neighbour graph in detail, as the `affinity` of `tightcut.COSC`; ``"knn"`` stands for the defaults.

    Parameters
    ----------
    learn_distances : bool or "auto", default="auto"
        Whether must-links rescale the directions, as in `tightcut.MustLinkScaler`. "auto" means no, unless the pairs
        favour it.
    neighbors : {"auto", "tree", "blocked", "approximate"}, default="auto"
        How to search for neighbours, see `tightcut.knn_affinity`; all but "approximate" are exact.
    symmetrize : {"auto", "maximum", "mean"}, default="auto"
        Weight of an edge of which only one end counts the other among its nearest neighbours: full ("maximum", as in
        the paper) or half ("mean"); see `tightcut.knn_affinity`. "auto" is "mean".
    diffusion : int or "auto", default="auto"
        Steps of a random walk that smooths the graph; see `tightcut.knn_affinity`. "auto" is 2.
    connect : bool, default=True
        Join the components of a disconnected graph by their shortest links, with a warning; False does neither.

    Examples
    --------
    >>> from tightcut import COSC, KnnAffinity
    >>> line = [[0.0], [1.0], [2.2], [3.4], [5.0], [6.0]]
    >>> plain = KnnAffinity(symmetrize="maximum", diffusion=0)
    >>> COSC(affinity=plain, n_neighbors=2, random_state=0).fit_predict(line).tolist()
    [0, 0, 0, 0, 1, 1]
    """

    learn_distances: bool | str = AUTO
    neighbors: str = AUTO
    symmetrize: str = AUTO
    diffusion: int | str = AUTO
    connect: bool = True

    def __post_init__(self) -> None:
        if self.learn_distances != AUTO and not isinstance(self.learn_distances, bool | np.bool_):
            raise ValueError(f'learn_distances must be True, False or "auto"; got {self.learn_distances!r}.')
        check_choice("neighbors", self.neighbors, SEARCHES)
        check_choice("symmetrize", self.symmetrize, (AUTO, *SYMMETRIZATIONS))
        if self.diffusion != AUTO:
            check_count("diffusion", self.diffusion, 0)
        if self.connect not in (True, False):
            raise ValueError(f"connect must be True or False; got {self.connect!r}.")


@dataclass(frozen=True)
class Setting:
    """What a candidate is; the attributes are parameters of `tightcut.COSC`.

    Attributes
    ----------
    scale : {"none", "standard", "quantile"}
    learn_distances : bool
        Whether `MustLinkScaler` comes after the scale.
    n_neighbors : int
    symmetrize : {"maximum", "mean"}
    diffusion : int
    influence : float
    """

    scale: str = "none"
    learn_distances: bool = False
    n_neighbors: int = N_NEIGHBORS
    symmetrize: str = SYMMETRIZE
    diffusion: int = DIFFUSION
    influence: float = 0.0

    def __str__(self) -> str:
        learned = ", distances learned from must-links" if self.learn_distances else ""
        steps = f", {self.diffusion} steps of diffusion" if self.diffusion else ""
        return (
            f"columns {SCALED_TO[self.scale]}{learned}; {self.n_neighbors} neighbours, {self.symmetrize}{steps}; "
            f"influence {self.influence:g}"
        )


def default_influence(n_clusters: int) -> float:
    """The influence that suits this many clusters, unless pairs show that neighbours have little in common."""
    return INFLUENCE if n_clusters >= INFLUENCE_FROM else 0.0


PAPER = Setting("none", learn_distances=False, n_neighbors=10, symmetrize="maximum", diffusion=0, influence=0.0)
