"""Images of rows: arrays of pixels as PNG, and image files of a folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from tightcut.drawing.png import COLOUR_TYPES, png
from tightcut.utils.atomic import resolve_path

# Formats that every browser shows and that hold no script, as SVG does.
MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}


@dataclass(frozen=True)
class Picture:
    """The bytes of an image file, and its media type."""

    content: bytes
    media_type: str


class Pictures(Protocol):
    """A picture for each row, or None where there is none."""

    def has(self, row: int) -> bool: ...

    def read(self, row: int) -> Picture: ...


class ArrayPictures:
    r"""Pictures from an array of shape (n, height, width) or (n, height, width, channels).

    Examples
    --------
    >>> import numpy as np
    >>> pictures = ArrayPictures(np.zeros((2, 8, 8)))
    >>> pictures.read(0).content[:8]
    b'\x89PNG\r\n\x1a\n'
    """

    def __init__(self, pixels: np.ndarray) -> None:
        if not is_pictures(pixels):
            raise ValueError(
                f"An array of shape {pixels.shape} holds no pictures; it must be (n, height, width), with 1, 3 or 4 channels "
                "as a further dimension."
            )
        self.pixels = pixels
        self._low, self._high = _range(pixels)

    def has(self, row: int) -> bool:
        return 0 <= row < len(self.pixels)

    def read(self, row: int) -> Picture:
        return Picture(png(self.bytes_of(row)), "image/png")

    def bytes_of(self, row: int) -> np.ndarray:
        """The pixels of a row from 0 to 255, over the range of all rows."""
        scaled = (self.pixels[row].astype(np.float64) - self._low) / (self._high - self._low)
        return np.rint(np.clip(np.nan_to_num(scaled), 0, 1) * 255).astype(np.uint8)


class FilePictures:
    """Pictures from files, one path for each row or None."""

    def __init__(self, paths: Sequence[Path | None]) -> None:
        self.paths = list(paths)

    def has(self, row: int) -> bool:
        return 0 <= row < len(self.paths) and self.paths[row] is not None

    def read(self, row: int) -> Picture:
        path = self.paths[row]
        if path is None:
            raise KeyError(row)
        return Picture(path.read_bytes(), MEDIA_TYPES[path.suffix.lower()])


def is_pictures(pixels: np.ndarray) -> bool:
    """Whether an array has the shape and the type of pictures."""
    shape = pixels.shape
    return (
        pixels.dtype.kind in "biuf"
        and 0 not in shape
        and (len(shape) == 3 or (len(shape) == 4 and shape[3] in COLOUR_TYPES))
    )


def files_named(names: Iterable[str], folder: Path) -> list[Path | None]:
    """The image in a folder that belongs to each name: a file of that name, with or without its ending.

    Only files that lie in the folder are found, whatever the names say.
    """
    root = resolve_path(folder)
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in MEDIA_TYPES and path.is_file() and path.resolve().is_relative_to(root):
            relative = path.relative_to(root)
            for key in (relative.as_posix(), relative.with_suffix("").as_posix(), path.name, path.stem):
                found.setdefault(key, path)
    return [found.get(name.strip().removeprefix("./")) for name in names]


def _range(pixels: np.ndarray) -> tuple[float, float]:
    """Black and white: of bytes 0 and 255, of shares 0 and 1, otherwise the smallest and the largest value."""
    if pixels.dtype == np.uint8:
        return 0.0, 255.0
    low, high = float(np.nanmin(pixels)), float(np.nanmax(pixels))
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (low, high) if high > low else (low, low + 1)
