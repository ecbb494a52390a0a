"""Studies by name: from the run to the page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from experiments.page import write_index
from experiments.record import read_table
from experiments.run import run
from experiments.stamp import checksum, circumstances, commit
from experiments.studies import STUDIES
from tightcut import __version__
from tightcut.plots import save_png


def reproduce(
    name: str,
    output: str | os.PathLike[str],
    *,
    trials: int | None = None,
    quick: bool = False,
    time_limit: float = 120.0,
    memory_limit: float | None = 8.0,
    **options: Any,
) -> Any:
    """Run a study and write its table, its figures and the page of results; an interrupted study goes on.

    The folder gets ``<name>.csv``, ``<name>.json`` (command, versions, commits and machine), ``<name>_<dataset>.png`` and
    ``index.md``, which covers all studies found there. `quick` runs a miniature on data that need no download. Limits
    and options are those of `run`.
    """
    if name not in STUDIES:
        raise ValueError(f"Unknown study {name!r}; there are {', '.join(STUDIES)}.")
    study, folder = STUDIES[name], Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    before = path.read_bytes() if path.exists() else b""
    if study.picture is not None:
        table, affinity, figure = study.picture(quick)
        table = table.assign(version=__version__, commit=commit(), graph=checksum(affinity))
        table.to_csv(path, index=False)
        figures = {"": figure}
    else:
        estimators = study.methods()
        options |= {"time_limit": time_limit, "memory_limit": memory_limit}
        for plan in study.quick if quick else study.plans:
            methods = {method: estimators[method] for method in plan.methods}
            run(
                methods,
                {dataset: dataset for dataset in plan.datasets},
                plan.n_pairs,
                trials or plan.trials,
                noise=plan.noise,
                path=path,
                **options,
            )
        table = read_table(path)
        figures = study.draw(study.in_order(table))
    facts = folder / f"{name}.json"
    if path.read_bytes() != before or not facts.exists():  # where nothing was run, nothing is known about it
        more = "".join([" --quick" * quick, f" --trials {trials}" * (trials is not None)])
        command = {"command": f"python -m experiments {name}{more}", "quick": quick}
        made = command | {"commits": sorted(set(table["commit"]))} | circumstances()
        facts.write_text(json.dumps(made, indent=1) + "\n")
    for part, figure in figures.items():
        save_png(figure, folder / f"{name}{'_' * bool(part)}{part}.png")
    write_index(folder)
    return table
