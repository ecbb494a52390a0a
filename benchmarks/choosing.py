"""What COSC chooses for itself, against its old default and against the best fixed setting.

    python -m benchmarks.choosing [iris wine ...] [--draws 10] [--shares 0.1 0.3 1] [--jobs 16] [--raw FILE]

For each set, share of pairs and draw: the adjusted Rand index of the default of 0.1.0, on columns as they come and
standardised, of every candidate as a fixed setting, and of `COSC(k).fit(X, must_link=..., cannot_link=...)`. The oracle
is the candidate with the best mean over the draws, found with the truth. Sets of more than --points points are sampled
anew in every draw. Every finished cell is appended to --raw at once, and read from there when the command is run again;
with --draws 0 the table is made of what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.instances import standardised, write
from tightcut import COSC
from tightcut.datasets import sample_constraints
from tightcut.selection import SCALED_TO, SCALES, Setting
from tightcut.selection.graph_config import PAPER

COMMAND = "python -m benchmarks.choosing"
SHARES = (0.1, 0.3, 1.0)
REAL = (
    "iris", "wine", "wdbc", "breast_cancer", "heart", "ionosphere", "sonar", "diabetis", "digits", "spam", "usps",
    "coil20", "mnist", "letter", "shuttle", "covertype",
)  # fmt: skip
UNSCALED = ("heart", "diabetis", "breast_cancer")  # sets that also come with the columns they were measured in
PLANTED = ("planted units", "planted counts", "planted embedding", "planted noise", "planted many", "planted curves")
SETS = (*REAL, *(f"{name} unscaled" for name in UNSCALED), *PLANTED)
OLD, OLD_STANDARDISED, CHOSEN = "default of 0.1.0", "default of 0.1.0, standardised", "chosen"
NOTES = [
    "- Adjusted Rand index, mean over the draws; pairs: as many as this share of the points, or this number.",
    "- `0.1.0`: ten neighbours, maximum, no diffusion, no influence, columns as they come; `standardised`: the same after",
    "  `StandardScaler`. `default`: the setting that COSC starts from. `chosen`: plain `COSC(k)`. `oracle`: the candidate",
    "  with the best mean on this set and share of pairs, found with the truth; `other draws`: with the best mean on",
    "  the other draws, where the oracle cannot fit the scatter. `gain`: `chosen` less `standardised`, and its standard error.",
    "- `time`: seconds of the plain `COSC(k)` over those of the same setting given by hand, median over the draws.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS), metavar="SET")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--shares", type=float, nargs="*", default=list(SHARES), help="above 1: numbers of pairs")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--points", type=int, default=2000, help="most points of a set")
    parser.add_argument("--effort", type=float, default=1.0)
    parser.add_argument("--no-oracle", action="store_true", help="do not try the candidates as fixed settings")
    parser.add_argument("--raw", type=Path, help="file of finished cells, one JSON object in each line")
    arguments = parser.parse_args()
    cells = _stored(arguments.raw)
    done = {(cell["set"], cell["share"], cell["draw"]) for cell in cells}
    tasks = [
        (name, share, draw, arguments.points, arguments.effort, not arguments.no_oracle)
        for draw in range(arguments.first, arguments.first + arguments.draws)
        for share in sorted(arguments.shares, reverse=True)
        for name in arguments.sets
        if (name, share, draw) not in done
    ]
    for cell in _measured(tasks, arguments.jobs):
        cells.append(cell)
        print(cell["set"], cell["share"], cell["draw"], f"{cell['seconds']:.1f} s", file=sys.stderr, flush=True)
        if arguments.raw:
            with arguments.raw.open("a") as file:
                file.write(json.dumps(cell) + "\n")
    rows = table(cells)
    write("choosing", rows, [*NOTES, *summary(rows)], COMMAND, "one thread for each process")


def _stored(path: Path | None) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []


def _measured(tasks: list[tuple], jobs: int) -> Iterator[dict]:
    if jobs == 1:
        yield from map(measure, tasks)
        return
    measure(("planted many", 0.3, 0, 2000, 0.1, False))  # compiles the kernels
    with ProcessPoolExecutor(jobs) as pool:
        for finished in as_completed([pool.submit(measure, task) for task in tasks]):
            yield finished.result()


def measure(task: tuple[str, float, int, int, float, bool]) -> dict:
    """One cell: a set, a share of pairs, a draw."""
    name, share, draw, most, effort, oracle = task
    started = time.perf_counter()
    warnings.simplefilter("ignore")
    X, y = points(name, draw, most)
    k = len(np.unique(y))
    n_pairs = int(share) if share > 1 else max(4, round(share * len(y)))
    known = sample_constraints(y, n_pairs, random_state=10_000 + draw)
    shared = {"effort": effort, "random_state": draw, "n_jobs": 1}

    def fit(data: np.ndarray, **settings: object) -> tuple[COSC, dict]:
        start = time.perf_counter()
        model = COSC(k, **shared, **settings).fit(data, constraints=known)
        score = float(adjusted_rand_score(y, model.labels_))
        return model, {"index": score, "violated": model.n_violations_, "seconds": time.perf_counter() - start}

    model, chosen = fit(X)
    setting, tried = model.choice_.setting, model.choice_.candidates
    default = tried[0].setting if tried else setting
    found = {
        CHOSEN: chosen,
        OLD: fit(X, **asdict(PAPER))[1],
        OLD_STANDARDISED: fit(standardised(X), **asdict(PAPER))[1],
    }
    fixed = dict.fromkeys([default, setting, *(candidates(default, X.shape[1]) if oracle else [])])
    found |= {named(one): fit(X, **asdict(one))[1] for one in fixed}
    told = [[named(one.setting), one.agreement, one.gain, one.standard_error] for one in tried]
    return {
        "set": name,
        "share": share,
        "draw": draw,
        "points": len(y),
        "classes": k,
        "effort": effort,
        "default": named(default),
        "setting": named(setting),
        "candidates": told,
        "found": found,
        "seconds": time.perf_counter() - started,
    }


def named(setting: Setting) -> str:
    learned = ", distances learned from must-links" if setting.learn_distances else ""
    steps = f", {setting.diffusion} steps of diffusion" if setting.diffusion else ""
    return (
        f"columns {SCALED_TO[setting.scale]}{learned}; {setting.n_neighbors} neighbours, {setting.symmetrize}{steps}; "
        f"influence {setting.influence:g}"
    )


def candidates(default: Setting, n_features: int) -> list[Setting]:
    """What the choice may come to."""
    learned = (False, True) if n_features <= 300 else (False,)
    found = [replace(default, scale=scale, learn_distances=flag) for scale in SCALES for flag in learned]
    if default.influence > 0:
        found.append(replace(default, influence=0.0))
    return found


def points(name: str, draw: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Data and classes coded 0, 1, ...; a sample in which every class has at least five points where there are more."""
    if name.startswith("planted"):
        X, y = planted(name)
    else:
        with np.load(Path(os.environ["TIGHTCUT_DATA"]) / f"{name.removesuffix(' unscaled')}.npz") as stored:
            X, y = stored["X_raw" if name.endswith("unscaled") else "X"], stored["y"]
    if len(y) > most:
        chosen = np.sort(np.random.default_rng(20_000 + draw).choice(len(y), most, replace=False))
        X, y = X[chosen], y[chosen]
        frequent = np.isin(y, np.flatnonzero(np.bincount(y) >= 5))
        X, y = X[frequent], y[frequent]
    return X, np.unique(y, return_inverse=True)[1]


