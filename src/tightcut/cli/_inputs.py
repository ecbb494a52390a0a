"""From the files and options of a command to a fitted model, which assembles the problem as `COSC` does in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli._console import Console
from tightcut.cli._known import KnownPairs, Place, contradictions_explained
from tightcut.cli._options import is_given
from tightcut.utils.display import count_noun
from tightcut.utils.extras import missing_package

if TYPE_CHECKING:
    import numpy as np

    from tightcut import Constraints
    from tightcut.ask.page.read_items import QuestionData
    from tightcut.features.embedding import Embedder
    from tightcut.files import Data, DataOptions
    from tightcut.fitted.state import FittedState

# Options that are parameters of the estimator.
PARAMETERS = (
    "n_clusters", "criterion", "metric", "scale", "learn_distances", "n_neighbors", "neighbors", "symmetrize",
    "diffusion", "max_violations", "method", "effort", "influence", "n_jobs", "random_state", "device",
)  # fmt: skip
YES_OR_NO = {"yes": True, "no": False}


@dataclass(frozen=True, eq=False)
class Inputs:
    """The data, and what is known about them."""

    data: Data
    pairs: KnownPairs
    labels_column: str | None
    console: Console
    reading: DataOptions

    @cached_property
    def place(self) -> Place:
        """Where a constraint comes from, for messages."""
        return self.pairs.places(self.data.ids, f"{self.data.path}, column {self.labels_column!r}")

    def fit(self, options: dict[str, Any], init: np.ndarray | None = None) -> FittedState:
        """The estimator with these options, fitted; contradictions are explained with the user's names."""
        from tightcut.files import InputError
        from tightcut.fitted.fit import fit
        from tightcut.fitted.parameters import Parameters

        data, k = self.data, None if options["n_clusters"] == "auto" else options["n_clusters"]
        if data.n_rows < 2:
            raise InputError(
                f"{data.path} has {count_noun(data.n_rows, 'point')}; there must be at least two to cluster."
            )
        if k is not None and data.n_rows < k:
            raise InputError(f"{k} clusters need at least that many points; {data.path} has {data.n_rows:,}.")
        given = options if data.metric is None or is_given("metric") else {**options, "metric": data.metric}
        parameters = Parameters.from_flat(
            **{name: YES_OR_NO.get(given[name], given[name]) for name in PARAMETERS if name in given},
            affinity="knn" if data.affinity is None else "precomputed",
            verbose=int(not self.console.quiet),
        )
        known = self._constraints()
        with contradictions_explained(data.ids, lambda: self.place, k), self.console.warnings_as_notes():
            model = fit(
                data.points if data.affinity is None else data.affinity,
                parameters,
                constraints=known,
                partial_labels=data.labels,
                init=init,
            )
        if k is None:
            self.console.note(f"{model.n_clusters} clusters. {model.n_clusters_reason}")
        if options.get("neighbors") == "approximate" and data.affinity is None:
            share = f"{model.built.recall:.1%}"
            self.console.note(f"Found {share} of the true neighbours, estimated on a sample of the points.")
        return model

    def _constraints(self) -> Constraints | None:
        data = self.data
        given = (data.points, "knn") if data.affinity is None else (data.affinity, "precomputed")
        try:
            return self.pairs.constraints(data.ids, str(data.path), *given)
        except ValueError:
            asked = None if self.pairs.answers is None else self._as_asked()
            if asked is None or asked.things.names != data.ids:
                raise
            return self.pairs.constraints(data.ids, str(data.path), asked.X, asked.affinity)

    def _as_asked(self) -> QuestionData | None:
        """The rows as `tightcut ask` takes them if no columns are chosen; None where it does not, or they are read once."""
        from tightcut.ask.page.read_items import read_items
        from tightcut.files import InputError

        reading = self.reading
        if (
            not (reading.columns or reading.drop or reading.encode or reading.labels)
            or not self.data.path.is_plain_file
        ):
            return None
        try:
            return read_items(str(self.data.path), replace(reading, columns=(), drop=(), encode=(), labels=None))
        except InputError:
            return None


