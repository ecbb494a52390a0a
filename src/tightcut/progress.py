"""Progress of long work: a bar in a notebook, one line that rewrites itself on a terminal, whole lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, TextIO

from tightcut.utils.compiling import SECONDS_OF_COMPILING

WIDTH = 24
SECONDS_BETWEEN_LINES = 2.0
SECONDS_BETWEEN_UPDATES = 0.2


class StatusLine:
    """A line of text that is updated in place; where there is no terminal, printed at most every two seconds.

    In a notebook it is a bar that fills, in place, unless a stream is given.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self._in_notebook = stream is None and in_notebook()
        self._shown: Any = None
        self.started = time.monotonic()
        self._last_line = float("-inf")

    def show(self, text: str, *, finished: bool, share: float | None = None) -> None:
        """Show a text, and the share of the work that is done; None if it is unknown."""
        now = time.monotonic()
        if self._in_notebook:
            if finished or now - self._last_line >= SECONDS_BETWEEN_UPDATES:
                self._last_line = now
                self._show_bar(text, share)
            return
        terminal = self.stream.isatty()
        if not terminal and not finished and now - self._last_line < SECONDS_BETWEEN_LINES:
            return
        self._last_line = now
        self.stream.write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
        if terminal and finished:
            self.stream.write("\n")
        self.stream.flush()

    def _show_bar(self, text: str, share: float | None) -> None:
        from html import escape

        from IPython.display import HTML, display

        value = "" if share is None else f' value="{share:.3f}"'
        bar = HTML(f'<progress max="1"{value} aria-label="progress"></progress> <code>{escape(text)}</code>')
        if self._shown is None:
            self._shown = display(bar, display_id=True)
        else:
            self._shown.update(bar)


def in_notebook() -> bool:
    """Whether output goes to a notebook, which has no terminal to rewrite lines on."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


class ProgressLine(StatusLine):
    """Callable with (stage, done, total, best); give it to `cluster(progress=...)`."""

    def __call__(self, stage: str, done: int, total: int, best: float) -> None:
        if stage == "compiling":
            self.say(f"compiling once, about {SECONDS_OF_COMPILING} s")
            return
        seconds = time.monotonic() - self.started
        cut = f"cut {best:.6g}  " if math.isfinite(best) else ""
        drawn = "" if self._in_notebook else f"{bar(done, total)} "
        text = f"tightcut {stage:<10} {drawn}{done}/{total}  {cut}{seconds:.1f} s"
        self.show(text, finished=done >= total, share=done / max(total, 1))

    def say(self, text: str) -> None:
        """A sentence on a line of its own, shown at once."""
        self.show(f"tightcut: {text}", finished=True)


def bar(done: int, total: int) -> str:
    """How much is done, as ``[######------]``."""
    filled = WIDTH * done // max(total, 1)
    return f"[{'#' * filled}{'-' * (WIDTH - filled)}]"
