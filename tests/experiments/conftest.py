"""`odd_methods` must be importable here and, through sys.path, in the processes that fit."""

import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
if not (ROOT / "experiments").exists():  # tests run outside the repository, where there are no experiments to test
    collect_ignore_glob = ["test_*.py"]

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def keep_workers():
    """A process serves the next test as well, unless memory is limited: starting one takes seconds."""
    from experiments import run, worker

    idle = []

    @contextmanager
    def crew(n_jobs, time_limit, memory_limit):
        with worker.crew(n_jobs, time_limit, memory_limit) as workers:
            for own in workers if memory_limit is None else ():
                if idle:
                    own.process, own.connection = idle.pop()
            yield workers
            for own in workers if memory_limit is None else ():
                if own.process is not None:
                    idle.append((own.process, own.connection))
                    own.process = None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "crew", crew)
        yield
    for process, _ in idle:
        process.kill()


@pytest.fixture(scope="session")
def blobs():
    """Two groups of twenty points that touch."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    return rng.normal(size=(40, 2)) + 2.5 * y[:, None], y
