"""Tasks one after the other, or in threads by joblib, which is imported only where it is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


def runs_in_turn(n_jobs: int | None) -> bool:
    """Whether tasks run one after the other. `joblib.parallel_config` says more about None, once joblib is imported."""
    return n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules)


def run_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple], n_jobs: int | None, *, as_list: bool = True
) -> Iterable[Any]:
    """The results of a function for each of the tasks, which are its arguments, in their order.

    Examples
    --------
    >>> from tightcut._support.parallel import run_tasks
    >>> list(run_tasks(pow, [(2, 3), (3, 2)], n_jobs=1))
    [8, 9]
    """
    if runs_in_turn(n_jobs):
        return (function(*task) for task in tasks)
    from joblib import Parallel, delayed

    run = Parallel(n_jobs=n_jobs, prefer="threads", return_as="list" if as_list else "generator")
    return run(delayed(function)(*task) for task in tasks)
