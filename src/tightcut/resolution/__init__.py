"""Entity resolution: which records are the same, from scored pairs and rules that must hold."""

from tightcut.resolution.columns import Columns
from tightcut.resolution.resolving import Resolution, resolve

__all__ = ["Columns", "Resolution", "resolve"]
