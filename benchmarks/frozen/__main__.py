"""Labels, cuts and seconds of two states of the source, side by side.

    git worktree add ../before REVISION
    python -m benchmarks.frozen ../before/src [--only cluster] [--jobs 2]   both states
    python -m benchmarks.frozen ../before/src --quick                       the quick subset
    python -m benchmarks.frozen --check [--only ask]                        the quick subset against stored hashes
    python -m benchmarks.frozen --freeze                                    the present state's hashes are stored

Every instance is solved by both states in turn, in processes of their own. Seconds are processor seconds, the better of
two runs; labels are frozen as a hash. What is frozen besides `cluster` is listed in `instances`: soft constraints, an
automatic number of clusters, chosen settings, predictions, updates, scored pairs, graphs clustered level by level, and
simulated answers. Without TIGHTCUT_DATA only the datasets that come with scikit-learn take part in the quick subset.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.frozen.instances import BUNDLED, Instance, chosen
from benchmarks.instances import commit, geometric_mean
from tightcut import __version__

ROOT = Path(__file__).parents[2]
STORED = ROOT / "benchmarks" / "reference" / "frozen.csv"
ROUNDING = 1e-9  # by which a cut may differ where labels are the same
MEASURED = 0.02  # seconds below which a ratio of times says nothing
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "ortools")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, nargs="?", help="folder with the package of the state to compare with")
    parser.add_argument("--only", default="", help="instances whose name contains this")
    parser.add_argument("--quick", action="store_true", help="the quick subset")
    parser.add_argument("--check", action="store_true", help="the quick subset against the stored hashes")
    parser.add_argument("--freeze", action="store_true", help="store the hashes of the quick subset")
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes at a time; times need idle cores for all of them"
    )
    given = parser.parse_args()
    if (given.before is not None) + given.check + given.freeze != 1:
        parser.error("give one of: the folder of another state, --check, --freeze")
    if given.freeze and given.only:
        parser.error("--freeze stores the whole quick subset; leave out --only")
    if given.freeze and not os.environ.get("TIGHTCUT_DATA"):
        parser.error("--freeze stores the whole quick subset; set TIGHTCUT_DATA to the folder of datasets")
    wanted = available(chosen(given.only, quick=given.quick or given.check or given.freeze))
    if given.freeze:
        freeze(wanted, given.jobs)
        return
    if given.check:
        sys.exit(told(check(wanted, given.jobs)))
    sys.exit(told(compare(wanted, given)))


def available(wanted: list[Instance]) -> list[Instance]:
    """Those whose data are here; says which are not."""
    if os.environ.get("TIGHTCUT_DATA"):
        return wanted
    found = [one for one in wanted if one.dataset in ("", *BUNDLED)]
    absent = sorted({one.dataset for one in wanted} - {one.dataset for one in found})
    if absent:
        print(f"TIGHTCUT_DATA is not set: {len(wanted) - len(found)} instances of {', '.join(absent)} are left out.")
    return found


def solve(source: Path, instances: list[Instance], *, repeat: bool) -> dict[str, dict[str, Any]]:
    """The results of one state, by name of the instance, in one process."""
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.frozen.worker", "twice" if repeat else "once"]
    command += [one.name for one in instances]
    finished = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(line) for line in finished.stdout.splitlines() if line.startswith("{")]
    return {one.pop("instance"): one for one in found}


def solve_present(instances: list[Instance], jobs: int) -> dict[str, dict[str, Any]]:
    """The results of the present state, in one process for each task."""
    found: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for own in pool.map(partial(solve, ROOT / "src", repeat=False), by_task(instances)):
            found |= own
            name, seconds = next(iter(own)).split()[0], sum(one["seconds"] for one in own.values())
            print(f"{name}: {len(own)} instances, {seconds:.1f} s", flush=True)
    return found


def by_task(instances: list[Instance]) -> list[list[Instance]]:
    return [list(own) for _, own in groupby(sorted(instances, key=lambda one: one.task), lambda one: one.task)]


def freeze(instances: list[Instance], jobs: int) -> None:
    found = solve_present(instances, jobs)
    if failed := [name for name, one in found.items() if one["labels"].startswith("raised")]:
        sys.exit(f"Nothing is stored, since these raised an exception: {', '.join(failed)}.")
    with STORED.open("w", newline="") as file:
        file.write(f"# {environment()}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["instance", "labels", "cut"])
        for one in instances:
            own = found[one.name]
            writer.writerow([one.name, own["labels"], "" if own["cut"] is None else repr(own["cut"])])


def check(instances: list[Instance], jobs: int) -> Iterator[str]:
    """What differs from the stored hashes."""
    with STORED.open() as file:
        made_with = file.readline().strip("# \n")
        stored = {row["instance"]: row for row in csv.DictReader(file)}
    print(f"Stored: {made_with}\nHere:   {environment()}", flush=True)
    found = solve_present(instances, jobs)
    for one in instances:
        if one.name not in stored:
            yield f"{one.name}: is not stored"
            continue
        row = stored[one.name]
        before = {"labels": row["labels"], "cut": float(row["cut"]) if row["cut"] else None}
        if reason := difference(before, found[one.name]):
            yield f"{one.name}: {reason}"


def compare(instances: list[Instance], given: argparse.Namespace) -> Iterator[str]:
    """What differs between two states."""
    sources = {"before": given.before.resolve(), "after": ROOT / "src"}
    if not (sources["before"] / "tightcut" / "__init__.py").exists():
        sys.exit(f"{sources['before']} has no package tightcut; give the folder src of a worktree.")
    rows, differences = [], []
    with ThreadPoolExecutor(given.jobs) as pool:
        for found in pool.map(partial(both, sources), pieces(instances)):
            for name in found["before"]:
                before, after = (found[state][name] for state in sources)
                rows.append(row(name, before, after))
                print(*rows[-1].values(), sep=" | ", flush=True)
                if reason := difference(before, after):
                    differences.append(f"{name}: {reason}")
    print(*summary(rows), sep="\n")
    yield from differences


def both(sources: dict[str, Path], instances: list[Instance]) -> dict[str, dict[str, dict[str, Any]]]:
    return {state: solve(source, instances, repeat=True) for state, source in sources.items()}


def pieces(instances: list[Instance]) -> list[list[Instance]]:
    """What one process solves: the quick instances of a task, or a single other one."""
    for own in by_task(instances):
        quick = [one for one in own if one.quick]
        yield from [[one] for one in own if not one.quick]
        if quick:
            yield quick


def difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What differs, or nothing."""
    if before["labels"] != after["labels"]:
        cuts = "" if None in (before["cut"], after["cut"]) else f", cut {before['cut']:.8g}, now {after['cut']:.8g}"
        return f"labels {before['labels']}, now {after['labels']}{cuts}"
    if before["cut"] is not None and abs(after["cut"] - before["cut"]) > ROUNDING * abs(before["cut"]):
        return f"same labels, but the cut was {before['cut']!r} and is {after['cut']!r}"
    return ""


