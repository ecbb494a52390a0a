"""The datasets of the paper's experiments, and constraints drawn from their labels.

`load_sonar()`, `load_usps()`, ... return a `Dataset`; `load(name)` takes any of `list_datasets()`. The sources are tried
in this order:

1. the file ``<name>.npz`` (arrays X and y) in the folder that the environment variable ``TIGHTCUT_DATA`` names;
2. scikit-learn, which ships iris, wine, wdbc and digits, or a generator (two_moons, gaussian_toy);
3. OpenML, through `sklearn.datasets.fetch_openml` and its cache (needs pandas).

Whatever the source, the shape and the number of points per class are checked, and classes are coded 0, 1, ...

Examples
--------
>>> from tightcut import datasets
>>> wine = datasets.load_wine()
>>> wine.X.shape, wine.n_classes
((178, 13), 3)
>>> datasets.sample_constraints(wine.y, 50, random_state=0).n_pairs
50
"""

from tightcut.datasets._catalogue import Dataset
from tightcut.datasets._loaders import (
    list_datasets,
    load,
    load_extended_mnist,
    load_gaussian_toy,
    load_two_moons,
    load_usps0,
    loader_of,
)
from tightcut.datasets._sampling import sample_constraints, sample_constraints_among

load_breast_cancer = loader_of("breast_cancer")
load_covertype = loader_of("covertype")
load_diabetis = loader_of("diabetis")
load_digits = loader_of("digits")
load_heart = loader_of("heart")
load_ionosphere = loader_of("ionosphere")
load_iris = loader_of("iris")
load_letter = loader_of("letter")
load_mnist = loader_of("mnist")
load_shuttle = loader_of("shuttle")
load_sonar = loader_of("sonar")
load_spam = loader_of("spam")
load_usps = loader_of("usps")
load_wdbc = loader_of("wdbc")
load_wine = loader_of("wine")

__all__ = [
    "Dataset",
    "list_datasets",
    "load",
    "load_breast_cancer",
    "load_covertype",
    "load_diabetis",
    "load_digits",
    "load_extended_mnist",
    "load_gaussian_toy",
    "load_heart",
    "load_ionosphere",
    "load_iris",
    "load_letter",
    "load_mnist",
    "load_shuttle",
    "load_sonar",
    "load_spam",
    "load_two_moons",
    "load_usps",
    "load_usps0",
    "load_wdbc",
    "load_wine",
    "sample_constraints",
    "sample_constraints_among",
]
