"""Sections 2.1 and 3 of the paper: the tight relaxation, and RatioDCA with its inner convex problem."""

from tightcut.relaxation.relaxation import Relaxation

__all__ = ["Relaxation"]
