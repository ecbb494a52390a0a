"""Issue warnings with the user's own line, however deep in the library they arise."""

from __future__ import annotations

import inspect
import warnings

PASSED_THROUGH = {"tightcut", "numba", "sklearn", "joblib", "contextlib"}  # modules between a user's line and a warning


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """`warnings.warn` about the innermost line that is not in one of these modules."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_THROUGH:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
