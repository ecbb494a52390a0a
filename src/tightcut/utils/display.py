"""Text for people: numbers with their nouns, sizes of clusters, and notebook views of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

SIZES_SHOWN = 8  # of the clusters


def count_noun(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun.

    Examples
    --------
    >>> from tightcut.utils.display import count_noun
    >>> count_noun(1, "must-link"), count_noun(1200, "must-link"), count_noun(0, "match", "matches")
    ('1 must-link', '1,200 must-links', '0 matches')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def html_view(
    title: str, facts: Mapping[str, Any], headings: Sequence[str] = (), rows: Iterable[Sequence[Any]] = ()
) -> str:
    """A title, facts in a line, and perhaps a table, as HTML that needs no style of its own.

    Examples
    --------
    >>> from tightcut.utils.display import html_view
    >>> html_view("Graph", {"vertices": "<3"})
    '<div><strong>Graph</strong> &nbsp;vertices &lt;3</div>'
    """
    line = " &nbsp;".join([f"<strong>{escape(title)}</strong>", *(escape(f"{n} {v}") for n, v in facts.items())])
    if not headings:
        return f"<div>{line}</div>"
    head = "".join(f"<th>{escape(name)}</th>" for name in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div>{line}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def shown_sizes(sizes: Sequence[int], limit: int = SIZES_SHOWN) -> str:
    """Sizes of clusters, the first few of many.

    Examples
    --------
    >>> from tightcut.utils.display import shown_sizes
    >>> shown_sizes([4, 5]), shown_sizes(range(1, 12))
    ('4, 5', '1, 2, 3, 4, 5, 6, 7, 8, ...')
    """
    return ", ".join(f"{size:,}" for size in sizes[:limit]) + (", ..." if len(sizes) > limit else "")
