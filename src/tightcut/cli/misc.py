"""`tightcut datasets`, `demo`, `warmup` and `info`: about the package and this machine."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path
from typing import Any

import click

from tightcut import __version__
from tightcut.cli._console import Console, echo, in_columns
from tightcut.cli._options import FILE, console_options, option
from tightcut.utils.extras import missing_package

PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "joblib", "click", "matplotlib", "pandas", "pyarrow", "torch",
)  # fmt: skip


@click.command(short_help="List the built-in datasets, or write one as a table.")
@click.argument("name", required=False)
@option("-o", "--output", type=FILE, metavar="CSV", help="Write the points of NAME, one per row, with their class.")
@console_options("as_json", "force", "quiet")
def datasets(name: str | None, output: Path | None, console: Console) -> None:
    """List the datasets that tightcut.datasets.load knows, describe the one called NAME, or write it as a table.

    \b
    Something to try the other commands with:
      tightcut datasets iris -o iris.csv
      tightcut cluster iris.csv -k 3 --drop class -o labels.csv
      tightcut evaluate labels.csv iris.csv
    """  # noqa: D301 (\b is for click)
    rows = [_described(known) for known in _known_datasets(name)]
    if output is not None:
        _write_dataset(name, output, console)
        rows[0]["table"] = str(output)
    console.show(rows, _catalogue(rows) if name is None else in_columns(rows[0]))


def _catalogue(rows: list[dict[str, Any]]) -> Iterator[str]:
    columns = ("name", "points", "features", "classes", "source")
    for row in (dict(zip(columns, columns, strict=True)), *rows):
        yield "{:<16}{:>9}{:>10}{:>9}  {}".format(*(row.get(name, "") for name in columns))
    yield "\nIn Python: tightcut.datasets.load(name). Files in the folder TIGHTCUT_DATA are found first."


def _known_datasets(name: str | None) -> tuple[str, ...]:
    from tightcut.datasets import list_datasets
    from tightcut.utils.validation import did_you_mean

    known = list_datasets()
    if name is not None and name not in known:
        hint = did_you_mean(name, known) or " `tightcut datasets` lists them."
        raise click.UsageError(f"There is no dataset {name!r}.{hint}")
    return known if name is None else (name,)


def _described(name: str) -> dict[str, Any]:
    from tightcut.datasets._catalogue import CATALOGUE

    entry = CATALOGUE.get(name)
    if entry is None:
        return {"name": name, "source": "generated"}
    return {
        "name": name,
        "source": "scikit-learn" if entry.bundled else "OpenML" if entry.openml else "derived",
        "points": sum(entry.class_counts),
        "features": entry.n_features,
        "classes": len(entry.class_counts),
        "description": entry.description,
    }


def _write_dataset(name: str | None, output: Path, console: Console) -> None:
    import numpy as np

    from tightcut.datasets import load

    if name is None:
        raise click.UsageError("-o writes one dataset; say which: tightcut datasets NAME -o FILE.")
    console.check_files([], tables=[output])
    with console.warnings_as_notes():
        data = load(name)
    header = [*(f"x{column}" for column in range(1, data.X.shape[1] + 1)), "class"]
    # Many were stored with 32 bits, in which 5.1 is 5.1; in 64 it would be 5.099999904632568.
    single = data.X.astype(np.float32)
    points = single if np.array_equal(single, data.X) else data.X
    console.write_rows(output, header, ([*map(str, row), own] for row, own in zip(points, data.y, strict=True)))


@click.command(short_help="Cluster handwritten digits, and save a picture.")
@option("-o", "--output", type=FILE, default="demo.png", metavar="PNG", help="The picture.")
@console_options("force")
def demo(output: Path, console: Console) -> None:
    """Cluster handwritten digits with and without constraints, and save a picture."""
    if util.find_spec("matplotlib") is None:
        raise missing_package("The demonstration", "plots", "matplotlib")
    if output.suffix.lower() != ".png":
        raise click.UsageError(f"The picture is written as PNG, not as {output.name}; name it {output.stem}.png.")
    console.check_files([], others=[output])
    from tightcut.demo import main

    main(output)


@click.command(short_help="Compile everything now.")
def warmup() -> None:
    """Compile everything now, so that the first clustering does not have to.

    The code is kept in the installed package if that can be written, otherwise in your folder for caches, or wherever
    the environment variable NUMBA_CACHE_DIR says.
    """
    from tightcut.kernels.cache import folders_in_use
    from tightcut.warmup import warmup as compile_kernels

    click.echo("Compiling; this takes up to a minute the first time, seconds later on ...", err=True)
    started = time.perf_counter()
    compile_kernels()
    kept = " and ".join(map(str, folders_in_use())) or "nowhere"
    echo(f"Ready after {time.perf_counter() - started:.1f} s. Compiled code is in {kept}.")


@click.command()
@console_options("as_json")
def info(console: Console) -> None:
    """Versions, threads and GPU: what to put into a bug report."""
    facts: dict[str, Any] = {
        "tightcut": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in PACKAGES},
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "NUMBA_NUM_THREADS": os.environ.get("NUMBA_NUM_THREADS"),
        "TIGHTCUT_DATA": os.environ.get("TIGHTCUT_DATA"),
        "GPU": _gpu(),
    }
    absent = {
        name: "not installed" if name in PACKAGES else "not set" for name, value in facts.items() if value is None
    }
    console.show(facts, in_columns(facts | absent))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _gpu() -> str:
    """Asked of torch where it is installed; otherwise only whether a driver is there."""
    if util.find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            return f"{torch.cuda.get_device_name(0)} (torch)"
        return "none that torch can use"
    if shutil.which("nvidia-smi") or Path("/proc/driver/nvidia/version").exists():
        return "an NVIDIA driver is installed; torch is not"
    return "Apple, torch is not installed" if sys.platform == "darwin" else "none found"
