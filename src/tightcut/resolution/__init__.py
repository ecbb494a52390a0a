"""Entity resolution: which records are the same, from scored pairs and hard rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tightcut.resolution.api import resolve
from tightcut.resolution.result import Resolution
from tightcut.resolution.tables import Columns

if TYPE_CHECKING:
    from tightcut.resolution.session import ResolutionSession

__all__ = ["Columns", "Resolution", "ResolutionSession", "resolve"]


def __getattr__(name: str) -> Any:
    """Asking is imported when it is used."""
    if name != "ResolutionSession":
        raise AttributeError(f"module 'tightcut.resolution' has no attribute {name!r}; it offers {', '.join(__all__)}.")
    from tightcut.resolution.session import ResolutionSession

    return ResolutionSession
