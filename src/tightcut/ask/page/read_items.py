"""From a file, a saved model, or the name of built-in data, to points and what is shown of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.ask.base import QuestionSession
from tightcut.ask.page.items import Things, as_shown
from tightcut.drawing.pictures import ArrayPictures, FilePictures, Pictures, files_named, is_pictures
from tightcut.files import DataOptions, InputError, read_data, read_table
from tightcut.files.arrays import read_npy, read_npz, read_sparse
from tightcut.files.cells import as_number, is_missing, is_nearly_a_number, is_number
from tightcut.files.errors import listed
from tightcut.files.formats import READERS
from tightcut.files.graphs import names_edges
from tightcut.files.sources import DataFile, check_readable

if TYPE_CHECKING:
    from tightcut.fitted.state import FittedState

BUILT_IN = ("digits",)
FIELDS_SHOWN = 40  # columns of a table, if none are chosen
LONG_TEXT = 60  # characters: a column whose texts are longer is shown as a text, not as a field
MODEL = "the saved model"  # the author of the names of groups that were its clusters
LONG_NUMBER = 8  # characters: longer numbers are shown with the digits that matter


@dataclass(frozen=True, eq=False)
class QuestionData:
    """Points or similarities, what is shown of each row, and the rows of the file that were left out, as in `Data`."""

    title: str
    X: Any
    things: Things
    affinity: str = "knn"
    notes: tuple[str, ...] = ()
    left_out: dict[int, str] = field(default_factory=dict)


def read_items(
    data: str, options: DataOptions | None = None, *, show: Sequence[str] = (), images: Sequence[str] = ()
) -> QuestionData:
    """Read what a person is asked about.

    Parameters
    ----------
    data : str
        Path of a table, an array or a graph, or "digits".
    options : DataOptions, optional
        Which columns are what.
    show : sequence of str
        Columns to show; all by default.
    images : sequence of str
        A folder of pictures, a column with their file names, both, or HEIGHTxWIDTH for rows of pixels.
    """
    options, show = options or DataOptions(), _split(show)
    if data in BUILT_IN and not Path(data).exists():
        return _digits()
    path = DataFile.of(data)
    if path.path.is_dir():
        return _of_folder(path, options, images)
    check_readable(path)
    if path.suffix in READERS:
        return _from_table(path, options, show, images)
    is_array = path.suffix in {".npy", ".npz"}
    if is_array and (pixels := _pixels(path, images)) is not None:
        return _of_pictures(path, pixels)
    content = read_data(path, options)
    X, affinity = (content.points, "knn") if content.affinity is None else (content.affinity, "precomputed")
    columns = content.columns[:FIELDS_SHOWN] if is_array else ()
    fields = {f"column {name}": np.asarray(X)[:, i].tolist() for i, name in enumerate(columns)}
    things = _with_images(Things(content.ids, fields=fields), images, path)
    return QuestionData(path.stem, X, things, affinity, content.notes)


def _digits() -> QuestionData:
    from sklearn.datasets import load_digits

    digits = load_digits()
    things = replace(Things.numbered(len(digits.data)), pictures=ArrayPictures(digits.images))
    return QuestionData("Handwritten digits", digits.data, things)


def _pixels(path: DataFile, images: Sequence[str]) -> np.ndarray | None:
    """The pictures of an array, as such or as rows of pixels; None where it holds points or a sparse matrix."""
    if path.suffix == ".npz" and read_sparse(path) is not None:
        return None
    pixels = read_npy(path) if path.suffix == ".npy" else read_npz(path, lambda _: False)[0]
    shape = _pixel_shape(images)
    if shape is not None and pixels.ndim == 2:
        _check_pixels(pixels.shape[1], shape, path)
        pixels = pixels.reshape(len(pixels), *shape, -1)
    return pixels if is_pictures(pixels) else None


def _of_pictures(path: DataFile, pixels: np.ndarray) -> QuestionData:
    X = pixels.reshape(len(pixels), -1).astype(np.float64)
    if not np.isfinite(X).all():
        raise InputError(f"{path} contains NaN or infinity; fill or remove these values first.")
    return QuestionData(path.stem, X, replace(Things.numbered(len(X)), pictures=ArrayPictures(pixels)))


def _of_folder(path: DataFile, options: DataOptions, images: Sequence[str]) -> QuestionData:
    """A folder of pictures, clustered by what they look like."""
    content = read_data(path, options)
    if images:
        raise InputError(f"--images: the pictures of {path} are shown as they are; leave it out.")
    assert content.pictures is not None  # noqa: S101 - of a folder
    things = Things(content.ids, pictures=content.pictures.shown())
    return QuestionData(path.stem, content.points, things, notes=content.notes, left_out=content.left_out)


def _from_table(path: DataFile, options: DataOptions, show: list[str], images: Sequence[str]) -> QuestionData:
    table = read_table(path, options)
    image_column = next((name for name in images if name in table.names), None)
    for name in show:
        table.find(name, "--show")
    words, is_graph = [], options.graph or (options.graph is None and names_edges(table))
    if not (options.columns or options.text or is_graph):
        words = [name for name in table.names if _holds_words(table.texts(name), options.decimal)]
    encoded = table.find_all(options.encode, "--encode")
    words = [name for name in words if name not in {options.id, options.labels, image_column, *encoded}]
    if words and set(table.names) <= {*words, options.id, options.labels, image_column}:
        raise InputError(
            f"{path} has no column of numbers to cluster by; its columns are {listed(table.names)}. To cluster by what they "
            f"say: --text {words[-1]}"
        )
    left_out = words if image_column is None else [*words, image_column]
    content = read_data(path, replace(options, drop=(*options.drop, *left_out)))
    if content.affinity is not None:
        return QuestionData(path.stem, content.affinity, Things(content.ids), "precomputed", content.notes)
    chosen = show or [name for name in table.names if name not in {content.id_name, image_column}][:FIELDS_SHOWN]
    if content.left_out:
        table = table.select(~np.isin(np.arange(table.n_rows), list(content.left_out)))
    columns = {name: table.texts(name) for name in chosen if show or not images}
    long = [name for name, cells in columns.items() if name in options.text or _is_long(cells)]
    for name in set(columns) & set(content.columns):
        columns[name] = [_short_number(cell, options.decimal) for cell in columns[name]]
    things = Things(content.ids, _together({name: columns.pop(name) for name in long}), columns)
    names = None if image_column is None else table.texts(image_column)
    things = _with_images(things, [name for name in images if name != image_column], path, names)
    words = [name for name in words if name != content.id_name]
    note = f"Columns without numbers are shown, but not used for clustering: {listed(words)}."
    notes = (*content.notes, note) if words else content.notes
    return QuestionData(path.stem, content.points, things, notes=notes, left_out=content.left_out)


def model_items(
    model: FittedState, path: Path, ids: Sequence[str], fields: dict[str, Any], images: Sequence[str]
) -> QuestionData:
    """What a person is asked about: the points of the model, or its graph where it was made of one.

    Parameters
    ----------
    ids : sequence of str
        Names of the rows.
    fields : dict
        Columns to show.
    images : sequence of str
        A folder of pictures named like the rows, or HEIGHTxWIDTH for rows of pixels.
    """
    points = model.points
    things = Things(list(ids), fields=dict(list(fields.items())[:FIELDS_SHOWN]))
    shape = _pixel_shape(images)
    if shape is not None and points is not None:
        _check_pixels(points.shape[1], shape, path)
        pixels = np.stack([fields[name] for name in fields], axis=1) if fields else points
        things = Things(list(ids), pictures=ArrayPictures(np.asarray(pixels).reshape(len(points), *shape, -1)))
    else:
        things = _with_images(things, images, DataFile.of(path))
    if points is None:
        return QuestionData(path.stem, model.graph.weights, things, "precomputed")
    return QuestionData(path.stem, points, things)


def found_named_groups(session: QuestionSession, model: FittedState) -> None:
    """Put one typical member of each cluster with a name into a group of that name, in a session that is new."""
    if session.n_actions_ or not model.names:
        return
    labels, inside = model.labels, model.graph.ties_within(model.labels)
    for cluster, name in sorted(model.names.items()):
        members = np.flatnonzero(labels == cluster)
        session.move(int(members[inside[members].argmax()]), name, who=MODEL)


def _with_images(things: Things, images: Sequence[str], path: DataFile, names: list[str] | None = None) -> Things:
    """Pictures from a folder, by the rows' own names or by the file names of a column."""
    if not images and names is None:
        return things
    folder = Path(images[0]) if images else path.path.parent
    if not folder.is_dir():
        raise InputError(f"--images {folder} is neither a folder nor a column of {path}; sizes are given as 28x28.")
    found = files_named(things.names if names is None else names, folder)
    if not any(found):
        example = (things.names if names is None else names)[0]
        raise InputError(
            f"--images: no file in {folder} belongs to a row; for the first one {example!r} was looked for."
        )
    pictures: Pictures = FilePictures(found)
    return replace(things, pictures=pictures)


