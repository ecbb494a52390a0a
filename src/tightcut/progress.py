"""Progress of long work as plain text: one line that rewrites itself on a terminal, whole lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import TextIO

WIDTH = 24
SECONDS_BETWEEN_LINES = 2.0
SECONDS_OF_COMPILING = 15  # for a first fit, on one core


class StatusLine:
    """A line of text that is shown again and again; away from a terminal at most every two seconds."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.started = time.monotonic()
        self._last_line = float("-inf")

    def show(self, text: str, *, finished: bool) -> None:
        now = time.monotonic()
        terminal = self.stream.isatty()
        if not terminal and not finished and now - self._last_line < SECONDS_BETWEEN_LINES:
            return
        self._last_line = now
        self.stream.write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
        if terminal and finished:
            self.stream.write("\n")
        self.stream.flush()


class ProgressLine(StatusLine):
    """Callable with (stage, done, total, best); give it to `cluster(progress=...)`."""

    def __call__(self, stage: str, done: int, total: int, best: float) -> None:
        if stage == "compiling":
            self.show(f"tightcut compiling once, about {SECONDS_OF_COMPILING} s", finished=False)
            return
        seconds = time.monotonic() - self.started
        cut = f"cut {best:.6g}  " if math.isfinite(best) else ""
        text = f"tightcut {stage:<10} {bar(done, total)} {done}/{total}  {cut}{seconds:.1f} s"
        self.show(text, finished=done >= total)

    def say(self, text: str) -> None:
        """A sentence on a line of its own, shown at once."""
        self.show(f"tightcut {text}", finished=True)


def bar(done: int, total: int) -> str:
    """How much is done, as ``[######------]``."""
    filled = WIDTH * done // max(total, 1)
    return f"[{'#' * filled}{'-' * (WIDTH - filled)}]"
