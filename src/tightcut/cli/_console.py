"""What commands print: results on standard output; notes and progress on standard error, unless asked to be quiet."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

Progress = Callable[[str, int, int, float], None]

# Control characters other than tab and newline, marks that reverse the direction of text, and bytes of file names that
# are no text: a name must not move the cursor, hide a line or end the program.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with an escape in place of each character that a terminal would obey; JSON stays valid.

    Examples
    --------
    >>> from tightcut.cli._console import printable
    >>> print(printable("\x1b[2J"))
    \u001b[2J
    """
    return UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def echo(text: str = "") -> None:
    """A line on standard output."""
    click.echo(printable(text))


class Console:
    """Notes and progress on standard error."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
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


def print_facts(facts: Mapping[str, Any]) -> None:
    """Names and values in two columns on standard output, without what is None."""
    texts = {name: as_text(value) for name, value in facts.items() if value is not None}
    width = max(map(len, texts))
    for name, text in texts.items():
        echo(f"{name:<{width}}  {text}")


def as_text(value: Any) -> str:
    """A value for a person.

    Examples
    --------
    >>> from tightcut.cli._console import as_text
    >>> as_text(1234), as_text(2 / 3), as_text([1000, 2]), as_text("9 of 10")
    ('1,234', '0.666667', '1,000, 2', '9 of 10')
    """
    if isinstance(value, list):
        return ", ".join(map(as_text, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)


def print_json(values: Any) -> None:
    """JSON on standard output, paths as texts. It knows no NaN: an error rather than a file that others refuse."""
    echo(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False, default=os.fspath))
