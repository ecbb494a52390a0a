"""Updates of a fitted model: new points, new constraints, names of clusters, and models in files."""

from tightcut.updates.changes import Change, Changes

__all__ = ["Change", "Changes"]
