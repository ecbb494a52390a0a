"""Settings shared by all tests."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before cvxpy, whose HiGHS library would keep OR-tools from being loaded.
with suppress(ImportError):
    import ortools.sat.python.cp_model  # noqa: F401

# Tests are folders, not packages: this is how they find `strategies`.
sys.path.insert(0, str(Path(__file__).parent))

# Files and tests that take seconds; elsewhere they are marked where they stand.
SLOW = (
    "experiments/",
    "tests/cli/test_cluster.py",
    "tests/cli/test_files_of_new_users.py::test_files_that_work",
    "tests/cli/test_neighbours.py",
    "tests/contract/test_demo.py",
    "tests/experiments/",
    "tests/rivals/",
    "tests/unit/test_large_files.py",
)

# Every run of "ci" sees the same examples, "quick" the first few of them; HYPOTHESIS_PROFILE=search looks for new ones.
slow_is_fine = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine is no failure
settings.register_profile("ci", derandomize=True, **slow_is_fine)
settings.register_profile("quick", derandomize=True, max_examples=10, **slow_is_fine)
settings.register_profile("search", **slow_is_fine)


def pytest_configure(config):
    """Here, since the marks that were asked for are not known before: ``-m "not slow"`` asks for speed."""
    usual = "quick" if "not slow" in config.option.markexpr else "ci"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", usual))


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
