"""The graph of an image's pixels, against a program that looks at every two of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse.csgraph import connected_components

from tightcut import COSC, pixel_affinity

images = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 5))
    | st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)),
    elements=st.integers(-40, 40).map(lambda value: value / 4),
)


def by_definition(image, contrast):
    height, width = image.shape[:2]
    places = [(row, column) for row in range(height) for column in range(width)]
    weights = np.zeros((len(places), len(places)))
    for i, (y, x) in enumerate(places):
        for j, (v, u) in enumerate(places):
            if max(abs(y - v), abs(x - u)) == 1:
                difference = np.linalg.norm(np.atleast_1d(image[y, x] - image[v, u]))
                weights[i, j] = np.exp(-((difference / contrast) ** 2)) / np.hypot(y - v, x - u) + 1e-6
    return weights


@given(images, st.floats(0.1, 10))
def test_as_defined(image, contrast):
    affinity = pixel_affinity(image, contrast)
    np.testing.assert_allclose(affinity.toarray(), by_definition(image, contrast), rtol=1e-12)
    assert connected_components(affinity)[0] == 1


@given(images)
def test_the_contrast_comes_from_the_image(image):
    pairs = by_definition(np.zeros(image.shape), 1.0) > 0
    flat = image.reshape(len(pairs), -1)
    squares = np.square(flat[:, None] - flat[None]).sum(axis=2)[pairs]
    contrast = np.sqrt(squares.mean()) if len(squares) and squares.mean() > 0 else 1.0
    np.testing.assert_allclose(pixel_affinity(image).toarray(), by_definition(image, contrast), rtol=1e-9)


def test_whole_numbers_do_not_wrap_around():
    image = np.array([[0, 255], [255, 0]], np.uint8)
    np.testing.assert_allclose(
        pixel_affinity(image, 100.0).toarray(), pixel_affinity(image.astype(float), 100.0).toarray()
    )


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("contrast", [None, 1e-308, 1.0, 1e308])
def test_extreme_values_give_finite_weights(unit, contrast):
    image = np.array([[0.0, 1.0, 1.0], [0.0, 0.9, 1.0]])
    weights = pixel_affinity(unit * image, contrast).data
    assert np.isfinite(weights).all()
    assert (weights >= 1e-6).all()
    if contrast is None:
        np.testing.assert_allclose(weights, pixel_affinity(image).data)


@pytest.mark.slow
def test_scribbles_find_a_disc_in_noise():
    y, x = np.mgrid[:40, :50]
    disc = np.hypot(y - 20, x - 22) < 11
    image = disc + np.random.default_rng(0).normal(0, 0.1, disc.shape)
    scribbles = np.full(disc.shape, -1)
    scribbles[2:4, 5:45] = 0
    scribbles[18:22, 18:26] = 1
    model = COSC(affinity="precomputed", random_state=0)
    labels = model.fit_predict(pixel_affinity(image), partial_labels=scribbles.ravel()).reshape(disc.shape)
    assert ((labels == labels[20, 22]) == disc).mean() > 0.99


@pytest.mark.parametrize(
    ("image", "contrast", "error", "words"),
    [
        (np.zeros(5), None, ValueError, r"has \(5,\)"),
        (np.zeros((2, 2, 2, 2)), None, ValueError, "shape"),
        (np.zeros((0, 3)), None, ValueError, "no side of 0"),
        ([["a", "b"]], None, TypeError, "real numbers"),
        ([[1j, 2]], None, TypeError, "real numbers"),
        ([[0.0, np.nan], [np.inf, 1.0]], None, ValueError, "2 pixels are infinite or not a number"),
        (np.zeros((2, 2)), 0, ValueError, "contrast must be a positive number"),
        (np.zeros((2, 2)), -1.0, ValueError, "got -1.0"),
        (np.zeros((2, 2)), np.nan, ValueError, "got nan"),
        (np.zeros((2, 2)), "sharp", ValueError, "got 'sharp'"),
        (np.zeros((2, 2)), True, ValueError, "got True"),
    ],
)
def test_what_is_no_image_is_refused(image, contrast, error, words):
    with pytest.raises(error, match=words):
        pixel_affinity(image, contrast)
