"""Labels as a table: the name of each row, its cluster, and the cluster's name if there are names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

NAMES = "cluster_name"  # the column; one of identifiers may be called name


def label_table(
    id_name: str, labelled: Iterable[tuple[str, Any]], names: Mapping[int, str]
) -> tuple[list[str], Iterable[tuple[Any, ...]]]:
    """Header and rows of the table.

    Parameters
    ----------
    id_name : str
        Heading of the column of identifiers.
    labelled : iterable of (str, int or "")
        Identifier and cluster of each row; no cluster for rows that were left out.
    names : mapping
        Names of clusters, by number.
    """
    if not names:
        return [id_name, "cluster"], labelled
    return [id_name, "cluster", NAMES], ((row, cluster, names.get(cluster, "")) for row, cluster in labelled)


def read_labels(path: Path, ids: Sequence[str], source: Path) -> tuple[np.ndarray, dict[int, str]]:
    """The cluster of each of the rows, and names of clusters, from a table that a command has written."""
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
