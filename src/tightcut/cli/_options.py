"""Options that several commands share. Those of the estimator have the names of its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tightcut.cli._console import Console


class FilePath(click.Path):
    """A path that is not empty: an empty one would be the folder one is in."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("The name of a file is empty; is a variable of the shell not set?", param, ctx)
        return super().convert(value, param, ctx)


FILE = FilePath(path_type=Path)

# Titles in the help of a command, and the parameters under each.
SECTIONS = {
    "Input": "id columns drop text embed embed_url header decimal graph encode missing edges points records groups",
    "Knowledge": "constraints labels prior max_violations influence init answers keep",
    "Graph": "scale metric learn_distances n_neighbors neighbors symmetrize diffusion criterion",
    "Search": "n_clusters method certify seconds effort random_state n_jobs device n_solved full",
    "Cluster of machines": "scheduler shared_folder n_units",
    "Questions": "ask kind show noun who in_terminal port no_browser host",
}
OTHER = "Output"


class Command(click.Command):
    """A command whose help lists the options in sections; all that `SECTIONS` does not name are of the output."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        title = {name: title for title, names in SECTIONS.items() for name in names.split()}
        rows: dict[str, list[tuple[str, str]]] = {name: [] for name in (*SECTIONS, OTHER)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                rows[title.get(str(param.name), OTHER)].append(record)
        for name, records in rows.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Whole(click.IntRange):
    """A whole number in a range."""

    name = "whole number"


class Finite(click.FloatRange):
    """A finite number in a range."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)


class Jobs(click.types.IntParamType):
    """A number of threads or processes as joblib counts them: not 0."""

    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return super().convert(value, param, ctx) or self.fail(
            "0 is not a number of threads; -1 means all cores.", param, ctx
        )


class NumberOr(click.ParamType):
    """A number in a range, or one word instead."""

    def __init__(self, word: str, number: Whole | Finite) -> None:
        self.word, self.number, self.name = word, number, number.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        from tightcut.utils.validation import did_you_mean_number

        if value == self.word:
            return self.word
        try:
            (int if isinstance(self.number, Whole) else float)(value)
        except ValueError:
            hint = did_you_mean_number(value, self.word) or f" It may also be the word {self.word}."
            self.fail(f"{value!r} is not a {self.name}.{hint}", param, ctx)
        return self.number.convert(value, param, ctx)


class Character(click.ParamType):
    """One character."""

    name = "character"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if len(value) == 1 else self.fail(f"{value!r} is not one character, such as a comma.", param, ctx)


