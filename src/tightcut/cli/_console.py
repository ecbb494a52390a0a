"""What is said while a command works: notes and progress, on standard error, unless it should be quiet."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from tightcut.cli._words import in_options

Progress = Callable[[str, int, int, float], None]


class Console:
    """Notes and progress on standard error, results on standard output."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet

    def note(self, message: str) -> None:
        if not self.quiet:
            click.echo(message, err=True)

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Warnings of the library as notes, each once."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for text in dict.fromkeys(str(warning.message) for warning in caught):
            self.note(f"Note: {in_options(text)}")

    @contextmanager
    def progress(self) -> Iterator[Progress | None]:
        """A callback for `cluster(progress=...)`: a bar on a terminal, lines elsewhere, None if quiet."""
        if self.quiet:
            yield None
        elif not sys.stderr.isatty():
            from tightcut.progress import ProgressLine

            yield ProgressLine(sys.stderr)
        else:
            with _bar() as update:
                yield update


@contextmanager
def _bar() -> Iterator[Progress]:
    try:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress
    except ImportError:
        from tightcut.progress import ProgressLine

        yield ProgressLine(sys.stderr)
        return
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}  {task.fields[best]}"),
        TimeElapsedColumn(),
    )
    with RichProgress(*columns, console=RichConsole(stderr=True), transient=True) as bars:
        task = bars.add_task("start", total=1, best="")

        def update(stage: str, done: int, total: int, best: float) -> None:
            shown = f"cut {best:.6g}" if math.isfinite(best) else ""
            bars.update(task, description=stage, completed=done, total=total, best=shown)

        yield update


def print_facts(facts: Mapping[str, Any]) -> None:
    """Names and values in two columns on standard output."""
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:<{width}}  {value}")


def print_json(values: Any) -> None:
    """JSON on standard output; NaN becomes null, as JSON has none."""
    click.echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False))
