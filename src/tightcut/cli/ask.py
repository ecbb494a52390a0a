"""`tightcut ask`: questions to a person, on a page of this machine or in the terminal."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console
from tightcut.cli._page import ask_person, check_journal, note_journal, page_options
from tightcut.utils.display import count_noun

if TYPE_CHECKING:
    from tightcut.ask import Session
    from tightcut.ask.base import QuestionSession
    from tightcut.ask.page.read_items import QuestionData
    from tightcut.fitted.state import FittedState

HEADER = ("id", "cluster", "name", "confidence")
FOR_TABLES = ("id", "columns", "drop", "text", "embed", "embed_url", "decimal", "encode", "missing")


@click.command(cls=opt.Command, short_help="Answer a few questions, and get clusters that follow the answers.")
@click.argument("data", metavar="DATA")
@opt.option("--answers", type=opt.FILE, metavar="JSONL", help="Journal of the answers, continued if it exists.")
@opt.n_clusters_option(auto=True, default="auto")
@opt.option("--show", multiple=True, metavar="COL,...", help="Columns to show; repeatable.  [default: all]")
@opt.option(
    "--images",
    multiple=True,
    metavar="FOLDER|COL|HxW",
    help="Folder of pictures named like the rows; column of file names, in that folder or beside DATA; or the size of the "
    "pictures whose pixels are the rows of DATA.",
)
@opt.column_options
@opt.option(
    "-o",
    "--output",
    type=opt.FILE,
    metavar="CSV",
    help="Where to write labels, with names and confidence, whenever asking stops.",
)
@opt.value_options
@opt.scale_option
@opt.choice("--metric", "euclidean cosine", "Distance between points: euclidean, or between their directions only.")
@opt.option("--noun", metavar="WORD", help="What a row is called: flower, or person/people.")
@opt.choice("--kind", "pick pair", "Ask which group a thing belongs to, or whether two things belong together.")
@page_options
@opt.seed_option
@opt.console_options("spreadsheet", "force", "quiet")
def ask(data: str, output: Path | None, console: Console, **options: Any) -> None:
    """Ask a person where the rows of DATA belong, and cluster them by the answers.

    DATA is a table of numbers, or with --text of texts (CSV, TSV, Parquet), a folder of pictures (JPEG, PNG, WebP, TIFF), an
    array of points or of pictures (NPY, NPZ), a graph as in `tightcut cluster`, a model (TCUT) that `tightcut cluster
    --save` has written, or the word digits for handwritten digits to try it with. Clusters of a model that have a name
    begin as groups of that name; `tightcut update` takes the answers.

    Answers are kept in the journal: by default DATA.answers.jsonl in the current folder, where DATA is a file. The same
    command continues where it was left, and replaces the labels that it has written.

    \b
      tightcut ask digits -o labels.csv
      tightcut ask mails.csv --text subject,body
      tightcut ask photographs
      tightcut ask people.csv --id name --show job,town --answers answers.jsonl
      tightcut ask features.npy --images photographs
      tightcut ask model.tcut
    """  # noqa: D301 (\b is for click)
    from tightcut.ask.page.controller import Controller

    journal = check_journal(data, options)
    console.force = console.force or (output is not None and _is_own(output))
    console.check_files([Path(data), journal], output)
    model = _model(data)
    source = _source(data, options, console) if model is None else _model_source(model, data, options)
    source = replace(source, things=replace(source.things, noun=options["noun"] or source.things.noun))
    _check_before_the_page(source, journal, options["n_clusters"])
    note_journal(journal, console)
    kept = None if journal is None else str(journal)
    controller = Controller(
        source.things,
        title=source.title,
        journal=kept,
        kind=options["kind"],
        who=options["who"],
        address=lambda row: f"image/{row}",
    )
    if options["in_terminal"]:
        console.note("Preparing ...")
    begin = partial(_session, source, journal, options, model)
    try:
        ask_person(controller, begin, source.X, source.affinity, options, console)
    finally:
        if controller.session is not None and output is not None:
            _write_labels(source, output, console, controller.session)
    if options["in_terminal"] and controller.session is not None:
        click.echo(_progress(controller.session, source.things.nouns[1]))
    if controller.journal and model is not None:
        console.note(f"To take the answers into the model: tightcut update {data} --constraints {controller.journal}")


def _source(data: str, options: dict[str, Any], console: Console) -> QuestionData:
    from tightcut.ask.page.read_items import read_items
    from tightcut.cli._inputs import reading_options

    reading = reading_options(options, note=console.note)
    source = read_items(data, reading, show=options["show"], images=options["images"])
    for note in source.notes:
        console.note(f"Note: {note}")
    return source


def _model(data: str) -> FittedState | None:
    """The model that DATA is, if it is one; its rows and columns are not chosen again."""
    from tightcut.cli._models import read_model
    from tightcut.fitted.archive import SUFFIX

    path = Path(data)
    if path.suffix.lower() != SUFFIX and (path.suffix or not is_zipfile(path)):
        return None
    opt.refuse(FOR_TABLES, "cannot be used with a model, whose rows and columns are fixed.")
    return read_model(path)


def _model_source(model: FittedState, data: str, options: dict[str, Any]) -> QuestionData:
    from tightcut.ask.page.read_items import model_items
    from tightcut.cli._models import rows_of
    from tightcut.files import InputError

    rows, points = rows_of(model), model.points
    fields = {}
    if points is not None:
        names = rows.columns or tuple(f"column {number + 1}" for number in range(points.shape[1]))
        fields = {name: points[:, place] for place, name in enumerate(names)}
    chosen = [part.strip() for text in options["show"] for part in text.split(",")]
    unknown = next((name for name in chosen if name not in fields), None)
    if unknown is not None:
        raise InputError(f"--show {unknown}: the model has the columns {', '.join(fields) or 'of no table'}.")
    fields = {name: fields[name] for name in chosen} if chosen else fields
    return model_items(model, Path(data), rows.ids, fields, options["images"])


def _check_before_the_page(source: QuestionData, journal: Path | None, n_clusters: int | str) -> None:
    """Refuse data that cannot be asked about, and a journal of other data, before a page is opened."""
    from tightcut.ask.journal.file import Journal
    from tightcut.ask.journal.identity import check_data, identify

    X = check_data(source.X, source.affinity)
    if n_clusters != "auto" and int(n_clusters) > X.shape[0]:
        raise ValueError(f"{n_clusters:,} clusters need at least that many points; there are {X.shape[0]:,}.")
    if journal is not None and journal.exists():
        Journal(journal, identify(X, source.affinity))


def _session(source: QuestionData, journal: Path | None, options: dict[str, Any], model: FittedState | None) -> Session:
    from tightcut.ask import Session
    from tightcut.ask.page.read_items import found_named_groups

    n_clusters = options["n_clusters"]
    session = Session(
        source.X,
        model.n_clusters if model is not None and n_clusters == "auto" else n_clusters,
        affinity=source.affinity,
        answers=journal,
        **{name: options[name] for name in ("scale", "metric", "random_state")},
    )
    if model is not None:
        found_named_groups(session, model)
    return session


def _is_own(output: Path) -> bool:
    """Whether a file holds labels that this command has written, which the same command may replace."""
    if not output.is_file():
        return False
    with output.open("rb") as file:
        return file.readline(100).replace(b"\t", b",").strip() == ",".join(HEADER).encode()


def _write_labels(source: QuestionData, output: Path, console: Console, session: QuestionSession) -> None:
    from tightcut.ask.page.serializers import labels_table

    header, rows = labels_table(session, source.things)
    for row, name in sorted(source.left_out.items()):  # these have no label
        rows.insert(row, (name, *("" for _ in header[1:])))
    console.write_rows(output, header, rows)
    console.note(f"The labels are in {output}.")


def _progress(session: QuestionSession, rows: str) -> str:
    from tightcut.ask.page.serializers import of_hundred

    found = session.progress()
    right, low, high = of_hundred(found.expected_accuracy), round(100 * found.low), round(100 * found.high)
    known = f"{count_noun(session.n_answers_, 'answer')}, {count_noun(len(session.groups), 'group')}"
    return f"{known}; about {right} of 100 {rows} should be in the right group (between {low} and {high})."
