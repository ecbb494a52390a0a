"""Loaders from every source, their checks and errors, and constraints drawn from labels."""

import os
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from sklearn.manifold import spectral_embedding

from tightcut import datasets, knn_affinity, metrics
from tightcut.datasets._catalogue import CATALOGUE
from tightcut.datasets._loaders import SHIFTS, with_shifts

SHARED = Path(os.environ.get("TIGHTCUT_DATA", Path(__file__).parents[3] / "shared" / "data"))
BUNDLED = ("wdbc", "iris", "wine", "digits")
ON_OPENML = [name for name, entry in CATALOGUE.items() if entry.openml]
LARGE = {"mnist", "extended_mnist", "covertype"}


def needs_file(name):
    if not (SHARED / f"{name}.npz").exists():
        pytest.skip(f"{SHARED} does not hold {name}.npz")


def labels_of(name):
    return np.repeat(np.arange(len(CATALOGUE[name].class_counts)), CATALOGUE[name].class_counts)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TIGHTCUT_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def openml(monkeypatch):
    """A stand-in for fetch_openml that serves what a test gives it, and no folder."""
    monkeypatch.delenv("TIGHTCUT_DATA", raising=False)
    served = {}

    def fetch(*, data_id, as_frame):
        assert as_frame
        if data_id not in served:
            raise URLError("no network")
        data, target = served[data_id]
        return SimpleNamespace(data=pd.DataFrame(data), target=pd.Series(target))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return served


@pytest.mark.usefixtures("openml")
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_data_needs_no_network(name):
    data = datasets.load(name)
    assert data.name == name
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    assert tuple(np.bincount(data.y)) == CATALOGUE[name].class_counts


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - LARGE))
def test_files_of_the_folder(name, monkeypatch):
    needs_file("usps" if name == "usps0" else name)
    monkeypatch.setenv("TIGHTCUT_DATA", str(SHARED))
    data = datasets.load(name)
    assert data.X.shape == (sum(CATALOGUE[name].class_counts), CATALOGUE[name].n_features)
    assert np.isfinite(data.X).all()


@pytest.mark.usefixtures("openml")
@pytest.mark.parametrize("name", BUNDLED)
def test_both_sources_give_the_same_numbers(name, monkeypatch):
    needs_file(name)
    bundled = datasets.load(name)
    monkeypatch.setenv("TIGHTCUT_DATA", str(SHARED))
    filed = datasets.load(name)
    assert (bundled.X == filed.X).all()
    assert (bundled.y == filed.y).all()


def test_usps0_is_zero_against_the_rest(monkeypatch):
    needs_file("usps")
    monkeypatch.setenv("TIGHTCUT_DATA", str(SHARED))
    assert (datasets.load_usps0().y == (datasets.load_usps().y != 0)).all()


@pytest.mark.parametrize("name", ["breast_cancer", "heart", "diabetis"])
def test_scaling_turns_the_raw_features_into_those_of_the_file(name, monkeypatch):
    needs_file(name)
    monkeypatch.setenv("TIGHTCUT_DATA", str(SHARED))
    load = getattr(datasets, f"load_{name}")
    np.testing.assert_allclose(CATALOGUE[name].scale(load(scaled=False).X), load().X, atol=1e-6)


def test_every_name_has_a_loader():
    for name in datasets.list_datasets():
        assert callable(getattr(datasets, f"load_{name}"))
        assert f"load_{name}" in datasets.__all__


def test_unknown_name():
    with pytest.raises(ValueError, match="Unknown dataset 'sonnar'; there are sonar, "):
        datasets.load("sonnar")


def test_the_folder_comes_first(folder):
    np.savez(folder / "iris.npz", X=np.full((150, 4), 7.0), y=labels_of("iris"))
    assert (datasets.load_iris().X == 7).all()


@pytest.mark.parametrize("name", sorted(set(ON_OPENML) - LARGE - {"spam", "breast_cancer", "usps", "shuttle"}))
def test_openml(name, openml):
    entry = CATALOGUE[name]
    codes = labels_of(name)[::-1]
    data = np.random.default_rng(0).normal(3, 2, (len(codes), entry.n_features))
    openml[entry.openml] = data, pd.Categorical([f"'{entry.classes[c]}'" for c in codes])
    found = datasets.load(name)
    assert (found.y == codes).all()
    expected = data if entry.scale is None else (data - data.mean(0)) / data.std(0, ddof=1)
    np.testing.assert_allclose(found.X, expected, rtol=1e-5, atol=1e-6)


def test_openml_class_numbers(openml):
    codes = labels_of("shuttle")
    openml[CATALOGUE["shuttle"].openml] = np.zeros((len(codes), 9)), codes + 1.0
    assert (datasets.load_shuttle().y == codes).all()