def picture_shape(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """8x8 as (8, 8)."""
    if value is None:
        return None
    height, _, width = value.lower().partition("x")
    if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise click.BadParameter(f"{value!r} is not a size such as 28x28.")
    return int(height), int(width)


def option(*names: str, **settings: Any) -> Decorator:
    """`click.option` that shows its default, if it has one, and calls every number NUMBER."""
    shown: dict[str, Any] = {"show_default": settings.get("default") is not None}
    if isinstance(settings.get("type"), (Whole, Finite, Jobs)):
        shown["metavar"] = "NUMBER"
    return click.option(*names, **{**shown, **settings})


def choice(name: str, words: str, text: str) -> Decorator:
    """An option that is one of a few words; the first is the default."""
    return option(name, type=click.Choice(words.split()), default=words.split(maxsplit=1)[0], help=text)


def is_given(name: str) -> bool:
    """Whether an option of the current command is on its command line."""
    return click.get_current_context().get_parameter_source(name) == ParameterSource.COMMANDLINE


def refuse(names: Collection[str], reason: str) -> None:
    """An error if one of these options was given; the reason follows its name."""
    for param in click.get_current_context().command.params:
        if param.name in names and is_given(param.name):
            raise click.UsageError(f"{param.opts[-1]} {reason}")


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


def n_clusters_option(*, auto: bool = False, **settings: Any) -> Decorator:
    """The number of clusters; with `auto` the word auto is one."""
    kind = NumberOr("auto", Whole(1)) if auto else Whole(1)
    text = "Number of clusters, or auto." if auto else "Number of clusters."
    return option("-k", "--n-clusters", type=kind, metavar="K", help=text, **settings)


CONSOLE = {
    "spreadsheet": option(
        "--spreadsheet",
        is_flag=True,
        help="Put ' before names in the table that a spreadsheet would take for formulas.",
    ),
    "as_json": option("--json", "as_json", is_flag=True, help="Print the results as JSON."),
    "force": option("--force", is_flag=True, help="Replace output files that exist."),
    "quiet": option("-q", "--quiet", is_flag=True, help="Print no notes and no progress."),
}


def console_options(*names: str) -> Decorator:
    """Those of `CONSOLE`, which reach the command as one argument, its `console`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_console(**given: Any) -> Any:
            return command(console=Console(**{name: given.pop(name) for name in names}), **given)

        return together(*(CONSOLE[name] for name in names))(with_console)

    return decorate


header_option = option(
    "--header/--no-header", default=None, help="Whether the first row names the columns.  [default: detected]"
)
decimal_option = option(
    "--decimal", type=Character(), default=".", metavar="CHAR", help="Decimal point of the numbers."
)
seed_option = option("--seed", "random_state", type=Whole(0), default=0, help="The same seed gives the same result.")
column_options = together(
    option("--id", metavar="COL", help="Column of identifiers. Without it rows count from 0."),
    option("--columns", multiple=True, metavar="COL,...", help="Columns to cluster by; repeatable."),
    option("--drop", multiple=True, metavar="COL,...", help="Columns to leave out; repeatable."),
    decimal_option,
)
data_options = together(
    column_options,
    header_option,
    option("--graph/--no-graph", default=None, help="Whether DATA is a graph.  [default: detected]"),
)
new_rows_options = together(
    option("--id", metavar="COL", help="Column of identifiers in NEW.  [default: as in the model]"),
    header_option,
    decimal_option,
)
value_options = together(
    option(
        "--text",
        multiple=True,
        metavar="COL,...",
        help="Columns of texts to cluster by, in place of numbers; repeatable.",
    ),
    option(
        "--embed",
        metavar="NAME|FOLDER",
        help="Model for texts or pictures, of sentence-transformers.  [default: none; words, or light, edges and colours]",
    ),
    option(
        "--embed-url",
        metavar="URL",
        help="Endpoint like OpenAI's /v1/embeddings, to which texts are sent; --embed names its model, and the environment "
        "variable TIGHTCUT_EMBED_KEY holds the key.",
    ),
    option(
        "--encode",
        multiple=True,
        metavar="COL,...",
        help="Columns of categories: each value becomes a column of 0 and 1; repeatable.",
    ),
    choice(
        "--missing",
        "error drop mean",
        "Where values are missing: stop, give the row no label, or fill in the mean of the column.",
    ),
)
constraint_options = together(
    option(
        "--constraints",
        type=FILE,
        metavar="PAIRS",
        help="Table of pairs: two names, a type, a belief. Or the answers (.jsonl) of tightcut ask.",
    ),
    option("--labels", metavar="COL", help="Column of known classes; empty or -1 where unknown."),
)
n_neighbors_option = option(
    "--n-neighbors",
    type=NumberOr("auto", Whole(1)),
    metavar="NUMBER|auto",
    default="auto",
    help="Neighbours of each point.",
)
scale_option = choice(
    "--scale",
    "auto none standard quantile",
    "Leave the columns as they are, scale them to variance 1, or replace them by their quantiles.",
)
graph_options = together(
    scale_option,
    choice(
        "--metric",
        "euclidean cosine precomputed",
        "Distance between points: euclidean, between their directions only, or DATA is a square matrix of distances.",
    ),
    choice("--learn-distances", "auto yes no", "Whether to learn distances from must-links."),
    n_neighbors_option,
    choice(
        "--neighbors",
        "auto tree blocked approximate",
        "How to search for neighbours; all but approximate are exact.",
    ),
    choice(
        "--symmetrize",
        "auto maximum mean",
        "Weight of a link between neighbours: that of its stronger end, or the mean.",
    ),
    option(
        "--diffusion",
        type=NumberOr("auto", Whole(0)),
        metavar="NUMBER|auto",
        default="auto",
        help="Steps of a random walk that smooth the graph.",
    ),
    choice("--criterion", "ncut rcut", "Balance the clusters' connections (ncut) or their numbers of points (rcut)."),
)
limit_option = option(
    "--max-violations",
    type=NumberOr("fewest", Finite(0)),
    default=0,
    metavar="BELIEF|fewest",
    help="How much belief may be violated (pairs, if all are certain); fewest: as little as possible.",
)
effort_options = together(
    option("--effort", type=Finite(0), default=1.0, help="How long to search: 0.3 is quick, 5 is thorough."),
    seed_option,
    option("--jobs", "n_jobs", type=Jobs(), default=1, help="Threads; -1 for all cores."),
)
search_options = together(
    effort_options,
    choice(
        "--device", "cpu cuda auto", "Where to build the graph and search: auto uses an NVIDIA GPU if there is one."
    ),
)
# The data, what is known about them, and how they are clustered.
problem_options = together(constraint_options, data_options, value_options, graph_options, search_options)


def _moved(_ctx: click.Context, _param: click.Parameter, value: Any) -> None:
    if value is not None:
        raise click.UsageError(
            "Folders of edges or of points are clustered by another command, with the same options: "
            "tightcut cluster-graph --edges FOLDER -k K"
        )


folder_options_moved = click.option(
    "--edges", "--points", "--scheduler", "--shared-folder", "--n-units",
    hidden=True, expose_value=False, is_eager=True, callback=_moved,
)  # fmt: skip
