"""From an image to a graph of its pixels, for segmentation by scribbles."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))  # rows down and columns right; the other four are their opposites
SMALLEST_WEIGHT = 1e-6  # a graph stays connected across the sharpest outline


def pixel_affinity(image: Any, contrast: float | None = None) -> sp.csr_array:
    r"""Similarities between each pixel of an image and the eight around it.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, n_channels)
        Grey values or colours, of any numerical type.
    contrast : float, optional
        How far apart two colours are across an outline, in the units of the image. By default the root mean square
        difference of neighbouring pixels. A smaller one makes faint outlines count, and noise as well.

    Returns
    -------
    csr_array of shape (height * width, height * width)
        Symmetric, in the order of ``image.reshape(height * width, -1)``: pixel (row, column) is vertex
        ``row * width + column``. For ``COSC(affinity="precomputed")`` or `Graph.from_affinity`.

    Notes
    -----
    Two neighbouring pixels of colours :math:`a` and :math:`b` that lie :math:`r` apart, 1 or :math:`\sqrt 2`, have the
    weight :math:`\exp(-\|a - b\|^2 / \mathrm{contrast}^2) / r`, plus one millionth. Time and memory O(pixels).

    Examples
    --------
    A dark and a bright half. One pixel is known in each, and everything else follows:

    >>> import numpy as np
    >>> from tightcut import COSC, pixel_affinity
    >>> image = np.zeros((4, 6))
    >>> image[:, 2:] = 1
    >>> scribbles = np.full((4, 6), -1)  # -1: unknown
    >>> scribbles[0, 0], scribbles[3, 5] = 0, 1
    >>> model = COSC(affinity="precomputed", random_state=0)
    >>> model.fit(pixel_affinity(image), partial_labels=scribbles.ravel()).labels_.reshape(4, 6)[0].tolist()
    [0, 0, 1, 1, 1, 1]
    """
    colours, unit = _read_image(image)
    height, width = colours.shape[:2]
    number = np.arange(height * width).reshape(height, width)
    ends, differences, distances = [], [], []
    for down, right in NEIGHBOURS:
        one = (slice(0, height - down), slice(max(0, -right), width - max(0, right)))
        other = (slice(down, height), slice(max(0, right), width - max(0, -right)))
        ends.append(np.stack([number[one].ravel(), number[other].ravel()]))
        differences.append(np.square(colours[one] - colours[other]).sum(axis=2).ravel())
        distances.append(np.full(ends[-1].shape[1], np.hypot(down, right)))
    squares = np.concatenate(differences)
    with np.errstate(over="ignore"):  # infinitely different: a weight of 0 and what keeps the graph connected
        relative = np.square(np.sqrt(squares) / _scale(contrast, unit, squares))
    weights = np.exp(-relative) / np.concatenate(distances) + SMALLEST_WEIGHT
    upper = sp.coo_array((weights, tuple(np.concatenate(ends, axis=1))), shape=(number.size, number.size))
    return sp.csr_array(upper + upper.T)


def _read_image(image: Any) -> tuple[np.ndarray, float]:
    """The image as (height, width, channels) in float64, divided by its largest value, so that no square overflows."""
    colours = np.asarray(image)
    if colours.ndim not in (2, 3) or colours.size == 0:
        raise ValueError(
            f"An image has the shape (height, width) or (height, width, channels), with no side of 0, and this one has "
            f"{colours.shape}."
        )
    if colours.dtype.kind not in "buif":
        raise TypeError(f"The pixels of an image are real numbers, not {colours.dtype}.")
    colours = colours.astype(np.float64).reshape(*colours.shape[:2], -1)
    if not np.isfinite(colours).all():
        missing = int((~np.isfinite(colours).all(axis=2)).sum())
        raise ValueError(f"{missing:,} pixels are infinite or not a number. Fill them in, or cut them off.")
    unit = float(np.abs(colours).max()) or 1.0
    return colours / unit, unit


def _scale(contrast: float | None, unit: float, squares: np.ndarray) -> float:
    if contrast is None:
        return float(np.sqrt(squares.mean())) or 1.0 if len(squares) else 1.0
    if isinstance(contrast, bool) or not isinstance(contrast, Real) or not 0 < contrast < np.inf:
        raise ValueError(f"contrast must be a positive number, in the units of the image; got {contrast!r}.")
    return max(float(contrast) / unit, float(np.finfo(float).tiny))
