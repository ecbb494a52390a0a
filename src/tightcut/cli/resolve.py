"""`tightcut resolve`: from scored pairs to records that are the same."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, in_columns
from tightcut.cli._page import check_journal
from tightcut.cli._resolve_ask import Records, ask_about, asking_options, check_options
from tightcut.utils.display import count_noun

if TYPE_CHECKING:
    from tightcut import Resolution
    from tightcut.files import Judgements
    from tightcut.resolution.tables import TableView

REASONS = {"cannot_link": "a cannot-link", "groups": "a group", "labels": "known labels", "evidence": "other scores"}


@click.command(cls=opt.Command, short_help="Find the records that are the same, from scored pairs.")
@click.argument("edges", type=opt.FILE)
@opt.option(
    "--columns",
    metavar="ID,ID,PROBABILITY",
    help="Names of the three columns.  [default: the usual names are known]",
)
@opt.option(
    "--groups",
    metavar="NAME|FILE",
    help="Members of a group are never the same: NAME for the columns NAME_l and NAME_r, or a table of ids and groups.",
)
@opt.option("--constraints", type=opt.FILE, metavar="PAIRS", help="Table of pairs that must hold: two ids and a type.")
@opt.option("--labels", type=opt.FILE, metavar="FILE", help="Table of ids and known identities.")
@opt.option(
    "--prior",
    type=opt.Finite(0, 1, min_open=True, max_open=True),
    default=0.5,
    help="The probability that is evidence neither for nor against a match; raise it for fewer and safer joins.",
)
@opt.option(
    "-o", "--output", type=opt.FILE, metavar="TABLE", help="Where to write the clusters; - for standard output."
)
@opt.option("--cut-edges", type=opt.FILE, metavar="TABLE", help="Where to write the matches that were cut, and why.")
@opt.option("--doubtful", type=opt.FILE, metavar="TABLE", help="Where to write what a person should check.")
@asking_options
@opt.console_options("spreadsheet", "as_json", "force", "quiet")
def resolve(
    edges: Path,
    output: Path | None,
    cut_edges: Path | None,
    doubtful: Path | None,
    console: Console,
    **options: Any,
) -> None:
    """Find the records that are the same, from EDGES: two ids and the probability that they match.

    EDGES and all other tables are CSV, TSV, Parquet, or FILE.duckdb::TABLE. The tables of splink are read as they are.
    A probability above one half is evidence for a match, below one half against it. The clusters satisfy all rules and
    contradict as little evidence as possible; there may be any number of them.

    PAIRS is a table with a header: two columns of ids and a column `type` that says must or cannot. The table that
    --doubtful writes is one: correct its types and use it. Or answer questions: with --ask the least certain decision is
    shown first, an answer is a rule, and what it concerns is resolved again before the next question. The answers are
    kept, by default in EDGES.answers.jsonl in the current folder; the same command continues. Clusters are written at the
    end, which on the page is Ctrl-C.

    \b
      tightcut resolve edges.parquet --groups source -o clusters.parquet
      tightcut resolve edges.csv --constraints pairs.csv -o clusters.csv --doubtful check.csv
      tightcut resolve edges.csv --records people.csv -o clusters.csv
      tightcut resolve edges.csv --ask --records people.csv --id id -o clusters.csv
    """  # noqa: D301 (\b is for click)
    from tightcut.files.write import check_columns_writable, write_columns

    check_options(options)
    targets = {"clusters": output, "cut_edges": cut_edges, "doubtful": doubtful}
    inputs = [edges, *(options[name] for name in ("constraints", "labels", "records", "answers"))]
    console.check_files(inputs, output, tables=[cut_edges, doubtful], check_table=check_columns_writable)
    journal = check_journal(edges, options) if options["ask"] else None
    started = time.perf_counter()
    found = _resolved(edges, options, console)
    records = None if options["records"] is None else Records.read(options["records"], options["id"], found)
    if options["ask"]:
        found = ask_about(found, records, edges.stem, journal, options, console)
    if records is not None:
        found = records.added_to(found, console)
    results = _summary(found, time.perf_counter() - started)
    for name, path in targets.items():
        if str(path) == "-":
            console.write_rows(path, list(found.clusters), found.clusters.rows())
        elif path is not None:
            write_columns(path, getattr(found, name), force=console.force, spreadsheet=console.spreadsheet)
    files = ", ".join(str(path) for path in targets.values() if path)
    console.show(results | targets, in_columns(_facts(results) | {"written": files or None}))
    if not files:
        console.note("Nothing was written; to keep the clusters, add -o clusters.csv")


def _resolved(edges: Path, rules: dict[str, Any], console: Console) -> Resolution:
    from tightcut import resolve as solve
    from tightcut.files import read_pairs
    from tightcut.utils.compiling import compiling_reported

    must, cannot = None, None
    if rules["constraints"] is not None:
        must, cannot = _tables(read_pairs(rules["constraints"]))
    with console.warnings_as_notes(), compiling_reported(console.progress()):
        return solve(
            edges,
            must_link=must,
            cannot_link=cannot,
            groups=rules["groups"],
            labels=rules["labels"],
            prior=rules["prior"],
            columns=rules["columns"] and [name.strip() for name in rules["columns"].split(",")],
        )


def _tables(judgements: Judgements) -> tuple[TableView, TableView]:
    """The must-links and the cannot-links of a file of pairs, as tables of ids."""
    import numpy as np

    from tightcut.files import InputError
    from tightcut.resolution.tables import TableView

    table = judgements.table
    unsure = np.flatnonzero(judgements.belief < 1)
    if len(unsure):
        raise InputError(
            f"{table.where(int(unsure[0]))}: belief {judgements.belief[unsure[0]]:g}. Rules hold, whatever they "
            "cost; give a pair that may be wrong as one of the EDGES, with its probability."
        )
    ends = np.array(judgements.names, dtype=object)[judgements.ends]
    must, cannot = (
        TableView(table.path, ("a", "b"), tuple(ends[rows].T), table.lines, loose=True, rows=rows)
        for rows in (np.flatnonzero(judgements.must), np.flatnonzero(~judgements.must))
    )
    return must, cannot


def _summary(found: Resolution, seconds: float) -> dict[str, Any]:
    import numpy as np

    sizes = np.bincount(np.bincount(found.labels))
    reasons = found.cut_edges["reason"].tolist()
    return {
        "n_records": len(found.ids),
        "n_unpaired": found.n_unpaired,
        "n_clusters": found.n_clusters,
        "clusters_of_size": {str(size): int(count) for size, count in enumerate(sizes.tolist()) if size and count},
        "n_cut_edges": found.cut_edges.n_rows,
        "cut_edges_by_reason": {name: reasons.count(name) for name in REASONS},
        "n_doubtful": found.doubtful.n_rows,
        "disagreement": found.disagreement,
        "lower_bound": found.lower_bound,
        "n_components": found.n_components,
        "n_proven": found.n_proven,
        "seconds": round(seconds, 3),
    }


def _facts(found: dict[str, Any]) -> dict[str, Any]:
    """What a person is shown of a summary."""
    sizes = {int(size): count for size, count in found["clusters_of_size"].items()}
    reasons = [f"{count:,} by {REASONS[name]}" for name, count in found["cut_edges_by_reason"].items() if count]
    excess = found["disagreement"] - found["lower_bound"]
    least = excess <= 1e-6 * max(1.0, found["disagreement"])
    unpaired = f", {found['n_unpaired']:,} of them in no pair" if found["n_unpaired"] else ""
    largest = f"{count_noun(sizes.get(1, 0), 'single record')}, the largest of {max(sizes, default=0):,}"
    return {
        "records": f"{found['n_records']:,}{unpaired}",
        "clusters": f"{found['n_clusters']:,}, {largest}",
        "cut": count_noun(found["n_cut_edges"], "match", "matches") + (f": {', '.join(reasons)}" if reasons else ""),
        "doubtful": count_noun(found["n_doubtful"], "decision"),
        "disagreement": f"{found['disagreement']:.6g}, {'the least possible' if least else f'at most {excess:.6g} too much'}",
        "proven": f"{found['n_proven']:,} of {found['n_components']:,} components",
        "seconds": found["seconds"],
    }
