"""Pictures as points, without a network: what is dark or light where, the directions of edges, and colours.

Each of the three accounts for a third of the squared distances; colours count only where pictures have some. That tells
letters, textures, products before a plain background, day from night. What it cannot tell is what a picture shows: a dog
on grass is nearer to a cat on grass than to a dog on sand. A model such as CLIP can; see `tightcut.features.embedder`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tightcut.drawing.pictures import MEDIA_TYPES, FilePictures, Picture, Pictures
from tightcut.utils.extras import require_package
from tightcut.utils.parallel import run_tasks

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff"})
SIDE = 48  # of the squares that pictures are drawn into
GRID = 12  # cells of a side, for light
DIRECTIONS, EDGE_GRID = 8, 4  # of edges, and cells of a side
HUES, SATURATIONS = 12, 3  # bins of colours
LEAST_COLOUR = 0.02  # mean saturation, below which pictures are grey
MOST_COLUMNS, LEAST_DEVIATION = 64, 0.05  # of principal components, and their deviation as a share of the largest
DECIMALS = 6
LARGEST_SIDE = 512  # of pictures for a model, which makes them smaller
BLOCK = 1000  # pictures


@dataclass(frozen=True, eq=False)
class PicturePoints:
    """What `pictures` returns.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    paths : list of Path
        The picture of each row.
    thumbnails : uint8 ndarray of shape (n, 48, 48, 3)
    left_out : dict of Path to str
        Files that are no pictures, and why.
    """

    points: np.ndarray
    paths: list[Path]
    thumbnails: np.ndarray
    left_out: dict[Path, str] = field(default_factory=dict)

    def shown(self) -> Pictures:
        """The files as a browser shows them."""
        return ShownFiles(self.paths)


class ShownFiles(FilePictures):
    """Picture files; those of kinds that no browser shows, such as TIFF, are sent as PNG."""

    def read(self, row: int) -> Picture:
        path = self.paths[row]
        if path is None or path.suffix.lower() in MEDIA_TYPES:
            return super().read(row)
        content = io.BytesIO()
        _opened(path, whole=True).save(content, "PNG")
        return Picture(content.getvalue(), "image/png")


def pictures(
    source: str | Path | Iterable[str | Path],
    embed: Callable[[Sequence[Any]], np.ndarray] | None = None,
    *,
    n_jobs: int | None = None,
) -> PicturePoints:
    """Points for the pictures of a folder, or of a list of files.

    Parameters
    ----------
    source : str, Path or iterable of these
        A folder, with the folders in it, or files: JPEG, PNG, WebP and TIFF.
    embed : callable, optional
        From a list of pictures (of Pillow) to an array with a row for each, in place of the features of this module.
    n_jobs : int, optional
        Threads that read files.

    Returns
    -------
    PicturePoints
        Damaged files are left out, and named. Pictures are turned as their EXIF data say; transparent parts are white; of
        several pictures in a file the first counts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from PIL import Image
    >>> from tightcut.features import pictures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, colour in {"night": (0, 0, 60), "grass": (0, 160, 0), "wood": (120, 90, 40)}.items():
    ...         Image.new("RGB", (60, 40), colour).save(Path(folder, f"{name}.png"))
    ...     found = pictures(folder)
    >>> [path.stem for path in found.paths], len(found.points), found.left_out
    (['grass', 'night', 'wood'], 3, {})
    """
    paths = picture_files(source) if isinstance(source, (str, Path)) else [Path(path) for path in source]
    require_package("PIL", "Reading pictures", "pictures")
    good: list[Path] = []
    left_out: dict[Path, str] = {}
    squares: list[np.ndarray] = []
    vectors: list[np.ndarray] = []
    for start in range(0, len(paths), BLOCK):  # whole pictures are held for one block only
        some = paths[start : start + BLOCK]
        seen = dict(zip(some, run_tasks(_opened, [(path, embed is not None) for path in some], n_jobs), strict=True))
        left_out |= {path: found for path, found in seen.items() if isinstance(found, str)}
        read = {path: found for path, found in seen.items() if path not in left_out}
        good += read
        squares += read.values() if embed is None else map(_square, read.values())
        if embed is not None and read:
            vectors.append(np.asarray(embed(list(read.values())), dtype=np.float64))
    if not good:
        example = next(iter(left_out.items()), None)
        reason = "there are none" if example is None else f"none can be read; {example[0]}: {example[1]}"
        raise ValueError(f"There are no pictures to take features of: {reason}.")
    thumbnails = np.stack(squares)
    if embed is None:
        return PicturePoints(_features(thumbnails), good, thumbnails, left_out)
    found = np.concatenate(vectors)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return PicturePoints(np.round(found / np.where(length > 0, length, 1), DECIMALS), good, thumbnails, left_out)


def picture_files(folder: str | Path) -> list[Path]:
    """The files of a folder, and of those in it, whose names are those of pictures, in the order of their names."""
    root = Path(folder)
    found = [
        path
        for path in root.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(root).parts)
    ]
    return sorted(found, key=lambda path: path.relative_to(root).as_posix())


def _opened(path: Path, whole: bool) -> Any:  # noqa: FBT001
    """The picture in a file, upright and in three colours, or why there is none; small unless the whole is wanted."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            if not whole:
                image.draft("RGB", (2 * SIDE, 2 * SIDE))  # of JPEG, which can be read at an eighth of its size
            picture = _in_colours(ImageOps.exif_transpose(image))
            if not whole:
                return _square(picture)
            picture.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
            return picture
    except FileNotFoundError:
        return "it does not exist"
    except Exception as error:  # noqa: BLE001 (a decoder of a damaged file raises nearly anything)
        reason = str(error).partition("\n")[0].rstrip(".")
        return "it is damaged, or no picture" if str(path) in reason or not reason else reason


