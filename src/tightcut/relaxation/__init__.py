"""The paper: the constrained cut, its tight relaxation, and RatioDCA with its inner convex problem."""

from tightcut.relaxation.relaxation import Relaxation

__all__ = ["Relaxation"]
