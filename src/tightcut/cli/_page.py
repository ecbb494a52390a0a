"""A session on its page, for the commands that ask."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import util
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from tightcut.cli import _options as opt
from tightcut.cli._console import Console, printable
from tightcut.utils.display import count_noun
from tightcut.utils.extras import missing_package

if TYPE_CHECKING:
    from tightcut.ask.base import QuestionSession
    from tightcut.ask.page.controller import Controller

page_options = opt.together(
    opt.option("--console", "in_terminal", is_flag=True, help="Ask in the terminal."),
    opt.option("--port", type=opt.Whole(0, 65535), default=0, help="Port of the page; 0 takes a free one."),
    opt.option("--no-browser", is_flag=True, help="Print the address of the page, and open no browser."),
    opt.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        metavar="ADDRESS",
        help="Address of this machine to answer at; 0.0.0.0 for all of them. What is sent is not encrypted.",
    ),
    opt.option("--as", "who", metavar="NAME", help="Who answers, for the journal."),
)


def check_journal(data: str | Path, options: dict[str, Any]) -> Path | None:
    """Where the answers are kept: as told, or beside the work if the data are a file; None for nowhere.

    An error, before anything is computed, if the page lacks a package or the journal could not be written.
    """
    from tightcut.files.write import check_folder

    missing = [name for name in ("starlette", "uvicorn") if util.find_spec(name) is None]
    if missing and not options["in_terminal"]:
        raise missing_package("The page", "ask", *missing, otherwise="ask in the terminal with --console")
    default = Path(f"{Path(data).stem}.answers.jsonl") if Path(data).exists() else None
    journal = options["answers"] or default
    if journal is None:
        return None
    if journal.is_dir():
        raise ValueError(f"--answers {journal} is a directory; name a file in it, such as {journal / 'answers.jsonl'}.")
    if not journal.exists():
        check_folder(journal)
    elif not os.access(journal, os.W_OK):
        raise ValueError(f"You have no permission to write to {journal}; copy it, and name the copy with --answers.")
    return journal


def note_journal(journal: Path | None, console: Console) -> None:
    console.note(
        f"Answers are kept in {journal}." if journal else "Answers are not kept; --answers names a file for them."
    )


def _leave(session: QuestionSession, journal: str | None, console: Console) -> str | None:
    """Close a session; returns where its answers are. Those of a lost journal are written to another."""
    from tightcut.ask.errors import LostJournalError

    try:
        with suppress(OSError):  # what was answered is on disk already
            session.refresh()
    except LostJournalError as error:
        journal = str(session.save_journal())
        console.note(f"{error.problem} All answers are in {journal}.")
    session.close()
    return journal


def ask_person(
    controller: Controller,
    begin: Callable[[], QuestionSession],
    X: Any,
    affinity: str,
    options: dict[str, Any],
    console: Console,
    *,
    to_stderr: bool = False,
) -> None:
    """Ask in the terminal, or on a page until Ctrl-C; the controller has the session then, and where its answers are."""
    if not options["in_terminal"]:
        _serve_page(controller, begin, X, affinity, options, console, to_stderr=to_stderr)
        return
    from tightcut.ask.page.terminal import converse

    controller.session = begin()
    Thread(target=controller.session.prepare, daemon=True).start()
    write = partial(click.echo, err=to_stderr)
    try:
        read = _read if to_stderr else input
        converse(
            controller.session,
            controller.things,
            read,
            lambda text: write(printable(text)),
            controller.kind,
            controller.who,
        )
    finally:
        controller.journal = _leave(controller.session, controller.journal, console)


def _read(prompt: str) -> str:
    """A line of the person; the prompt leaves standard output to the results."""
    click.echo(prompt, nl=False, err=True)
    return input()


def _serve_page(
    controller: Controller,
    begin: Callable[[], QuestionSession],
    X: Any,
    affinity: str,
    options: dict[str, Any],
    console: Console,
    *,
    to_stderr: bool = False,
) -> None:
    import webbrowser

    from tightcut.ask.page.server import NAMES, bound_socket, new_token, reachable_at, serve

    host = options["host"]
    sock, token = bound_socket(options["port"], host), new_token()
    address = f"http://{reachable_at(host)}:{sock.getsockname()[1]}/{token}/"
    controller.start(begin, X, affinity=affinity)
    click.echo(address, err=to_stderr)
    where = (
        "on this machine" if host in NAMES else "on a machine that reaches this one; nothing is encrypted on the way"
    )
    console.note(f"Open this address in a browser {where}. Ctrl-C ends.")
    if not options["no_browser"]:
        webbrowser.open(address)
    try:
        serve(controller, sock, token)
    except KeyboardInterrupt:
        pass  # the way to end it
    finally:
        sock.close()
    count = 0
    if controller.session is not None:
        count, controller.journal = (
            controller.session.n_answers_,
            _leave(controller.session, controller.journal, console),
        )
    if controller.journal:
        given = count_noun(count, "answer is", "answers are")
        console.note(f"{given} in {controller.journal}; the same command continues.")
    else:
        console.note(f"{count_noun(count, 'answer')}, not kept.")
