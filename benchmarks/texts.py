"""Texts by their words: the adjusted Rand index with 0 to 200 random pairs, beside k-means on the same features.

    python -m benchmarks.texts

The texts are docstrings that come inside installed packages, without their tables of parameters; the subject of a text is
the part of the package that it stands in. They are real sentences of many authors, and hard: much that is written is about
no subject, and templates make texts of one form nearly equal.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.instances import merged, peers_pairs, quiet, timed, write
from tightcut import COSC
from tightcut.features import texts

COMMAND = "python -m benchmarks.texts"
PAIRS, DRAWS = (0, 50, 100, 200), 3
MOST_TEXTS, SHORTEST, LONGEST = 300, 60, 500  # of a subject; characters of a text
NEAREST = 30  # of the graph of cosines
TABLES = re.compile(r"\n\s*(Parameters|Returns|Attributes|Examples|See Also|Notes)\s*\n\s*-{3,}")
SETS = {
    "five packages": ("pandas", "matplotlib", "networkx", "sklearn", "dask"),
    "seven parts of scipy": (
        "scipy.stats", "scipy.optimize", "scipy.linalg", "scipy.signal", "scipy.ndimage", "scipy.sparse",
        "scipy.interpolate",
    ),
    "eight parts of Python": (
        "asyncio", "email", "tkinter", "unittest", "logging", "importlib", "multiprocessing", "xml",
    ),
}  # fmt: skip
NOTES = [
    "- k-means: ten starts on the rows of `tightcut.features.texts`; the best of them by its own sum of squares.",
    f"- pairs: random pairs of texts, the mean of {DRAWS} draws; `COSC(metric='cosine', random_state=0)`, all else as it is.",
    f"- cosines: the same search on the graph of the {NEAREST} largest cosines of each text, the mean of both directions, as",
    "  they are. It is not what the command does.",
]


def main() -> None:
    quiet()
    for name, parts in SETS.items():
        documents, y = corpus(parts)
        write("texts", merged("texts", [measure(name, documents, y)], ("texts",)), NOTES, COMMAND)


def measure(name: str, documents: list[str], y: np.ndarray) -> dict[str, Any]:
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    points, seconds = timed(lambda: texts(documents))
    k = len(np.unique(y))
    graph = cosines(points)
    row = {"texts": name, "number": len(y), "subjects": k, "features s": round(seconds, 1)}
    row["k-means"] = round(adjusted_rand_score(y, KMeans(k, n_init=10, random_state=0).fit_predict(points)), 3)
    for n_pairs in PAIRS:
        for kind, X, model in (
            ("", points, COSC(k, metric="cosine", random_state=0)),
            (" cosines", graph, COSC(k, affinity="precomputed", random_state=0)),
        ):
            known = [peers_pairs(y, n_pairs, seed) if n_pairs else None for seed in range(DRAWS if n_pairs else 1)]
            draws = [adjusted_rand_score(y, model.fit(X, constraints=pairs).labels_) for pairs in known]
            row[f"{n_pairs}{kind}"] = round(float(np.mean(draws)), 3)
            print(name, n_pairs, kind, row[f"{n_pairs}{kind}"], file=sys.stderr, flush=True)
    return row


def cosines(points: np.ndarray) -> sp.csr_array:
    similarity = np.maximum(points @ points.T, 0)
    np.fill_diagonal(similarity, 0)
    nearest = np.argpartition(-similarity, NEAREST, axis=1)[:, :NEAREST]
    kept = np.zeros_like(similarity)
    np.put_along_axis(kept, nearest, np.take_along_axis(similarity, nearest, 1), 1)
    return sp.csr_array((kept + kept.T) / 2)


def corpus(parts: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
    """At most so many texts of each part, the same in every run with the same packages."""
    rng, documents, y = np.random.default_rng(0), [], []
    for part in parts:
        own = sorted({text[:LONGEST] for text in map(plain, docstrings(folder(part))) if len(text) >= SHORTEST})
        chosen = np.sort(rng.permutation(len(own))[:MOST_TEXTS])
        documents += [own[place] for place in chosen]
        y += [part] * len(chosen)
    return documents, np.unique(y, return_inverse=True)[1]


def folder(module: str) -> Path:
    """Where a package is, without running it."""
    name, *inside = module.split(".")
    return Path(str(find_spec(name).origin)).parent.joinpath(*inside)  # type: ignore[union-attr]


def docstrings(root: Path) -> Iterator[str]:
    for file in sorted(root.rglob("*.py")):
        if not {"tests", "test"} & set(file.relative_to(root).parts):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    yield ast.get_docstring(node) or ""


def plain(text: str) -> str:
    """The sentences, in one line."""
    return " ".join(TABLES.split(text)[0].split())


if __name__ == "__main__":
    main()
