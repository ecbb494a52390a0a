"""Pieces of HTML that the sections of a report are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}"><h2>{title}</h2>{body}</section>'


def table(caption: str, headings: Sequence[str], rows: Iterable[str], name: str = "") -> str:
    """A table of rows of cells; a heading that ends with # is that of a column of numbers."""
    columns = [(text.removesuffix("#"), "n" if text.endswith("#") else "") for text in headings]
    cells = [f'<th scope="col" class="{kind}">{text}</th>' for text, kind in columns]
    head = f"<thead><tr>{''.join(cells)}</tr></thead>" if headings else ""
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="scroll"><table class="{name}"><caption>{caption}</caption>{head}<tbody>{body}</tbody></table></div>'


def shorten(text: str, limit: int = 40) -> str:
    """The text, cut in the middle if it is long.

    Examples
    --------
    >>> from tightcut.report import shorten
    >>> shorten("a-rather-long-identifier", 11)
    'a-rat…ifier'
    """
    half = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[:half]}…{text[-half:]}"
