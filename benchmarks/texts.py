"""Texts by their words: the adjusted Rand index after 0 to 200 answers, beside three methods on the same features.

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
from sklearn.metrics import adjusted_rand_score

from benchmarks.instances import merged, quiet, timed, write
from tightcut import COSC
from tightcut.ask import Session
from tightcut.ask.simulate import Person
from tightcut.features import texts

COMMAND = "python -m benchmarks.texts"
ANSWERS, DRAWS = (50, 100, 200), 3
MOST_TEXTS, SHORTEST, LONGEST = 300, 60, 500  # of a subject; characters of a text
STRENGTHS, SMALLEST = (1, 10, 100), (5, 15, 50)  # of the rivals; the best is shown
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
    "- 0: `COSC(k, metric='cosine', random_state=0)`, the number of subjects told; other numbers: as many true answers to",
    "  `Session(points).question('pick')`, the number of subjects not told.",
    "- k-means: ten starts, the best of them by its own sum of squares. HDBSCAN: the best index of three smallest sizes of a",
    f"  cluster, {', '.join(map(str, SMALLEST))}. Regression: logistic, as many random labels as there are answers; the best",
    f"  index of C = {', '.join(map(str, STRENGTHS))}. That best is chosen by the truth, which no user has.",
    f"- With answers and for the regression the mean of {DRAWS} draws. All take the rows of `tightcut.features.texts`.",
]


def main() -> None:
    quiet()
    for name, parts in SETS.items():
        documents, y = corpus(parts)
        write("texts", merged("texts", [measure(name, documents, y)], ("texts",)), NOTES, COMMAND)


def measure(name: str, documents: list[str], y: np.ndarray) -> dict[str, Any]:
    from sklearn.cluster import HDBSCAN, KMeans

    points, seconds = timed(lambda: texts(documents))
    k = len(np.unique(y))
    row = {"texts": name, "number": len(y), "subjects": k, "features s": round(seconds, 1)}
    plain = {
        "k-means": [KMeans(k, n_init=10, random_state=0)],
        "HDBSCAN": [HDBSCAN(min_cluster_size=size, copy=True) for size in SMALLEST],
        "0": [COSC(k, metric="cosine", random_state=0)],
    }
    for column, models in plain.items():
        row[column] = round(max(adjusted_rand_score(y, model.fit_predict(points)) for model in models), 3)
    asked = np.mean([answered(points, y, seed) for seed in range(DRAWS)], axis=0)
    learned = np.mean([regression(points, y, seed) for seed in range(DRAWS)], axis=0)
    for place, count in enumerate(ANSWERS):
        row |= {f"{count}": round(asked[place], 3), f"regression {count}": round(learned[place], 3)}
    return row


def answered(points: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """The index after each number of true answers."""
    session = Session(points, random_state=seed, n_jobs=1)
    person, found = Person(session, y, 0.0, "random", seed), []
    while len(found) < len(ANSWERS):
        question = session.question("pick")
        if question is None:
            raise RuntimeError(f"There was nothing left to ask after {session.n_answers_} answers.")
        session.answer(question, person.reply(question))
        if session.n_answers_ == ANSWERS[len(found)]:
            found.append(adjusted_rand_score(y, session.labels_))
            print(session.n_answers_, round(found[-1], 3), file=sys.stderr, flush=True)
    return found


def regression(points: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """The index of a logistic regression that knows as many random labels."""
    from sklearn.linear_model import LogisticRegression

    order, found = np.random.default_rng(seed).permutation(len(y)), []
    for count in ANSWERS:
        rows = order[:count]
        models = [LogisticRegression(C=strength, max_iter=2000).fit(points[rows], y[rows]) for strength in STRENGTHS]
        found.append(max(adjusted_rand_score(y, model.predict(points)) for model in models))
    return found


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
