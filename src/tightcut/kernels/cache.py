"""Compiled code on disk: read where it is, written where it can be, and never a reason to fail.

numba's own cache raises where no folder can be written, the disk is full or a file was cut short. It ignores a cache
that can be read but not written, such as one made when a container's image was built; two processes that compile at once
may overwrite each other's index; and an edit in a file goes unnoticed by the functions of other files that call it.

Here every compiled signature is a file of its own, named after everything that went into it and put in place in one
step. There is no index, so there is nothing to merge, and a file that is damaged is a file that is not there.
"""

from __future__ import annotations

import inspect
import os
import pickle
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from tightcut.utils.compiling import report_compiling
from tightcut.utils.warning import warn

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

CHECKSUM = sha256().digest_size  # bytes before the code itself


class KernelCache(NullCache):
    """Where a dispatcher looks for compiled code, and stores it.

    With NUMBA_CACHE_DIR set, the files are there. Otherwise they are read from the package's own `__pycache__` and the
    user's folder for caches, and written to the first of the two that can be written. If none can, a folder of the
    user's among the temporary files serves both; if even that fails, nothing is kept. Either way one warning says so.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        function = dispatcher.py_func
        self._dispatcher = dispatcher
        self._folders = _folders(Path(inspect.getfile(function)).resolve().parent)
        module = function.__module__.rpartition(".")[2]
        self._prefix = f"{module}.{function.__qualname__}.{sys.implementation.cache_tag}-"

    @property
    def cache_path(self):
        return str(self._folders[0])

    def load_overload(self, sig, target_context):
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen())
        for folder in [*self._folders, *_temporary_folder(create=False)]:
            try:
                content = (folder / name).read_bytes()
                if sha256(content[CHECKSUM:]).digest() == content[:CHECKSUM]:
                    return CompileResult._rebuild(target_context, *pickle.loads(content[CHECKSUM:]))  # noqa: S301, SLF001
            except Exception:  # noqa: BLE001, S112 - whatever is wrong with the file, it can be compiled again
                continue
        report_compiling()
        return None

    def save_overload(self, sig, data):
        code = dumps(data._reduce())  # noqa: SLF001 - numba has no public way
        content = sha256(code).digest() + code
        name = self._file_name(sig, data.codegen)
        for folder in self._folders:
            if _write(folder / name, content):
                self._remove_outdated(folder)
                return
        written = (folder for folder in _temporary_folder(create=True) if _write(folder / name, content))
        _warn_once(tuple(self._folders), next(written, None))

    def flush(self):
        for folder in self._folders:
            for file in folder.glob(f"{self._prefix}*.nbc"):
                _remove(file)

    def _file_name(self, sig, codegen) -> str:
        options = sorted(self._dispatcher.targetoptions.items())
        key = repr((sig, codegen.magic_tuple(), options, numba.__version__))
        return f"{self._prefix}{self._source_stamp()}-{sha256(key.encode()).hexdigest()[:16]}.nbc"

    def _source_stamp(self) -> str:
        return _stamp(self._dispatcher.py_func.__module__)

    def _remove_outdated(self, folder: Path) -> None:
        """Code compiled from an earlier version of the sources; several processors may share what is current."""
        current = f"{self._prefix}{self._source_stamp()}-"
        for file in folder.glob(f"{self._prefix}*.nbc"):
            if not file.name.startswith(current):
                _remove(file)


def folders_in_use() -> list[Path]:
    """Where there is compiled code of this installation that this user may read, in the order in which it is looked for."""
    folders = [*_folders(Path(__file__).resolve().parent), *_temporary_folder(create=False)]
    return [folder for folder in folders if any(folder.glob("*.nbc"))]


def _folders(package: Path) -> list[Path]:
    installation = f"{package.name}_{sha256(os.fsencode(package)).hexdigest()[:16]}"
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR) / installation]
    caches = Path(AppDirs("numba", appauthor=False).user_cache_dir)
    # Without HOME and without an entry among the users of the machine it is "~/.cache", below the current folder.
    return [package / "__pycache__", *([caches / installation] if caches.is_absolute() else [])]


@cache
def _stamp(module: str) -> str:
    """Of the module's source and that of all modules of its package that it imports from, directly or not."""
    imports = re.compile(rf"^from ({re.escape(module.rpartition('.')[0])}\.\w+) import", re.MULTILINE)
    sources: dict[str, str] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        try:
            sources[name] = inspect.getsource(sys.modules[name])
        except OSError:
            sources[name] = uuid4().hex  # without the source, nothing tells whether code is current: use none
        waiting |= set(imports.findall(sources[name])) - sources.keys()
    return sha256("".join(sources[name] for name in sorted(sources)).encode()).hexdigest()[:16]


def _write(file: Path, content: bytes) -> bool:
    """Whether the file could be put in place, whole: no other process ever sees a part of it."""
    part = file.with_name(f"{file.name}.{uuid4().hex[:16]}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(file)
    except OSError:
        _remove(part)
        return False
    return True


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink(missing_ok=True)


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
