"""Terminals, pipes and interrupts: nothing in a file reaches the terminal, and no stream that is gone ends in a traceback."""

import json
import os
import subprocess
import sys

import pytest

from tightcut.cli._console import printable

CLEAR = "\x1b[2J\x9b31m\u202e"
# Ctrl-C at the moment when a module is looked for.
INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
wanted = sys.argv.pop(1)
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from tightcut.cli import main
sys.exit(main())
"""


@pytest.fixture
def command(folder, child_environment):
    """Run the command in a shell, so that its streams can be closed or broken."""

    def run_shell(line):
        tightcut = f"'{sys.executable}' -m tightcut"
        return subprocess.run(
            ["bash", "-c", line.replace("tightcut", tightcut, 1)],
            capture_output=True,
            text=True,
            cwd=folder,
            env=child_environment,
            check=False,
        )

    return run_shell


@pytest.fixture
def hostile(folder):
    """Data and pairs whose names and file names are orders to a terminal."""
    names = [f"{CLEAR}{i}" for i in range(20)]
    (folder / "names.csv").write_text(
        "\n".join(["name,x,y", *(f"{n},{i % 7},{i * i % 5}" for i, n in enumerate(names))])
    )
    pairs = [f"{names[0]},{names[1]},must", f"{names[1]},{names[0]},must", f"{names[1]},{names[0]},cannot"]
    (folder / f"{CLEAR}.csv").write_text("\n".join(["a,b,type", *pairs]))
    (folder / "truth.csv").write_text(
        "\n".join([f"name,{CLEAR}", *(f"{n},{CLEAR}{i % 2}" for i, n in enumerate(names))])
    )
    return f"{CLEAR}.csv"


@pytest.mark.parametrize(
    "line",
    [
        "check PAIRS names.csv --id name",
        "check PAIRS --json",
        "check NONE",
        "cluster names.csv -k 2 --id name --constraints PAIRS",
        "cluster names.csv -k 2 --id name --constraints PAIRS --max-violations fewest --json --effort 0",
        "audit names.csv -k 2 --id name --constraints PAIRS --max-violations fewest --effort 0",
        "evaluate truth.csv truth.csv --id name",
        "cluster names.csv -k 2 --drop NONE",
        "cluster names.csv -k NONE",
        "NONE",
    ],
)
def test_names_cannot_give_orders_to_the_terminal(run, hostile, line):
    words = [word.replace("PAIRS", hostile).replace("NONE", CLEAR) for word in line.split()]
    _, out, err = run("", *words)
    assert "\\u001b[2J" in out + err or "\\x1b[2J" in out + err
    assert not set("\x1b\x9b\u202e") & set(out + err)
    if "--json" in line:
        json.loads(out)


@pytest.mark.usefixtures("hostile")
def test_labels_are_escaped_on_a_terminal_and_nowhere_else(run, monkeypatch):
    line = "cluster names.csv -k 2 --id name --effort 0 -q -o -"
    assert f"{CLEAR}0,0" in run(line)[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    shown = run(line)[1]
    assert f"{printable(CLEAR)}0,0" in shown
    assert "\x1b" not in shown


def test_text_stays_as_it_is():
    assert printable("Zoë\t\n\u200d👩‍🔬 №1") == "Zoë\t\n\u200d👩‍🔬 №1"
    assert printable("\udc80\r\x7f") == "\\udc80\\u000d\\u007f"


def test_names_that_look_like_formulas(run, folder):
    rows = [f"=cmd|{i},{i % 7},{i * i % 5}" for i in range(20)]
    (folder / "data.csv").write_text("\n".join(["name,x,y", *rows]))
    (folder / "rows.csv").write_text("=cmd|0,=cmd|1,must\n")
    line = "data.csv -k 2 --id name --effort 0"
    assert run(f"cluster {line} -o plain.csv")[0] == 0
    assert run(f"cluster {line} -o safe.csv --spreadsheet")[0] == 0
    assert (folder / "plain.csv").read_text().splitlines()[1].startswith("=cmd|0,")
    assert (folder / "safe.csv").read_text().splitlines()[1].startswith("'=cmd|0,")
    assert run(f"audit {line} --constraints rows.csv -o prices.csv --spreadsheet")[0] == 0
    assert (folder / "prices.csv").read_text().splitlines()[1].startswith("must,'=cmd|0,'=cmd|1,1.0,")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("tightcut cluster moons.npy -k 2 --effort 0 -o labels.csv <&- >&- 2>&-", 0),
        ("tightcut cluster nothing.npy -k 2 2>&-", 1),
        ("tightcut datasets >&-", 0),
        ("tightcut --help >&-", 0),
        ("tightcut datasets | true; exit ${PIPESTATUS[0]}", 1),
        ("tightcut cluster nothing.npy -k 2 2> >(true); exit $?", 1),
        ("tightcut cluster moons.npy -k 2 --effort 0 -q -o - > /dev/full", 1),
        ("tightcut datasets --json > /dev/full", 1),
    ],
)
def test_streams_that_are_closed_broken_or_full(command, folder, line, code):
    if "/dev/full" in line and not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("no /dev/full")
    done = command(line)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if "/dev/full" in line:
        assert "Error: No space left on device." in done.stderr
    if "labels.csv" in line:
        assert len((folder / "labels.csv").read_text().splitlines()) == 61


@pytest.mark.parametrize(
    "module", ["click", "tightcut.cli._app", "tightcut.cli.cluster", "numpy", "scipy.sparse", "scipy.spatial", "numba"]
)
def test_an_interrupt_during_any_import_ends_quietly(folder, child_environment, module):
    line = [sys.executable, "-c", INTERRUPTED, module, "cluster", "moons.npy", "-k", "2", "--effort", "0", "-q"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, env=child_environment, check=False)
    assert done.stderr.strip() == "Error: interrupted."  # click ends the line of the ^C
    assert done.returncode == 130
