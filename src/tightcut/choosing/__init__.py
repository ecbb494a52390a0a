"""What a fit chooses where it is not told: scale, graph and influence, from the columns and from pairs held out."""

from tightcut.choosing.choice import CandidateScore, Choice
from tightcut.choosing.choose import Problem, choose
from tightcut.choosing.scales import SCALED_TO, SCALES, fit_scale, judge_columns
from tightcut.choosing.setting import AUTO, Setting
from tightcut.choosing.views import GivenGraph, PointGraphs, View

__all__ = [
    "AUTO",
    "SCALED_TO",
    "SCALES",
    "CandidateScore",
    "Choice",
    "GivenGraph",
    "PointGraphs",
    "Problem",
    "Setting",
    "View",
    "choose",
    "fit_scale",
    "judge_columns",
]
