"""The automatic choice of scale, graph and influence, from the columns and from held-out pairs."""

from tightcut.selection.graph_config import AUTO, Setting
from tightcut.selection.scale import SCALED_TO, SCALES, fit_scale, judge_columns
from tightcut.selection.select import Problem, choose
from tightcut.selection.selection import CandidateScore, Choice
from tightcut.selection.sources import GivenGraph, PointGraphs, View

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
