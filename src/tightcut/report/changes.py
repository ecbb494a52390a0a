"""The changes of an update, as a section of the report."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from tightcut.fitted.changes import Change, Changes
from tightcut.report.html import Cell, Row, Subject, number, section, shorten, table
from tightcut.utils.contradictions import spell

ROWS_SHOWN, POINTS_SHOWN = 40, 8
TOLD = {
    "born": "New points form a new cluster",
    "split": "Split off into a new cluster",
    "merged": "From a cluster that ended",
    "moved": "Moved",
    "joined": "New points joined",
}


def change_section(changes: Changes | None, subject: Subject, names: Mapping[int, str]) -> str:
    """A table of the changes; empty if there was no update."""
    if changes is None:
        return ""
    if len(changes) == 0:
        return section("changes", "Changes", "<p>The update changed no cluster.</p>")
    rows = [_row(change, subject, names) for change in changes[:ROWS_SHOWN]]
    hidden = len(changes) - len(rows)
    caption = "The changes of the last update and, where a constraint forced them, that constraint."
    caption += f" {hidden:,} more lines are not shown." if hidden else ""
    headings = ("Change", "From", "To", "Points#", "Which", "Why")
    return section("changes", "Changes", table(caption, headings, rows))


def _row(change: Change, subject: Subject, names: Mapping[int, str]) -> Row:
    ids, chips = subject.ids, subject.chips(change.points[:POINTS_SHOWN])
    more = " …" if len(change.points) > POINTS_SHOWN else ""
    why = change.reason
    if change.constraint is not None:
        why = spell(change.constraint, lambda point: shorten(ids[point]))
    source = "" if change.source is None else names.get(change.source, str(change.source))
    cluster = change.name or str(change.cluster)
    ends = (Cell(escape(shorten(name))) for name in (source, cluster))
    return Row(
        [Cell(TOLD[change.kind]), *ends, number(f"{len(change.points):,}"), Cell(chips + more), Cell(escape(why))]
    )
