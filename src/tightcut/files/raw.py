"""Points from columns of texts, and from a folder of pictures, through `tightcut.features`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tightcut.features.pictures import picture_files, pictures
from tightcut.features.texts import LONGEST_TEXT, text_points
from tightcut.files.cells import is_missing
from tightcut.files.content import Data, DataOptions, without_rows
from tightcut.files.errors import InputError, listed
from tightcut.files.sources import DataFile
from tightcut.files.tables import Table
from tightcut.utils.display import count_noun

NAMES_SHOWN = 5


def with_texts(data: Data, table: Table, options: DataOptions) -> Data:
    """The data with points for the texts of the columns that --text names; several are read one after the other."""
    if options.columns or options.drop or options.encode or options.distances:
        raise InputError(
            "--text clusters by texts in place of all other columns; leave out --columns, --drop, --encode and "
            "--metric precomputed."
        )
    if options.missing == "mean":
        raise InputError("Texts have no mean; --missing drop gives rows without text no label.")
    names = table.find_all(options.text, "--text")
    columns = [["" if is_missing(cell) else cell for cell in table.texts(name)] for name in names]
    texts = ["\n".join(filter(None, cells)) for cells in zip(*columns, strict=True)]
    try:
        found = text_points(texts, options.embed)
    except ValueError as error:
        raise InputError(f"{table.path}, column {listed(names)}: {error}") from error
    how = "their words" if options.embed is None else str(options.embed)
    made_by = f"texts of {listed(names)}, by {how}"
    data = replace(data, points=found.points, texts=texts, made_by=made_by, metric="cosine")
    notes = list(data.notes)
    if len(found.cut):
        what = f"a text of more than {LONGEST_TEXT:,} characters, of which the beginning counts"
        notes.append(f"{_rows(data, found.cut, what)}.")
    missing = "" if len(found.blank) == 0 else _rows(data, found.blank, "no text, or no word that another has")
    if missing and options.missing == "drop":
        blank = np.isin(np.arange(data.n_rows), found.blank)
        return without_rows(replace(data, notes=tuple(notes)), blank, f"{missing}. They get no label.")
    if missing:
        notes.append(
            f"{missing}. They are near each other and far from all others; --missing drop gives them no label."
        )
    return replace(data, notes=tuple(notes))


def read_pictures(folder: DataFile, options: DataOptions) -> Data:
    """The pictures of a folder as points, named by their paths in it. Damaged ones get no label."""
    root = folder.path
    paths = picture_files(root)
    if not paths:
        raise InputError(
            f"{folder} is a folder without pictures. Name a file, or a folder of JPEG, PNG, WebP or TIFF files."
        )
    names = [path.relative_to(root).as_posix() for path in paths]
    if not options.features:
        return Data(folder, names, "file")
    try:
        found = pictures(paths, options.embed)
    except ValueError as error:
        raise InputError(f"{folder}: {error}") from error
    how, metric = ("light, edges and colours", None) if options.embed is None else (str(options.embed), "cosine")
    name_of = dict(zip(paths, names, strict=True))
    notes: tuple[str, ...] = ()
    if found.left_out:
        reasons = [f"{name_of[path]!r} ({reason})" for path, reason in found.left_out.items()]
        more = f" and {len(reasons) - NAMES_SHOWN:,} more" if len(reasons) > NAMES_SHOWN else ""
        left = f"Left out {len(reasons):,} of {count_noun(len(names), 'picture')}, which get no label"
        notes = (f"{left}: {', '.join(reasons[:NAMES_SHOWN])}{more}.",)
    return Data(
        folder,
        [name_of[path] for path in found.paths],
        "file",
        found.points,
        notes=notes,
        left_out={row: name for row, (path, name) in enumerate(name_of.items()) if path in found.left_out},
        pictures=found,
        made_by=f"pictures, by {how}",
        metric=metric,
    )


def _rows(data: Data, rows: np.ndarray, what: str) -> str:
    """How many rows have something, and the names of the first."""
    names = [data.ids[row] for row in rows]
    return f"{count_noun(len(names), 'row has', 'rows have')} {what}: {listed(names, NAMES_SHOWN)}"
