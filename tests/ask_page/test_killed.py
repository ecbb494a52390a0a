"""Two pages, a terminal and a notebook on one journal, all of them killed again and again: no answer is lost.

TIGHTCUT_ANSWERS=2000 asks for that many acknowledged answers instead of a few; with `pytest -s` it says how many there are.
"""

import itertools
import json
import os
import random
import re
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tightcut
from tightcut.ask import Session

pytest.importorskip("starlette")
pytest.importorskip("click")
httpx = pytest.importorskip("httpx")

ENOUGH = int(os.environ.get("TIGHTCUT_ANSWERS", "40"))
ROWS = max(150, ENOUGH // 4)
MOVED = 60  # rows that are moved by hand, again and again: what follows from few rows is computed quickly
LONGEST_LIFE = 4  # from the first question to the kill, over the time that the process took to begin
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}  # each; there are four processes
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1]), "PYTHONUNBUFFERED": "1"} | ONE_THREAD
NOTEBOOK = textwrap.dedent("""
    import sys
    import time
    import numpy as np
    from tightcut.ask import Session, StaleQuestionError
    X, path, life = np.loadtxt("heaps.csv", delimiter=",", skiprows=1, usecols=(1, 2)), sys.argv[1], sys.argv[2]
    session = Session(X, answers=path, random_state=int(life))
    print("begun", flush=True)
    for step in range(10**9):
        time.sleep(0.1)  # the others are slower
        who, question = f"{life}-{step}", session.question("pick")
        try:
            if question is None or step % 10:
                session.move(step * 7 % 60, "none" if step % 99 == 0 else "unsure", who=who)
            else:
                session.answer(question, "unsure", who=who)
        except StaleQuestionError:
            continue
        print(who, flush=True)
""")


class Record:
    """What was acknowledged, and to whom."""

    def __init__(self):
        self.lock, self.enough = threading.Lock(), threading.Event()
        self.known = Counter()
        self.lives = Counter()
        self.stale = 0
        self.failures = []

    def add(self, *answer):
        with self.lock:
            self.known[answer] += 1
            total = self.known.total()
            if total % 100 == 0:
                print(f"{total} acknowledged, lives {dict(self.lives)}", flush=True)
            if total >= ENOUGH:
                self.enough.set()


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def ask(*options):
    return ("-m", "tightcut", "ask", "heaps.csv", "--id", "id", "--answers", "answers.jsonl", *options)


def live(record, kind, folder, arguments, use, seed):
    """Start a process, use it, and kill it at a random moment; over and over."""
    rng = random.Random(seed)
    while not record.enough.is_set():
        started = time.monotonic()
        with start(folder, *arguments(rng)) as process:
            record.lives[kind] += 1
            begun = iter([True])

            def doom(process=process, begun=begun, started=started):
                if next(begun, False):
                    longest = LONGEST_LIFE * (time.monotonic() - started)
                    timer = threading.Timer(rng.uniform(0, longest), process.kill)
                    timer.daemon = True
                    timer.start()

            try:
                use(record, process, rng, doom)
            except (httpx.HTTPError, OSError, json.JSONDecodeError):
                pass  # it was killed
            except Exception as error:  # noqa: BLE001 (in a thread; the test reports it)
                record.failures.append(error)
                record.enough.set()
            finally:
                process.kill()


class Browser:
    """One person before a page: what nobody acknowledged is sent again to the next server."""

    def __init__(self, number):
        self.stamps = itertools.count(number, 2)  # hundredths of a second, which tell the answers apart
        self.pending = None

    def use(self, record, process, rng, doom):
        address = process.stdout.readline().strip()
        with httpx.Client(base_url=address, timeout=120) as client:
            while not client.post("hello", json={}).json()["ready"]:
                record.enough.wait(0.1)
            doom()
            question = client.post("question", json={"kind": "pair"}).json()["question"]
            while not record.enough.is_set():
                if self.pending is None:
                    self.pending = self.act(question, rng)
                action, values = self.pending
                reply = client.post(action, json=values)
                assert reply.status_code == 200, reply.text
                self.pending, question = None, reply.json()["question"]
                if action == "answer" and "notice" in reply.json():
                    record.stale += 1
                elif action == "answer":
                    record.add("page", values["seconds"])
                else:
                    record.add("move", values["who"])

    def act(self, question, rng):
        if question is None or rng.random() < 0.9:
            values = {"row": rng.randrange(MOVED), "choice": rng.choice([0, *19 * ["unsure"]]), "kind": "pair"}
            return "move", {**values, "who": f"page {next(self.stamps)}"}
        first, second = question["first"]["row"], question["second"]["row"]
        seconds = next(self.stamps) / 100
        choice = known_or_not(first, second, rng)
        values = {"number": question["number"], "kind": "pair", "first": first, "second": second}
        return "answer", {**values, "choice": choice, "seconds": seconds}


