"""The catalogue of datasets: expected shapes and class counts, ids on OpenML, and preparation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from string import ascii_uppercase
from typing import Any

import numpy as np

from tightcut.utils.arrays import standardized


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with known classes.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        float64; uint8 for the images of MNIST.
    y : int64 ndarray of shape (n_points,)
        Classes from 0.
    name : str
    description : str
        The source, the preparation, and the meaning of the classes.
    """

    X: np.ndarray
    y: np.ndarray
    name: str
    description: str

    @property
    def n_points(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name!r}, {n} points, {d} features, {self.n_classes} classes)"


@dataclass(frozen=True, eq=False)
class Entry:
    """A dataset of the catalogue.

    | field | meaning |
    |---|---|
    | n_features, class_counts | checked on load |
    | classes | names of the classes on OpenML, in the order of our codes |
    | openml | data_id on OpenML, which also fixes the version |
    | bundled | loader of `sklearn.datasets` that needs no network |
    | prepare | from OpenML's frame and codes of the classes to X and y, before scaling |
    | scale | from unscaled features to X |
    """

    n_features: int
    class_counts: tuple[int, ...]
    classes: tuple[str, ...] = ()
    openml: int | None = None
    bundled: str | None = None
    dtype: type = np.float64
    prepare: Callable[[Any, np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    scale: Callable[[np.ndarray], np.ndarray] | None = None
    description: str = ""


def distinct_features(frame: Any, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each feature row once, with the label of its first occurrence, in the order of the file."""
    features = frame.to_numpy(dtype=np.float64)
    first = _first_occurrences(features)
    return features[first], codes[first]


def breast_cancer_codes(frame: Any, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Complete rows as ordinal codes from 0, each (features, label) once, in the order of the file."""
    complete = ~frame.isna().any(axis=1).to_numpy()
    texts = [[str(value).strip("'\" ") for value in row] for row in frame[complete].to_numpy(dtype=object)]
    coded = [[code(text) for code, text in zip(BREAST_CANCER_CODES, row, strict=True)] for row in texts]
    rows = np.column_stack([np.array(coded, dtype=np.float64), codes[complete]])
    first = _first_occurrences(rows)
    return rows[first, :-1], rows[first, -1].astype(np.int64)


def _first_occurrences(rows: np.ndarray) -> np.ndarray:
    return np.sort(np.unique(rows, axis=0, return_index=True)[1])


def _bin(width: int, start: int = 0) -> Callable[[str], int]:
    """From "30-34" to the number of its bin."""
    return lambda text: (int(text.split("-")[0]) - start) // width


BREAST_CANCER_CODES: tuple[Callable[[str], int], ...] = (
    _bin(10, start=20),  # age
    ("lt40", "ge40", "premeno").index,  # menopause
    _bin(5),  # tumour size
    _bin(3),  # involved nodes
    ("yes", "no").index,  # node caps
    ("1", "2", "3").index,  # degree of malignancy
    ("left", "right").index,  # breast
    ("left_up", "left_low", "right_up", "right_low", "central").index,  # quadrant
    ("yes", "no").index,  # irradiation
)

# The scaling of the IDA benchmark: one slope and intercept per code, close to mean 0 and standard deviation 1.
# fmt: off
IDA_SLOPES = np.array([
    0.99732718, 1.79417778, 0.46392314, 0.75797741, 2.33000094, 1.35048354, 1.99316525, 0.80584093, 2.43903971,
])
IDA_INTERCEPTS = np.array([
    -2.69351136, -2.68471856, -2.18754999, -0.45921260, -1.76875985, -1.48848915, -1.01840556, -0.98230247, -1.92274666,
])
# fmt: on


def ida_breast_cancer(codes: np.ndarray) -> np.ndarray:
    return codes * IDA_SLOPES + IDA_INTERCEPTS


# The IDA benchmark divides by n - 1.
ida_standardized = partial(standardized, ddof=1)

USPS_COUNTS = (1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821)
MNIST_COUNTS = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)
DIGITS_COUNTS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)
# fmt: off
LETTER_COUNTS = (
    789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792,
    783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734,
)
# fmt: on

SEVEN = tuple("1234567")
CANCER = ("no-recurrence-events", "recurrence-events")
DIABETES = ("tested_negative", "tested_positive")

ENTRIES = {
    "sonar": Entry(60, (97, 111), ("Rock", "Mine"), openml=40),
    "spam": Entry(57, (2528, 1679), ("0", "1"), openml=44, prepare=distinct_features),
    "usps": Entry(256, USPS_COUNTS, tuple(map(str, range(1, 11))), openml=41082),
    "usps0": Entry(256, (USPS_COUNTS[0], sum(USPS_COUNTS[1:]))),
    "shuttle": Entry(9, (45586, 50, 171, 8903, 3267, 10, 13), SEVEN, openml=40685),
    "mnist": Entry(784, MNIST_COUNTS, tuple("0123456789"), openml=554, dtype=np.uint8),
    "extended_mnist": Entry(784, tuple(9 * count for count in MNIST_COUNTS), dtype=np.uint8),
    "breast_cancer": Entry(9, (186, 77), CANCER, openml=13, prepare=breast_cancer_codes, scale=ida_breast_cancer),
    "heart": Entry(13, (150, 120), ("absent", "present"), openml=53, scale=ida_standardized),
    "diabetis": Entry(8, (500, 268), DIABETES, openml=37, scale=ida_standardized),
    "ionosphere": Entry(34, (126, 225), ("b", "g"), openml=59),
    "wdbc": Entry(30, (212, 357), bundled="load_breast_cancer"),
    "iris": Entry(4, (50, 50, 50), bundled="load_iris"),
    "wine": Entry(13, (59, 71, 48), bundled="load_wine"),
    "digits": Entry(64, DIGITS_COUNTS, bundled="load_digits"),
    "letter": Entry(16, LETTER_COUNTS, tuple(ascii_uppercase), openml=6),
    "covertype": Entry(54, (211840, 283301, 35754, 2747, 9493, 17367, 20510), SEVEN, openml=1596),
}

DESCRIPTIONS = {
    "sonar": "UCI Sonar, mines against rocks. 0 = rock, 1 = mine.",
    "spam": (
        "UCI Spambase, reduced from 4601 rows to its 4207 distinct feature rows, each with the label of its first "
        "occurrence. 0 = not spam, 1 = spam."
    ),
    "usps": "USPS handwritten digits (Hull 1994), 16 x 16 pixels in [-1, 1], 7291 training and 2007 test images.",
    "usps0": "USPS digit 0 against the rest. 0 = digit 0, 1 = any other digit.",
    "shuttle": (
        "UCI Statlog Shuttle, features not scaled. Classes Rad Flow, Fpv Close, Fpv Open, High, Bypass, Bpv "
        "Close, Bpv Open."
    ),
    "mnist": "MNIST handwritten digits, 28 x 28 pixels as uint8, 60000 training and 10000 test images.",
    "extended_mnist": (
        "MNIST and its eight shifts by one pixel, in nine blocks of 70000: the originals, then the shifts by (-1, "
        "-1), (-1, 0), ..., (1, 1) rows and columns, with zeros moving in."
    ),
    "breast_cancer": (
        "UCI Breast Cancer (Ljubljana) as in the IDA benchmark: the 263 distinct (features, label) rows of the "
        "277 complete ones, categories as scaled ordinal codes. 0 = no recurrence, 1 = recurrence. (The data that "
        "scikit-learn calls breast cancer is wdbc.)"
    ),
    "heart": "UCI Statlog Heart, columns standardised as in the IDA benchmark. 0 = absence, 1 = presence of disease.",
    "diabetis": (
        "Pima Indians Diabetes, columns standardised as in the IDA benchmark; zeros that stand for missing values "
        "left as they are. 0 = negative, 1 = positive."
    ),
    "ionosphere": "UCI Ionosphere. 0 = bad, 1 = good.",
    "wdbc": "UCI Breast Cancer Wisconsin (Diagnostic). 0 = malignant, 1 = benign.",
    "iris": "Fisher's iris: setosa, versicolor, virginica.",
    "wine": "UCI Wine: three cultivars.",
    "digits": "UCI Optical Recognition of Handwritten Digits, test part, 8 x 8 pixels in 0..16.",
    "letter": "UCI Letter Recognition: A, ..., Z.",
    "covertype": "UCI Covertype, features not scaled: seven forest cover types.",
}

CATALOGUE = {name: replace(entry, description=DESCRIPTIONS[name]) for name, entry in ENTRIES.items()}
