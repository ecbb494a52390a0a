"""Settings of the graph and of its cut (`KnnAffinity`, `Setting`), and the record of how they were chosen (`Choice`)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tightcut.neighbors import SEARCHES
from tightcut.neighbors import SYMMETRIZE as SYMMETRIZATIONS
from tightcut.utils.validation import check_choice, check_count

if TYPE_CHECKING:
    import pandas as pd

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


def default_influence(n_clusters: int) -> float:
    """The influence that suits this many clusters, unless pairs show that neighbours have little in common."""
    return INFLUENCE if n_clusters >= INFLUENCE_FROM else 0.0


PAPER = Setting("none", learn_distances=False, n_neighbors=10, symmetrize="maximum", diffusion=0, influence=0.0)


@dataclass(frozen=True)
class CandidateScore:
    """How well a setting agrees with held-out pairs.

    Attributes
    ----------
    setting : Setting
    agreement : float
        Share of the held-out pairs that it satisfies: the mean of the share of must-links and that of cannot-links; 1/2
        is chance. Of a candidate that has dropped out, the share of the pairs it was compared on.
    gain, standard_error : float
        The agreement less that of the default, and the standard error of the difference.
    """

    setting: Setting
    agreement: float
    gain: float
    standard_error: float


@dataclass(frozen=True)
class Choice:
    """The settings that a fit chose in place of "auto", and why.

    Attributes
    ----------
    setting : Setting
        Scale, graph and influence of the fit, chosen or given.
    reason : str
        Why these, in plain words.
    candidates : tuple of CandidateScore
        The candidates that were compared, the default first. Empty where there were too few pairs, or nothing was left
        to choose.
    """

    setting: Setting
    reason: str
    candidates: tuple[CandidateScore, ...] = ()

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each candidate, in the order in which they were tried; needs pandas.

        Examples
        --------
        >>> from tightcut.selection import CandidateScore, Choice, Setting
        >>> tried = CandidateScore(Setting(), 0.75, 0.0, 0.0), CandidateScore(Setting(scale="quantile"), 0.9, 0.15, 0.04)
        >>> frame = Choice(tried[1].setting, "", tried).to_dataframe()
        >>> frame[["scale", "agreement", "gain", "chosen"]].values.tolist()
        [['none', 0.75, 0.0, False], ['quantile', 0.9, 0.15, True]]
        """
        import pandas as pd

        rows = [
            {
                **asdict(candidate.setting),
                "agreement": candidate.agreement,
                "gain": candidate.gain,
                "standard_error": candidate.standard_error,
                "chosen": replace(candidate.setting, influence=self.setting.influence) == self.setting,
            }
            for candidate in self.candidates
        ]
        names = [*asdict(self.setting), "agreement", "gain", "standard_error", "chosen"]
        return pd.DataFrame(rows, columns=names)
