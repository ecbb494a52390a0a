"""The chosen setting, and the scores it was chosen by."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from tightcut.selection.graph_config import Setting

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CandidateScore:
    """How well a setting agrees with held-out pairs.

    Attributes
    ----------
    setting : Setting
    agreement : float
        Share of the held-out pairs that it satisfies: the mean of the share of must-links and that of cannot-links; 1/2
        is chance.
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
