"""One way to make a graph of points and to cut it."""

from __future__ import annotations

from dataclasses import dataclass

from tightcut.selection.scale import SCALED_TO

AUTO = "auto"
N_NEIGHBORS, SYMMETRIZE, DIFFUSION = 10, "mean", 2
INFLUENCE = 1.0
INFLUENCE_FROM = 5  # clusters


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
