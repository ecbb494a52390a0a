"""From the files and options of a command to a fitted model, which assembles the problem as `COSC` does in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightcut.cli._console import Console
from tightcut.utils.contradictions import Wording
from tightcut.utils.display import counted
from tightcut.utils.extras import missing_package

if TYPE_CHECKING:
    import numpy as np

    from tightcut import Constraints
    from tightcut.ask.page.read_items import QuestionData as Asked
    from tightcut.files import Data, DataOptions, Judgements
    from tightcut.fitted.state import FittedState

SETTINGS = (
    "n_clusters", "criterion", "metric", "scale", "learn_distances", "n_neighbors", "neighbors", "symmetrize",
    "diffusion", "max_violations", "method", "effort", "influence", "n_jobs", "random_state", "device",
)  # fmt: skip


YES_OR_NO = {"yes": True, "no": False}


# What the remedies are called here.
OPTIONS = Wording(
    pairs="lines",
    effort="--effort",
    limit="--max-violations",
    fewer="ask for fewer clusters (-k)",
    more="ask for more clusters (-k)",
    fewest="use --max-violations fewest to violate as little as possible",
)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The data and the constraints of the files, with the places that constraints come from."""

    data: Data
    judgements: Judgements | None  # the file of pairs
    answers: Path | None  # the journal of `tightcut ask`, in its place
    labels_column: str | None
    console: Console
    reading: DataOptions

    def fit(self, options: dict[str, Any], init: np.ndarray | None = None) -> FittedState:
        """The estimator with these options, fitted; contradictions are explained with the user's names."""
        from tightcut.exceptions import InconsistentConstraintsError
        from tightcut.files import InputError
        from tightcut.fitted.fit import fit
        from tightcut.fitted.parameters import Parameters
        from tightcut.utils.contradictions import explain

        data, pairs, n_clusters = self.data, self.judgements, options["n_clusters"]
        if data.n_rows < 2:
            raise InputError(f"{data.path} has {counted(data.n_rows, 'point')}; there must be at least two to cluster.")
        if n_clusters != "auto" and data.n_rows < n_clusters:
            raise InputError(f"{n_clusters} clusters need at least that many points; {data.path} has {data.n_rows:,}.")
        parameters = Parameters.from_flat(
            **{name: YES_OR_NO.get(options[name], options[name]) for name in SETTINGS if name in options},
            affinity="knn" if data.affinity is None else "precomputed",
            verbose=int(not self.console.quiet),
        )
        known = None if pairs is None else pairs.constraints(data.ids, str(data.path))
        if self.answers is not None:
            if data.left_out:
                raise InputError(f"{self.answers} counts rows that --missing drop leaves out; use --missing mean.")
            known = _believed(self.answers, data, self.reading)
        try:
            with self.console.warnings_as_notes():
                model = fit(
                    data.points if data.affinity is None else data.affinity,
                    parameters,
                    constraints=known,
                    partial_labels=data.labels,
                    init=init,
                )
        except InconsistentConstraintsError as error:
            error.n_clusters = error.n_clusters or (2 if n_clusters == "auto" else n_clusters)
            error.args = (explain(error, data.ids.__getitem__, self.place, OPTIONS),)
            raise
        if n_clusters == "auto":
            self.console.note(f"{model.n_clusters} clusters. {model.n_clusters_reason}")
        if options.get("neighbors") == "approximate" and data.affinity is None:
            share = f"{model.built.recall:.1%}"
            self.console.note(f"Found {share} of the true neighbours, estimated on a sample of the points.")
        return model

    def place(self, kind: str, i: int, j: int) -> str:
        """Where a constraint comes from, for messages."""
        if self.answers is not None:
            return str(self.answers)
        return self._places(kind, i, j) or f"{self.data.path}, column {self.labels_column!r}"

    @cached_property
    def _places(self) -> Callable[[str, int, int], str | None]:
        return (lambda *_: None) if self.judgements is None else self.judgements.places(self.data.ids)


