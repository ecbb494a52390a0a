"""The group of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from tightcut import __version__
from tightcut.cli._console import printable
from tightcut.utils.interruption import interruptible

BAD_INPUT, INCONSISTENT = 1, 3

# In the order of the help. Each has a module of its name; those about the package share one.
MISCELLANEOUS = ("datasets", "demo", "warmup", "info")
COMMANDS = (
    "cluster", "cluster-graph", "update", "predict", "resolve", "ask", "check", "audit", "tradeoff", "certify", "verify",
    "evaluate", *MISCELLANEOUS,
)  # fmt: skip
EPILOG = """\b
Exit codes:
  0    success
  1    a file or a value that cannot be used
  2    a command line that cannot be understood
  3    constraints that contradict each other
  130  interrupted with Ctrl-C

Results go to standard output, messages and progress to standard error."""


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own, imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        return getattr(import_module(f"tightcut.cli.{'misc' if name in MISCELLANEOUS else name}"), name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name in COMMANDS or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if name == "reproduce":
            hint = " The experiments are in the repository now: make reproduce"
        elif os.path.exists(name):  # noqa: PTH110 (pathlib costs more than the whole help)
            hint = f" Did you mean: tightcut cluster {name} -k K"
        else:
            from tightcut.utils.validation import did_you_mean

            hint = did_you_mean(name, COMMANDS)
        raise click.UsageError(f"No such command {name!r}.{hint}", ctx)


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="tightcut %(version)s")
def app() -> None:
    """Cluster data so that what you already know holds: these two belong together, those two do not.

    \b
    A first try:
      tightcut datasets iris -o iris.csv
      tightcut cluster iris.csv -k 3 --drop class -o labels.csv --report report.html
      tightcut ask iris.csv --drop class
    """  # noqa: D301 (\b is for click)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; messages about failures go to standard error."""
    try:
        # Not standalone, click returns the code of an Exit, and what a command returns, which is None.
        with interruptible():
            code = app.main(
                args=None if arguments is None else list(arguments), prog_name="tightcut", standalone_mode=False
            )
        sys.stdout.flush()  # here, where a failure still has a message
        return int(code or 0)
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        click.echo(printable(text.getvalue()), nl=False, err=True)
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        if _comes_from_an_interrupt(error):
            raise KeyboardInterrupt from None
        message = _message(error)
        if message is None or os.environ.get("TIGHTCUT_TRACEBACK"):
            raise
        return _fail(message, error)


def _message(error: Exception) -> str | None:
    """What to tell the user; None for faults of our own."""
    from tightcut.exceptions import TightcutError

    if isinstance(error, MemoryError):
        return "not enough memory for this data."
    if isinstance(error, OSError):
        return f"{f'{error.filename}: ' if error.filename else ''}{str(error.strerror or error).rstrip('.')}."
    return str(error) if isinstance(error, (ValueError, TightcutError)) else None


def _fail(message: str, error: Exception) -> int:
    from tightcut.exceptions import InconsistentConstraintsError

    if isinstance(error, OSError) and error.filename is None:
        # A stream that can no longer be written: what is left in its buffer would fail again when Python ends.
        for stream in (sys.stdout, sys.stderr) if error.errno == errno.EPIPE else (sys.stdout,):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {printable(message)}", err=True)
    return INCONSISTENT if isinstance(error, InconsistentConstraintsError) else BAD_INPUT


def _comes_from_an_interrupt(error: BaseException | None) -> bool:
    """Compiled modules that are interrupted while they are imported fail with errors of other kinds."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
