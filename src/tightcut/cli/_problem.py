"""From the files and options of a command to a graph and constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightcut.cli._console import Console

if TYPE_CHECKING:
    import numpy as np

    from tightcut import Constraints, Graph
    from tightcut.files import Data, Judgements
    from tightcut.files.pairs import Places

CRITERIA = {"ncut": "normalized cut", "rcut": "ratio cut"}
VERTEX_WEIGHTS = {"ncut": "degree", "rcut": "ones"}


@dataclass(frozen=True, eq=False)
class Problem:
    """What there is to solve, and the names of everything for messages.

    Parameters
    ----------
    data : Data
    graph : Graph
    constraints : Constraints
    points : ndarray or None
        Scaled as they were clustered.
    judgements : Judgements or None
        The file of pairs.
    labels_column : str or None
    neighbor_recall : float or None
        Share of the true neighbours in the graph; None if the graph was given.
    """

    data: Data
    graph: Graph
    constraints: Constraints
    points: np.ndarray | None
    judgements: Judgements | None
    labels_column: str | None
    neighbor_recall: float | None = None

    def place(self, kind: str, i: int, j: int) -> str:
        """Where a constraint comes from, for messages."""
        place = None if self._places is None else self._places.find(kind, i, j)
        return place or f"{self.data.path}, column {self.labels_column!r}"

    @cached_property
    def _places(self) -> Places | None:
        return None if self.judgements is None else self.judgements.places(self.data.ids)


def read_problem(
    data: Path,
    console: Console,
    *,
    constraints: Path | None = None,
    labels: str | None = None,
    scale: str = "standard",
    n_neighbors: int = 10,
    neighbors: str = "auto",
    symmetrize: str = "maximum",
    criterion: str = "ncut",
    jobs: int = 1,
    device: str = "cpu",
    **reading: Any,
) -> Problem:
    """Read the files, then build the graph: mistakes in small files show before time is spent."""
    from tightcut import Graph
    from tightcut.files import read_data, read_pairs
    from tightcut.neighbors import KnnSettings, check_points, knn_graph

    judgements = None if constraints is None else read_pairs(constraints)
    content = read_data(data, data_options(labels=labels, **reading))
    for note in content.notes:
        console.note(f"Note: {note}")
    known = _constraints(content, judgements)
    if judgements is not None and len(judgements.repeated()):
        console.note(f"Note: {constraints} says some things twice; tightcut check names them.")
    points = None if content.points is None else _scaled(content, scale, console)
    affinity, recall = content.affinity, None
    if points is not None:
        with console.warnings_as_notes(), console.progress() as progress:
            settings = KnnSettings(n_neighbors, neighbors=neighbors, symmetrize=symmetrize, n_jobs=jobs, device=device)
            found = knn_graph(check_points(points), settings, progress)
            affinity, recall = found.affinity, found.recall
    if neighbors == "approximate" and recall is not None:
        console.note(f"Found {recall:.1%} of the true neighbours, as far as a sample of the points can tell.")
    graph = Graph.from_affinity(affinity, VERTEX_WEIGHTS[criterion])
    _note_reading(content, graph, scale, console)
    return Problem(content, graph, known, points, judgements, labels, recall)


def data_options(
    *,
    id_: str | None = None,
    columns: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
    header: bool | None = None,
    decimal: str = ".",
    graph: bool | None = None,
    labels: str | None = None,
    features: bool = True,
) -> Any:
    from tightcut.files import DataOptions, TableOptions

    return DataOptions(id_, labels, columns, drop, graph, features, TableOptions(header, decimal))


def no_overlap(*paths: Path | None) -> None:
    """Refuse a command line that would write over its own input, or two results to one file."""
    import click

    real = [path.resolve() for path in paths if path is not None]
    if len(set(real)) < len(real):
        raise click.UsageError("The same file is named twice; input and output files must differ.")


def check_targets(table: Path | None, other: Path | None = None, *, force: bool) -> None:
    """Refuse outputs that cannot be written, before anything is computed."""
    from tightcut.files.writing import check_table_writable, check_writable

    if table is not None:
        check_table_writable(table, force=force)
    if other is not None:
        check_writable(other, force=force)


def _constraints(data: Data, judgements: Judgements | None) -> Constraints:
    from tightcut import Constraints

    known = Constraints.from_pairs(data.n_rows)
    if judgements is not None:
        known |= judgements.constraints(data.ids, str(data.path))
    if data.labels is not None:
        known |= Constraints.from_labels(data.labels)
    return known


def _scaled(data: Data, scale: str, console: Console) -> np.ndarray:
    import numpy as np

    points = data.points
    assert points is not None  # noqa: S101 (for mypy)
    if scale == "none":
        return points
    if isinstance(points, np.memmap):
        from tightcut.files.large import standardized

        scaled, deviation = standardized(points)
    else:
        deviation = points.std(axis=0)
        scaled = (points - points.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    constant = [name for name, value in zip(data.columns, deviation, strict=True) if value == 0]
    if constant:
        from tightcut.files.errors import listed

        console.note(f"Note: the same value in every row of {listed(constant)}, which adds nothing.")
    return scaled


def _note_reading(data: Data, graph: Graph, scale: str, console: Console) -> None:
    if not data.is_graph:
        names = f"names from {data.id_name!r}" if data.has_ids else "rows counted from 0"
        console.note(f"Read {data.n_rows:,} rows and {len(data.columns)} columns of {data.path.name}; {names}.")
        if scale == "standard":
            console.note("Scaled the columns to mean 0 and variance 1; --scale none leaves them as they are.")
        return
    console.note(f"Read a graph of {graph.n_vertices:,} vertices and {graph.n_edges:,} edges from {data.path.name}.")
    count, _ = graph.components()
    if count > 1:
        console.note(
            f"Note: the graph has {count:,} connected components, so the cut may be 0 and say nothing. Edges that join "
            "them would help."
        )
