"""The problem, section 2 of the paper: a graph, pairs read from anything, and the cut that is minimised."""

from tightcut.problem.constraints import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.violations import Violations

__all__ = ["Constraints", "Graph", "Violations"]
