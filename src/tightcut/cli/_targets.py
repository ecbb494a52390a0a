"""The output of commands: which files are written, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click


def is_standard_output(output: Path | None, *, as_json: bool) -> bool:
    """Whether -o - was given; refused together with --json."""
    to_stdout = output is not None and str(output) == "-"
    if to_stdout and as_json:
        raise click.UsageError("-o - and --json both write to standard output; choose one.")
    return to_stdout


def check_targets(
    sources: Iterable[Path | None],
    tables: Iterable[Path | None],
    others: Iterable[Path | None] = (),
    *,
    force: bool,
    page: Path | None = None,
    check_table: Callable[..., None] | None = None,
) -> None:
    """Refuse outputs that cannot be written, or would overwrite an input or each other.

    Parameters
    ----------
    sources : iterable of Path or None
        Input files.
    tables, others : iterable of Path or None
        Tables, and other files, that will be written.
    force : bool
        Whether existing files may be replaced.
    page : Path, optional
        The report that will be written.
    check_table : callable, optional
        By default `tightcut.files.write.check_table_writable`.
    """
    from tightcut.files.write import check_table_writable, check_writable
    from tightcut.utils.atomic import resolved

    tables, others = ([path for path in paths if path is not None] for paths in (tables, (page, *others)))
    read = {resolved(path) for path in sources if path is not None}
    written: set[Path] = set()
    for path in (*tables, *others):
        if resolved(path) in read:
            raise click.UsageError(f"{path} is an input, and would be overwritten; name another output file.")
        if resolved(path) in written:
            raise click.UsageError(f"{path} is named for two outputs; name two files.")
        written.add(resolved(path))
    if page is not None and page.name != "-" and page.suffix.lower() not in (".html", ".htm") and not page.is_dir():
        raise click.UsageError(f"A report is written as HTML, not as {page.name}; name it {page.stem}.html.")
    for path in tables:
        (check_table or check_table_writable)(path, force=force)
    for path in others:
        check_writable(path, force=force)


def write_page(path: Path, page: str, *, force: bool) -> None:
    from tightcut.files import atomic_writer

    with atomic_writer(path, force=force) as stream:
        stream.write(page)
