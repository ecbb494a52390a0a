"""Progress of long work as plain text: one line that rewrites itself on a terminal, whole lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 24
SECONDS_BETWEEN_LINES = 2.0


class ProgressLine:
    """Callable with (stage, done, total, best); give it to `cluster(progress=...)`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.started = time.monotonic()
        self._last_line = float("-inf")

    def __call__(self, stage: str, done: int, total: int, best: float) -> None:
        now = time.monotonic()
        finished = done >= total
        terminal = self.stream.isatty()
        if not terminal and not finished and now - self._last_line < SECONDS_BETWEEN_LINES:
            return
        self._last_line = now
        filled = WIDTH * done // max(total, 1)
        bar = "#" * filled + "-" * (WIDTH - filled)
        text = f"tightcut {stage:<10} [{bar}] {done}/{total}  cut {best:.6g}  {now - self.started:.1f} s"
        self.stream.write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
        if terminal and finished:
            self.stream.write("\n")
        self.stream.flush()