def read_inputs(data: Path, console: Console, options: dict[str, Any]) -> Inputs:
    """Read the files, the small one first, so that its mistakes are reported before the other is read."""
    from tightcut.files import read_data, read_pairs

    _check_device(options["device"])
    pairs = options["constraints"]
    answers = pairs if pairs is not None and pairs.suffix == ".jsonl" else None
    judgements = None if pairs is None or answers is not None else read_pairs(pairs, options["decimal"])
    reading = reading_options(options)
    content = read_data(data, reading)
    for note in content.notes:
        console.note(f"Note: {note}")
    if judgements is not None and judgements.repeated():
        console.note(f"Note: {pairs} repeats some pairs; tightcut check lists them.")
    judgements = None if judgements is None else _on_kept_rows(judgements, content, console)
    _note_reading(content, console, distances=options["metric"] == "precomputed")
    return Inputs(content, judgements, answers, options["labels"], console, reading)


def _on_kept_rows(judgements: Judgements, data: Data, console: Console) -> Judgements:
    """The pairs without those of rows that have no values."""
    import numpy as np

    if not data.left_out:
        return judgements
    absent = np.isin(judgements.names, list(data.left_out.values()))
    gone = absent[judgements.ends[:, 0]] | absent[judgements.ends[:, 1]]
    if gone.any():
        console.note(
            f"Note: {counted(gone.sum(), 'pair')} of {judgements.path} named rows that were left out, and did not count."
        )
    return judgements.select(~gone)


def _believed(answers: Path, data: Data, reading: DataOptions) -> Constraints:
    """What the journal of `tightcut ask` says of these rows; those of another table, or another order, are refused."""
    from tightcut.ask import read_constraints
    from tightcut.files import InputError

    X, affinity = (data.points, "knn") if data.affinity is None else (data.affinity, "precomputed")
    try:
        try:
            return read_constraints(answers, data.n_rows, X=X, affinity=affinity)
        except ValueError:
            asked = _as_asked(data, reading)
            if asked is None:
                raise
            return read_constraints(answers, data.n_rows, X=asked.X, affinity=asked.affinity)
    except (OSError, ValueError) as error:
        raise InputError(str(error)) from error


def _as_asked(data: Data, reading: DataOptions) -> Asked | None:
    """The rows as `tightcut ask` takes them if no columns are chosen; None where it does not, or they are read only once."""
    from dataclasses import replace

    from tightcut.ask.page.read_items import read_items
    from tightcut.files import InputError

    if not (reading.columns or reading.drop or reading.encode or reading.labels) or not data.path.is_plain_file:
        return None
    try:
        return read_items(str(data.path), replace(reading, columns=(), drop=(), encode=(), labels=None))
    except InputError:
        return None


def reading_options(options: dict[str, Any], *, features: bool = True) -> DataOptions:
    from tightcut.files import DataOptions

    names = ("id", "labels", "columns", "drop", "encode", "missing", "graph", "header", "decimal")
    given = {name: options[name] for name in names if name in options}
    return DataOptions(**given, distances=options.get("metric") == "precomputed", features=features)


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
    if distances:
        console.note(f"Read the distances of {data.n_rows:,} points from {data.path.name}.")
        return
    if data.affinity is None:
        import numpy as np

        from tightcut.files.errors import listed
        from tightcut.selection.scale import moments

        names = f"names from {data.id_name!r}" if data.has_ids else "rows counted from 0"
        console.note(
            f"Read {counted(data.n_rows + len(data.left_out), 'row')} and {counted(len(data.columns), 'column')} of "
            f"{data.path.name}; {names}."
        )
        with np.errstate(over="ignore"):  # what is too large is refused later, with a message
            deviations = moments(data.points)[1] if data.points is not None else ()
        constant = [name for name, value in zip(data.columns, deviations, strict=False) if value == 0]
        if constant:
            console.note(f"Note: columns with the same value in every row make no difference: {listed(constant)}.")
        return
    console.note(
        f"Read a graph of {data.n_rows:,} vertices and {data.affinity.nnz // 2:,} edges from {data.path.name}."
    )
