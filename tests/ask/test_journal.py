"""The journal: nothing acknowledged is lost, and reading it again leads to the same state."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tightcut import resolve
from tightcut.ask import Session, read_constraints, simulate
from tightcut.ask.journal.file import Journal


def state(session):
    return session.question(), session.labels_.tolist(), session.groups, session.answers, session.n_actions_


@pytest.fixture
def written(blobs, tmp_path, answer_truly):
    X, y = blobs
    path = tmp_path / "answers.jsonl"
    session = Session(X, answers=path, random_state=0)
    answer_truly(session, y, 8)
    session.undo()
    answer_truly(session, y, 3, "pick")
    session.name(session.groups[0].id, "Zoë")
    session.revise(session.answers[2].number, "unsure")
    return session, path, X, y


def test_resumed_exactly(written):
    session, path, X, _ = written
    assert state(Session.load(path, X)) == state(session)
    assert state(Session(X, answers=path, random_state=99)) == state(session)


def test_every_event_is_one_line(written):
    _, path, _, _ = written
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["rows"] == 120
    assert [line["event"] for line in lines[1:]] == ["answer"] * 8 + ["undo"] + ["answer"] * 3 + ["name", "revise"]
    answer = lines[1]
    assert {"number", "kind", "first", "second", "choice", "time", "who", "seconds", "reason"} <= set(answer)


def test_other_data_are_refused_and_the_journal_is_untouched(written):
    _, path, X, _ = written
    text = path.read_bytes()
    with pytest.raises(ValueError, match="120 rows, and X has 100"):
        Session(X[:100], answers=path)
    with pytest.raises(ValueError, match="other values"):
        Session(X[::-1], answers=path)
    assert path.read_bytes() == text


NO_JOURNALS = ["my notes", "\n", '{"format": 1, "event": "da', "1,2,3", "a\nb"]
NO_JOURNALS += ["hello\nworld\n", "[1, 2]\n{}\n", '{"event": "data"}\n', "1,2,3\n4,5,6\n"]


@pytest.mark.parametrize("text", NO_JOURNALS)
def test_other_files_are_refused_and_untouched(blobs, tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    for begin in (lambda: Session(blobs[0], answers=path), lambda: resolve([("a", "b", 0.9)]).session(path)):
        with pytest.raises(ValueError, match="journal"):
            begin()
    assert path.read_text() == text


def test_what_is_no_file_is_refused(blobs, tmp_path):
    with pytest.raises(ValueError, match="not a file"):
        Session(blobs[0], answers=tmp_path)


def test_a_newer_format_is_refused(written):
    _, path, X, _ = written
    path.write_text(path.read_text(encoding="utf-8").replace('"format": 1', '"format": 2', 1), encoding="utf-8")
    with pytest.raises(ValueError, match="format 2"):
        Session.load(path, X)


def test_load_needs_a_journal(blobs, tmp_path):
    with pytest.raises(FileNotFoundError, match="no journal"):
        Session.load(tmp_path / "none.jsonl", blobs[0])


def test_an_empty_file_becomes_a_journal(blobs, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.touch()
    Session(blobs[0], answers=path, random_state=0)
    assert json.loads(path.read_text())["rows"] == 120


def test_read_constraints(written):
    session, path, _, _ = written
    constraints = read_constraints(path)
    assert constraints.n_points == 120
    assert constraints.violations(session.labels_).n_violations == 0
    assert len(constraints.must_link) + len(constraints.cannot_link) > 0
    with pytest.raises(ValueError, match="about 120 points; the data have 7"):
        read_constraints(path, n_points=7)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_an_answer_that_could_not_be_written_does_not_count(written, monkeypatch, error):
    session, path, X, _ = written
    before, text = state(session), path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(error))
    with pytest.raises(type(error)):
        session.answer(session.question(), "same")
    monkeypatch.undo()
    assert path.read_bytes() == text
    assert state(session) == before
    session.answer(session.question(), "same")
    assert state(Session.load(path, X)) == state(session)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_at_any_moment(tmp_path):
    path = tmp_path / "answers.jsonl"
    program = textwrap.dedent("""
        import sys
        import numpy as np
        from tightcut.ask import Session
        X = np.random.default_rng(0).normal(size=(40, 2))
        session = Session(X, answers=sys.argv[1], random_state=0)
        while True:
            question = session.question("pick")
            session.answer(question, "none")
            print(question.number, flush=True)
    """)
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    for _ in range(3):
        last = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert {0, 1, 2, last} <= {a.number for a in Session.load(path, X).answers}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["same", "different", "unsure", "pick", "none", "undo", "revise", "move"]), max_size=14)
)
def test_any_history_is_resumed_exactly(tmp_path_factory, history):
    X = np.random.default_rng(0).normal(size=(30, 2))
    path = tmp_path_factory.mktemp("journal") / "answers.jsonl"
    session = Session(X, answers=path, random_state=0)
    for act in history:
        play(session, act)
        assert session.constraints_.violations(session.labels_).n_violations == 0
    assert state(Session.load(path, X)) == state(session)


def play(session, act):
    kind = "pick" if act in ("pick", "none") else "pair"
    if act == "undo":
        if session.n_answers_:
            session.undo()
    elif act == "revise":
        if session.answers and session.answers[0].kind == "pair":
            session.revise(session.answers[0].number, "different")
    elif act == "move":
        session.move(7, session.groups[-1].id)
    elif (question := session.question(kind)) is not None:
        session.answer(question, question.groups[0].id if act == "pick" else act)


def test_a_journal_is_taken_where_pairs_are_taken(tmp_path, monkeypatch, capsys):
    pytest.importorskip("click")
    from tightcut.cli import main

    points = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0, 0], [4, 0]], 20, axis=0)
    truth = np.repeat([0, 1], 20)
    simulate(Session(points, 2, answers=tmp_path / "answers.jsonl", random_state=0), truth, 6)
    pairs = read_constraints(tmp_path / "answers.jsonl", 40)
    assert pairs.n_pairs > 0
    assert pairs.violations(truth).n_violations == 0
    with pytest.raises(ValueError, match="40 points"):
        read_constraints(tmp_path / "answers.jsonl", 41)
    np.savetxt(tmp_path / "points.csv", points, delimiter=",")
    np.savetxt(tmp_path / "fewer.csv", points[:30], delimiter=",")
    monkeypatch.chdir(tmp_path)
    given = ["-k", "2", "--constraints", "answers.jsonl", "-o", "labels.csv", "--quiet"]
    assert main(["cluster", "points.csv", *given]) == 0
    assert (tmp_path / "labels.csv").exists()
    assert main(["cluster", "fewer.csv", *given, "--force"]) == 1
    assert "answers about 40 points; the data have 30" in capsys.readouterr().err


DAMAGE = [None, True, -1, 10**9, 10**30, 1.5, "x", [], [0], [[]], {}, {"a": 1}]


@pytest.mark.parametrize("value", DAMAGE, ids=repr)
def test_damaged_lines_are_told_and_the_journal_is_untouched(written, value):
    """Every field of every line, one at a time: the session resumes, or says which line is damaged."""
    session, path, _, _ = written
    session.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    identity = {key: lines[0][key] for key in ("rows", "fingerprint")}
    for number, line in enumerate(lines):
        for key in line:
            damaged = [dict(own) for own in lines]
            damaged[number][key] = value
            text = "".join(json.dumps(own) + "\n" for own in damaged)
            path.write_text(text)
            for read in (read_constraints, lambda own: Journal(own, identity)):
                try:
                    read(path)
                except ValueError as error:
                    assert type(error) is ValueError  # noqa: PT017 - neither a codec's error nor a number's
                    assert str(path) in str(error)  # noqa: PT017
            assert path.read_text() == text


def test_a_huge_group_takes_no_memory(written):
    session, path, X, _ = written
    session.close()
    header, *_ = path.read_text().splitlines()
    event = {"event": "answer", "number": 0, "kind": "move", "first": 0, "choice": 10**10, "time": "", "founds": 10**10}
    path.write_text(header + "\n" + json.dumps(event) + "\n")
    with pytest.raises(ValueError, match="Line 2 of .* is damaged: choice is 10000000000"):
        Session(X, answers=path)


@pytest.mark.parametrize("text", ["[" * 100_000 + "\n", '{"event": ' * 50_000 + "\n"])
def test_deep_nesting(blobs, tmp_path, text):
    path = tmp_path / "deep.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match="not JSON"):
        Session(blobs[0], answers=path)
