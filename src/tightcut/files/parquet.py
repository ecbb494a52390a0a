"""Parquet files by pyarrow: whole columns, or blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tightcut.files.errors import InputError, listed, parsing
from tightcut.files.sources import Source
from tightcut.utils.extras import required

SUFFIXES = frozenset({".parquet", ".pq"})
KIND = "a Parquet file"


def open_parquet(source: Source) -> Any:
    """A `pyarrow.parquet.ParquetFile` that has rows and columns."""
    parquet = required("pyarrow.parquet", f"{source}: reading Parquet", "frames")
    with parsing(source, KIND):
        file = parquet.ParquetFile(source.open())
        if file.metadata.num_rows == 0 or file.metadata.num_columns == 0:
            raise InputError(f"{source} holds no rows.")
        return file


def column_names(source: Source) -> list[str]:
    return open_parquet(source).schema_arrow.names


def read_columns(source: Source, names: Sequence[str] | None = None) -> tuple[list[str], list[np.ndarray]]:
    """Names and cells of some columns, all by default, in the order of the file."""
    file = open_parquet(source)
    with parsing(source, KIND):
        table = file.read(columns=names)
        table.validate(full=True)  # text that is not UTF-8, lists that end beyond their values
        return table.column_names, [column.to_numpy() for column in table.columns]


def number_columns(source: Source, names: Sequence[str] | None) -> tuple[list[str], list[np.dtype], int]:
    """Names and types of columns that must hold numbers, all by default, and the number of rows."""
    file = open_parquet(source)
    known = file.schema_arrow.names
    chosen = list(known if names is None else names)
    missing = [name for name in chosen if name not in known]
    if missing:
        raise InputError(f"{source} has no column {listed(missing)}; its columns are {listed(known)}.")
    types = [_number_type(source, file.schema_arrow.field(name)) for name in chosen]
    return chosen, types, file.metadata.num_rows


def read_blocks(source: Source, names: list[str], n_rows: int) -> Iterator[np.ndarray]:
    """Columns of numbers, some rows at a time."""
    start = 0
    with parsing(source, KIND):
        for batch in open_parquet(source).iter_batches(n_rows, columns=names):
            # Columns come in the order of the file.
            parts = [batch.column(name) for name in names]
            for name, part in zip(names, parts, strict=True):
                if part.null_count:
                    row = start + int(np.argmax(np.asarray(part.is_null())))
                    raise InputError(f"{source}, row {row}, column {name!r}: the cell is empty; every value is needed.")
            yield np.column_stack([part.to_numpy(zero_copy_only=False) for part in parts])
            start += batch.num_rows


def _number_type(source: Source, field: Any) -> np.dtype:
    try:
        dtype = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in "biuf":
        raise InputError(f"{source}: column {field.name!r} holds {field.type}, not numbers. Leave it out.")
    return dtype
