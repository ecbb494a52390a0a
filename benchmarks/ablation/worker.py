"""Scores of one area by whatever package the path holds: `python -m benchmarks.ablation.worker AREA`.

Reads lines of JSON, each an instance and a random state, and answers each with a line: score and processor seconds.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
import warnings
from typing import Any

from benchmarks.instances import quiet


def main() -> None:
    area = importlib.import_module(f"benchmarks.ablation.{sys.argv[1]}")
    quiet()
    for instance in area.WARM_UP:
        measure(area, instance, area.STATES[0])
    for line in sys.stdin:
        print(json.dumps(measure(area, *json.loads(line))), flush=True)


def measure(area: Any, instance: str, state: int) -> dict[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = area.prepare(instance, state)
            start = time.process_time()
            score = float(run())
    except Exception as error:  # noqa: BLE001
        traceback.print_exc()
        return {"raised": type(error).__name__}
    return {"score": score, "seconds": time.process_time() - start}


if __name__ == "__main__":
    main()
