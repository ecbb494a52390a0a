"""Instances in a process of their own, with whatever package its path holds: `python -m benchmarks.frozen.worker NAME ...`.

A line of JSON for each: the hash of its labels, the cut, the number of violated pairs, processor seconds.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
import traceback
import warnings
from typing import Any

import numpy as np

from benchmarks.frozen.instances import Instance, instances
from benchmarks.frozen.tasks import Found, Task, prepare
from benchmarks.instances import quiet

SLOW = 20.0  # seconds from which one run will do
RAISED = "raised"  # instead of a hash


def main() -> None:
    repeat, names = sys.argv[1] == "twice", set(sys.argv[2:])
    quiet()
    for instance in instances():
        if instance.name in names:
            print(json.dumps({"instance": instance.name, **measure(instance, repeat=repeat)}), flush=True)


def measure(instance: Instance, *, repeat: bool) -> dict[str, Any]:
    """The result of one instance; of two runs the better time, and the same labels.

    An exception is a result, too: a state that has lost a setting differs there, and nowhere else.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # lopsided clusters, graphs that are not connected
            found, seconds = _run(prepare(instance.task, instance.dataset, instance.settings), repeat=repeat)
    except Exception as error:  # noqa: BLE001
        traceback.print_exc()
        return {"labels": f"{RAISED} {type(error).__name__}", "cut": None, "violated": 0, "seconds": 0.0}
    digest = hashlib.sha256(np.asarray(found.labels).astype(np.int64).tobytes()).hexdigest()[:10]
    cut = None if np.isnan(found.cut) else float(found.cut)
    return {"labels": digest, "cut": cut, "violated": int(found.violated), "seconds": seconds}


def _run(task: Task, *, repeat: bool) -> tuple[Found, float]:
    found, seconds = _timed(task)
    if not repeat or seconds > SLOW:
        return found, seconds
    again, least = _timed(task)
    if not np.array_equal(found.labels, again.labels):
        raise AssertionError("A second run in the same process found other labels.")
    return found, min(seconds, least)


def _timed(task: Task) -> tuple[Found, float]:
    start = time.process_time()
    found = task()
    return found, time.process_time() - start


if __name__ == "__main__":
    main()
