"""Reports: a clustering on one HTML page."""

from tightcut.report.html import shorten
from tightcut.report.report import CRITERIA, Report, render, write_report

__all__ = ["CRITERIA", "Report", "render", "shorten", "write_report"]