def read_inputs(data: Path, console: Console, options: dict[str, Any]) -> Inputs:
    """Read the files, the small one first, so that its mistakes are reported before the other is read."""
    from tightcut.files import read_data

    _check_device(options["device"])
    pairs = KnownPairs.read(options["constraints"], options["decimal"])
    reading = reading_options(options, note=console.note)
    content = read_data(data, reading)
    for note in content.notes:
        console.note(f"Note: {note}")
    if pairs.table is not None:
        if pairs.table.repeated():
            console.note(f"Note: {pairs.table.path} repeats some pairs; tightcut check lists them.")
        pairs = _of_kept_rows(pairs, content, console)
    _note_reading(content, console, distances=reading.distances)
    return Inputs(content, pairs, options["labels"], console, reading)


def _of_kept_rows(pairs: KnownPairs, data: Data, console: Console) -> KnownPairs:
    """The table of pairs without those of rows that have no values."""
    import numpy as np

    table = pairs.table
    if table is None or not data.left_out:
        return pairs
    absent = np.isin(table.names, list(data.left_out.values()))
    gone = absent[table.ends].any(axis=1)
    if gone.any():
        console.note(
            f"Note: {count_noun(gone.sum(), 'pair')} of {table.path} named rows that were left out, and did not count."
        )
    return KnownPairs(table.select(~gone))


def reading_options(
    options: dict[str, Any], *, features: bool = True, note: Callable[[str], None] | None = None
) -> DataOptions:
    """What the options say of the data; `note` is told how a model embeds texts, if one does."""
    from tightcut.files import DataOptions

    names = ("id", "labels", "columns", "drop", "encode", "text", "missing", "graph", "header", "decimal")
    given = {name: options[name] for name in names if name in options}
    embed = _embedder(options.get("embed"), options.get("embed_url"), note)
    return DataOptions(**given, embed=embed, distances=options.get("metric") == "precomputed", features=features)


def _embedder(name: str | None, url: str | None, note: Callable[[str], None] | None) -> Embedder | None:
    from tightcut.features import embedder

    if url is not None and name is None:
        raise click.UsageError("--embed-url needs the name of a model of that endpoint: --embed NAME")
    return None if name is None else embedder(name, url, note)


def _check_device(device: str) -> None:
    from tightcut.exceptions import NoGpuError
    from tightcut.gpu.device import resolve_device

    try:
        resolve_device(device)
    except ImportError:
        raise missing_package("--device cuda", "gpu", "torch", otherwise="use --device cpu") from None
    except NoGpuError:
        raise NoGpuError(
            "--device cuda needs an NVIDIA GPU, and PyTorch finds none. Use --device cpu, or --device auto to use a GPU "
            "only where there is one."
        ) from None


def _note_reading(data: Data, console: Console, *, distances: bool) -> None:
    name = data.path.name
    if distances:
        console.note(f"Read the distances of {data.n_rows:,} points from {name}.")
    elif data.affinity is not None:
        console.note(f"Read a graph of {data.n_rows:,} vertices and {data.affinity.nnz // 2:,} edges from {name}.")
    elif data.made_by:
        rows = count_noun(data.n_rows + len(data.left_out), "row" if data.pictures is None else "picture")
        console.note(f"Read {rows} of {name}: {data.made_by}.")
    else:
        rows, columns = count_noun(data.n_rows + len(data.left_out), "row"), count_noun(len(data.columns), "column")
        origin = f"names from {data.id_name!r}" if data.has_ids else "rows counted from 0"
        console.note(f"Read {rows} and {columns} of {name}; {origin}.")
        _note_constant_columns(data, console)


def _note_constant_columns(data: Data, console: Console) -> None:
    import numpy as np

    from tightcut.files.errors import listed
    from tightcut.selection.scale import moments

    if data.points is None:
        return
    with np.errstate(over="ignore"):  # what is too large is refused later, with a message
        deviations = moments(data.points)[1]
    constant = [column for column, value in zip(data.columns, deviations, strict=False) if value == 0]
    if constant:
        console.note(f"Note: columns with the same value in every row make no difference: {listed(constant)}.")
