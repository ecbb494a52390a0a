"""Several sessions of one journal, and a journal that fails: whatever was acknowledged is kept, and counts in all of them."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections import Counter

import numpy as np
import pytest

from tightcut import resolve
from tightcut.ask import LostJournalError, Session, StaleQuestionError
from tightcut.ask.journal import locking
from tightcut.ask.page.items import Things
from tightcut.ask.page.terminal import converse

fcntl = pytest.importorskip("fcntl", reason="files are locked and limited as on POSIX")
resource = pytest.importorskip("resource")


def state(session):
    return session.question(), session.labels_.tolist(), session.groups, session.answers, session.n_actions_


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


@pytest.fixture
def begin(blobs, path):
    """Begins a session of the same data and the same journal."""
    return lambda **settings: Session(blobs[0], answers=path, **{"random_state": 0, **settings})


@pytest.fixture
def session(begin, blobs, answer_truly):
    made = begin()
    answer_truly(made, blobs[1], 4)
    return made


# Several sessions


def test_what_one_is_told_counts_in_the_other(begin, blobs, answer_truly):
    one, other = begin(), begin(random_state=7)
    for turn in range(12):
        answer_truly((one, other)[turn % 2], blobs[1], 1, ("pair", "pick")[turn // 2 % 2])
    one.name(0, "Anna")
    other.move(5, "Anna")
    one.refresh()
    one.undo()
    other.refresh()
    assert one.n_answers_ == other.n_answers_ == 12
    assert one.n_actions_ == 14
    assert state(one) == state(other) == state(begin())


def test_a_question_is_answered_once(begin):
    one, other = begin(), begin()
    question, same = one.question(), other.question()
    assert question == same
    one.answer(question, "same")
    with pytest.raises(StaleQuestionError, match="answered already"):
        other.answer(same, "different")
    assert [answer.choice for answer in other.answers] == ["same"]
    other.answer(other.question(), "same")
    assert one.refresh() == 2


def test_the_same_number_of_two_questions(begin):
    """Each session counts its questions; the second answer under a number is refused, and asked again under another."""
    one, other = begin(), begin()
    pair, pick = one.question("pair"), other.question("pick")
    assert pair.number == pick.number
    one.answer(pair, "same")
    with pytest.raises(StaleQuestionError, match=f"question with the number {pick.number} meanwhile"):
        other.answer(pick, "none")
    other.answer(other.question("pick"), "none")
    assert [(answer.number, answer.kind) for answer in other.answers] == [(0, "pair"), (1, "pick")]


def meanwhile(session, monkeypatch, act):
    """Let `act` happen once, after the session has worked out what to write and before it has the lock."""
    append, todo = session._journal.append, [act]

    def delayed(event):
        if todo:
            todo.pop()()
        return append(event)

    monkeypatch.setattr(session._journal, "append", delayed)


def test_groups_founded_at_the_same_moment_are_two(begin, monkeypatch):
    one, other = begin(), begin()
    meanwhile(one, monkeypatch, lambda: other.move(70, "none"))
    one.move(40, "none")
    assert [answer.founds for answer in one.answers] == [1, 2]
    assert len({answer.number for answer in one.answers}) == 2
    assert state(one) == state(begin())


def test_an_undo_does_not_undo_what_it_has_not_seen(begin, session, monkeypatch):
    other = begin()
    meanwhile(session, monkeypatch, lambda: other.name(0, "Anna"))
    with pytest.raises(ValueError, match="Another session has acted meanwhile, so nothing was undone"):
        session.undo()
    assert session.n_answers_ == 4
    assert session.undo()["event"] == "name"


def test_a_revision_follows_what_was_undone_meanwhile(begin, session, monkeypatch):
    other, number = begin(), session.answers[-1].number
    meanwhile(session, monkeypatch, other.undo)
    with pytest.raises(ValueError, match="no answer with the number"):
        session.revise(number, "unsure")
    assert state(session) == state(begin())


SCORED = [("ann", "anna", 0.9), ("anna", "anne", 0.6), ("ann", "anne", 0.45), ("bob", "rob", 0.7), ("rob", "ron", 0.55)]


def test_two_sessions_of_records(path, monkeypatch):
    one, other = (resolve(SCORED).session(path) for _ in range(2))
    for turn, choice in enumerate(["different", "same", "unsure"]):
        session = (one, other)[turn % 2]
        session.answer(session.question(), choice)
    row = one.ids.tolist().index("rob")
    other.refresh()
    meanwhile(one, monkeypatch, other.undo)
    one.move(row, int(one.labels_[one.ids.tolist().index("bob")]))
    other.refresh()
    fresh = resolve(SCORED).session(path)
    for session in (one, other):
        np.testing.assert_array_equal(session.labels_, fresh.labels_)
        labels = session.resolution().labels
        assert ((labels[:, None] == labels) == (session.labels_[:, None] == session.labels_)).all()
        assert session.answers == fresh.answers
        assert session.n_doubtful_ == fresh.n_doubtful_
    with pytest.raises(StaleQuestionError):
        one.answer(question := other.question(), "same") or other.answer(question, "same")


@pytest.mark.parametrize("torn", [b"{", b'{"event": "answer", "numb', b'{"event": "undo", "of": 0}', b"\xff\xfe"])
def test_a_torn_line_while_another_session_has_the_journal(begin, session, path, torn, blobs, answer_truly):
    """Somebody was killed while writing: whoever comes next drops the half line, and nobody minds."""
    complete = path.read_bytes()
    path.write_bytes(complete + torn)
    resumed = begin()
    assert path.read_bytes() == complete
    assert state(resumed) == state(session)
    with path.open("ab") as file:
        file.write(torn)
    answer_truly(session, blobs[1], 1)
    answer_truly(resumed, blobs[1], 1)
    assert session.refresh() == 6
    assert state(resumed) == state(session) == state(begin())


def test_a_lock_that_nobody_releases(session, path, monkeypatch):
    """A stopped process must not make others wait for ever."""
    monkeypatch.setattr(locking, "PATIENCE", 0.05)
    question = session.question()
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError, match="another process has been writing to it"):
            session.answer(question, "same")
    session.answer(question, "same")
    assert session.n_answers_ == 5


def test_a_file_system_without_locks(begin, monkeypatch):
    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="has no locks, so keep it in another folder"):
        begin()


def test_a_fork_while_the_lock_is_held(session, path, monkeypatch):
    """A child has the same open file, and must not keep the lock for as long as it lives."""
    question, sync, children = session.question(), os.fsync, []

    def forking(handle):
        children.append(os.fork())
        if not children[-1]:
            os.read(reader, 1)
            os._exit(0)
        sync(handle)

    reader, writer = os.pipe()
    monkeypatch.setattr(os, "fsync", forking)
    session.answer(question, "same")
    monkeypatch.undo()
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(writer, b"x")
    os.waitpid(children[0], 0)
    os.close(reader)
    os.close(writer)


WORKER = textwrap.dedent("""
    import sys
    import numpy as np
    from tightcut.ask import Session, StaleQuestionError
    X = np.random.default_rng(0).normal(size=(60, 2))
    path, seed, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print("ready", flush=True)
    sys.stdin.readline()
    session = Session(X, answers=path, random_state=seed)
    print(session._setup.hub, session._journal.header["seed"], flush=True)
    rng = np.random.default_rng(seed)
    for _ in range(n):
        row = int(rng.integers(60))
        session.move(row, "none" if rng.random() < 0.3 else 0, who=str(seed))
        print(row, flush=True)
