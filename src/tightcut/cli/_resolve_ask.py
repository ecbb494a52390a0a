"""`tightcut resolve --ask`: questions to a person about what is doubtful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._page import ask_person, note_journal, page_options
from tightcut.utils.display import count_noun

if TYPE_CHECKING:
    from tightcut import Resolution
    from tightcut.ask.page.items import Things
    from tightcut.files import Table

ABOUT = ("in_terminal", "port", "no_browser", "host", "who", "answers", "show")

asking_options = opt.together(
    opt.option("--ask", is_flag=True, help="Ask a person about what is doubtful, on a page or in the terminal."),
    opt.option("--answers", type=opt.FILE, metavar="JSONL", help="With --ask: journal of the answers, continued."),
    opt.option(
        "--records",
        type=opt.FILE,
        metavar="TABLE",
        help="Table of all records: those that no pair names are clusters of their own, and --ask shows its columns.",
    ),
    opt.option("--id", metavar="COL", help="With --records: column of the ids.  [default: id, or the first]"),
    opt.option("--show", multiple=True, metavar="COL,...", help="With --records: columns to show.  [default: all]"),
    page_options,
)


def check_options(options: dict[str, Any]) -> None:
    """An error for options that only --ask, or --records, has a use for."""
    if not options["ask"]:
        opt.refuse(ABOUT, "goes with --ask; add that as well.")
    if options["records"] is None:
        opt.refuse(("id", "show"), "goes with --records; name that table as well.")


def ask_about(
    found: Resolution,
    records: Records | None,
    title: str,
    journal: Path | None,
    options: dict[str, Any],
    console: Console,
) -> Resolution:
    """The resolution with a person's answers as rules; of the records the fields are shown, or their ids alone."""
    from tightcut.ask.page.controller import Controller
    from tightcut.ask.page.items import Things

    things = Things(list(map(str, found.ids.tolist()))) if records is None else records.things(found, options["show"])
    session = found.session(journal)
    note_journal(journal, console)
    count = session.n_doubtful_
    console.note(
        f"{count_noun(count, 'decision is', 'decisions are')} doubtful; the least certain is asked about first."
    )
    kept = None if journal is None else str(journal)
    controller = Controller(things, title=title, journal=kept, kind="pair", records=True, who=options["who"])
    ask_person(controller, lambda: session, None, "precomputed", options, console, to_stderr=True)
    return session.resolution()


@dataclass(frozen=True, eq=False)
class Records:
    """The table of the records, with the id of each row; empty where it has none."""

    table: Table
    column: str
    ids: list[str]

    @classmethod
    def read(cls, path: Path, column: str | None, found: Resolution) -> Records:
        from tightcut.files import InputError, read_table

        table = read_table(path)
        column = column or next((name for name in table.names if name.lower() in ("id", "unique_id")), table.names[0])
        table.find(column, "--id")
        ids = table.texts(column)
        dataset = next((name for name in table.names if name.lower() == "source_dataset"), None)
        if dataset is not None and "source_dataset" in found.clusters:
            from tightcut.resolution.edges import BETWEEN

            ids = [own and f"{one}{BETWEEN}{own}" for one, own in zip(table.texts(dataset), ids, strict=True)]
        names = list(map(str, found.ids.tolist()))
        if not set(names) & set(ids):
            raise InputError(
                f"{path}: no record is named in column {column!r}; names there are like {ids[0]!r}, and those of the records "
                f"like {names[0]!r}. Name the column of ids with --id."
            )
        return cls(table, column, ids)

    def things(self, found: Resolution, show: Sequence[str]) -> Things:
        """What is shown of the records that pairs name: the chosen columns, or all."""
        from tightcut.ask.page.items import Things

        names = list(map(str, found.ids.tolist()))
        chosen = [part.strip() for text in show for part in text.split(",") if part.strip()]
        for name in chosen:
            self.table.find(name, "--show")
        chosen = chosen or [name for name in self.table.names if name != self.column]
        place = {name: row for row, name in enumerate(self.ids)}
        rows = [place.get(name) for name in names]
        columns = {name: self.table.texts(name) for name in chosen}
        fields = {name: ["" if row is None else cells[row] for row in rows] for name, cells in columns.items()}
        return Things(names, fields=fields)

    def added_to(self, found: Resolution, console: Console) -> Resolution:
        """The resolution with the records that no pair names, each a cluster of its own; a note says how many."""
        known = set(map(str, found.ids.tolist()))
        alone = [name for name in dict.fromkeys(self.ids) if name and name not in known]
        nameless = self.ids.count("")
        if nameless:
            console.note(f"Note: {count_noun(nameless, 'row')} of {self.table.path} without an id are left out.")
        if alone:
            of = f"{len(alone):,} of {count_noun(len(set(self.ids) - {''}), 'record')} in {self.table.path}"
            console.note(f"Note: no pair names {of}; each is a cluster of its own.")
        return found.with_records(alone)
