"""The `tightcut` command. Nothing heavy is imported before a command needs it, so that help is instant."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (that of the process, if none is given) and return its exit code."""
    try:
        _open_missing_streams()
        try:
            import click  # noqa: F401
        except ImportError:
            from tightcut.utils.extras import missing_package

            sys.stderr.write(f"{missing_package('The tightcut command', 'cli', 'click')}\n")
            return 1
        from tightcut.cli._app import run

        return run(arguments)
    except KeyboardInterrupt:
        if arguments is None:
            # Another Ctrl-C, while Python shuts down, ends the process instead of printing a traceback.
            import signal

            signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.stderr.write("Error: interrupted.\n")
        return 130


def _open_missing_streams() -> None:
    """Give the process the standard streams it was started without (`tightcut ... >&-`).

    Otherwise the next file opened takes the number of a closed stream, and whatever a library prints goes into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open("/dev/null" if sys.platform != "win32" else "nul", mode))  # noqa: PTH123, SIM115
