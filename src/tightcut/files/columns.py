"""Tables out: columns as CSV, TSV, Parquet or a table of a DuckDB file, by the name of the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.files import databases, parquet
from tightcut.files.errors import InputError
from tightcut.files.formats import TEXT_SUFFIXES
from tightcut.files.writing import atomic_writer, check_writable, write_rows
from tightcut.utils.extras import required


def check_columns_writable(path: Path, *, force: bool = False) -> None:
    """Raise InputError if a table cannot be written under this name, before anything is computed."""
    place = databases.address(path)
    if place is not None:
        databases.check_writable(*place, force=force)
        return
    if path.suffix.lower() in parquet.SUFFIXES:
        _pyarrow(path)
    elif path.suffix.lower() not in TEXT_SUFFIXES:
        raise InputError(f"{path}: tables are written as CSV, TSV, Parquet or FILE.duckdb::TABLE; choose such a name.")
    check_writable(path, force=force)


def write_columns(
    path: Path, columns: Mapping[str, np.ndarray], *, force: bool = False, spreadsheet: bool = False
) -> None:
    """Write a table whole or not at all. See `print_rows` for `spreadsheet`, which concerns text only.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from tightcut.files.columns import write_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_columns(Path(folder, "clusters.csv"), {"id": np.array(["ann", "bob"]), "cluster": np.array([0, 0])})
    ...     Path(folder, "clusters.csv").read_text().split()
    ['id,cluster', 'ann,0', 'bob,0']
    """
    check_columns_writable(path, force=force)
    place = databases.address(path)
    if place is not None:
        databases.write_columns(*place, columns, force=force)
    elif path.suffix.lower() in parquet.SUFFIXES:
        pa = _pyarrow(path)
        with atomic_writer(path, "wb", force=force) as stream:
            pa.parquet.write_table(pa.table(dict(columns)), stream)
    else:
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        write_rows(path, list(columns), rows, force=force, spreadsheet=spreadsheet)


def _pyarrow(path: Path) -> Any:
    required("pyarrow.parquet", f"{path}: writing Parquet", "frames")
    import pyarrow as pa

    return pa
