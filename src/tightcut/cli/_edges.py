"""`tightcut cluster --edges`: a folder of edges, clustered on a Dask cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tightcut.cli._console import Console, print_facts, print_json

if TYPE_CHECKING:
    import pandas as pd

    from tightcut import GraphClustering

OWN = ("scheduler", "shared_folder", "n_units")
SHARED = (
    "edges",
    "n_clusters",
    "constraints",
    "output",
    "effort",
    "random_state",
    "n_jobs",
    "as_json",
    "force",
    "quiet",
)


def refuse_without_edges(context: click.Context) -> None:
    """An error for options that only a folder of edges has a use for, and for a command without data."""
    for name in OWN:
        if _is_given(context, name):
            raise click.UsageError(f"{_flag(context, name)} goes with --edges; name the folder of edges.")
    if context.params["data"] is None:
        raise click.UsageError("Missing argument 'DATA'.", context)


def cluster_edges(context: click.Context) -> None:
    """What `tightcut cluster` does with --edges."""
    options = context.params
    _check(context)
    started = time.perf_counter()
    console = Console(quiet=options["quiet"])
    from tightcut import cluster_graph
    from tightcut.distributed.running import find_client

    pairs = None if options["constraints"] is None else _named_pairs(options["constraints"])
    find_client(None)  # says which extra is missing, before a scheduler is looked for
    with _client(options["scheduler"]) as client, console.warnings_as_notes():
        found = cluster_graph(
            options["edges"],
            pairs,
            options["n_clusters"],
            client=client,
            folder=options["shared_folder"],
            progress=console.progress(),
            **{name: options[name] for name in ("n_units", "effort", "n_jobs", "random_state")},
        )
    if options["output"] is not None:
        found.labels.to_parquet(
            str(options["output"]), write_index=False, overwrite=options["force"], compute_kwargs={"scheduler": "sync"}
        )
    _print(found, options, time.perf_counter() - started)


def _check(context: click.Context) -> None:
    options = context.params
    idle = [name for name in options if name not in (*OWN, *SHARED) and _is_given(context, name)]
    if idle:
        raise click.UsageError(f"{_flag(context, idle[0])} has no effect on --edges; leave it out.")
    if options["n_clusters"] in ("auto", 1):
        raise click.UsageError("--edges needs a number of clusters of at least 2: -k K")
    output, edges = options["output"], options["edges"]
    if not edges.exists():
        raise click.UsageError(f"{edges} does not exist; --edges names a folder of Parquet files.")
    if output is None:
        return
    if str(output) == "-" or output.suffix:
        raise click.UsageError(
            "The labels of --edges are written as a folder of Parquet files; name a folder: -o labels"
        )
    if output.resolve() == edges.resolve():
        raise click.UsageError("The same folder is named twice; input and output must differ.")
    if output.exists() and not options["force"]:
        raise click.UsageError(f"{output} already exists. Use --force to replace it, or choose another name.")


@contextmanager
def _client(address: str | None) -> Iterator[Any]:
    """The client of a scheduler; None, for threads of this process, without an address."""
    if address is None:
        yield None
        return
    from distributed import Client

    from tightcut.files import InputError

    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise InputError(f"No Dask scheduler answers at {address}: {error}") from error
    with client:
        yield client


def _named_pairs(path: Path) -> pd.DataFrame:
    """The pairs of a file as a frame with whole numbers as identifiers."""
    import numpy as np
    import pandas as pd

    from tightcut.files import InputError, read_pairs

    if path.suffix == ".jsonl":
        raise InputError(f"{path}: answers of tightcut ask count rows, and --edges has none. Give a table of pairs.")
    pairs = read_pairs(path)
    try:
        ids = np.array([int(name) for name in pairs.names], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(
            f"{path}: the vertices of --edges are whole numbers of 64 bits; a name of a pair is not."
        ) from None
    own = pairs.self_pairs()
    if own:
        raise InputError(
            f"{pairs.table.where(own[0])}: {pairs.pair(own[0])[0]} is paired with itself; remove the line."
        )
    kinds = np.where(pairs.must, "must", "cannot")
    return pd.DataFrame({"a": ids[pairs.ends[:, 0]], "b": ids[pairs.ends[:, 1]], "type": kinds})


def _print(found: GraphClustering, options: dict[str, Any], seconds: float) -> None:
    sizes = found.labels["cluster"].compute(scheduler="sync").value_counts().sort_index().tolist()
    facts = {"n_vertices": found.n_vertices, "sizes": sizes, "cut": found.cut, "n_units": list(found.n_units)}
    facts |= {"n_violations": found.violations.n_violations, "seconds": round(seconds, 3)}
    output = None if options["output"] is None else str(options["output"])
    if options["as_json"]:
        print_json({**facts, "labels": output})
        return
    lines = {
        "vertices": f"{found.n_vertices:,}",
        "clusters": ", ".join(f"{size:,}" for size in sizes),
        "levels": ", ".join(f"{count:,}" for count in found.n_units),
        "cut": f"{found.cut:.6g}",
        "violated": f"{found.violations.n_violations:,}",
        "seconds": f"{seconds:.2f}",
    }
    print_facts({**lines, **({"labels": output} if output else {})})
    sys.stdout.flush()


def _is_given(context: click.Context, name: str) -> bool:
    given = context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return given and context.params[name] is not None


def _flag(context: click.Context, name: str) -> str:
    parameter = next(parameter for parameter in context.command.params if parameter.name == name)
    return "DATA" if isinstance(parameter, click.Argument) else parameter.opts[-1]
