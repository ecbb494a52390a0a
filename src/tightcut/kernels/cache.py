"""Where compiled kernels are cached: several candidate folders; a cache that cannot be used never makes a fit fail.

numba's cache takes one folder, which must be writable: it ignores code that can be read but not written, such as that of
a container's image, and raises where no folder can be written, the disk is full or a file was cut short. An edit in a
file goes unnoticed by the functions of other files that call it.

Here all sources of a room share one stamp. Every compiled signature has numba's two files, an index of one entry and the
code, to itself, so that processes that compile at once never merge an index; the code carries a checksum.
"""

from __future__ import annotations

import os
import pickle
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from tightcut.utils.compiling import report_compiling
from tightcut.utils.warning import warn


class RoomLocator(_CacheLocator):
    """Where code of a kernel is, and the stamp of all sources of its room."""

    def __init__(self, py_file: str) -> None:
        self._py_file = py_file  # which numba names in warnings
        self.room = Path(py_file).resolve().parent

    @classmethod
    def from_function(cls, py_func, py_file):  # noqa: ARG003 - numba's signature
        return cls(py_file)

    def get_cache_path(self):
        return str(_folders(self.room)[0])

    def get_source_stamp(self):
        return _stamp(self.room)

    def get_disambiguator(self):
        return "kernel"


class RoomCode(CompileResultCacheImpl):
    """How numba turns compiled code into bytes, with our locator."""

    _locator_classes = [RoomLocator]  # noqa: RUF012 - numba's attribute


class KernelCache(FunctionCache):
    """Where a dispatcher looks for compiled code, and stores it.

    With NUMBA_CACHE_DIR set, the files are there. Otherwise they are read from the package's own `__pycache__` and the
    user's folder for caches, and written to the first of the two that can be written. If none can, a folder of the
    user's among the temporary files serves both; if even that fails, nothing is kept. Either way one warning says so.
    """

    _impl_class = RoomCode

    def __init__(self, py_func):
        super().__init__(py_func)
        self._folders = _folders(self._impl.locator.room)
        # All that numba must have for this; a version that lacks a part fails here, and `compiled` does without.
        self._parts = self._index_key, self._impl.reduce, self._impl.rebuild, self._impl.check_cachable
        self._parts += IndexDataCacheFile.load, IndexDataCacheFile.save, IndexDataCacheFile.flush

    def load_overload(self, sig, target_context):
        target_context.refresh()
        key = self._index_key(sig, target_context.codegen())
        for folder in [*self._folders, *_temporary_folder(create=False)]:
            try:
                checksum, code = self._files(folder, key).load(key)
                if sha256(code).digest() == checksum:
                    return self._impl.rebuild(target_context, pickle.loads(code))  # noqa: S301 - the user's own folders
            except Exception:  # noqa: BLE001, S112 - whatever is wrong with a file, it can be compiled again
                continue
        report_compiling()
        return None

    def save_overload(self, sig, data):
        if not self._impl.check_cachable(data):
            return
        key, code = self._index_key(sig, data.codegen), dumps(self._impl.reduce(data))
        if any(self._write(folder, key, code) for folder in self._folders):
            return
        written = (folder for folder in _temporary_folder(create=True) if self._write(folder, key, code))
        _warn_once(tuple(self._folders), next(written, None))

    def _write(self, folder: Path, key: tuple, code: bytes) -> bool:
        """Whether the files could be put in place, each whole: numba renames what it has written."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files = self._files(folder, key)
            files.flush()  # an index that is damaged, or of earlier sources, cannot be added to
            files.save(key, (sha256(code).digest(), code))
        except OSError:
            return False
        return True

    def _files(self, folder: Path, key: tuple) -> IndexDataCacheFile:
        """Of one signature and processor. Code of earlier sources has the same name, and is overwritten."""
        name = f"{self._impl.filename_base}-{sha256(repr(key[:2]).encode()).hexdigest()[:16]}"
        return IndexDataCacheFile(str(folder), name, self._impl.locator.get_source_stamp())


def folders_in_use() -> list[Path]:
    """Where there is compiled code of this installation that this user may read, in the order in which it is looked for."""
    folders = [*_folders(Path(__file__).resolve().parent), *_temporary_folder(create=False)]
    return [folder for folder in folders if any(folder.glob("*.nbc"))]


def _folders(room: Path) -> list[Path]:
    installation = f"{room.name}_{sha256(os.fsencode(room)).hexdigest()[:16]}"
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR) / installation]
    caches = Path(AppDirs("numba", appauthor=False).user_cache_dir)
    # Without HOME and without an entry among the users of the machine it is "~/.cache", below the current folder.
    return [room / "__pycache__", *([caches / installation] if caches.is_absolute() else [])]


@cache
def _stamp(room: Path) -> str:
    """Of all sources of a room."""
    sources = sorted(room.glob("*.py"))
    if not sources:
        return uuid4().hex  # nothing tells whether code is current: use none
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in sources)).hexdigest()


def _temporary_folder(*, create: bool) -> Iterator[Path]:
    """The user's own folder among the temporary files, unless there is none that only this user can write.

    Loading a file runs what is in it, so a folder that somebody else has put there will not do.
    """
    user = os.getuid() if hasattr(os, "getuid") else None  # temporary files on Windows are the user's anyway
    try:
        temporary = Path(tempfile.gettempdir())
        if temporary == Path.cwd() and temporary not in _folders_for_temporary_files():
            return
        folder = temporary / f"tightcut-kernels-{user}"
        if create:
            folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return
    private = status.st_uid == user and not stat.S_IMODE(status.st_mode) & 0o077
    if stat.S_ISDIR(status.st_mode) and (user is None or private):
        yield folder


def _folders_for_temporary_files() -> set[Path]:
    """Those that are meant for it; where none can be written, Python takes the current folder, the user's data maybe."""
    named = filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP")))
    return {Path(folder).absolute() for folder in (*named, "/tmp", "/var/tmp", "/usr/tmp")}  # noqa: S108 - only compared


@cache
def _warn_once(folders: tuple[Path, ...], instead: Path | None) -> None:
    refused = " or ".join(map(str, folders))
    where = "is not kept: every new process compiles again" if instead is None else f"is kept in {instead} instead"
    warn(
        f"Compiled code cannot be written to {refused} and {where}. Set NUMBA_CACHE_DIR to a folder that can be written."
    )
