"""`tightcut cluster-graph`: cluster a folder of edges or of points, larger than memory, on Dask workers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, in_columns

if TYPE_CHECKING:
    import pandas as pd

    from tightcut import GraphClustering, NeighborEdges

EXISTING = opt.FilePath(path_type=Path, exists=True)
OF_POINTS = ("metric", "n_neighbors", "neighbors", "symmetrize")


@click.command("cluster-graph", cls=opt.Command, short_help="Cluster a graph, or points, larger than memory.")
@opt.option(
    "--edges", type=EXISTING, metavar="FOLDER", help="Parquet files of edges, with the columns i, j and weight."
)
@opt.option(
    "--points",
    type=EXISTING,
    metavar="FOLDER",
    help="In place of --edges: Parquet files of points, whose columns are the features, as they are.",
)
@opt.option("-k", "--n-clusters", type=opt.Whole(2), metavar="K", required=True, help="Number of clusters.")
@opt.option("--constraints", type=opt.FILE, metavar="PAIRS", help="Table of pairs: two vertices, or rows, and a type.")
@opt.choice("--metric", "euclidean cosine", "Of --points: the distance, euclidean or between directions only.")
@opt.n_neighbors_option
@opt.choice("--neighbors", "auto approximate", "Of --points: how to search; auto is exact unless that takes too long.")
@opt.choice(
    "--symmetrize", "auto maximum mean", "Of --points: weight of a link, that of its stronger end, or the mean."
)
@opt.effort_options
@opt.option("--scheduler", metavar="ADDRESS", help="The Dask scheduler with the workers.  [default: threads]")
@opt.option(
    "--shared-folder",
    type=opt.FilePath(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="A folder that all workers see.",
)
@opt.option("--n-units", type=opt.Whole(2), default=2_000_000, help="How many units one worker searches.")
@opt.option("-o", "--output", type=opt.FILE, metavar="FOLDER", help="Where to write labels, as Parquet files.")
@opt.console_options("as_json", "force", "quiet")
def cluster_graph(
    edges: Path | None, points: Path | None, output: Path | None, console: Console, **options: Any
) -> None:
    """Cluster a graph, or points, that need not fit into memory, on a Dask cluster.

    Either --edges or --points names a folder of Parquet files. Vertices are whole numbers; points are the rows of their
    files, counted from 0. PAIRS names them in two columns and has a column `type` that says must or cannot.

    \b
      tightcut cluster-graph --edges edges -k 3 -o labels
      tightcut cluster-graph --points points -k 3 --scheduler tcp://head:8786 --shared-folder /shared
    """  # noqa: D301 (\b is for click)
    folder = _folder(edges, points)
    if output is not None:
        _check_output(output, folder, force=console.force)
    started = time.perf_counter()
    from tightcut import cluster_graph as cluster
    from tightcut.distributed.running import find_client

    pairs = None if options["constraints"] is None else _named_pairs(options["constraints"])
    find_client(None)  # says which extra is missing, before a scheduler is looked for
    shared = options["shared_folder"]
    with (
        _client(options["scheduler"]) as client,
        TemporaryDirectory(prefix="tightcut-", dir=shared) as place,
        console.warnings_as_notes(),
    ):
        graph = None if points is None else _neighbors(points, options, client, Path(place, "edges"), console)
        found = cluster(
            edges if graph is None else graph.folder,
            pairs,
            options["n_clusters"],
            client=client,
            folder=shared,
            progress=console.progress(),
            **{name: options[name] for name in ("n_units", "effort", "n_jobs", "random_state")},
        )
    if output is not None:
        settings = {"overwrite": console.force, "compute_kwargs": {"scheduler": "sync"}}
        found.labels.to_parquet(str(output), write_index=False, **settings)
    values = _summary(found, graph, time.perf_counter() - started) | {"labels": output}
    console.show(
        values, in_columns({name.removeprefix("n_").replace("_", " "): value for name, value in values.items()})
    )


def _neighbors(points: Path, options: dict[str, Any], client: Any, folder: Path, console: Console) -> NeighborEdges:
    """The graph of neighbours of --points; what is left to be chosen is as in `knn_edges`."""
    from tightcut import knn_edges

    given = {name: options[name] for name in OF_POINTS if options[name] != "auto"}
    return knn_edges(points, folder, client=client, progress=console.progress(), **given)


def _folder(edges: Path | None, points: Path | None) -> Path:
    """That of the edges or that of the points; an error for both, and for one without data."""
    folder = points if edges is None else edges
    if folder is None or (edges is not None and points is not None):
        raise click.UsageError("Name either a folder of edges, --edges FOLDER, or one of points, --points FOLDER.")
    if edges is not None:
        opt.refuse(OF_POINTS, "has no effect on --edges; leave it out.")
    files = folder.rglob("*") if folder.is_dir() else [folder]
    if not any(path.match("*.parq*") or path.match("*.pq") for path in files):
        raise click.UsageError(f"{folder} {'holds no Parquet files' if folder.is_dir() else 'is not a Parquet file'}.")
    return folder


def _check_output(output: Path, folder: Path, *, force: bool) -> None:
    """Refuse a folder of labels that cannot be written, or in whose place something else would be deleted."""
    from tightcut.files.write import check_folder
    from tightcut.utils.atomic import resolve_path

    place = resolve_path(output)
    if str(output) == "-" or output.suffix:
        raise click.UsageError("Labels are written as a folder of Parquet files; name a folder: -o labels")
    if place == resolve_path(folder):
        raise click.UsageError("The same folder is named twice; input and output must differ.")
    if place in (Path.cwd(), *Path.cwd().parents, *resolve_path(folder).parents):
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


def _summary(found: GraphClustering, graph: NeighborEdges | None, seconds: float) -> dict[str, Any]:
    sizes = found.labels["cluster"].compute(scheduler="sync").value_counts().sort_index().tolist()
    values: dict[str, Any] = {"n_vertices": found.n_vertices, "sizes": sizes, "cut": found.cut}
    values |= {"n_units": list(found.n_units), "n_violations": found.violations.n_violations}
    values["seconds"] = round(seconds, 3)
    return values if graph is None else values | {"n_edges": graph.n_edges, "neighbor_recall": graph.recall}


def _is_id(name: str) -> bool:
    """Whether Python prints a number of 64 bits like this; it reads many other spellings, such as 007 or 1_000."""
    try:
        return str(int(name)) == name and -(2**63) <= int(name) < 2**63
    except ValueError:
        return False
