"""Reports: a clustering on one HTML page."""

from tightcut.report.html import shorten
from tightcut.report.report import render, write_report

__all__ = ["render", "shorten", "write_report"]
