"""A fitted model: fit, predict, update, names of clusters, and models in files."""

from tightcut.fitted.archive import ArchiveError
from tightcut.fitted.changes import Change, Changes

__all__ = ["ArchiveError", "Change", "Changes"]
