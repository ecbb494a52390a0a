"""A fitted model in one file, without pickle: reading a file never runs code.

A file is a zip archive (not compressed) of `manifest.json` and arrays as NPY. The manifest has

| key | meaning |
|---|---|
| format, version | "tightcut model", and the version of the format, a whole number |
| written_by | the version of tightcut |
| parameters | those of the constructor |
| state | what `fit` and `update` have left on the model, by the names of the attributes |

Values that JSON knows are written as such. Every other value is an object with one key: `{"array": file}`, `{"strings":
[...]}`, `{"csr": {"shape", "data", "indices", "indptr"}}`, `{"tuple": [...]}`, `{"ids": [[number, value], ...]}` for a
mapping by whole numbers, `{"number": "nan"}`, `{"constraints": {...}}`, `{"changes": [...]}`, and `{"View": {...}}` and
the like for chosen settings, by the names of their attributes.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tightcut.exceptions import TightcutError
from tightcut.fitted.changes import Changes
from tightcut.fitted.container import Container
from tightcut.problem import Constraints
from tightcut.selection import CandidateScore, Choice, FeatureMap, Setting
from tightcut.selection.scale import ColumnScale
from tightcut.utils.atomic import replace_file
from tightcut.utils.sparse import to_csr

FORMAT, VERSION = "tightcut model", 1
MANIFEST = "manifest.json"
SUFFIX = ".tcut"


class ArchiveError(TightcutError, ValueError):
    """A file that is not a model, or a damaged one."""


def write_archive(path: Path, parameters: dict[str, Any], state: dict[str, Any], written_by: str) -> None:
    """Write a model; a file that exists is replaced once all is written."""
    writer = _Writer()
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": written_by,
        "parameters": {name: writer.encode(value, name) for name, value in parameters.items()},
        "state": {name: writer.encode(value, name) for name, value in state.items()},
    }
    with replace_file(path, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(MANIFEST, json.dumps(manifest, allow_nan=False, indent=1))
        for name, array in writer.arrays.items():
            with archive.open(name, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


@contextmanager
def damage_reported(path: Any) -> Iterator[None]:
    """Raise whatever reading a damaged file raises as an ArchiveError that names the file."""
    try:
        yield
    except (ArchiveError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise ArchiveError(f"{path} is damaged: {reason}. Save the model again.") from error


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the state of a model. Raises ArchiveError if the file is not one."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        try:
            archive = zipfile.ZipFile(stream)
        except Exception as error:
            raise ArchiveError(f"{path} is not a model that tightcut has saved, or it is damaged.") from error
        if MANIFEST not in archive.namelist():
            raise ArchiveError(f"{path} is a zip archive, but not a model that tightcut has saved.")
        with archive, damage_reported(path):
            container = Container(archive, size)
            manifest = json.loads(container.bytes(MANIFEST).decode("utf-8"), parse_constant=_no_number)
            _check_version(manifest, path)
            reader = _Reader(container)
            parameters, state = (
                {str(name): reader.decode(value) for name, value in manifest[part].items()}
                for part in ("parameters", "state")
            )
    return parameters, state


def _check_version(manifest: Any, path: Path) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ArchiveError(f"{path} is a zip archive, but not a model that tightcut has saved.")
    version = manifest.get("version")
    if version != VERSION:
        raise ArchiveError(
            f"{path} has version {version!r:.20} of the format, written by tightcut {manifest.get('written_by')!s:.20}; "
            f"this one reads version {VERSION}. Install that version of tightcut, or fit the model again."
        )


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class _Writer:
    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, name: str) -> Any:
        """A value as JSON; its arrays are collected under names that begin with `name`."""
        if value is None or isinstance(value, (bool, str, np.bool_)):
            return bool(value) if isinstance(value, np.bool_) else value
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            number = float(value)
            return number if np.isfinite(number) else {"number": repr(number)}
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if sp.issparse(value):
            return self._matrix(value, name)
        if isinstance(value, Constraints):
            return {"constraints": self._attributes(value, LINKS, name)}
        if isinstance(value, Changes):
            return {"changes": value.to_lists()}
        if type(value) in RECORD_NAMES:
            return {RECORD_NAMES[type(value)]: self._attributes(value, [field.name for field in fields(value)], name)}
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item, f"{name}.{place}") for place, item in enumerate(value)]}
        if isinstance(value, list):
            return [self.encode(item, f"{name}.{place}") for place, item in enumerate(value)]
        if isinstance(value, dict) and all(isinstance(key, Integral) for key in value):
            return {"ids": [[int(key), self.encode(item, f"{name}.{key}")] for key, item in value.items()]}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"mapping": [[key, self.encode(item, f"{name}.{key}")] for key, item in value.items()]}
        raise TypeError(
            f"{name} is {value!r}, which cannot be written into a file: numbers, strings, arrays and collections of "
            f"these can. Change it first, for example with set_params({name}=...)."
        )

    def _attributes(self, value: Any, parts: Iterable[str], name: str) -> dict[str, Any]:
        return {part: self.encode(getattr(value, part), f"{name}.{part}") for part in parts}

    def _array(self, array: np.ndarray, name: str) -> dict[str, Any]:
        if array.dtype.kind in "OU":
            if array.ndim != 1 or not all(isinstance(item, str) for item in array.tolist()):
                raise TypeError(f"{name} is an array of objects, which cannot be written into a file.")
            return {"strings": array.tolist()}
        file = f"{name}.npy"
        self.arrays[file] = np.asarray(array)
        return {"array": file}

    def _matrix(self, matrix: Any, name: str) -> dict[str, Any]:
        csr = sp.csr_array(matrix)
        parts = {part: self._array(getattr(csr, part), f"{name}.{part}") for part in ("data", "indices", "indptr")}
        return {"csr": {"shape": list(map(int, csr.shape)), **parts}}


# Dataclasses by their names in files, which stay what they are if a class gets another name.
RECORDS: dict[str, Any] = {
    "CandidateScore": CandidateScore,
    "Choice": Choice,
    "ColumnScale": ColumnScale,
    "Setting": Setting,
    "View": FeatureMap,
}
RECORD_NAMES = {record: name for name, record in RECORDS.items()}
LINKS = ("n_points", "must_link", "cannot_link", "must_link_belief", "cannot_link_belief")


class _Reader:
    def __init__(self, container: Container) -> None:
        self._container = container

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        decoders: dict[str, Callable[[Any], Any]] = {
            "array": self._container.array,
            "strings": self._strings,
            "csr": self._matrix,
            "tuple": lambda items: tuple(self.decode(item) for item in items),
            "ids": lambda items: {key: self.decode(item) for key, item in items if _is(key, int)},
            "mapping": lambda items: {key: self.decode(item) for key, item in items if _is(key, str)},
            "number": lambda text: {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[text],
            "constraints": self._constraints,
            "changes": Changes.from_lists,
        }
        if kind in RECORDS:
            return RECORDS[kind](**{part: self.decode(item) for part, item in content.items()})
        if kind not in decoders:
            raise ValueError(f"it holds a value of an unknown kind, {kind!r:.40}")
        return decoders[kind](content)

    def _strings(self, items: list[str]) -> np.ndarray:
        strings = np.empty(len(items), dtype=object)
        strings[:] = [item for item in items if _is(item, str)]
        return strings

    def _matrix(self, parts: dict[str, Any]) -> sp.csr_array:
        arrays = tuple(self.decode(parts[name]) for name in ("data", "indices", "indptr"))
        return to_csr(sp.csr_array(arrays, shape=tuple(parts["shape"])), "a matrix")

    def _constraints(self, parts: dict[str, Any]) -> Constraints:
        return Constraints.from_pairs(**{name: self.decode(parts[name]) for name in LINKS})


def _is(value: Any, kind: type) -> bool:
    """True, or an error: what is not of the kind is not left out."""
    if type(value) is not kind:
        raise ValueError(f"{value!r:.40} is not of the type {kind.__name__}")
    return True
