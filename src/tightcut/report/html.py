"""The building blocks of a report's sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import NamedTuple

import numpy as np

from tightcut.drawing.pictures import ArrayPictures
from tightcut.problem import Constraints
from tightcut.problem.graph import Graph
from tightcut.problem.violations import Violations

TEXT_SHOWN = 300  # characters
Place = Callable[[str, int, int], str | None]


@dataclass(frozen=True, eq=False)
class Subject:
    """The clustering that a report is about; the parameters are those of `render`."""

    graph: Graph
    labels: np.ndarray  # 0, ..., k - 1
    constraints: Constraints
    ids: Sequence[str]
    titles: Sequence[str]  # of the clusters: their names, or numbers
    points: np.ndarray | None = None
    columns: Sequence[str] = ()
    texts: Sequence[str] | None = None
    images: ArrayPictures | None = None
    places: Place | None = None

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of points of each cluster."""
        return np.bincount(self.labels)

    @cached_property
    def violations(self) -> Violations:
        return self.constraints.violations(self.labels)

    def title(self, cluster: int) -> str:
        """The name of a cluster, or its number."""
        return escape(shorten(self.titles[cluster]))

    def chips(self, points: Iterable[int]) -> str:
        """The names of points; for texts, which begin to be read where one points at a name."""
        return "".join(
            f'<span class="id" data-point="{point}"{self._begins(point)}>{escape(shorten(self.ids[point]))}</span>'
            for point in points
        )

    def _begins(self, point: int) -> str:
        return "" if self.texts is None else f' title="{escape(self.texts[point][:TEXT_SHOWN])}"'

    def place(self, kind: str, i: int, j: int) -> Cell:
        """A cell with the source of a pair; empty if that is unknown."""
        return Cell(escape((self.places and self.places(kind, i, j)) or ""), 'class="quiet"')


class Cell(NamedTuple):
    """A cell of a table: its content and its attributes as HTML."""

    content: str
    attributes: str = ""
    tag: str = "td"

    def under(self, heading: str) -> str:
        """As HTML, with the heading, which narrow screens show next to the cell."""
        label = heading and f'data-label="{heading}"'
        return f"<{' '.join(filter(None, (self.tag, label, self.attributes)))}>{self.content}</{self.tag}>"


def number(text: str) -> Cell:
    return Cell(text, 'class="n"')


def heading(text: str) -> Cell:
    """The first cell of a row: its subject."""
    return Cell(text, 'scope="row"', "th")


class Row(NamedTuple):
    """Cells of a table, and the HTML attributes that name what a click on the row shows."""

    cells: Sequence[Cell]
    shows: str = ""

    def under(self, headings: Sequence[str]) -> str:
        """The row as HTML, without headings unless it has a cell for each."""
        clickable = f' {self.shows} tabindex="0"' if self.shows else ""
        titles = headings if len(headings) == len(self.cells) else [""] * len(self.cells)
        cells = (cell.under(title) for cell, title in zip(self.cells, titles, strict=True))
        return f"<tr{clickable}>{''.join(cells)}</tr>"


def section(name: str, title: str, body: str) -> str:
    """A heading and a body whose table is labelled by the heading."""
    body = body.replace("<table ", f'<table aria-label="{title}" ', 1)
    return f'<section id="{name}"><h2>{title}</h2>{body}</section>'


def table(about: str, headings: Sequence[str], rows: Iterable[Row], name: str = "wide") -> str:
    """A table; headings that end with # are those of columns of numbers."""
    columns = [(text.removesuffix("#"), "n" if text.endswith("#") else "") for text in headings]
    body = "".join(row.under([text for text, _ in columns]) for row in rows)
    cells = [f'<th scope="col" class="{kind}">{text}</th>' for text, kind in columns]
    head = f"<thead><tr>{''.join(cells)}</tr></thead>" if headings else ""
    # The text is above the table, not inside: the table may be wider than the screen.
    return (
        f'<p class="about">{about}</p><div class="scroll"><table class="{name}">{head}'
        f"<tbody>{body}</tbody></table></div>"
    )


def line(kind: str) -> str:
    """The line of a kind of constraint, for legends."""
    return f'<svg viewBox="0 0 24 12" aria-hidden="true"><line class="{kind}" x1="0" y1="7" x2="24" y2="7"/></svg>'


def shorten(text: str, limit: int = 40) -> str:
    """The text, shortened in the middle if it is long.

    Examples
    --------
    >>> from tightcut.report import shorten
    >>> shorten("a-rather-long-identifier", 11)
    'a-rat…ifier'
    """
    half = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[:half]}…{text[-half:]}"
