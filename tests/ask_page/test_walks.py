"""Forty true answers on the page, from the command to the labels that it writes, for each kind of data."""

import csv
import os
import re
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import tightcut

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="sends Ctrl-C as a signal"),
]
ANSWERS = 40
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
TEXTS = {
    "cooking": "Boil the {0} with {1} and add salt. Fry the {1} in butter until it is brown.",
    "sailing": "The boat turned into the wind near the {0} harbour. Reef the sails before the {1} storm.",
    "astronomy": "The telescope saw a {0} star near the {1} galaxy. A comet crosses the orbit of the {1} moon.",
}
WORDS = ("potatoes", "rice", "lentils", "onions", "old", "northern", "grey", "white", "bright", "red", "faint", "cold")


def write_csv(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def table(folder):
    data = load_iris()
    names = [f"flower {row}" for row in range(150)]
    write_csv(folder / "iris.csv", ["flower", *data.feature_names], zip(names, *data.data.T.tolist(), strict=True))
    return "ask iris.csv --id flower --noun flower", dict(zip(names, data.target_names[data.target], strict=True))


def texts(folder):
    rng, subjects = np.random.default_rng(0), list(TEXTS) * 40
    rows = [(f"mail {row}", TEXTS[s].format(*rng.choice(WORDS, 2))) for row, s in enumerate(subjects)]
    write_csv(folder / "mails.csv", ["id", "body"], rows)
    return "ask mails.csv --text body", {name: subject for (name, _), subject in zip(rows, subjects, strict=True)}


def pictures(folder):
    pillow = pytest.importorskip("PIL.Image")
    digits = load_digits(n_class=4)
    (folder / "scans").mkdir()
    for row, pixels in enumerate(digits.images[:240]):
        pillow.fromarray((pixels * 15.9).astype(np.uint8)).resize((32, 32)).save(folder / "scans" / f"{row}.png")
    return "ask scans", {f"{row}.png": f"a {digit}" for row, digit in enumerate(digits.target[:240].tolist())}


def graph(folder):
    """Three groups of friends."""
    rng, group = np.random.default_rng(0), np.arange(90) % 3
    names = [f"person {row}" for row in range(90)]
    ties = rng.random((90, 90)) < np.where(group[:, None] == group, 0.3, 0.02)
    rows = [(names[i], names[j], 1) for i, j in np.argwhere(np.triu(ties, 1)).tolist()]
    write_csv(folder / "friends.csv", ["source", "target", "weight"], rows)
    return "ask friends.csv --noun person/people", {
        name: f"circle {g}" for name, g in zip(names, group.tolist(), strict=True)
    }


@pytest.fixture
def serve(tmp_path):
    """Runs a command that asks; returns its address and what ends it."""
    processes = []

    def run(line):
        command = [sys.executable, "-m", "tightcut", *line.split(), "--no-browser"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, **pipes)
        processes.append(process)
        seen = []
        for text in process.stdout:
            seen.append(text)
            if text.startswith("http://"):
                break
        assert seen, process.wait()
        assert seen[-1].startswith("http://"), "".join(seen)

        def end():
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=120)
            assert process.returncode == 0, output
            assert "Traceback" not in output
            return output

        return seen[-1].strip(), end

    yield run
    for process in processes:
        process.kill()
        process.communicate()


def answered(page, act):
    """Do something, and wait for the next question."""
    before = page.locator("[aria-live]").inner_text()
    act()
    page.wait_for_function("before => document.querySelector('[aria-live]').textContent !== before", arg=before)


def type_name(page, name):
    page.keyboard.press("t")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("kind", [table, texts, pictures, graph])
def test_names_are_typed(kind, serve, window, tmp_path):
    line, truth = kind(tmp_path)
    address, end = serve(f"{line} -o labels.csv")
    page = window(address)
    for _ in range(ANSWERS):
        shown = page.locator(".question .thing figcaption").inner_text()
        answered(page, lambda name=truth[shown]: type_name(page, name))
    page.locator(
        ".estimate", has_text=re.compile("After [34][0-9] answers, about .* of 100")
    ).wait_for()  # naming is no answer
    assert "labels.csv" in end()
    header, *rows = csv.reader((tmp_path / "labels.csv").read_text(encoding="utf-8").splitlines())
    assert header == ["id", "cluster", "name", "confidence"]
    assert {name for _, _, name, _ in rows} == set(truth.values())
    assert np.mean([truth[row] == name for row, _, name, _ in rows]) > 0.9


def test_records(serve, window, tmp_path):
    """Copies of records, with errors of typing; all that is doubtful is answered."""
    rng = np.random.default_rng(0)
    first, last = ("Anna", "Bert", "Carla", "Dora", "Emil"), ("Fischer", "Graf", "Huber", "Imhof", "Jung", "Kern")
    names = [f"{one} {other}" for one in first for other in last]
    truth = {f"r{row}": row // 2 for row in range(2 * len(names))}
    rows = [(name, names[person] + "n" * (row % 2), 70000 + person) for row, (name, person) in enumerate(truth.items())]
    write_csv(tmp_path / "people.csv", ["id", "name", "town"], rows)
    near = [(a, b) for a, b in combinations(truth, 2) if truth[a] // 2 == truth[b] // 2]
    pairs = [(*pair, round(float(rng.uniform(0.35, 0.65)), 3)) for pair in near]
    write_csv(tmp_path / "pairs.csv", ["id_l", "id_r", "match_probability"], pairs)
    address, end = serve("resolve pairs.csv --ask --records people.csv -o clusters.csv")
    page = window(address)
    for number in range(ANSWERS):
        shown = page.locator(".question .names th").all_inner_texts()
        if not shown:
            break
        if number == 0:
            assert page.locator(".question mark").count()
            assert "decisions left" in page.locator(".estimate").inner_text()
        key = "y" if truth[shown[0]] == truth[shown[1]] else "n"
        answered(page, lambda key=key: page.keyboard.press(key))
    assert "%" not in page.locator("body").inner_text()
    assert "clusters.csv" in end()
    cluster = dict(list(csv.reader((tmp_path / "clusters.csv").read_text().splitlines()))[1:])
    right = [(cluster[a] == cluster[b]) == (truth[a] == truth[b]) for a, b, _ in pairs]
    assert np.mean(right) > 0.8