def row(name: str, before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    measured = min(before["seconds"], after["seconds"]) >= MEASURED
    cuts = [one["cut"] for one in (before, after)]
    ratio = "" if None in cuts else f"{cuts[1] / cuts[0] if cuts[0] > 0 else 1.0:.4f}"
    return {
        "instance": name,
        "cut before": "" if cuts[0] is None else f"{cuts[0]:.6g}",
        "cut after": "" if cuts[1] is None else f"{cuts[1]:.6g}",
        "cut ratio": ratio,
        "labels before": before["labels"],
        "labels after": after["labels"],
        "s before": f"{before['seconds']:.2f}",
        "s after": f"{after['seconds']:.2f}",
        "time ratio": f"{after['seconds'] / before['seconds']:.2f}" if measured else "",
        "violated": str(after["violated"]),
    }


def summary(rows: list[dict[str, str]]) -> Iterator[str]:
    cuts, seconds = ([float(own[key]) for own in rows if own[key]] for key in ("cut ratio", "time ratio"))
    same = sum(own["labels before"] == own["labels after"] for own in rows)
    yield f"- The same labels on {same} of {len(rows)} instances."
    if cuts:
        yield f"- Cut after / before: {geometric_mean(cuts):.4f} in the geometric mean, {max(cuts):.4f} at worst."
        yield f"- Larger by more than 0.1 % on {sum(ratio > 1.001 for ratio in cuts)} instances."
        yield f"- Smaller by more than 0.1 % on {sum(ratio < 0.999 for ratio in cuts)}."
    if seconds:
        yield f"- Time after / before: {geometric_mean(seconds):.2f} in the geometric mean, {max(seconds):.2f} at worst."
    before, after = (sum(float(own[key]) for own in rows) for key in ("s before", "s after"))
    yield f"- Seconds in all: {before:.1f} before, {after:.1f} after."


def told(differences: Iterator[str]) -> int:
    """Print them, or that there are none; the exit status."""
    found = list(differences)
    print(*(found or ["identical"]), sep="\n")
    return int(bool(found))


def environment() -> str:
    """What is run, and what labels may depend on besides: packages and the machine."""
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"tightcut {__version__} ({commit()}), Python {platform.python_version()}, {platform.machine()}, {packages}"


if __name__ == "__main__":
    main()
