"""`tightcut cluster --edges` and `--points`: a folder of edges or of points, clustered on a Dask cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tightcut.cli._console import Console, print_facts, print_json

if TYPE_CHECKING:
    import pandas as pd

    from tightcut import GraphClustering, NeighborEdges

OWN = ("scheduler", "shared_folder", "n_units")
SOURCES = ("edges", "points")
OF_POINTS = ("n_neighbors", "metric", "neighbors", "symmetrize")
SHARED = (
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


def is_distributed(options: dict[str, Any]) -> bool:
    """Whether the command names a folder for a Dask cluster in place of DATA."""
    return any(options[name] is not None for name in SOURCES)


def refuse_without_folder(context: click.Context) -> None:
    """An error for options that only a folder of edges or points has a use for, and for a command without data."""
    for name in OWN:
        if _is_given(context, name):
            raise click.UsageError(f"{_flag(context, name)} goes with --edges and --points; name the folder.")
    if context.params["data"] is None:
        raise click.UsageError("Missing argument 'DATA'.", context)


def cluster_folder(context: click.Context) -> None:
    """What `tightcut cluster` does with --edges or --points."""
    options = context.params
    _check(context)
    started = time.perf_counter()
    console = Console(quiet=options["quiet"])
    from tightcut import cluster_graph
    from tightcut.distributed.running import find_client

    pairs = None if options["constraints"] is None else _named_pairs(options["constraints"])
    find_client(None)  # says which extra is missing, before a scheduler is looked for
    with (
        _client(options["scheduler"]) as client,
        TemporaryDirectory(prefix="tightcut-", dir=options["shared_folder"]) as place,
        console.warnings_as_notes(),
    ):
        graph = None if options["points"] is None else _neighbors(options, client, Path(place, "edges"), console)
        found = cluster_graph(
            options["edges"] if graph is None else graph.folder,
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
    _print(found, graph, options, time.perf_counter() - started)


def _neighbors(options: dict[str, Any], client: Any, folder: Path, console: Console) -> NeighborEdges:
    """The graph of neighbours of --points; what is left to be chosen is as in `knn_edges`."""
    from tightcut import knn_edges

    given = {name: options[name] for name in OF_POINTS if options[name] != "auto"}
    return knn_edges(options["points"], folder, client=client, progress=console.progress(), **given)


def _check(context: click.Context) -> None:
    options = context.params
    if options["edges"] is not None and options["points"] is not None:
        raise click.UsageError("--edges and --points are two sources; give one of them.")
    source = "edges" if options["points"] is None else "points"
    used = (source, *OWN, *SHARED, *(OF_POINTS if source == "points" else ()))
    idle = [name for name in options if name not in used and _is_given(context, name)]
    if idle:
        raise click.UsageError(f"{_flag(context, idle[0])} has no effect on --{source}; leave it out.")
    if source == "points" and options["neighbors"] not in ("auto", "approximate"):
        raise click.UsageError(
            f"--neighbors {options['neighbors']} has no effect on --points; say auto or approximate."
        )
    if options["metric"] == "precomputed":
        raise click.UsageError("--points needs a metric between points: --metric euclidean or --metric cosine")
    if options["n_clusters"] in ("auto", 1):
        raise click.UsageError(f"--{source} needs a number of clusters of at least 2: -k K")
    output, folder = options["output"], options[source]
    if not folder.exists():
        raise click.UsageError(f"{folder} does not exist; --{source} names a folder of Parquet files.")
    if folder.is_dir() and not any(folder.rglob("*.parq*")) and not any(folder.rglob("*.pq")):
        raise click.UsageError(f"{folder} holds no Parquet files; --{source} names a folder of them.")
    shared = options["shared_folder"]
    if shared is not None and not shared.is_dir():
        raise click.UsageError(f"{shared} is not a folder; make one that all workers see.")
    if output is not None:
        _check_output(output, source, folder, force=options["force"])


def _check_output(output: Path, source: str, folder: Path, *, force: bool) -> None:
    """Refuse a folder of labels that cannot be written, or in whose place something else would be deleted."""
    from tightcut.files.folders import check_folder
    from tightcut.utils.atomic import resolved

    if str(output) == "-" or output.suffix:
        raise click.UsageError(
            f"The labels of --{source} are written as a folder of Parquet files; name a folder: -o labels"
        )
    place = resolved(output)
    if place == resolved(folder):
        raise click.UsageError("The same folder is named twice; input and output must differ.")
    if place in (Path.cwd(), *Path.cwd().parents, *resolved(folder).parents):
        raise click.UsageError(f"{output} holds more than the labels would; name a new folder: -o labels")
    if output.exists() and not force:
        raise click.UsageError(f"{output} already exists. Use --force to replace it, or choose another name.")
    if output.is_file():
        raise click.UsageError(f"{output} is a file, and the labels are a folder of files; choose another name.")
    other = next((path for path in output.glob("*") if path.suffix != ".parquet"), None)
    if other is not None:
        raise click.UsageError(f"--force would delete {other}, which is not a label file; choose another folder.")
    while not place.parent.exists():  # folders above are made
        place = place.parent
    check_folder(place)


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
        raise InputError(f"{path}: answers of tightcut ask are about the rows of a file. Give a table of pairs.")
    pairs = read_pairs(path)
    strange = next((name for name in pairs.names if not _is_id(name)), None)
    if strange is not None:
        raise InputError(
            f"{path}: vertices of --edges and rows of --points are whole numbers of 64 bits; {strange!r}, a name of a pair, "
            "is not one as it is written."
        )
    ids = np.array(list(map(int, pairs.names)), dtype=np.int64)
    own = pairs.self_pairs()
    if own:
        raise InputError(
            f"{pairs.table.where(own[0])}: {pairs.pair(own[0])[0]} is paired with itself; remove the line."
        )
    kinds = np.where(pairs.must, "must", "cannot")
    return pd.DataFrame({"a": ids[pairs.ends[:, 0]], "b": ids[pairs.ends[:, 1]], "type": kinds})


def _print(found: GraphClustering, graph: NeighborEdges | None, options: dict[str, Any], seconds: float) -> None:
    sizes = found.labels["cluster"].compute(scheduler="sync").value_counts().sort_index().tolist()
    facts = {"n_vertices": found.n_vertices, "sizes": sizes, "cut": found.cut, "n_units": list(found.n_units)}
    facts |= {"n_violations": found.violations.n_violations, "seconds": round(seconds, 3)}
    if graph is not None:
        facts |= {"n_edges": graph.n_edges, "neighbor_recall": graph.recall}
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
    if graph is not None:
        lines |= {"edges": f"{graph.n_edges:,}", "recall": f"{graph.recall:.4g}"}
    print_facts({**lines, **({"labels": output} if output else {})})
    sys.stdout.flush()


def _is_given(context: click.Context, name: str) -> bool:
    given = context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return given and context.params[name] is not None


def _flag(context: click.Context, name: str) -> str:
    parameter = next(parameter for parameter in context.command.params if parameter.name == name)
    return "DATA" if isinstance(parameter, click.Argument) else parameter.opts[-1]


def _is_id(name: str) -> bool:
    """Whether Python prints a number of 64 bits like this; it reads many other spellings, such as 007 or 1_000."""
    try:
        return str(int(name)) == name and -(2**63) <= int(name) < 2**63
    except ValueError:
        return False
