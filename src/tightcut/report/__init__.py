"""The report: a clustering as one HTML page."""

from tightcut.report.parts import shorten
from tightcut.report.report import render

__all__ = ["render", "shorten"]
