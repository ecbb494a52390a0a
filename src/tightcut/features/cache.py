"""Vectors on disk, so that no text is embedded twice: an SQLite file, keyed by the model and the text."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

VARIABLE = "TIGHTCUT_CACHE"
AT_ONCE = 500  # keys of one query; SQLite takes no more than 999 of old versions


def cache_folder() -> Path:
    """Where vectors are kept: what TIGHTCUT_CACHE names, otherwise the user's folder for caches."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"], "tightcut")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tightcut"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tightcut"


class VectorCache:
    """Vectors of one model, by text.

    Parameters
    ----------
    model : str
        All that a vector depends on beside the text. Texts of two models never meet.
    folder : Path, optional
        By default `cache_folder`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from tightcut.features.cache import VectorCache
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = VectorCache("small", Path(folder))
    ...     cache.put(["one"], np.array([[1.0, 2.0]]))
    ...     {text: vector.tolist() for text, vector in cache.get(["one", "two"]).items()}
    {'one': [1.0, 2.0]}
    """

    def __init__(self, model: str, folder: Path | None = None) -> None:
        self._model = model
        self.path = (folder or cache_folder()) / "embeddings.sqlite"

    def get(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Those of the texts that are known, and their vectors."""
        keys = {self._key(text): text for text in texts}
        found: dict[str, np.ndarray] = {}
        with closing(self._connection()) as database:
            names = list(keys)
            for start in range(0, len(names), AT_ONCE):
                some = names[start : start + AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = database.execute(f"select key, vector from vectors where key in ({marks})", some)  # noqa: S608
                found |= {keys[key]: np.frombuffer(vector, "<f4") for key, vector in rows}
        return found

    def put(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep vectors, all of them or none; they are stored with 32 bits."""
        rows = [(self._key(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with closing(self._connection()) as database, database:
            database.executemany("insert or replace into vectors values (?, ?)", rows)

    def _connection(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.path, timeout=60)
        database.execute("create table if not exists vectors (key blob primary key, vector blob) without rowid")
        return database

    def _key(self, text: str) -> bytes:
        content = f"{self._model}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(content, digest_size=24).digest()