def _pixel_shape(images: Sequence[str]) -> tuple[int, int] | None:
    match = re.fullmatch(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})", images[0]) if images else None
    return None if match is None else (int(match[1]), int(match[2]))


def _check_pixels(n_values: int, shape: tuple[int, int], path: Any) -> None:
    """Refuse rows that are not pictures of this size, with any number of channels."""
    if n_values % (shape[0] * shape[1]):
        raise InputError(
            f"--images {shape[0]}x{shape[1]}: the rows of {path} have {n_values} values, which does not fit."
        )


def _holds_words(texts: Sequence[str], decimal: str) -> bool:
    """Whether no cell is a number; nor would all be numbers with a decimal comma, which is for the reader to refuse."""
    if any(is_number(text, decimal) for text in texts):
        return False
    present = [text for text in texts if not is_missing(text)]
    return not present or not all(map(is_nearly_a_number, present))


def _together(columns: dict[str, list[str]]) -> list[str] | None:
    """The long texts of each row as one, each below the name of its column where there are several."""
    if not columns:
        return None
    heading = "{}:\n{}" if len(columns) > 1 else "{1}"
    rows = zip(*columns.values(), strict=True)
    return [
        "\n\n".join(heading.format(*each) for each in zip(columns, cells, strict=True) if each[1].strip())
        for cells in rows
    ]


def _is_long(texts: Sequence[str]) -> bool:
    return any(len(text) > LONG_TEXT or "\n" in text for text in texts)


def _short_number(text: str, decimal: str) -> str:
    return as_shown(as_number(text, decimal)) if len(text) > LONG_NUMBER and is_number(text, decimal) else text


def _split(names: Sequence[str]) -> list[str]:
    return [part.strip() for name in names for part in name.split(",") if part.strip()]
