"""Clusterings that live: new points and new constraints on a fitted model, names, and models in files."""

from tightcut.updates.changes import Change, Changes

__all__ = ["Change", "Changes"]
