"""Run tasks on Dask workers or in threads of this process.

Tasks read files, write files atomically and return small arrays. Workers keep no other state, so if one dies, others run
its tasks again.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any
from uuid import uuid4

from tightcut.exceptions import TightcutError
from tightcut.utils.extras import require_package

Progress = Callable[[str, int, int, float], None]
RETRIES = 3  # of a task whose worker died
ATTEMPTS, PAUSE = 50, 0.1  # attempts to remove a folder, and seconds between them


class LostWorkersError(TightcutError, RuntimeError):
    """Every worker that ran a task died."""


@dataclass(frozen=True, eq=False)
class Runner:
    """Runs tasks and reports progress.

    Attributes
    ----------
    client : distributed.Client or None
        None runs tasks in threads of this process.
    progress : callable or None
        Called with (stage, done, total, cut).
    """

    client: Any
    progress: Progress | None = None

    def map(
        self, stage: str, function: Callable[..., Any], arguments: Sequence[tuple], best: float = float("inf")
    ) -> list[Any]:
        """The results of the function for each tuple of arguments, in order."""
        import dask

        name = "tightcut-" + stage.replace(",", "").replace(" ", "-")
        task = dask.delayed(function, pure=False, traverse=False)
        return self.compute(stage, [task(*values, dask_key_name=f"{name}-{uuid4().hex}") for values in arguments], best)

    def compute(self, stage: str, tasks: Sequence[Any], best: float = float("inf")) -> list[Any]:
        """The values of delayed objects, in order."""
        import dask

        self.report(stage, 0, len(tasks), best)
        if self.client is None:
            results = list(dask.compute(*tasks, scheduler="threads"))
        else:
            results = self._on_workers(stage, tasks, best)
        self.report(stage, len(tasks), len(tasks), best)
        return results

    def _on_workers(self, stage: str, tasks: Sequence[Any], best: float) -> list[Any]:
        from distributed import KilledWorker, as_completed

        futures = self.client.compute(list(tasks), retries=RETRIES)
        try:
            for done, _ in enumerate(as_completed(futures), 1):
                if done < len(futures):
                    self.report(stage, done, len(futures), best)
            return self.client.gather(futures)
        except KilledWorker as error:
            raise LostWorkersError(f"A task of the stage {stage!r} ended every worker that ran it: {error}") from error
        finally:
            self.client.cancel(futures)

    def report(self, stage: str, done: int, total: int, best: float = float("inf")) -> None:
        if self.progress is not None:
            self.progress(stage, done, total, best)

    def check_folder(self, folder: Path) -> None:
        """Raise unless every worker sees the folder."""
        if self.client is None:
            return
        seen = self.client.run(os.path.isdir, str(folder))
        if not seen:
            raise ValueError(
                "The Dask cluster has no workers; start some, or wait for them: client.wait_for_workers(1)."
            )
        blind = sorted(worker for worker, sees in seen.items() if not sees)
        if blind:
            raise ValueError(
                f"The worker {blind[0]} does not see {folder}, which holds the levels of the graph. Pass folder=, a "
                "directory that all workers share."
            )


@contextmanager
def temporary_folder(prefix: str, folder: str | Path | None) -> Iterator[Path]:
    """A new folder in the given one or among temporary files, removed at the end.

    If a task failed, others may still be writing into the folder, and it may take several attempts to remove it.
    """
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"folder={str(folder)!r} is not a folder; create one that all workers see.")
    place = Path(mkdtemp(prefix=prefix, dir=folder)).resolve()
    try:
        yield place
    finally:
        for _ in range(ATTEMPTS):
            shutil.rmtree(place, ignore_errors=True)
            if not place.exists():
                break
            time.sleep(PAUSE)


@contextmanager
def written_whole(file: Path) -> Iterator[IO[bytes]]:
    """A stream to a file that appears when all is written, even if two workers write the same file."""
    unfinished = file.with_name(uuid4().hex)
    with unfinished.open("wb") as stream:
        yield stream
    unfinished.replace(file)


def read_parquet(path: str | Path) -> Any:
    """A file or folder of Parquet as a Dask data frame; a URL is left to Dask."""
    import dask.dataframe as dd

    if "://" not in str(path) and not Path(path).exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    return dd.read_parquet(str(path))


def find_client(client: Any) -> Any:
    """The given client, else the current one of this process, else None; a missing package is an error."""
    require_package("dask.dataframe", "tightcut.distributed", "dask")
    distributed = require_package("distributed", "tightcut.distributed", "dask")
    if client is None:
        try:
            return distributed.default_client()
        except ValueError:
            return None
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"client must be a distributed.Client, not {type(client).__name__}: create one by distributed.Client(ADDRESS)."
        )
    return client