""")


@pytest.mark.slow
def test_sessions_that_begin_at_the_same_moment(path):
    """Four processes with seeds of their own and no file: one first line, which all of them follow, and every answer."""
    command = [sys.executable, "-c", WORKER, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen([*command, str(seed), "10"], **pipes) for seed in range(4)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    printed = [worker.communicate(timeout=300)[0].split("\n") for worker in workers]
    assert len({first for first, *_ in printed}) == 1
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [event["event"] for event in events] == ["data"] + 40 * ["answer"]
    written = Counter((event["who"], str(event["first"])) for event in events[1:])
    assert written == Counter((str(seed), row) for seed in range(4) for row in printed[seed][1:] if row)
    assert len({event["number"] for event in events[1:]}) == 40
    founded = [event["founds"] for event in events[1:] if "founds" in event]
    assert founded == list(range(1, len(founded) + 1))


# A disk that is full


@pytest.fixture
def limited(path):
    """Lets files grow by a few bytes more than the journal has, and without limit again."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(more):
        size = path.stat().st_size + more
        resource.setrlimit(resource.RLIMIT_FSIZE, before if more is None else (size, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 1, 30])
def test_a_full_disk_takes_no_half_line_and_repeating_works(session, begin, path, limited, room):
    before, text, question = state(session), path.read_bytes(), session.question()
    limited(room)
    for _ in range(2):
        with pytest.raises(OSError, match="too large"):
            session.answer(question, "same")
        assert path.read_bytes() == text
        assert state(session) == before
    limited(10_000)
    session.answer(question, "same")
    assert path.read_bytes().startswith(text)
    assert state(session) == state(begin())


def test_a_disk_that_is_full_from_the_start(begin, path, limited):
    path.touch()
    limited(20)
    with pytest.raises(OSError, match="too large"):
        begin()
    assert path.read_bytes() == b""
    limited(10_000)
    begin().move(3, "none")
    assert len(path.read_text().splitlines()) == 2


# A journal that is lost


def delete(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("moved.jsonl"))


def replace(path):
    path.unlink()
    path.write_text("somebody's notes\n")


def shorten(path):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def empty(path):
    path.write_bytes(b"")


def edit(path):
    path.write_text(path.read_text().replace('"event": "answer"', '"event": "undone"'))


def add(path):
    with path.open("a") as file:
        file.write("and a line that is no event\n")


