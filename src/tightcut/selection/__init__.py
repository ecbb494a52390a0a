"""The automatic choice of scale, graph and influence, from the columns and from held-out pairs."""

from tightcut.selection.built_graph import BuiltGraph, FeatureMap
from tightcut.selection.graph_config import AUTO, CandidateScore, Choice, Setting
from tightcut.selection.probe import TuningProblem
from tightcut.selection.scale import SCALED_TO, SCALES, fit_scale, judge_columns
from tightcut.selection.select import choose_setting
from tightcut.selection.sources import GraphSource, PointSource, Similarities

__all__ = [
    "AUTO",
    "SCALED_TO",
    "SCALES",
    "BuiltGraph",
    "CandidateScore",
    "Choice",
    "FeatureMap",
    "GraphSource",
    "PointSource",
    "Setting",
    "Similarities",
    "TuningProblem",
    "choose_setting",
    "fit_scale",
    "judge_columns",
]
