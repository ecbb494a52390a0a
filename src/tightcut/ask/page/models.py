"""Questions about a saved model: its points and what is shown of them, and its clusters' names as groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tightcut.ask.base import QuestionSession
from tightcut.ask.page.items import Things
from tightcut.ask.page.pictures import ArrayPictures
from tightcut.ask.page.question_data import FIELDS_SHOWN, Source, check_pixels, pixel_shape, with_images
from tightcut.files.sources import Source as Origin

if TYPE_CHECKING:
    from tightcut.fitted.state import FittedState

WHO = "the saved model"


def model_source(
    model: FittedState, path: Path, ids: Sequence[str], fields: dict[str, Any], images: Sequence[str]
) -> Source:
    """What a person is asked about: the points of the model, or its graph where it was made of one.

    Parameters
    ----------
    ids : sequence of str
        Names of the rows.
    fields : dict
        Columns to show.
    images : sequence of str
        A folder of pictures named like the rows, or HEIGHTxWIDTH for rows of pixels.
    """
    points = model.points
    things = Things(list(ids), fields=dict(list(fields.items())[:FIELDS_SHOWN]))
    shape = pixel_shape(images)
    if shape is not None and points is not None:
        check_pixels(points.shape[1], shape, path)
        pixels = np.stack([fields[name] for name in fields], axis=1) if fields else points
        things = Things(list(ids), pictures=ArrayPictures(np.asarray(pixels).reshape(len(points), *shape, -1)))
    else:
        things = with_images(things, images, Origin.of(path))
    if points is None:
        return Source(path.stem, model.graph.weights, things, "precomputed")
    return Source(path.stem, points, things)


def found_named_groups(session: QuestionSession, model: FittedState) -> None:
    """Put one typical member of each cluster with a name into a group of that name, in a session that is new."""
    if session.n_actions_ or not model.names:
        return
    weights, labels = model.graph.weights, model.labels
    sources = np.repeat(np.arange(len(labels)), np.diff(weights.indptr))
    own = labels[sources] == labels[weights.indices]
    inside = np.bincount(sources[own], weights.data[own], len(labels))
    for cluster, name in sorted(model.names.items()):
        members = np.flatnonzero(labels == cluster)
        session.move(int(members[inside[members].argmax()]), name, who=WHO)
