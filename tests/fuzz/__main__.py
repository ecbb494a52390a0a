"""Fuzz the compiled kernels and the searches on top of them, with numba's bounds checks.

    python tests/fuzz --seconds 3600
    python tests/fuzz --seed 7 --problem 123        # what a find says to run

Problem i of a seed is always the same. Problems run in a process of their own, so that a crash or a loop without end is a
find like any other. Ends with status 1 and a way to repeat it at the first find. Code with bounds checks has a folder of its
own, `.fuzz`: it would be taken for code without, and the other way round.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
import traceback
import warnings
from itertools import count
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".fuzz"
PATIENCE = 1200  # seconds for a problem and for compiling what it needs, on a machine that has other things to do


def parsed(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--problems", type=int, help="stop after so many")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--problem", type=int, help="only this one")
    parser.add_argument("--only", nargs="*", help="names of checks; all by default")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main():
    options = parsed()
    if options.child:
        return run(options)
    environment = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(CACHE), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-X", "faulthandler", str(HERE), "--child", "--seed", str(options.seed), *sys.argv[1:]]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    number, check, done, began = None, "", 0, time.monotonic()
    alarm = threading.Timer(PATIENCE, child.kill)
    alarm.start()
    for line in child.stdout:
        alarm.cancel()
        alarm = threading.Timer(PATIENCE, child.kill)
        alarm.start()
        number, check = line.split()
        done += 1
    status = child.wait()
    alarm.cancel()
    if status == 0:
        print(f"seed {options.seed}: {done - 1:,} problems in {time.monotonic() - began:.0f} s, nothing found")
        return 0
    how = f"did not end in {PATIENCE} s, or was killed" if status == -9 else f"ended with status {status}"
    only = f" --only {' '.join(options.only)}" if options.only else ""
    print(
        f"seed {options.seed}: problem {number} ({check}) {how}, after {max(done - 1, 0):,} without a find; to repeat it:"
    )
    print(f"  {Path(sys.executable).name} tests/fuzz --seed {options.seed} --problem {number}{only}")
    return 1


def run(options):
    """Problems one after the other; the number of each is written before it begins, and `-1 end` at the end."""
    sys.path.insert(0, str(HERE.parent))
    import numpy as np
    from fuzz import kernel_checks, search_checks

    kernel_checks.assert_bounds_are_checked()
    checks = {check.__name__: check for check in kernel_checks.CHECKS.values()} | search_checks.CHECKS
    chosen = [checks[name] for name in options.only or checks]
    warnings.simplefilter("error", RuntimeWarning)  # of overflow, of division by zero
    warnings.filterwarnings("ignore", "FISTA stopped")  # said where it stops early, and documented
    began = time.monotonic()
    problems = [options.problem] if options.problem is not None else count()
    for number in problems:
        if options.problem is None and number == options.problems:
            break
        if options.seconds is not None and time.monotonic() - began > options.seconds:
            break
        check = chosen[number % len(chosen)]
        print(number, check.__name__, flush=True)
        try:
            check(np.random.default_rng([options.seed, number]))
        except Exception:  # noqa: BLE001 - any is a find
            traceback.print_exc()
            return 1
    print(-1, "end", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
