"""A minute of the fuzzer, with the same problems in every run; `make fuzz` looks for new ones for an hour."""

import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.kernel_checks import CHECKS

from tightcut import kernels
from tightcut.kernels import neighbors

PROBLEMS = 1_000


@pytest.mark.slow
def test_a_thousand_problems():
    command = [sys.executable, Path(__file__).parent, "--seed", "0", "--problems", str(PROBLEMS)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{PROBLEMS:,} problems" in done.stdout


@pytest.mark.slow
def test_a_find_ends_the_run_and_says_how_to_repeat_it():
    command = [sys.executable, Path(__file__).parent, "--seed", "5", "--only", "no_such_check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "--seed 5" in done.stdout
    assert "KeyError" in done.stderr


def test_every_kernel_is_fuzzed():
    called = set(kernels._HOMES) - {"UNREACHED"}
    called |= {
        name for name, value in vars(neighbors).items() if hasattr(value, "py_func") and not name.startswith("_")
    }
    assert called <= CHECKS.keys() | {"compiled", "compiled_sum"}
