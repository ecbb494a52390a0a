"""Reading and closing a million pairs and six million, from everything that can hold them.

    python -m benchmarks.pairs

70,000 points in 10 classes. Random pairs of all points come as arrays, frames and files; all pairs among as many
points as give that number come as `partial_labels`, whose closure spells them out again. Every row is measured in a
process of its own: processor seconds, since others may use the machine, and by how much the peak memory grew.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.instances import merged, own_process, peak_gib, write
from tightcut import Constraints
from tightcut.files import read_pairs

COMMAND = "python -m benchmarks.pairs"
N_POINTS, N_CLASSES = 70_000, 10
NUMBERS = (1_000_000, 6_000_000)
NOTES = [
    "- `read s`: to a `Constraints` object, which sorts and merges. `close s`: must-linked sets, separations between them",
    "  and conflicts, which is all that the search needs; for labels, every implied pair (`Constraints.closure`).",
    "- Seconds are processor time on one thread. `memory GiB`: growth of the peak while reading and closing.",
    "- `tightcut check` is the whole command, with the start of Python and the search for repeated lines.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=3, metavar=("FORM", "N", "FOLDER"), help="measure one row and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        form, number, folder = arguments.one
        print(json.dumps(measure(form, int(number), Path(folder))))
        return
    with tempfile.TemporaryDirectory() as folder:
        for n_pairs in NUMBERS:
            save(n_pairs, Path(folder))
            for form in READERS:
                row = own_process("benchmarks.pairs", "--one", form, str(n_pairs), folder)
                write("pairs", merged("pairs", [row], ("pairs", "given as")), NOTES, COMMAND)


def measure(form: str, n_pairs: int, folder: Path) -> dict[str, Any]:
    with np.load(folder / f"{n_pairs}.npz") as stored:
        arrays = dict(stored)
    read, close = READERS[form](folder / f"{n_pairs}", arrays)
    before = peak_gib()
    started = processor_seconds()
    held = read()
    read_seconds = processor_seconds() - started
    close(held)
    close_seconds = processor_seconds() - started - read_seconds
    return {
        "pairs": n_pairs,
        "given as": form,
        "read s": round(read_seconds, 2),
        "close s": round(close_seconds, 2),
        "all s": round(read_seconds + close_seconds, 2),
        "memory GiB": round(peak_gib() - before, 2),
    }


def processor_seconds() -> float:
    """Of this process and of those that it has waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def save(n_pairs: int, folder: Path) -> None:
    """The pairs in every form that a file can have."""
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, N_CLASSES, N_POINTS)
    pairs = rng.integers(0, N_POINTS, (n_pairs + n_pairs // 100, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:n_pairs]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    known = np.full(N_POINTS, -1)
    n_known = round((1 + np.sqrt(1 + 8 * n_pairs)) / 2)
    known[:n_known] = y[:n_known]
    np.savez(folder / f"{n_pairs}.npz", pairs=pairs, same=same, known=known)
    frame = pd.DataFrame({"a": pairs[:, 0], "b": pairs[:, 1], "type": np.where(same, "must", "cannot")})
    frame.to_csv(folder / f"{n_pairs}.csv", index=False)
    frame.to_parquet(folder / f"{n_pairs}.parquet")


Reader = tuple[Callable[[], Any], Callable[[Any], Any]]


def close(constraints: Constraints) -> None:
    if len(constraints.conflicts()):
        raise RuntimeError("true labels cannot contradict each other")


def from_arrays(_: Path, arrays: dict[str, np.ndarray]) -> Reader:
    pairs, same = arrays["pairs"], arrays["same"]
    return partial(Constraints.from_pairs, N_POINTS, pairs[same], pairs[~same]), close


def from_beliefs(_: Path, arrays: dict[str, np.ndarray]) -> Reader:
    pairs, same = arrays["pairs"], arrays["same"]
    belief = np.random.default_rng(1).uniform(0.1, 1.0, len(pairs))
    return partial(Constraints.from_pairs, N_POINTS, pairs[same], pairs[~same], belief[same], belief[~same]), close


def from_labels(_: Path, arrays: dict[str, np.ndarray]) -> Reader:
    return partial(Constraints.from_labels, arrays["known"]), Constraints.closure


def from_frame(path: Path, _: dict[str, np.ndarray]) -> Reader:
    import pandas as pd

    frame = pd.read_parquet(path.with_suffix(".parquet"))
    return partial(Constraints.from_dataframe, frame, range(N_POINTS)), close


def from_file(suffix: str, path: Path, _: dict[str, np.ndarray]) -> Reader:
    names = list(map(str, range(N_POINTS)))
    return lambda: read_pairs(path.with_suffix(suffix)).constraints(names), close


def from_command(path: Path, _: dict[str, np.ndarray]) -> Reader:
    command = [sys.executable, "-m", "tightcut", "check", str(path.with_suffix(".csv")), "-k", str(N_CLASSES)]
    return partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL), lambda _: None


READERS: dict[str, Callable[[Path, dict[str, np.ndarray]], Reader]] = {
    "arrays": from_arrays,
    "arrays with beliefs": from_beliefs,
    "partial labels": from_labels,
    "pandas frame": from_frame,
    "Parquet file": partial(from_file, ".parquet"),
    "CSV file": partial(from_file, ".csv"),
    "tightcut check": from_command,
}


if __name__ == "__main__":
    main()
