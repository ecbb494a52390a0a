"""What commands print and write: results on standard output, notes and progress on standard error, and files."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

Progress = Callable[[str, int, int, float], None]

# Control characters other than tab and newline, marks that reverse the direction of text, and bytes of file names that
# are no text: a name must not move the cursor, hide a line or end the program.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Console:
    """Where the output of a command goes, as its options of these names say.

    Parameters
    ----------
    quiet : bool, default=False
        Print no notes and no progress.
    as_json : bool, default=False
        Print results as JSON.
    force : bool, default=False
        Replace files that exist.
    spreadsheet : bool, default=False
        Put an apostrophe before texts in tables that a spreadsheet would take for formulas.
    """

    def __init__(
        self, *, quiet: bool = False, as_json: bool = False, force: bool = False, spreadsheet: bool = False
    ) -> None:
        self.quiet, self.as_json, self.force, self.spreadsheet = quiet, as_json, force, spreadsheet
        self._is_taken = False  # standard output, by a table
        if quiet:
            logging.getLogger("tightcut").setLevel(logging.ERROR)

    def note(self, message: str) -> None:
        if not self.quiet:
            click.echo(printable(message), err=True)

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Warnings of the library as notes, each once."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for text in dict.fromkeys(_in_words(warning.message) for warning in caught):
            self.note(f"Note: {text}")

    def progress(self) -> Progress | None:
        """A callback for functions that take one: a line that rewrites itself on a terminal; None if quiet."""
        from tightcut.progress import ProgressLine

        return None if self.quiet else ProgressLine(sys.stderr)

    def check_files(
        self,
        inputs: Iterable[Path | None],
        output: Path | None = None,
        *,
        tables: Iterable[Path | None] = (),
        others: Iterable[Path | None] = (),
        page: Path | None = None,
        check_table: Callable[..., None] | None = None,
    ) -> None:
        """Refuse files that could not be written in the end, or would overwrite an input or each other.

        Parameters
        ----------
        inputs : iterable of Path or None
        output : Path, optional
            The table that ``-`` sends to standard output.
        tables, others : iterable of Path or None
            Further tables, and files of other kinds.
        page : Path, optional
            The report.
        check_table : callable, optional
            By default `tightcut.files.write.check_table_writable`.
        """
        from tightcut.files.write import check_table_writable, check_writable
        from tightcut.utils.atomic import resolve_path

        self._is_taken = str(output) == "-"
        if self._is_taken and self.as_json:
            raise click.UsageError("-o - and --json both write to standard output; choose one.")
        named = [path for path in (None if self._is_taken else output, *tables) if path is not None]
        further = [path for path in (page, *others) if path is not None]
        taken = {
            resolve_path(path): "is an input, and would be overwritten; name another output file"
            for path in inputs
            if path
        }
        for path in (*named, *further):
            if resolve_path(path) in taken:
                raise click.UsageError(f"{path} {taken[resolve_path(path)]}.")
            taken[resolve_path(path)] = "is named for two outputs; name two files"
        if page is not None and page.name != "-" and page.suffix.lower() not in (".html", ".htm") and not page.is_dir():
            raise click.UsageError(f"A report is written as HTML, not as {page.name}; name it {page.stem}.html.")
        for path in named:
            (check_table or check_table_writable)(path, force=self.force)
        for path in further:
            check_writable(path, force=self.force)

    def write_rows(self, path: Path | None, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write a table; ``-`` is standard output, and None writes nothing."""
        from tightcut.files.write import print_rows, write_rows

        if path is None:
            return
        if str(path) != "-":
            write_rows(path, header, rows, force=self.force, spreadsheet=self.spreadsheet)
            return
        if sys.stdout.isatty():
            header = list(map(printable, header))
            rows = ([printable(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
        print_rows(sys.stdout, header, rows, spreadsheet=self.spreadsheet)

    def write_page(self, path: Path, page: str) -> None:
        from tightcut.files import atomic_writer

        with atomic_writer(path, force=self.force) as stream:
            stream.write(page)

    def show(self, values: Any, lines: Iterable[str]) -> None:
        """Print results, as JSON or as lines for a person; neither where a table has gone to standard output."""
        if not self._is_taken:
            for line in [json_text(values)] if self.as_json else lines:
                echo(line)


def printable(text: str) -> str:
    r"""The text with an escape in place of each character that a terminal would obey; JSON stays valid.

    Examples
    --------
    >>> from tightcut.cli._console import printable
    >>> print(printable("\x1b[2J"))
    \u001b[2J
    """
    return UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def echo(text: str) -> None:
    """A line on standard output."""
    click.echo(printable(text))


def json_text(values: Any) -> str:
    """JSON, paths as texts. It knows no NaN: an error rather than a file that others refuse."""
    return json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False, default=os.fspath)


def in_columns(facts: Mapping[str, Any]) -> list[str]:
    """Lines of names and values, without what is None.

    Examples
    --------
    >>> from tightcut.cli._console import in_columns
    >>> in_columns({"points": 1234, "cut": 2 / 3, "sizes": [1000, 234], "model": None})
    ['points  1,234', 'cut     0.666667', 'sizes   1,000, 234']
    """
    texts = {name: _as_text(value) for name, value in facts.items() if value is not None}
    width = max(map(len, texts))
    return [f"{name:<{width}}  {text}" for name, text in texts.items()]


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)


def _in_words(warning: Warning | str) -> str:
    from tightcut.exceptions import DisconnectedGraphWarning, LopsidedClustersWarning

    if isinstance(warning, DisconnectedGraphWarning):
        return (
            f"the nearest-neighbour graph has {warning.n_components:,} connected components, which were joined by "
            f"{warning.n_bridges:,} of the shortest links between them. Raise --n-neighbors for a denser graph."
        )
    if isinstance(warning, LopsidedClustersWarning):
        return (
            f"{warning.finding[0].lower()}{warning.finding[1:]} Try another -k, --criterion rcut with a larger "
            "--n-neighbors, or a few pairs (--constraints)."
        )
    return str(warning)
