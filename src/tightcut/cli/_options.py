"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

FILE = click.Path(path_type=Path)


class Jobs(click.ParamType):
    """A number of threads or processes as joblib counts them: not 0."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return click.INT.convert(value, param, ctx) or self.fail("0 can do nothing; -1 means all cores.", param, ctx)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How to read DATA and turn it into a graph."""
    for decorate in reversed(
        (
            click.option("--id", "id_", metavar="COL", help="Column of identifiers. Without it rows count from 0."),
            click.option("--columns", multiple=True, metavar="COL,...", help="Columns to cluster by; repeatable."),
            click.option("--drop", multiple=True, metavar="COL,...", help="Columns to leave out; repeatable."),
            click.option(
                "--header/--no-header", default=None, help="Whether the first row names the columns.  [default: look]"
            ),
            click.option(
                "--decimal", default=".", show_default=True, metavar="CHAR", help="Decimal point of the numbers."
            ),
            click.option(
                "--graph/--no-graph",
                default=None,
                help="Whether DATA is a graph: see tightcut cluster --help.  [default: look]",
            ),
        )
    ):
        command = decorate(command)
    return command


def graph_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(
        (
            click.option(
                "--scale",
                type=click.Choice(["standard", "none"]),
                default="standard",
                show_default=True,
                help="Give every column mean 0 and variance 1, or leave them as they are, as COSC in Python does.",
            ),
            click.option(
                "--n-neighbors", type=click.IntRange(1), default=10, show_default=True, help="Neighbours of each point."
            ),
            click.option(
                "--neighbors",
                type=click.Choice(["auto", "tree", "blocked", "approximate"]),
                default="auto",
                show_default=True,
                help="How to search for neighbours; all but approximate are exact.",
            ),
            click.option(
                "--symmetrize",
                type=click.Choice(["maximum", "mean"]),
                default="maximum",
                show_default=True,
                help="Weigh a link between neighbours by its stronger end, or by the mean of both.",
            ),
            click.option(
                "--criterion",
                type=click.Choice(["ncut", "rcut"]),
                default="ncut",
                show_default=True,
                help="Balance the clusters' connections (ncut) or their number of points (rcut).",
            ),
        )
    ):
        command = decorate(command)
    return command


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(
        (
            click.option(
                "--effort",
                type=click.FloatRange(0),
                default=1.0,
                show_default=True,
                help="How long to search: 0.3 is quick, 5 is thorough.",
            ),
            click.option(
                "--seed",
                type=click.IntRange(0),
                default=0,
                show_default=True,
                help="The same seed gives the same result.",
            ),
            click.option("--jobs", type=Jobs(), default=1, show_default=True, help="Threads; -1 for all cores."),
            click.option(
                "--device",
                type=click.Choice(["cpu", "cuda", "auto"]),
                default="cpu",
                show_default=True,
                help="Whether an NVIDIA GPU makes the graph and helps the search; auto: where there is one.",
            ),
        )
    ):
        command = decorate(command)
    return command


def constraint_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(
        (
            click.option(
                "--constraints", type=FILE, metavar="PAIRS", help="Table of pairs: two names, a type, a belief."
            ),
            click.option("--labels", metavar="COL", help="Column of known classes; empty or -1 where unknown."),
        )
    ):
        command = decorate(command)
    return command


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(
        (
            click.option(
                "--max-violations",
                type=click.FloatRange(0),
                default=0.0,
                metavar="BELIEF",
                help="How much belief may be violated (pairs, if all are certain).",
            ),
            click.option(
                "--on-inconsistent",
                type=click.Choice(["raise", "soft"]),
                default="raise",
                show_default=True,
                help="What to do with contradictory constraints: stop and name them, or violate as few as possible.",
            ),
        )
    ):
        command = decorate(command)
    return command


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(
        (
            click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON."),
            click.option("--force", is_flag=True, help="Replace output files that exist."),
            quiet_option,
        )
    ):
        command = decorate(command)
    return command


quiet_option = click.option("-q", "--quiet", is_flag=True, help="No notes and no progress.")


class CountOrAuto(click.ParamType):
    """A positive whole number, or the word auto."""

    name = "K"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        return "auto" if value == "auto" else click.IntRange(1).convert(value, param, ctx)


def n_clusters_option(*, auto: bool = False, **settings: Any) -> Callable[..., Any]:
    """The number of clusters; with `auto` the word auto is one."""
    kind = CountOrAuto() if auto else click.IntRange(1)
    text = "Number of clusters, or auto." if auto else "Number of clusters."
    return click.option("-k", "--n-clusters", type=kind, metavar="K", help=text, **settings)
