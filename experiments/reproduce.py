"""Studies by name: from the run to the page."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable
from itertools import product
from pathlib import Path
from typing import Any

from experiments.problems import prepared
from experiments.record import Cell, Row, read_rows, read_table
from experiments.run import fit_cells
from experiments.stamp import checksum, circumstances, commit
from experiments.studies import STUDIES, Study
from tightcut import __version__


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
    from experiments.page import write_index
    from tightcut.plots import save_png

    study, folder = _study(name), Path(output)
    path = folder / f"{name}.csv"
    if study.picture is not None:
        folder.mkdir(parents=True, exist_ok=True)
        table, affinity, figure = study.picture(quick)
        table = table.assign(version=__version__, commit=commit(), graph=checksum(affinity))
        table.to_csv(path, index=False)
        _write_facts(name, folder, table.to_dict("records"), {}, trials, quick=quick)
        figures = {"": figure}
    else:
        limits: dict[str, Any] = {"time_limit": time_limit, "memory_limit": memory_limit}
        fit_study(name, folder, trials=trials, quick=quick, **limits, **options)
        table = read_table(path)
        figures = study.draw(study.in_order(table))
    for part, figure in figures.items():
        save_png(figure, folder / f"{name}{'_' * bool(part)}{part}.png")
    write_index(folder)
    return table


def fit_study(
    name: str,
    output: str | os.PathLike[str],
    *,
    trials: int | None = None,
    quick: bool = False,
    datasets: Container[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[Row]:
    """The fits of a study and nothing else: `<name>.csv` and `<name>.json`, without pandas and matplotlib.

    With `datasets`, only their part of it. The pages are made by `reproduce`, there or on another machine, from the files
    of the folder.
    """
    study, folder = _study(name), Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    before = path.read_bytes() if path.exists() else b""
    methods = study.methods()
    cells = [
        Cell(dataset, method, n_pairs, noise, trial)
        for plan in (study.quick if quick else study.plans)
        for dataset, n_pairs, noise, trial, method in product(
            plan.datasets, plan.n_pairs, plan.noise, range(trials or plan.trials), plan.methods
        )
        if datasets is None or dataset in datasets
    ]
    names = dict.fromkeys(cell.dataset for cell in cells)
    with prepared({name: name for name in names}, cache=cache) as problems:
        try:
            rows = fit_cells(cells, methods, problems, path, **options)
        finally:
            # Where nothing was run, nothing is known about it: the facts are those of the machine that did the work.
            if path.exists() and (path.read_bytes() != before or not (folder / f"{name}.json").exists()):
                facts = {own: problem.facts() for own, problem in problems.items()}
                _write_facts(name, folder, read_rows(path), facts, trials, quick=quick)
    return rows


def _write_facts(
    name: str, folder: Path, rows: Iterable[Row], problems: dict[str, Any], trials: int | None, *, quick: bool
) -> None:
    """Beside a table: how it was made, of what problems, and on which machines, the last one first."""
    more = "".join([" --quick" * quick, f" --trials {trials}" * (trials is not None)])
    command = {"command": f"python -m experiments {name}{more}", "quick": quick}
    path, made, commits = folder / f"{name}.json", circumstances(), {row["commit"] for row in rows}
    before = json.loads(path.read_text()) if path.exists() else {}
    if before.get("commits") and set(before["commits"]) <= commits:
        problems = before.get("problems", {}) | problems
        if made["machine"] not in before["machine"]:
            made["machine"] += f"; {before['machine']}"
    facts = command | {"commits": sorted(commits)} | made | ({"problems": problems} if problems else {})
    path.write_text(json.dumps(facts, indent=1) + "\n")


def _study(name: str) -> Study:
    if name not in STUDIES:
        raise ValueError(f"Unknown study {name!r}; there are {', '.join(STUDIES)}.")
    return STUDIES[name]