def planted(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Data of which the truth is known: mixed units, skewed counts, an embedding, columns of noise, many clusters, curves."""
    rng = np.random.default_rng(11)
    if name == "planted units":
        y = rng.integers(0, 4, 600)
        return (1.6 * rng.normal(size=(4, 8))[y] + rng.normal(size=(600, 8))) * np.exp(2.5 * rng.normal(size=8)), y
    if name == "planted counts":
        y = rng.integers(0, 5, 700)
        rates = rng.dirichlet(np.full(60, 0.15), 5)[y] * rng.lognormal(3, 0.8, 700)[:, None]
        return rng.poisson(rates).astype(np.float64), y
    if name == "planted embedding":
        y = rng.integers(0, 8, 800)
        inner = 1.1 * rng.normal(size=(8, 20))[y] + rng.normal(size=(800, 20)) * np.linspace(1.6, 0.3, 20)
        return inner @ rng.normal(size=(20, 100)) / 10 + 0.1 * rng.normal(size=(800, 100)), y
    if name == "planted noise":
        y = rng.integers(0, 3, 500)
        return np.c_[2 * rng.normal(size=(3, 5))[y] + rng.normal(size=(500, 5)), rng.normal(size=(500, 15))], y
    if name == "planted curves":
        return curves(rng)
    y = rng.integers(0, 15, 450)
    return 1.3 * rng.normal(size=(15, 10))[y] + rng.normal(size=(450, 10)), y


def curves(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Fifteen movements of a hand, 24 times each: 45 points on a curve, turned, moved, stretched and out of time."""
    y, time_steps, waves = np.arange(360) % 15, np.linspace(0, 1, 45), np.arange(1, 4)
    shapes = rng.normal(size=(15, 2, 3, 2)) / waves[:, None]
    rows = []
    for shape in shapes[y]:
        early, late, start, angle, size, *place = rng.normal(size=7)
        pace = early * np.sin(np.pi * time_steps) / np.pi + late * np.sin(2 * np.pi * time_steps) / (2 * np.pi)
        phase = np.pi * waves[:, None] * (time_steps + 0.2 * pace + 0.1 * start)
        curve = shape[..., 0] @ np.sin(phase) + shape[..., 1] @ np.cos(phase)
        cosine, sine = np.cos(0.55 * angle), np.sin(0.55 * angle)
        turned = np.array([[cosine, -sine], [sine, cosine]]) @ (curve - curve.mean(axis=1, keepdims=True))
        moved = np.exp(0.3 * size) * turned + 0.35 * np.array(place)[:, None]
        rows.append((moved + 0.02 * rng.normal(size=moved.shape)).T.ravel())
    return np.array(rows), y


def table(cells: list[dict]) -> list[dict]:
    """One row for each set and share of pairs."""
    groups = defaultdict(list)
    for cell in cells:
        groups[cell["set"], cell["share"]].append(cell)
    rows = []
    for (name, share), group in sorted(groups.items(), key=lambda item: (_place(item[0][0]), item[0][1])):
        means = {key: _mean(group, key) for key in group[0]["found"] if all(key in cell["found"] for cell in group)}
        fixed = {key: value for key, value in means.items() if key not in (OLD, OLD_STANDARDISED, CHOSEN)}
        best = max(fixed, key=lambda key: fixed[key]) if fixed else None
        own = [cell["found"][cell["setting"]]["seconds"] for cell in group]
        ratio = [cell["found"][CHOSEN]["seconds"] / seconds for cell, seconds in zip(group, own, strict=True)]
        rows.append(
            {
                "set": name,
                "points": group[0]["points"],
                "k": group[0]["classes"],
                "pairs": f"{share:.0%}" if share <= 1 else f"{share:.0f}",
                "effort": group[0]["effort"],
                "draws": len(group),
                "0.1.0": f"{means[OLD]:.3f}",
                "standardised": f"{means[OLD_STANDARDISED]:.3f}",
                "default": f"{np.mean([cell['found'][cell['default']]['index'] for cell in group]):.3f}",
                "chosen": f"{means[CHOSEN]:.3f}",
                "oracle": f"{fixed[best]:.3f}" if best else "",
                "other draws": _oracle_of_other_draws(group, list(fixed)),
                "gain": _gain(group),
                "left the default": sum(cell["setting"] != cell["default"] for cell in group),
                "violated": sum(one["violated"] for cell in group for one in cell["found"].values()),
                "time": f"{np.median(ratio):.1f}",
                "best setting": best or "",
            }
        )
    return rows


def _place(name: str) -> int:
    return SETS.index(name) if name in SETS else len(SETS)


def _oracle_of_other_draws(group: list[dict], settings: list[str]) -> str:
    """The index of the setting that is best on all other draws, mean over the draws: an oracle without hindsight."""
    if len(group) < 2 or not settings:
        return ""
    index = np.array([[cell["found"][setting]["index"] for setting in settings] for cell in group])
    found = [row[np.argmax(index.sum(axis=0) - row)] for row in index]
    return f"{np.mean(found):.3f}"


def _gain(group: list[dict]) -> str:
    """By how much the choice is better than the old default, with the standard error."""
    gains = [cell["found"][CHOSEN]["index"] - cell["found"][OLD_STANDARDISED]["index"] for cell in group]
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
    return f"{np.mean(gains):+.3f} ± {error:.3f}"


def _mean(group: list[dict], key: str) -> float:
    return float(np.mean([cell["found"][key]["index"] for cell in group]))


def summary(rows: list[dict]) -> list[str]:
    """The means over the sets, and the largest loss against the old default."""
    notes = []
    columns = ("0.1.0", "standardised", "default", "chosen", "oracle", "other draws")
    for share in dict.fromkeys(row["pairs"] for row in rows):
        own = [row for row in rows if row["pairs"] == share]
        means = {name: np.mean([float(row[name]) for row in own if row[name]]) for name in columns}
        told = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
        notes.append(f"- {share} pairs, mean over {len(own)} sets: {told}.{_losses(own)}")
    return notes


def _losses(rows: list[dict]) -> str:
    """The sets on which the choice is more than 0.02 below the old default, and by how many standard errors."""
    lost = []
    for row in rows:
        gain, error = map(float, row["gain"].split(" ± "))
        if gain < -0.02:
            lost.append(f"{row['set']} ({gain:+.3f}, {-gain / error:.1f} standard errors)")
    return f" More than 0.02 below the old default: {', '.join(lost) or 'none'}."


if __name__ == "__main__":
    main()