def _in_colours(image: Any) -> Any:
    """Red, green and blue, of 8 bits; transparent parts are white."""
    from PIL import Image

    if image.mode.startswith(("I", "F")):  # 16 or 32 bits, in any range
        values = np.asarray(image, dtype=np.float64)
        low, high = float(values.min()), float(values.max())
        image = Image.fromarray(np.uint8(255 * (values - low) / (high - low or 1.0)))
    if image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")


def _square(picture: Any) -> np.ndarray:
    """The whole picture in a square; every pixel of a larger one counts."""
    from PIL import Image

    method = Image.Resampling.BOX if min(picture.size) > SIDE else Image.Resampling.BILINEAR
    return np.asarray(picture.resize((SIDE, SIDE), method))


def _features(squares: np.ndarray) -> np.ndarray:
    """Light, edges and colours, each with the same sum of variances, as principal components."""
    from threadpoolctl import threadpool_limits

    blocks = [_described(squares[start : start + BLOCK]) for start in range(0, len(squares), BLOCK)]
    *parts, hues, colourful = map(np.concatenate, zip(*blocks, strict=True))
    if colourful.mean() > LEAST_COLOUR:
        parts.append(hues)
    centred = [part - part.mean(axis=0) for part in parts]
    scaled = [part / np.sqrt(np.square(part).sum(axis=1).mean() or 1.0) for part in centred]
    with threadpool_limits(1):  # the last bits would depend on the number of threads
        left, values, _ = np.linalg.svd(np.hstack(scaled), full_matrices=False)
    kept = values[:MOST_COLUMNS] > LEAST_DEVIATION * values[0]
    kept[0] = True
    components = (left * values)[:, : len(kept)][:, kept]
    # A singular vector is as good as its opposite.
    components *= np.where(components[np.abs(components).argmax(axis=0), np.arange(components.shape[1])] < 0, -1, 1)
    return np.round(components, DECIMALS) + 0.0


def _described(squares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Light, edges and colours of some pictures, and the mean saturation of each."""
    colours = squares.astype(np.float64) / 255
    light = colours @ np.array([0.299, 0.587, 0.114])
    spread = colours.max(axis=3) - colours.min(axis=3)
    return _cells(light, GRID), _edges(light), _hues(colours, spread), spread.mean(axis=(1, 2))


def _cells(images: np.ndarray, count: int) -> np.ndarray:
    """Means over a grid of that many cells a side."""
    size = SIDE // count
    return images.reshape(len(images), count, size, count, size).mean(axis=(2, 4)).reshape(len(images), -1)


def _edges(light: np.ndarray) -> np.ndarray:
    """How strong the edges of each direction are in each cell; the root makes a strong edge count less than many."""
    down, right = np.gradient(light, axis=(1, 2))
    strength, turn = np.hypot(down, right), np.arctan2(down, right) / (2 * np.pi) % 1
    bins = np.minimum((turn * DIRECTIONS).astype(int), DIRECTIONS - 1)
    return np.hstack([np.sqrt(_cells(strength * (bins == each), EDGE_GRID)) for each in range(DIRECTIONS)])


def _hues(colours: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """How much of a picture has each hue and saturation, in the metric of Hellinger."""
    most, (red, green, blue) = colours.max(axis=3), np.moveaxis(colours, 3, 0)
    some = np.where(spread > 0, spread, 1.0)
    sector = np.select(
        [most == red, most == green], [(green - blue) / some % 6, (blue - red) / some + 2], (red - green) / some + 4
    )
    hue = np.minimum((sector / 6 * HUES).astype(int), HUES - 1)
    saturation = np.minimum((spread / np.where(most > 0, most, 1.0) * SATURATIONS).astype(int), SATURATIONS - 1)
    code = (hue * SATURATIONS + saturation).reshape(len(colours), -1)
    counts = np.stack([np.bincount(row, minlength=HUES * SATURATIONS) for row in code])
    return np.sqrt(counts / code.shape[1])
