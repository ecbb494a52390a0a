"""The group of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from tightcut import __version__
from tightcut._support.interruption import interruptible
from tightcut.cli._words import in_options

BAD_INPUT, USAGE, INCONSISTENT, INTERRUPTED = 1, 2, 3, 130

COMMANDS = {
    "cluster": "cluster",
    "check": "check",
    "audit": "audit",
    "tradeoff": "tradeoff",
    "evaluate": "evaluate",
    "reproduce": "reproduce",
    "datasets": "about",
    "demo": "about",
    "warmup": "about",
    "info": "about",
}
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
        return getattr(import_module(f"tightcut.cli.{COMMANDS[cmd_name]}"), cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if os.path.exists(args[0]):  # noqa: PTH110 (pathlib costs more than the whole help)
                raise click.UsageError(f"{error.message} Did you mean: tightcut cluster {args[0]} -k K", ctx) from None
            raise


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="tightcut %(version)s")
def app() -> None:
    """Cluster data so that what you already know holds: these two belong together, those two do not.

    \b
    A first try:
      tightcut cluster iris.csv -k 3 --drop species -o labels.csv
      tightcut cluster iris.csv -k 3 --drop species --constraints pairs.csv --report report.html
    """  # noqa: D301 (\b is for click)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; messages about failures go to standard error."""
    try:
        # Not standalone, click returns the code of an Exit, and what a command returns, which is None.
        with interruptible():
            code = app.main(
                args=None if arguments is None else list(arguments), prog_name="tightcut", standalone_mode=False
            )
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted.", INTERRUPTED)
    except ImportError as error:
        # The package's own hints name the extra to install; anything else is a fault of ours.
        if "pip install" in str(error):
            return _fail(in_options(str(error)), BAD_INPUT)
        raise
    except MemoryError:
        return _fail("not enough memory for this data.", BAD_INPUT)
    except ValueError as error:
        from tightcut.exceptions import InconsistentConstraintsError

        code = INCONSISTENT if isinstance(error, InconsistentConstraintsError) else BAD_INPUT
        return _fail(in_options(str(error)), code, error)
    except RuntimeError as error:
        from tightcut.exceptions import NoGpuError

        if isinstance(error, NoGpuError):
            return _fail(in_options(str(error)), BAD_INPUT, error)
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or error}.", BAD_INPUT, error)


def _fail(message: str, code: int, error: BaseException | None = None) -> int:
    if error is not None and os.environ.get("TIGHTCUT_TRACEBACK"):
        raise error
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {message}", err=True)
    return code
