"""Names that have moved: the old ones work for one more version."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tightcut.utils.warning import warn


def renamed(old: str, new: str) -> Any:
    """What is now called `new`, ``"room.name"`` below ``tightcut``, with a warning about the old name.

    Examples
    --------
    >>> import warnings
    >>> from tightcut.utils.renamed import renamed
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = renamed("ClusteringResult.report", "report.write_report")
    >>> print(caught[0].message)
    ClusteringResult.report is now tightcut.report.write_report; the old name works until 0.8.
    """
    warn(f"{old} is now tightcut.{new}; the old name works until 0.8.", FutureWarning)
    room, _, name = new.rpartition(".")
    return getattr(import_module(f"tightcut.{room}"), name)
