"""Models that turn texts into vectors: on this machine by sentence-transformers, or behind an address.

Vectors are kept on disk (`tightcut.features.cache`): the same text is computed, or paid for, once.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Error as SqliteError
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from tightcut.exceptions import TightcutError
from tightcut.features.cache import VectorCache
from tightcut.utils.display import count_noun
from tightcut.utils.extras import require_package

KEY_VARIABLE = "TIGHTCUT_EMBED_KEY"
BATCH = 64  # texts of one request
ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 6, 1.0, 60.0  # seconds, doubled from one attempt to the next
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})  # status codes of failures that may pass
Note = Callable[[str], None]


class EmbeddingError(TightcutError, ValueError):
    """A model or an endpoint that gives no vectors."""


def embedder(name: str | None = None, url: str | None = None, note: Note | None = None) -> Embedder:
    """Texts to vectors by a sentence model, or by an endpoint if there is an address.

    Parameters
    ----------
    name : str, optional
        A model of sentence-transformers, by its name on the hub or by the folder that holds it; for an endpoint what it
        calls the model.
    url : str, optional
        An endpoint that speaks as OpenAI's does, such as ``https://host/v1/embeddings``. The environment variable
        TIGHTCUT_EMBED_KEY holds its key, if it asks for one. Texts are sent to that machine.
    note : callable, optional
        Called with what a person should know: how many texts are new, where the model reads only the beginning.

    Returns
    -------
    callable
        From a list of texts to an array with a row for each. It keeps what it has seen in the user's folder for caches,
        or where TIGHTCUT_CACHE says.
    """
    if url is not None:
        return Embedder(Endpoint(url, name), note)
    if name is None:
        raise ValueError("Name a model of sentence-transformers, or the address of an endpoint.")
    return Embedder(SentenceModel(name), note)


@dataclass
class Embedder:
    """A model, behind the cache of what it has computed."""

    model: SentenceModel | Endpoint
    note: Note | None = None

    def __str__(self) -> str:
        return str(self.model)

    def __call__(self, items: Sequence[Any]) -> np.ndarray:
        """One row for each text, or for each picture of Pillow."""
        keys = list(map(_key, items))
        cache, distinct = VectorCache(self.model.identity), dict(zip(keys, items, strict=True))
        try:
            known = cache.get(list(distinct))
        except (OSError, SqliteError) as error:
            raise EmbeddingError(
                f"The cache of embeddings, {cache.path}, cannot be used: {error}. Name another folder in the environment "
                "variable TIGHTCUT_CACHE."
            ) from None
        new = [key for key in distinct if key not in known]
        noun = "text" if all(isinstance(item, str) for item in items) else "picture"
        self._say(f"{count_noun(len(new), noun)} for {self.model}; {len(known):,} are known from {cache.path}.")
        # Kept batch by batch: an interruption loses one.
        for start in range(0, len(new), self.model.batch):
            batch = new[start : start + self.model.batch]
            vectors = self.model.encode([distinct[key] for key in batch])
            _check_vectors(vectors, len(batch), self.model)
            cache.put(batch, vectors)
            known |= dict(zip(batch, vectors.astype(np.float32), strict=True))
        for remark in self.model.remarks():
            self._say(remark)
        sizes = {len(vector) for vector in known.values()}
        if len(sizes) > 1:
            raise EmbeddingError(
                f"{self.model} gave vectors of {' and '.join(map(str, sorted(sizes)))} numbers: it is not the model that it "
                f"was. Remove {cache.path}, or name the new model differently."
            )
        return np.stack([known[key] for key in keys]).astype(np.float64)

    def _say(self, text: str) -> None:
        if self.note is not None:
            self.note(text)


class SentenceModel:
    """A model of sentence-transformers on this machine.

    Parameters
    ----------
    name : str
        On the hub, or a folder.
    loaded : object, optional
        The model itself, with ``encode``; loaded when it is first needed by default.
    """

    batch = 512

    def __init__(self, name: str, loaded: Any = None) -> None:
        self.name, self._loaded = name, loaded
        folder = Path(name)
        self.identity = f"sentence-transformers {folder.resolve() if folder.is_dir() else name}"

    def __str__(self) -> str:
        return self.name

    def encode(self, items: Sequence[Any]) -> np.ndarray:
        """Vectors of texts, or of pictures where the model takes them (CLIP)."""
        try:
            return np.asarray(self._model().encode(list(items), show_progress_bar=False, convert_to_numpy=True))
        except (AttributeError, TypeError, KeyError) as error:
            raise EmbeddingError(f"{self.name} cannot embed {type(items[0]).__name__} objects: {error}") from error

    def remarks(self) -> list[str]:
        limit = getattr(self._loaded, "max_seq_length", None)
        return [] if limit is None else [f"{self.name} reads the first {limit} tokens of each text, some words fewer."]

    def _model(self) -> Any:
        if self._loaded is None:
            package = require_package("sentence_transformers", "A sentence model", "embed")
            try:
                self._loaded = package.SentenceTransformer(self.name)
            except Exception as error:  # its errors are those of the hub, of files and of torch
                reason = str(error).partition("\n")[0].rstrip(".")
                raise EmbeddingError(
                    f"{self.name} is neither a folder with a sentence model nor one that could be loaded: {reason}."
                ) from error
        return self._loaded


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: texts and the key are for the address that was named."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Endpoint:
    """An address that answers {"model": ..., "input": [texts]} as OpenAI's /v1/embeddings does."""

    batch = BATCH

    def __init__(self, url: str, model: str | None) -> None:
        address = urlsplit(url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise EmbeddingError(f"{url!r} is not an address such as https://host/v1/embeddings.")
        if not model:
            raise EmbeddingError(f"{url}: say which of its models is meant.")
        self.url, self.model = url, model
        self.identity = f"endpoint {url} {model}"

    def __str__(self) -> str:
        return f"{self.model} at {urlsplit(self.url).hostname}"

    def encode(self, texts: Sequence[Any]) -> np.ndarray:
        if not all(isinstance(text, str) for text in texts):
            raise EmbeddingError(
                f"{self.url} takes texts; for pictures --embed names a model on this machine, such as CLIP."
            )
        answer = self._asked({"model": self.model, "input": list(texts)})
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            return np.array([row["embedding"] for row in rows], dtype=np.float64)
        except (KeyError, TypeError, ValueError):
            shown = json.dumps(answer)[:200]
            raise EmbeddingError(
                f"{self.url} does not answer as an endpoint of embeddings does, but: {shown}"
            ) from None

    def remarks(self) -> list[str]:
        return []

    def _asked(self, content: dict[str, Any]) -> Any:
        """The answer; failures that may pass are waited for."""
        wait = FIRST_WAIT
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return json.loads(self._sent(json.dumps(content).encode()))
            except urllib.error.HTTPError as error:
                reason, passing = self._reason(error), error.code in PASSING
                wait = max(wait, _seconds(error.headers.get("Retry-After")))
            except (OSError, http.client.HTTPException) as error:
                reason, passing = str(getattr(error, "reason", error)) or type(error).__name__, True
            except ValueError:
                raise EmbeddingError(f"{self.url} does not answer in JSON; is it the address of embeddings?") from None
            if not passing or attempt == ATTEMPTS:
                break
            time.sleep(min(wait, LONGEST_WAIT))
            wait *= 2
        tried = f" after {attempt} attempts" if attempt > 1 else ""
        raise EmbeddingError(f"{self.url} gave no embeddings{tried}: {reason}. What came before is kept.")

    def _sent(self, content: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        key = os.environ.get(KEY_VARIABLE)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self.url, content, headers)  # noqa: S310 (http or https, checked above)
        with urllib.request.build_opener(_StayHere).open(request, timeout=120) as answer:
            return answer.read()

    def _reason(self, error: urllib.error.HTTPError) -> str:
        said = error.read(2000).decode("utf-8", "replace")
        try:
            said = json.loads(said)["error"]["message"]
        except (ValueError, KeyError, TypeError):
            said = " ".join(said.split())[:200]
        remedy = ""
        if error.code in {401, 403}:
            state = "not accepted" if os.environ.get(KEY_VARIABLE) else "not set"
            remedy = f"; the environment variable {KEY_VARIABLE} is {state}"
        return f"status {error.code} {error.reason}{f' ({said})' if said else ''}{remedy}"


def _key(item: Any) -> str:
    """What a vector is kept by: the text itself, or the pixels of a picture in a few bytes."""
    if isinstance(item, str):
        return item
    return f"picture {item.mode} {item.size} {hashlib.blake2b(item.tobytes()).hexdigest()}"


def _check_vectors(vectors: np.ndarray, count: int, model: Any) -> None:
    if vectors.ndim != 2 or len(vectors) != count or 0 in vectors.shape or vectors.dtype.kind != "f":
        raise EmbeddingError(
            f"{model} gave an array of shape {vectors.shape} where {count:,} rows of numbers are needed."
        )
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"{model} gave numbers that are not finite.")


def _seconds(text: str | None) -> float:
    """What Retry-After says; 0 for dates and nonsense."""
    return float(text) if text is not None and text.isascii() and text.isdecimal() else 0.0
