"""Encode pixels as PNG."""

from __future__ import annotations

import struct
import zlib

import numpy as np

COLOUR_TYPES = {1: 0, 3: 2, 4: 6}  # channels of a pixel, and the number that PNG has for them


def png(pixels: np.ndarray) -> bytes:
    r"""A PNG file of bytes of shape (height, width) or (height, width, channels).

    Examples
    --------
    >>> import numpy as np
    >>> from tightcut.drawing.png import png
    >>> png(np.zeros((3, 3), np.uint8))[:4]
    b'\x89PNG'
    """
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPES[channels], 0, 0, 0)
    # Each line begins with the number of its filter: 0, none.
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
