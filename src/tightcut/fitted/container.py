"""Read the zip archive of a model, which is checked as a whole before anything is built from it.

Entries are stored and not compressed, so that they take no more memory than the file. An array is read only if its header
announces as many bytes as the entry has.
"""

from __future__ import annotations

import math
import zipfile
from typing import IO

import numpy as np

CHUNK = 1 << 20  # bytes read at a time


class Container:
    """The entries of an archive, each no larger than it says, and all together no larger than the file.

    Raises
    ------
    ValueError, zipfile.BadZipFile
        If an entry is compressed or encrypted, if two have one name, or if they are larger than the file.
    """

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        entries = archive.infolist()
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
                raise ValueError(f"{entry.filename} is compressed, which tightcut never does")
            if entry.flag_bits & 1:
                raise ValueError(f"{entry.filename} is encrypted")
        if len({entry.filename for entry in entries}) < len(entries):
            raise ValueError("two of its entries have the same name")
        if sum(entry.file_size for entry in entries) > size:
            raise ValueError("its entries are larger than the file")

    def bytes(self, name: str) -> bytes:
        return self._archive.read(name)

    def array(self, name: str) -> np.ndarray:
        """An array of numbers in NPY format."""
        size = self._archive.getinfo(name).file_size
        with self._archive.open(name) as entry:
            try:
                np.lib.format.read_magic(entry)
                shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(entry)
            except Exception as error:
                raise ValueError(f"{name} is not an array of numbers") from error
            n_bytes = math.prod(shape) * dtype.itemsize
            if dtype.kind not in "biuf" or min(shape, default=0) < 0 or n_bytes != size - entry.tell():
                raise ValueError(f"{name} does not hold as many numbers as its shape {shape} says")
            values = _filled(entry, n_bytes).view(dtype)
        array = values.reshape(shape[::-1]).T if is_fortran else values.reshape(shape)
        return array.astype(dtype.newbyteorder("="), copy=False)


def _filled(entry: IO[bytes], n_bytes: int) -> np.ndarray:
    """The rest of an entry; zipfile compares its checksum at the end."""
    content, start = np.empty(n_bytes, np.uint8), 0
    while chunk := entry.read(CHUNK):
        content[start : start + len(chunk)] = np.frombuffer(chunk, np.uint8)
        start += len(chunk)
    if start < n_bytes:
        raise ValueError("an array ends early")
    return content
