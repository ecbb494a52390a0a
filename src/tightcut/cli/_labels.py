"""Labels as a table: the name of each row, its cluster, and the cluster's name if there are names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightcut.cli._console import printable

if TYPE_CHECKING:
    import numpy as np

NAMES = "cluster_name"  # the column; one of identifiers may be called name


def write_labels(
    id_name: str,
    labelled: Iterable[tuple[str, Any]],
    names: Mapping[int, str],
    table: Path | None,
    *,
    to_stdout: bool,
    spreadsheet: bool,
    force: bool,
) -> None:
    """Write the table into a file, or to standard output; neither, if there is no file and `to_stdout` is False.

    Parameters
    ----------
    id_name : str
        Heading of the column of identifiers.
    labelled : iterable of (str, int or "")
        Identifier and cluster of each row; no cluster for rows that were left out.
    names : mapping
        Names of clusters, by number.
    table : Path or None
    to_stdout, spreadsheet, force : bool
    """
    from tightcut.files.write import print_rows, write_rows

    header = [id_name, "cluster", *([NAMES] if names else [])]
    rows = [list(row) for row in labelled]
    if names:
        for row in rows:
            row.append(names.get(row[1], ""))
    if to_stdout and sys.stdout.isatty():
        header = list(map(printable, header))
        rows = [[printable(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    if to_stdout:
        print_rows(sys.stdout, header, rows, spreadsheet=spreadsheet)
    elif table is not None:
        write_rows(table, header, rows, force=force, spreadsheet=spreadsheet)


def read_labels(path: Path, ids: Sequence[str], source: Path) -> tuple[np.ndarray, dict[int, str]]:
    """The cluster of each of the rows, and names of clusters, from a table that `write_labels` has written."""
    import numpy as np

    from tightcut.files import InputError, read_table
    from tightcut.files.errors import listed

    table = read_table(path)
    if "cluster" not in table.names or len(table.names) < 2:
        raise InputError(
            f"{path} needs a column of identifiers and a column named cluster; its columns are {listed(table.names)}."
        )
    column = next(name for name in table.names if name not in {"cluster", NAMES})
    values = table.numbers(["cluster"])[:, 0]
    bad = np.flatnonzero((values < 0) | (values != np.floor(values)) | (values > 2**53))
    if len(bad):
        raise InputError(f"{table.where(int(bad[0]), 'cluster')}: {values[bad[0]]:g} is not the number of a cluster.")
    given = dict(zip(table.identifiers(column), values.astype(np.int64).tolist(), strict=True))
    missing = next((name for name in ids if name not in given), None)
    if missing is not None:
        raise InputError(f"{path} has no cluster for {missing!r}, a row of {source}.")
    names: dict[int, str] = {}
    if NAMES in table.names:
        for row, (cluster, name) in enumerate(zip(values.astype(np.int64).tolist(), table.texts(NAMES), strict=True)):
            if name.strip() and names.setdefault(cluster, name.strip()) != name.strip():
                raise InputError(f"{table.where(row, NAMES)}: cluster {cluster} is named {names[cluster]!r} above.")
    return np.array([given[name] for name in ids], dtype=np.int64), names
