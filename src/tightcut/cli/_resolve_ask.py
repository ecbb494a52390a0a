"""`tightcut resolve --ask`: questions to a person about what is doubtful."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, printable
from tightcut.cli._page import check_journal, check_packages, journal_of, note_journal, page_options, serve_page
from tightcut.utils.display import counted

if TYPE_CHECKING:
    from tightcut import Resolution
    from tightcut.ask.page.items import Things

ABOUT = ("in_terminal", "port", "no_browser", "answers", "records", "id", "show")

asking_options = opt.together(
    opt.option("--ask", is_flag=True, help="Ask a person about what is doubtful, on a page or in the terminal."),
    opt.option("--answers", type=opt.FILE, metavar="JSONL", help="With --ask: journal of the answers, continued."),
    opt.option("--records", type=opt.FILE, metavar="TABLE", help="With --ask: table of the records, to show them."),
    opt.option("--id", metavar="COL", help="With --records: column of the ids.  [default: id, or the first]"),
    opt.option("--show", multiple=True, metavar="COL,...", help="With --records: columns to show.  [default: all]"),
    page_options,
)


def refuse_without_asking(context: click.Context) -> None:
    """An error for options that only --ask, or --records, has a use for."""
    given = [name for name in ABOUT if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    flag = {option.name: option.opts[-1] for option in context.command.params}
    if given and not context.params["ask"]:
        raise click.UsageError(f"{flag[given[0]]} goes with --ask; add that as well.")
    alone = [name for name in ("id", "show") if name in given and context.params["records"] is None]
    if alone:
        raise click.UsageError(f"{flag[alone[0]]} goes with --records; name that table as well.")


def check_asking(edges: Path, options: dict[str, Any]) -> None:
    """Refuse what would keep a person from being asked, before anything is computed."""
    if not options["in_terminal"]:
        check_packages()
    check_journal(journal_of(edges, options["answers"]))


def ask_about(found: Resolution, edges: Path, options: dict[str, Any], console: Console) -> Resolution:
    """The resolution with a person's answers as rules."""
    journal = journal_of(edges, options["answers"])
    things = _things(found, options)
    session = found.session(journal)
    note_journal(journal, console)
    count = session.n_doubtful_
    console.note(f"{counted(count, 'decision is', 'decisions are')} doubtful; the least certain is asked about first.")
    if options["in_terminal"]:
        from tightcut.ask.page.terminal import converse

        converse(session, things, _read, lambda text: click.echo(printable(text), err=True), "pair")
    else:
        from tightcut.ask.page.controller import Desk

        desk = Desk(
            things, title=edges.stem, journal=None if journal is None else str(journal), kind="pair", records=True
        )
        begin = lambda: session  # noqa: E731
        shown = {"port": options["port"], "no_browser": options["no_browser"], "to_stderr": True}
        serve_page(desk, begin, None, "precomputed", console, **shown)
    session.close()
    return session.resolution()


def _read(prompt: str) -> str:
    """A line of the person; the prompt leaves standard output to the clusters."""
    click.echo(prompt, nl=False, err=True)
    return input()


def _things(found: Resolution, options: dict[str, Any]) -> Things:
    """What is shown of the records: the columns of a table of them, or their ids alone."""
    from tightcut.ask.page.items import Things

    names = list(map(str, found.ids.tolist()))
    if options["records"] is None:
        return Things(names)
    from tightcut.files import InputError, read_table

    table = read_table(options["records"])
    column = options["id"] or next(
        (name for name in table.names if name.lower() in ("id", "unique_id")), table.names[0]
    )
    table.find(column, "--id")
    ids = table.texts(column)
    dataset = next((name for name in table.names if name.lower() == "source_dataset"), None)
    if dataset is not None and "source_dataset" in found.clusters:
        from tightcut.resolution.api import BETWEEN

        ids = [f"{one}{BETWEEN}{other}" for one, other in zip(table.texts(dataset), ids, strict=True)]
    place = {name: row for row, name in enumerate(ids)}
    if not any(name in place for name in names):
        raise InputError(
            f"{options['records']}: no record is named in column {column!r}; names there are like {ids[:1]}, and those of the "
            f"records like {names[:1]}. Name the column of ids with --id."
        )
    chosen = [part.strip() for text in options["show"] for part in text.split(",") if part.strip()]
    for name in chosen:
        table.find(name, "--show")
    shown = {name: table.texts(name) for name in chosen or [name for name in table.names if name != column]}
    rows = [place.get(name) for name in names]
    fields = {name: ["" if row is None else cells[row] for row in rows] for name, cells in shown.items()}
    return Things(names, fields=fields)
