"""The report: a clustering as one HTML page."""

from tightcut.report.report import Subject, render, shorten

__all__ = ["Subject", "render", "shorten"]