def test_openml_spam_keeps_the_first_of_equal_rows(openml):
    codes = labels_of("spam")
    data = np.random.default_rng(0).random((len(codes), 57))
    repeated = np.array([5, 0, len(codes) - 1])
    rows = np.concatenate([np.arange(len(codes)), repeated])
    target = np.concatenate([codes, 1 - codes[repeated]])
    openml[44] = data[rows], target.astype(str)
    found = datasets.load_spam()
    np.testing.assert_allclose(found.X, data, rtol=1e-6)
    assert (found.y == codes).all()


def test_openml_breast_cancer_is_coded_and_scaled_as_the_file(openml, monkeypatch):
    needs_file("breast_cancer")
    monkeypatch.setenv("TIGHTCUT_DATA", str(SHARED))
    scaled, coded = datasets.load_breast_cancer(), datasets.load_breast_cancer(scaled=False)
    monkeypatch.delenv("TIGHTCUT_DATA")
    words = [
        [f"{10 * c + 20}-{10 * c + 29}" for c in range(6)],
        ["lt40", "ge40", "premeno"],
        [f"{5 * c}-{5 * c + 4}" for c in range(11)],
        [f"{3 * c}-{3 * c + 2}" for c in range(9)],
        ["yes", "no"],
        ["1", "2", "3"],
        ["left", "right"],
        ["left_up", "left_low", "right_up", "right_low", "central"],
        ["yes", "no"],
    ]
    rows = [[words[column][int(code)] for column, code in enumerate(row)] for row in coded.X]
    names = np.array(["no-recurrence-events", "recurrence-events"])[coded.y].tolist()
    # A repeated row and an incomplete one are left out.
    openml[13] = [*rows, rows[3], [*rows[4][:4], np.nan, *rows[4][5:]]], [*names, names[3], names[4]]
    found = datasets.load_breast_cancer()
    np.testing.assert_allclose(found.X, scaled.X, atol=1e-6)
    assert (found.y == scaled.y).all()


@pytest.mark.usefixtures("openml")
def test_offline_says_what_was_tried_and_what_to_do():
    with pytest.raises(
        OSError, match=r"'sonar'.*TIGHTCUT_DATA is not set, and OpenML \(data_id=40\).*no network"
    ) as info:
        datasets.load_sonar()
    assert "put sonar.npz" in str(info.value)


@pytest.mark.usefixtures("openml", "folder")
def test_offline_with_a_folder_names_the_missing_file():
    with pytest.raises(OSError, match="heart.npz does not exist"):
        datasets.load_heart()


