"""The source with one branch switched off at a time, against the unchanged source.

    python -m benchmarks.ablation [search] [--only NAME] [--again]

A module of this folder is an area: what is switched off (`VARIANTS`), on what it is measured (`INSTANCES`, each with every
one of `STATES`; `prepare` makes a call that is timed and returns a score), and whether the score is a cut, of which less is
better, or an index, of which more is. A variant is stale if the text that it replaces is no longer there; its row stays.

A branch is deleted if without it the cut grows by less than 0.1 % in the geometric mean, the index falls by less than 0.003
in the mean, and processor time grows by less than 3 %. Times are those of the first state, for which both sources take
turns. Measurements are kept in build/ablation, so that a run goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ablation.variants import UNCHANGED, StaleError, Variant, make_copy
from benchmarks.instances import RESULTS, commit, geometric_mean, write

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "ablation"
AREAS = ("search", "choosing", "asking")
BARS = {"cut": 1.001, "index": -0.003}
BAR_OF_TIME = 1.03

Found = dict[tuple[str, int], dict[str, Any]]  # by instance and state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("area", nargs="?", choices=AREAS, help="one area; all that there are by default")
    parser.add_argument("--only", default="", help="variants whose name contains this")
    parser.add_argument(
        "--again", action="store_true", help="measure variants of which there is a row of an earlier source"
    )
    given = parser.parse_args()
    for name in [given.area] if given.area else AREAS:
        if (Path(__file__).parent / f"{name}.py").exists():
            compare(name, given.only, again=given.again)


def compare(name: str, only: str, *, again: bool) -> None:
    """Measure the variants of an area and write its table."""
    area = importlib.import_module(f"benchmarks.ablation.{name}")
    rows = stored_rows(name)
    unchanged = State(name, UNCHANGED)
    # All copies are made before the first is measured: the source may be edited meanwhile.
    for variant, state in list(states(name, [own for own in area.VARIANTS if only in own.name])):
        if variant.name in rows and not (again or state.begun):
            continue
        instances = variant.instances or tuple(area.INSTANCES)
        state.measure(area, instances, beside=unchanged)
        unchanged.measure(area, instances)
        rows[variant.name] = row(area, variant, instances, unchanged.found, state.found)
        print(*rows[variant.name].values(), sep=" | ", flush=True)
        save(name, rows)


def states(area: str, variants: list[Variant]) -> Iterator[tuple[Variant, State]]:
    """Those that are not stale."""
    for variant in variants:
        try:
            yield variant, State(area, variant)
        except StaleError as error:
            print(f"{variant.name}: stale. {error}", flush=True)


class State:
    """A source and what was measured of it, which is kept in a file as soon as it is known."""

    def __init__(self, area: str, variant: Variant) -> None:
        self.area, self.copy = area, make_copy(ROOT / "src", variant, FOLDER)
        self._path = FOLDER / f"{area}-{self.copy.name}.jsonl"
        self.begun = self._path.exists()
        lines = [json.loads(line) for line in self._path.read_text().splitlines()] if self.begun else []
        self.found: Found = {(own["instance"], own["state"]): own for own in lines}

    def measure(self, area: Any, instances: tuple[str, ...], beside: State | None = None) -> None:
        """What is missing of all instances and states; for the first state also the time of another source."""
        missing = [(name, state) for state in area.STATES for name in instances if (name, state) not in self.found]
        if not missing:
            return
        with ExitStack() as stack:
            own = stack.enter_context(self._worker())
            other = None if beside is None else stack.enter_context(beside._worker())
            for instance, state in missing:
                found = ask(own, instance, state)
                if other is not None and state == area.STATES[0] and "raised" not in found:
                    found["beside"] = ask(other, instance, state).get("seconds")
                self.found[instance, state] = found | {"instance": instance, "state": state}
                with self._path.open("a") as file:
                    file.write(json.dumps(self.found[instance, state]) + "\n")

    def _worker(self) -> subprocess.Popen:
        own = {"PYTHONPATH": str(self.copy), "NUMBA_CACHE_DIR": str(FOLDER / "numba"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "benchmarks.ablation.worker", self.area]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, env=os.environ | own, cwd=ROOT, **pipes)


def ask(worker: subprocess.Popen, instance: str, state: int) -> dict[str, Any]:
    worker.stdin.write(json.dumps([instance, state]) + "\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        sys.exit(f"The process that measures {instance!r} ended with status {worker.wait()}.")
    return json.loads(line)


def row(area: Any, variant: Variant, instances: tuple[str, ...], unchanged: Found, found: Found) -> dict[str, str]:
    keys = [(name, state) for name in instances for state in area.STATES]
    pairs = [(unchanged[key], found[key]) for key in keys]
    raised = [own["raised"] for before, own in pairs if "raised" in own and "score" in before]
    pairs = [(before, own) for before, own in pairs if "score" in before and "score" in own]
    if not pairs:
        sys.exit(f"Nothing of {variant.name!r} could be measured: see what its process or the unchanged source raised.")
    if area.SCORE == "cut":
        changes = [own["score"] / before["score"] if before["score"] > 0 else 1.0 for before, own in pairs]
        mean, worst = geometric_mean(changes), max(changes)
    else:
        changes = [own["score"] - before["score"] for before, own in pairs]
        mean, worst = float(np.mean(changes)), min(changes)
    time = geometric_mean([own["seconds"] / own["beside"] for _, own in pairs if own.get("beside")])
    lost = mean >= BARS["cut"] if area.SCORE == "cut" else mean <= BARS["index"]
    verdict = f"keep: {raised[0]}" if raised else "keep" if lost or time >= BAR_OF_TIME else "delete"
    return {
        "variant": variant.name,
        area.SCORE: f"{mean:.5f}",
        "worst": f"{worst:.4f}",
        "differs": f"{sum(own['score'] != before['score'] for before, own in pairs)} of {len(pairs)}",
        "time": f"{time:.3f}",
        "verdict": verdict,
        "commit": commit(),
    }


def stored_rows(name: str) -> dict[str, dict[str, str]]:
    path = RESULTS / f"ablation_{name}.csv"
    if not path.exists():
        return {}
    with path.open() as file:
        return {own["variant"]: own for own in csv.DictReader(file)}


def save(name: str, rows: dict[str, dict[str, str]]) -> None:
    notes = [f"- {line}" for line in importlib.import_module(f"benchmarks.ablation.{name}").NOTES]
    write(f"ablation_{name}", list(rows.values()), notes, f"python -m benchmarks.ablation {name}", shown=False)


if __name__ == "__main__":
    main()
