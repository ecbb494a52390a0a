"""Reports: a clustering on one HTML page."""

from tightcut.report.html import shorten
from tightcut.report.report import Report, render, write_report

__all__ = ["Report", "render", "shorten", "write_report"]
