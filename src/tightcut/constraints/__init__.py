"""What the user knows: must-links and cannot-links, read from anything, closed, two-coloured, counted when violated."""

from tightcut.constraints.constraints import Constraints
from tightcut.constraints.violations import Violations

__all__ = ["Constraints", "Violations"]