def known_or_not(first, second, rng):
    """Mostly unsure, which is as much to keep, and costs the next session less time to begin."""
    return "unsure" if rng.random() < 0.9 else "same" if first % 3 == second % 3 else "different"


def use_terminal(record, process, rng, doom):
    sent = None
    while not record.enough.is_set():
        text = ""
        while not text.endswith("\n> "):
            text += (character := process.stdout.read(1))
            if not character:
                if "Nothing is left" in text:
                    record.enough.wait()
                return
        doom()
        first, second = map(int, re.findall(r"\bp(\d+)\b", text)[:2])
        if sent and "already" not in text and "Another session" not in text:
            record.add("terminal", *sent)
        elif sent:
            record.stale += 1
        sent = first, second, known_or_not(first, second, rng)
        process.stdin.write({"same": "y\n", "different": "n\n", "unsure": "\n"}[sent[-1]])
        process.stdin.flush()


def use_notebook(record, process, rng, doom):  # noqa: ARG001
    for line in process.stdout:
        if line == "begun\n":
            doom()
        elif line.endswith("\n"):
            record.add("notebook", line.strip())
        if record.enough.is_set():
            return


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills processes, and reads terminals by character")
def test_nothing_acknowledged_is_lost(tmp_path):
    centres = np.array([[0, 0], [9, 0], [0, 9]])
    X = np.random.default_rng(0).normal(size=(ROWS, 2)).round(6) + centres[np.arange(ROWS) % 3]
    rows = [f"p{row},{x!r},{y!r}" for row, (x, y) in enumerate(X.tolist())]
    (tmp_path / "heaps.csv").write_text("\n".join(["id,x,y", *rows, ""]))
    record = Record()
    page = lambda _: ask("--no-browser")  # noqa: E731
    terminal = lambda _: ask("--console", "--kind", "pair")  # noqa: E731
    notebook = lambda rng: ("-c", NOTEBOOK, "answers.jsonl", str(rng.randrange(10**9)))  # noqa: E731
    kinds = [("page", page, Browser(1).use), ("page", page, Browser(2).use)]
    kinds += [("terminal", terminal, use_terminal), ("notebook", notebook, use_notebook)]
    threads = [
        threading.Thread(target=live, args=(record, kind, tmp_path, arguments, use, seed))
        for seed, (kind, arguments, use) in enumerate(kinds)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert record.failures == []
    check(record, X, tmp_path / "answers.jsonl")


def check(record, X, path):
    header, *events = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    assert header["rows"] == ROWS
    numbers = [event["number"] for event in events]
    assert len(numbers) == len(set(numbers))
    found = Counter()
    for event in events:
        if event["seconds"] is not None:
            found["page", event["seconds"]] += 1
        elif event["who"] is not None:
            found["move" if "page" in event["who"] else "notebook", event["who"]] += 1
        else:
            found["terminal", event["first"], event["second"], event["choice"]] += 1
    assert record.known - found == Counter()
    twice = [answer for answer, times in found.items() if times > 1 and answer[0] in ("page", "notebook")]
    assert twice == []
    session = Session.load(path, X)
    assert session.n_answers_ >= len(events) >= record.known.total() >= ENOUGH
    print(
        f"{record.known.total()} acknowledged, {len(events)} written, {record.stale} stale; lives {dict(record.lives)}"
    )
    print(Counter(answer[0] for answer in record.known.elements()))
