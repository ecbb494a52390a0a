"""Which tables are older than what they measure, and the command that makes each of them again.

    python -m benchmarks.status                   a line for each table
    python -m benchmarks.status --make [NAME ...] makes those that are not current (or those named), shortest first

A table is current if no commit since the one that it names has touched the rooms that it measures. `--make` goes on where
it was interrupted, since a table that has been made is current; it leaves out what this machine lacks, and says so.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = "src/tightcut"
SEARCH = ("kernels", "problem", "search", "clustering")
FIT = (*SEARCH, "neighbors", "selection", "fitted", "estimator.py")
MADE_BY = re.compile(r"tightcut (?P<version>[\d.]+) \((?P<commit>[0-9a-f]+)\)")


@dataclass(frozen=True)
class Table:
    """What makes a table, what it measures, and what it takes.

    | field | meaning |
    |---|---|
    | command | arguments of `python -m` |
    | measures | rooms of the package; a commit that touches one of them makes the table old |
    | minutes | on two idle cores |
    | needs | packages or a machine without which the command cannot run |
    | path | the file that names the commit; by default the table in `benchmarks/results` |
    """

    name: str
    command: str
    measures: tuple[str, ...]
    minutes: int
    needs: tuple[str, ...] = ()
    path: str = ""

    @property
    def file(self) -> Path:
        return ROOT / (self.path or f"benchmarks/results/{self.name}.md")


def study(name: str, measures: tuple[str, ...], minutes: int) -> Table:
    command = f"experiments {name} --output docs/results --jobs 2 --cache build/graphs"
    return Table(name, command, measures, minutes, path=f"docs/results/{name}.json")


TABLES = (
    Table("two_clusters", "benchmarks.two_clusters", (*SEARCH, "relaxation"), 5),
    Table("paper_method", "benchmarks.paper_method authors", ("kernels", "relaxation"), 10),
    Table("paper_ladder", "benchmarks.paper_method ladder", (*SEARCH, "relaxation"), 5),
    Table("many_clusters_authors", "benchmarks.many_clusters", SEARCH, 20),
    Table("many_clusters_peers", "benchmarks.many_clusters", SEARCH, 20),
    Table("pccc", "benchmarks.pccc", FIT, 120),
    Table("multilevel", "benchmarks.multilevel", SEARCH, 20),
    Table("growth", "benchmarks.growth", (*SEARCH, "neighbors"), 30),
    Table("versus", "benchmarks.versus", SEARCH, 10),
    Table("latency", "benchmarks.latency", FIT, 5),
    Table("choosing", "benchmarks.choosing", FIT, 240),
    Table("choosing_number", "benchmarks.choosing_number", FIT, 60),
    Table("asking", "benchmarks.asking", (*SEARCH, "ask"), 600),
    Table("updates", "benchmarks.updates", (*SEARCH, "fitted"), 10),
    Table("resolving", "benchmarks.resolving", ("kernels", "resolution"), 5),
    Table("resolving_optima", "benchmarks.resolving", ("kernels", "resolution"), 5),
    Table("pairs", "benchmarks.pairs", ("problem", "files"), 5),
    Table("texts", "benchmarks.texts", (*FIT, "features"), 10),
    Table("large", "benchmarks.large", (*SEARCH, "neighbors"), 20),
    Table("image", "benchmarks.image", SEARCH, 10),
    Table("search_memory", "benchmarks.search_memory", SEARCH, 5),
    Table("kernels", "benchmarks.kernels", ("kernels",), 5),
    Table("certificates", "benchmarks.certificates", (*SEARCH, "certificates", "rivals"), 20),
    Table("threads", "benchmarks.threads", SEARCH, 5),
    Table("partitioners", "benchmarks.partitioners", SEARCH, 10, ("pymetis",)),
    Table("neighbours", "benchmarks.neighbours", ("neighbors",), 20, ("faiss",)),
    Table("neighbours_sparse", "benchmarks.neighbours --sparse", ("neighbors",), 10),
    Table("distributed", "benchmarks.distributed", (*SEARCH, "distributed"), 30, ("distributed",)),
    Table(
        "distributed_neighbours",
        "benchmarks.distributed_neighbours",
        ("distributed", "neighbors"),
        10,
        ("distributed",),
    ),
    Table("ablation_search", "benchmarks.ablation search", (), 60),  # a record of what was tried, which does not age
    Table("ablation_asking", "benchmarks.ablation asking", (), 30),  # as above
    Table("gpu", "benchmarks.gpu", (*SEARCH, "gpu"), 20, ("gpu",)),
    study("binary", (*SEARCH, "relaxation", "rivals"), 20),
    study("multiway", (*SEARCH, "relaxation", "rivals"), 90),
    study("noise", SEARCH, 20),
    study("tradeoff", SEARCH, 1),
    study("toy", SEARCH, 1),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--make", action="store_true", help="make the tables that are not current")
    parser.add_argument("names", nargs="*", choices=[*(table.name for table in TABLES), []], help="these alone")
    given = parser.parse_args()
    wanted = [table for table in TABLES if not given.names or table.name in given.names]
    if given.make:
        sys.exit(make(wanted, even_current=bool(given.names)))
    for table in wanted:
        print(f"{table.name:24} {made_by(table) or 'never made':18} {age(table)}")
    unlisted = {path.stem for path in (ROOT / "benchmarks/results").glob("*.md")} - {table.name for table in TABLES}
    if unlisted:
        print(f"Not in the list of {Path(__file__).name}: {', '.join(sorted(unlisted))}.")


def make(tables: list[Table], *, even_current: bool) -> int:
    """Run the commands, shortest first, and go on after one that fails; the number of those that failed."""
    failed = []
    commands = {table.command: table for table in tables if even_current or age(table) != "current"}
    for command, table in sorted(commands.items(), key=lambda item: item[1].minutes):
        if lacking := [need for need in table.needs if not present(need)]:
            print(f"left out: python -m {command} needs {', '.join(lacking)}", flush=True)
            continue
        print(f"python -m {command} (about {table.minutes} minutes)", flush=True)
        finished = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, check=False)
        if finished.returncode:
            failed.append(command)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return len(failed)


def made_by(table: Table) -> str:
    """The version and the commits that a table names; "" for a table that was never made."""
    version, commits = stamp(table)
    return " ".join([version, *commits]).strip()


def stamp(table: Table) -> tuple[str, list[str]]:
    """The rows of a study may come from several commits."""
    if not table.file.exists():
        return "", []
    text = table.file.read_text()
    if table.file.suffix == ".json":
        facts = json.loads(text)
        return facts["versions"]["tightcut"], [commit.rstrip("+") for commit in facts.get("commits", [])]
    found = MADE_BY.search(text)
    return (found["version"], [found["commit"]]) if found else ("", [])


def age(table: Table) -> str:
    """ "current", or why a table is not."""
    version, commits = stamp(table)
    if not version:
        return "never made"
    unknown = [commit for commit in commits if not known(commit)]
    if unknown or not commits:
        return f"its commit{''.join(f' {commit}' for commit in unknown)} is unknown here"
    changed = [
        room
        for room in table.measures
        if any(git("rev-list", f"{commit}..HEAD", "--", f"{SOURCE}/{room}") for commit in commits)
    ]
    return f"older than changes of {', '.join(changed)}" if changed else "current"


def known(commit: str) -> bool:
    return (
        subprocess.run(["git", "-C", str(ROOT), "cat-file", "-e", commit], capture_output=True, check=False).returncode
        == 0
    )


def git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout


def present(need: str) -> bool:
    """Whether a package can be imported, or there is a GPU."""
    if need == "gpu":
        return find_spec("torch") is not None and Path("/dev/nvidia0").exists()
    return find_spec(need) is not None


if __name__ == "__main__":
    main()
