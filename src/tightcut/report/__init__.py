"""The report: a clustering as one HTML page."""

from tightcut.report.report import render, shorten

__all__ = ["render", "shorten"]
