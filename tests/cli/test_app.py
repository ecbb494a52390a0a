"""The command itself: help at once, nothing heavy imported, exit codes."""

import re
import subprocess
import sys

import pytest

import tightcut
from tightcut.cli import main
from tightcut.cli._app import COMMANDS, app
from tightcut.cli._options import SECTIONS

HEAVY = {"numba", "sklearn", "scipy", "matplotlib", "pandas", "numpy", "joblib", "rich", "torch", "polars", "pyarrow"}


@pytest.mark.parametrize("arguments", [["--help"], ["cluster", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments, child_environment):
    script = f"import sys\nfrom tightcut.cli import main\ncode = main({arguments!r})\nprint(code, *sys.modules)"
    command = [sys.executable, "-c", script]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=child_environment).stdout
    code, *modules = output.splitlines()[-1].split()
    assert code == "0"
    assert HEAVY.isdisjoint(modules)


def test_help_lists_the_commands_and_the_exit_codes(works):
    out, _ = works("--help")
    assert all(command in out for command in COMMANDS)
    # Click cuts off summaries that are too long.
    assert not any(line.endswith("...") for line in out.splitlines()[1:])
    assert "3    constraints that contradict each other" in out
    assert "130  interrupted with Ctrl-C" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(works, command):
    out, _ = works(f"{command} --help")
    assert out.startswith(f"Usage: tightcut {command}")


def test_help_shows_options_in_sections(run):
    out = run("cluster --help")[1]
    places = [out.index(f"\n{title}:\n") for title in ("Input", "Knowledge", "Graph", "Search", "Output")]
    assert places == sorted(places)
    options = [[line.split(",")[0].split()[0] for line in part.splitlines() if line.startswith("  -")]
               for part in out[places[0] :].split("\n\n")]  # fmt: skip
    assert options[0] == [
        "--id",
        "--columns",
        "--drop",
        "--decimal",
        "--header",
        "--graph",
        "--text",
        "--embed",
        "--embed-url",
        "--encode",
        "--missing",
    ]
    assert options[-1] == ["-o", "--report", "--save", "--map", "--images", "--no-prices", "--spreadsheet",
                           "--json", "--force", "-q", "-h"]  # fmt: skip
    assert re.search(r"--seed NUMBER +The same seed", out)
    assert "RANGE" not in out


def test_sections_name_parameters_that_exist():
    commands = [app.get_command(None, name) for name in COMMANDS]
    known = {param.name for command in commands for param in command.params}
    assert [name for names in SECTIONS.values() for name in names.split() if name not in known] == []


def test_version(run):
    assert run("--version")[1] == f"tightcut {tightcut.__version__}\n"


def test_usage_errors(run, fails):
    assert run("cluster moons.csv")[0] == 2
    fails("clutser moons.csv", "No such command 'clutser'. Did you mean 'cluster'?", code=2)
    assert (
        "No such command 'reproduce'. The experiments are in the repository now: make reproduce" in run("reproduce")[2]
    )
    fails("moons.csv", "Did you mean: tightcut cluster moons.csv -k K", code=2)


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    assert main(["--help"]) == 1
    assert "of the extra tightcut[cli]: pip install click\n" in capsys.readouterr().err


def test_a_traceback_can_be_asked_for(monkeypatch, folder):
    monkeypatch.setenv("TIGHTCUT_TRACEBACK", "1")
    with pytest.raises(ValueError, match="does not exist"):
        main(["cluster", str(folder / "no.csv"), "-k", "2"])


def test_errors_of_our_own_are_not_hidden(monkeypatch, folder):  # noqa: ARG001
    def fail(*_, **__):
        raise TypeError("a bug")

    monkeypatch.setattr("tightcut.files.read_data", fail)
    with pytest.raises(TypeError, match="a bug"):
        main(["cluster", "moons.csv", "-k", "2"])


def test_python_dash_m(folder, child_environment):
    command = [sys.executable, "-m", "tightcut", "cluster", "no.csv", "-k", "2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=child_environment)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: no.csv does not exist.")
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["cluster", "cluster-graph", "ask", "certify"])
def test_help_shows_no_value_that_is_none(works, command):
    assert "None" not in works(f"{command} --help")[0]


@pytest.mark.parametrize("line", [("cluster", ""), ("cluster", "moons.csv", "-o", ""), ("predict", "", "moons.csv")])
def test_an_empty_name_of_a_file_is_refused(run, line):
    """As in tightcut cluster "$UNSET"; it was taken for the present folder."""
    command, *more = line
    code, _, err = run(command, *more)
    assert code == 2
    assert "The name of a file is empty; is a variable of the shell not set?" in err
