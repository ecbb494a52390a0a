"""Open an input: a file, compressed or not, a table inside a file, or standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import IO

from tightcut.files.errors import InputError, parsing
from tightcut.utils.extras import require_package
from tightcut.utils.validation import did_you_mean

WITH_PARTS = {".xlsx", ".db", ".sqlite", ".sqlite3", ".duckdb", ".h5ad"}
PACKINGS = {".gz": "gzip", ".zst": "Zstandard"}
# How the content of standard input begins, which has no name to tell its kind; all else is CSV.
BEGINNINGS = {
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x93NUMPY": ".npy",
    b"%%MatrixMarket": ".mtx",
    b"{": ".jsonl",
}


@dataclass(frozen=True)
class DataFile:
    """What a name on the command line stands for. Its text is that name, for messages.

    Parameters
    ----------
    path : Path
        A file; ``-`` is standard input.
    part : str, optional
        What follows ``::``, a table of a database for example.

    Examples
    --------
    >>> from tightcut.files.sources import DataFile
    >>> source = DataFile.of("shop.db::customers")
    >>> source.path.name, source.part, source.suffix, DataFile.of("points.csv.gz").suffix
    ('shop.db', 'customers', '.db', '.csv')
    """

    path: Path
    part: str | None = None

    @classmethod
    def of(cls, given: str | Path | DataFile) -> DataFile:
        if isinstance(given, DataFile):
            return given
        name, mark, part = str(given).rpartition("::")
        return cls(Path(name), part) if mark and not Path(given).exists() else cls(Path(given))

    def __str__(self) -> str:
        name = "standard input" if self.is_standard_input else str(self.path)
        return name if self.part is None else f"{name}::{self.part}"

    @property
    def is_standard_input(self) -> bool:
        return str(self.path) == "-"

    @property
    def packing(self) -> str:
        """.gz, .zst or nothing."""
        if self.is_standard_input:
            return _kind_of(_standard_input()) if _kind_of(_standard_input()) in PACKINGS else ""
        return self.path.suffix.lower() if self.path.suffix.lower() in PACKINGS else ""

    @cached_property
    def suffix(self) -> str:
        """The kind of what is inside, as the end of a file's name."""
        if self.is_standard_input:
            return _kind_of(self.read_bytes())
        return Path(self.path.stem).suffix.lower() if self.packing else self.path.suffix.lower()

    @property
    def name(self) -> str:
        return str(self) if self.is_standard_input else str(self).removeprefix(str(self.path.parent)).lstrip("/\\")

    @property
    def stem(self) -> str:
        """A title: the name of the file without its endings, or that of the part."""
        if self.is_standard_input:
            return "standard input"
        return self.part or (Path(self.path.stem).stem if self.packing else self.path.stem)

    @property
    def is_plain_file(self) -> bool:
        return not (self.is_standard_input or self.packing)

    def read_bytes(self) -> bytes:
        """The content, unpacked."""
        content = _standard_input() if self.is_standard_input else self.path.read_bytes()
        return _unpacked(self, content) if self.packing else content

    def open(self) -> Path | IO[bytes]:
        """What parsers of binary files take: a path where there is one, else the content."""
        return self.path if self.is_plain_file else io.BytesIO(self.read_bytes())

    @contextmanager
    def lines(self) -> Iterator[IO[str]]:
        """The content as a stream of lines, whatever its bytes."""
        opened = self.open()
        with opened.open("rb") if isinstance(opened, Path) else opened as stream:
            yield io.TextIOWrapper(stream, encoding="utf-8", errors="replace")

    def local_file(self) -> Path:
        """The file itself, for libraries that read from disk only; an error if it is packed or piped."""
        if self.is_plain_file:
            return self.path
        raise InputError(f"{self}: {self.suffix} files are read from disk only; unpack or save it first.")


def check_readable(given: str | Path | DataFile) -> None:
    """Raise InputError unless a source can be opened and holds something."""
    source = DataFile.of(given)
    path = source.path
    if source.is_standard_input:
        if not _standard_input():
            raise InputError("Standard input is empty.")
        return
    if path.is_dir():
        raise InputError(f"{path} is a directory, not a file. Name one of the files in it.")
    try:
        with path.open("rb") as stream:
            start = stream.read(1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.{_similar_files(path)}") from None
    except PermissionError:
        raise InputError(f"{path} cannot be read: permission denied. Try: chmod u+r {path}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not start:
        raise InputError(f"{path} is empty.")
    if source.part is not None and source.suffix not in WITH_PARTS:
        raise InputError(f"{path} has no named parts; leave out ::{source.part}")


@cache
def _standard_input() -> bytes:
    """Everything that is piped into the process; it can be read only once."""
    if sys.stdin.isatty():
        raise InputError("- is standard input, and nothing is piped into it. Try: tightcut cluster - -k 2 < data.csv")
    return sys.stdin.buffer.read()


def _kind_of(content: bytes) -> str:
    return next((suffix for beginning, suffix in BEGINNINGS.items() if content.startswith(beginning)), ".csv")


def _unpacked(source: DataFile, content: bytes) -> bytes:
    with parsing(source, f"a {PACKINGS[source.packing]} file"):
        if source.packing == ".gz":
            import gzip

            return gzip.decompress(content)
        zstandard = require_package("zstandard", f"{source}: unpacking .zst", "files")
        with zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True) as stream:
            return stream.read()


def _similar_files(path: Path) -> str:
    from tightcut.datasets import list_datasets

    if path.suffix in ("", ".csv") and path.stem in list_datasets():
        return f" The built-in dataset of this name: tightcut datasets {path.stem} -o {path.with_suffix('.csv')}"
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir() if entry.is_file()])
    except OSError:
        return f" Nor does the folder {path.parent}."
