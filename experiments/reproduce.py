"""Named studies, from the command to the page."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tightcut import __version__
from tightcut.experiments._pages import write_index
from tightcut.experiments._record import read_table
from tightcut.experiments._run import run
from tightcut.experiments._studies import STUDIES

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def reproduce(
    name: str,
    output: str | os.PathLike[str],
    *,
    trials: int | None = None,
    quick: bool = False,
    n_jobs: int | None = None,
    time_limit: float | None = 120.0,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Any:
    """Run a study and write its table, its figures and the page of results; an interrupted study goes on.

    Parameters
    ----------
    name : str
        One of `STUDIES`: "binary", "multiway", "noise", "pccc", "tradeoff", "toy".
    output : path-like
        Folder for ``<name>.csv``, ``<name>.json`` (versions and machine), figures ``<name>_<dataset>.png`` and
        ``index.md``, which covers all studies found there.
    trials : int, optional
        Instead of the number that the study has.
    quick : bool, default=False
        A miniature on data that need no download, in seconds.
    n_jobs, time_limit, cache, progress
        As in `run`.

    Returns
    -------
    pandas.DataFrame
    """
    if name not in STUDIES:
        raise ValueError(f"Unknown study {name!r}; there are {', '.join(STUDIES)}.")
    study, folder = STUDIES[name], Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    before = path.read_bytes() if path.exists() else b""
    if study.picture is not None:
        table, figure = study.picture(quick)
        table.to_csv(path, index=False)
        figures = {"": figure}
    else:
        estimators = study.methods()
        options: dict[str, Any] = {"n_jobs": n_jobs, "time_limit": time_limit, "cache": cache, "progress": progress}
        for plan in study.quick if quick else study.plans:
            methods = {method: estimators[method] for method in plan.methods}
            sources = {dataset: study.source(dataset) for dataset in plan.datasets}
            run(methods, sources, plan.n_pairs, trials or plan.trials, noise=plan.noise, path=path, **options)
        table = read_table(path)
        figures = study.draw(study.in_order(table))
    facts = folder / f"{name}.json"
    if path.read_bytes() != before or not facts.exists():  # where nothing was run, nothing is known about it
        facts.write_text(json.dumps(_circumstances(name, trials=trials, quick=quick), indent=1) + "\n")
    from tightcut.plots import save_png

    for part, figure in figures.items():
        save_png(figure, folder / f"{name}{'_' * bool(part)}{part}.png")
    write_index(folder)
    return table


def _circumstances(name: str, *, trials: int | None, quick: bool) -> dict[str, Any]:
    """What a reader needs to judge and repeat the numbers."""
    more = "".join([" --quick" * quick, f" --trials {trials}" * (trials is not None)])
    return {
        "command": f"tightcut reproduce {name}{more}",
        "quick": quick,
        "versions": {"tightcut": __version__, "python": platform.python_version()}
        | {package: version(package) for package in PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} cores; one thread per fit",
    }


def _processor() -> str:
    """The model of the processor, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown processor"
