"""The `tightcut` command. Nothing heavy is imported before a command needs it, so that help comes at once.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | a file or a value that cannot be used |
| 2 | a command line that cannot be understood |
| 3 | constraints that contradict each other |
| 130 | interrupted with Ctrl-C |
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (that of the process, if none is given) and return its exit code."""
    try:
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write('The tightcut command needs click and rich: pip install "tightcut[cli]"\n')
        return 1
    from tightcut.cli._app import run

    return run(arguments)