@pytest.mark.parametrize("harm", [delete, move, replace, shorten, empty, edit, add], ids=lambda own: own.__name__)
def test_a_lost_journal_is_told_at_once_and_written_anew(session, blobs, path, harm):
    before, question = state(session), session.question()
    harm(path)
    left = path.read_bytes() if path.exists() else None
    for act in (lambda: session.answer(question, "same"), session.undo, session.refresh, lambda: session.name(0, "a")):
        with pytest.raises(LostJournalError, match=r"answers\.jsonl .*session\.save_journal\(\) writes them"):
            act()
    assert state(session) == before
    assert (path.read_bytes() if path.exists() else None) == left
    new = session.save_journal()
    assert new == (path if left is None else path.with_name("answers-2.jsonl"))
    assert left is None or path.read_bytes() == left
    assert state(Session.load(new, blobs[0])) == before
    session.answer(question, "same")
    assert state(Session.load(new, blobs[0])) == state(session)


def test_a_lost_folder(session, blobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path.parent)
    shutil.rmtree(tmp_path)
    with pytest.raises(LostJournalError, match="deleted or moved"):
        session.refresh()
    new = session.save_journal()
    assert new.parent == tmp_path.parent
    assert Session.load(new, blobs[0]).answers == session.answers
    new.unlink()


def test_a_copy_in_its_place_will_do(session, begin, path):
    """As programs leave it that save by renaming: every answer is there, so nobody need be told."""
    copy = path.with_name("copy.jsonl")
    shutil.copy(path, copy)
    copy.replace(path)
    session.answer(session.question(), "same")
    assert state(session) == state(begin())


def test_a_journal_deleted_while_an_answer_is_written(session, blobs, path, monkeypatch):
    question, sync = session.question(), os.fsync

    def late(handle):
        sync(handle)
        path.unlink()

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(LostJournalError, match="deleted"):
        session.answer(question, "same")
    monkeypatch.undo()
    assert session.n_answers_ == 4
    session.save_journal()
    session.answer(question, "same")
    assert Session.load(path, blobs[0]).answers == session.answers


def test_two_sessions_of_a_lost_journal_meet_again(session, begin, path, blobs, answer_truly):
    other = begin()
    path.unlink()
    for one in (session, other):
        with pytest.raises(LostJournalError):
            one.refresh()
    session.save_journal()
    answer_truly(other, blobs[1], 1)
    answer_truly(session, blobs[1], 1)
    other.refresh()
    assert state(session) == state(other) == state(begin())


def test_answers_in_memory_may_be_saved_later(blobs, path, answer_truly):
    X, y = blobs
    session = Session(X, random_state=0)
    answer_truly(session, y, 3)
    with pytest.raises(ValueError, match="name a file"):
        session.save_journal()
    path.write_text("taken")
    with pytest.raises(ValueError, match="is not empty"):
        session.save_journal(path)
    path.unlink()
    assert session.save_journal(path) == path
    answer_truly(session, y, 1)
    assert state(Session.load(path, X)) == state(session)


def test_a_journal_of_records_is_saved_anew(path):
    session = resolve(SCORED).session(path)
    session.answer(session.question(), "different")
    path.unlink()
    with pytest.raises(LostJournalError):
        session.answer(session.question(), "same")
    assert session.save_journal() == path
    session.answer(session.question(), "same")
    np.testing.assert_array_equal(resolve(SCORED).session(path).labels_, session.labels_)


def test_another_folder_after_the_beginning(blobs, path, tmp_path, monkeypatch):
    """A path is meant from the folder in which the session began."""
    monkeypatch.chdir(tmp_path)
    session = Session(blobs[0], answers=path.name, random_state=0)
    monkeypatch.chdir("/")
    session.answer(session.question(), "same")
    assert Session.load(path, blobs[0]).n_answers_ == 1


# In the terminal


def talk(session, lines):
    """What the terminal writes when a person types `lines`, which may be texts or something that happens."""
    written, waiting = [], iter(lines)

    def read(_):
        for line in waiting:
            if isinstance(line, str):
                return line
            line()
        raise EOFError

    converse(session, Things.numbered(120), read, written.append, "pair")
    return written


def test_the_terminal_asks_on_when_others_have_answered(begin):
    session, other = begin(), begin()
    written = talk(session, ["y", lambda: other.answer(other.question(), "same"), "n", "n"])
    assert any("was answered already" in text for text in written)
    assert [answer.choice for answer in session.answers] == ["same", "same", "different"]
    assert "Question 4." in written[-1]


def test_the_terminal_and_a_lost_journal(session, path, begin):
    written = talk(session, ["save", path.unlink, "y", "save", "y"])
    assert "'save' is not an answer" in written[1]
    assert "was deleted or moved. Your answers so far are still here: save writes them" in written[2]
    assert f"All answers are in {path} now" in written[3]
    assert "Question 6." in written[4]
    assert begin().n_answers_ == 5


def test_the_terminal_and_a_full_disk(session, begin, limited):
    written = talk(session, [lambda: limited(30), "y", lambda: limited(10_000), "y"])
    assert "does not count. Free some space and repeat." in written[1]
    assert "Question 6." in written[2]
    assert begin().n_answers_ == 5
