"""Progress of long computations: a bar in a notebook, a line updated in place on a terminal, separate lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, TextIO

from tightcut.utils.compiling import SECONDS_OF_COMPILING

WIDTH = 24  # characters of a bar
SECONDS_BETWEEN_LINES = 2.0
SECONDS_BETWEEN_UPDATES = 0.2  # of a bar in a notebook


class ProgressLine:
    """Progress as a line that is updated in place; called with (stage, done, total, best) by `cluster(progress=...)`.

    Without a terminal, a line is printed at most every two seconds. In a notebook it is a bar, unless a stream is given.

    Parameters
    ----------
    stream : file object, optional
        Where lines are written; the standard error stream by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self._in_notebook = stream is None and in_notebook()
        self._shown: Any = None
        self.started = time.monotonic()
        self._last_line = float("-inf")

    def __call__(self, stage: str, done: int, total: int, best: float) -> None:
        if stage == "compiling":
            self.say(f"compiling once, about {SECONDS_OF_COMPILING} s")
            return
        seconds = time.monotonic() - self.started
        word = "bound" if stage == "bounding" else "cut"
        cut = f"{word} {best:.6g}  " if math.isfinite(best) else ""
        drawn = "" if self._in_notebook else f"{bar(done, total)} "
        text = f"tightcut {stage:<10} {drawn}{done}/{total}  {cut}{seconds:.1f} s"
        self.show(text, finished=done >= total, share=done / max(total, 1))

    def say(self, text: str) -> None:
        """A sentence on a line of its own, shown at once."""
        self.show(f"tightcut: {text}", finished=True)

    def show(self, text: str, *, finished: bool, share: float | None = None) -> None:
        """Show a text, and the share of the work that is done, or None if that is unknown."""
        now = time.monotonic()
        wait = SECONDS_BETWEEN_UPDATES if self._in_notebook else SECONDS_BETWEEN_LINES
        in_place = not self._in_notebook and self.stream.isatty()
        if not (finished or in_place) and now - self._last_line < wait:
            return
        self._last_line = now
        if self._in_notebook:
            self._show_bar(text, share)
            return
        self.stream.write((f"\r\x1b[K{text}" + "\n" * finished) if in_place else f"{text}\n")
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
    """Whether output goes to a notebook, where lines cannot be updated in place."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


def bar(done: int, total: int) -> str:
    """The share that is done, as ``[######------]``."""
    filled = WIDTH * done // max(total, 1)
    return f"[{'#' * filled}{'-' * (WIDTH - filled)}]"
