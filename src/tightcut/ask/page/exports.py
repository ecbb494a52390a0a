"""Labels and pairs as tables to download."""

from __future__ import annotations

import io

from tightcut.ask.base import QuestionSession
from tightcut.ask.page.items import Things
from tightcut.ask.page.serializers import group_label
from tightcut.files.writing import print_rows


def labels_table(session: QuestionSession, things: Things) -> str:
    """CSV: the name of each row, the number of its cluster, and what the cluster is called if anything is known of it."""
    names = {group.id: group_label(group.id, group.name) for group in session.groups}
    labels = session.labels_.tolist()
    rows = ((things.names[row], label, names.get(label, "")) for row, label in enumerate(labels))
    stream = io.StringIO()
    print_rows(stream, ["id", "cluster", "name"], rows, spreadsheet=True)
    return stream.getvalue()


def pairs_table(session: QuestionSession, things: Things) -> str:
    """CSV of the believed answers, as `tightcut cluster --constraints` reads it."""
    known = session.constraints_
    rows = [
        (things.names[i], things.names[j], kind)
        for kind, links in (("must", known.must_link), ("cannot", known.cannot_link))
        for i, j in links.tolist()
    ]
    stream = io.StringIO()
    print_rows(stream, ["a", "b", "type"], rows)
    return stream.getvalue()