def test_a_folder_that_is_none(monkeypatch):
    monkeypatch.setenv("TIGHTCUT_DATA", "/no/such/folder")
    with pytest.raises(FileNotFoundError, match="TIGHTCUT_DATA is set to '/no/such/folder', which is not a folder"):
        datasets.load_iris()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.zeros((150, 5)), "y": labels_of("iris")}, r"shape \(150, 5\).*expected X of \(150, 4\)"),
        ({"X": np.zeros((150, 4)), "y": np.zeros(150)}, r"has \(150,\) points per class; expected \(50, 50, 50\)"),
        ({"X": np.zeros((150, 4)), "y": labels_of("iris") + 1}, "points per class"),
        ({"data": np.zeros(3)}, "no array X and no array y; it has data"),
    ],
)
def test_a_file_that_is_not_the_dataset(arrays, message, folder):
    np.savez(folder / "iris.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        datasets.load_iris()


def test_an_unscaled_version_must_be_in_the_file(folder):
    np.savez(folder / "heart.npz", X=np.zeros((270, 13)), y=labels_of("heart"))
    with pytest.raises(ValueError, match="no array X_raw; it has X, y"):
        datasets.load_heart(scaled=False)


def test_an_unexpected_class_on_openml(openml):
    openml[40] = np.zeros((2, 60)), ["Rock", "Whale"]
    with pytest.raises(OSError, match="unexpected class 'Whale'; expected Rock, Mine"):
        datasets.load_sonar()


def test_shifts_move_every_image_in_eight_directions():
    images = np.random.default_rng(0).integers(0, 256, (3, 20), dtype=np.uint8)
    shifted = with_shifts(images, (4, 5)).reshape(9, 3, 4, 5)
    assert shifted.dtype == np.uint8
    assert len(SHIFTS) == len(set(SHIFTS)) == 8
    assert (shifted[0] == images.reshape(3, 4, 5)).all()
    for block, (down, right) in zip(shifted[1:], SHIFTS, strict=True):
        padded = np.pad(images.reshape(3, 4, 5), ((0, 0), (1, 1), (1, 1)))
        assert (block == padded[:, 1 - down : 5 - down, 1 - right : 6 - right]).all()


def test_extended_mnist_repeats_the_labels(monkeypatch):
    small = datasets.Dataset(np.zeros((6, 784), np.uint8), np.arange(6) % 3, "mnist", "")
    monkeypatch.setattr("tightcut.datasets._loaders.load", {"mnist": small}.get)
    monkeypatch.setattr("tightcut.datasets._loaders.check_dataset", lambda *found: found)
    _, _, X, y, _ = datasets.load_extended_mnist()
    assert X.shape == (54, 784)
    assert (y.reshape(9, 6) == small.y).all()


def test_two_moons_lie_on_half_circles():
    moons = datasets.load_two_moons(101, 3, noise=0.0)
    center = np.where(moons.y[:, None] == 0, [0.0, 0.0], [1.0, 0.5])
    np.testing.assert_allclose(np.linalg.norm(moons.X[:, :2] - center, axis=1), 1)
    assert (moons.X[:, 2] == 0).all()
    assert np.bincount(moons.y).tolist() == [51, 50]
    assert (moons.X == datasets.load_two_moons(101, 3, noise=0.0).X).all()
    with pytest.raises(ValueError, match="2 features at least; got 10 and 1"):
        datasets.load_two_moons(10, 1)


def spectral_split(affinity):
    """Both sides of the best threshold of the second eigenvector, by normalized cut."""
    order = np.argsort(spectral_embedding(affinity, n_components=1, eigen_solver="arpack", random_state=0).ravel())
    sides = np.empty((len(order) - 1, len(order)), dtype=bool)
    for t in range(len(order) - 1):
        sides[t, order] = np.arange(len(order)) > t
    return min(sides, key=lambda side: metrics.normalized_cut(affinity, side))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The nearest-neighbour graph has")
def test_unconstrained_recursion_gets_the_gaussian_toy_wrong():
    toy = datasets.load_gaussian_toy()
    affinity = knn_affinity(toy.X).toarray()
    first = spectral_split(affinity)
    candidates = []
    for part in (first, ~first):
        labels = first.astype(int)
        labels[part] = np.where(spectral_split(affinity[part][:, part]), 2, labels[part])
        candidates.append(labels)
    labels = min(candidates, key=lambda found: metrics.normalized_cut(affinity, found))
    halves = [np.bincount(labels[toy.y == c], minlength=3) for c in range(3)]
    assert np.sort(halves[0])[1] > 60
    assert halves[1].argmax() == halves[2].argmax()
    assert metrics.normalized_cut(affinity, labels) < 0.5 * metrics.normalized_cut(affinity, toy.y)


@given(st.integers(0, 12), st.integers(0, 70), st.integers(0, 5))
def test_sampled_pairs_are_distinct_and_typed_by_the_labels(n, n_pairs, seed):
    y = np.random.default_rng(seed).integers(0, 3, n)
    n_pairs = min(n_pairs, n * (n - 1) // 2)
    known = datasets.sample_constraints(y, n_pairs, seed)
    assert known.n_pairs == n_pairs
    assert known.n_points == n
    assert (y[known.must_link[:, 0]] == y[known.must_link[:, 1]]).all()
    assert (y[known.cannot_link[:, 0]] != y[known.cannot_link[:, 1]]).all()


@pytest.mark.parametrize("n", [2, 5, 6])
def test_every_pair_is_equally_likely(n):
    counts = dict.fromkeys(combinations(range(n), 2), 0)
    rng = np.random.default_rng(0)
    draws = 2000
    for _ in range(draws):
        counts[tuple(datasets.sample_constraints(np.zeros(n), 1, rng).must_link[0].tolist())] += 1
    expected = draws / len(counts)
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 3 * len(counts) + 5


def test_sampling_is_reproducible_and_cheap_on_many_points():
    y = np.arange(630_000) % 10
    first, second = (datasets.sample_constraints(y, 1000, 3) for _ in range(2))
    assert (first.cannot_link == second.cannot_link).all()


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.25, 1.0])
def test_noise_flips_that_share_of_the_pairs(noise):
    y = np.repeat([0, 1, 2], 20)
    for known in (
        datasets.sample_constraints(y, 100, 0, noise=noise),
        datasets.sample_constraints_among(y, 0.25, 0, noise=noise),
    ):
        wrong = metrics.violated_fractions(known, y).all
        assert wrong == round(noise * known.n_pairs) / known.n_pairs


def test_constraints_among_points_are_all_their_pairs():
    y = np.arange(100) % 4
    known = datasets.sample_constraints_among(y, 0.07, random_state=1)
    points = np.unique(np.concatenate([known.must_link, known.cannot_link]))
    assert len(points) == 7
    assert known.n_pairs == 21
    assert metrics.violated_fractions(known, y).all == 0
    assert datasets.sample_constraints_among(y, 0.071, random_state=1).n_pairs == 28
    assert datasets.sample_constraints_among(y, 0.0).is_empty


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.sample_constraints([0, 1, 1], 4), "between 0 and 3, the number of pairs of 3 points; got 4"),
        (lambda: datasets.sample_constraints([[0, 1]], 1), r"got shape \(1, 2\)"),
        (lambda: datasets.sample_constraints([0, 1], 1, noise=1.5), "noise must be between 0 and 1"),
        (lambda: datasets.sample_constraints_among([0, 1], 2), "fraction must be between 0 and 1; got 2"),
    ],
)
def test_sampling_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
