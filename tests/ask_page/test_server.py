"""The server lets nobody in but the page, and what it has acknowledged is on disk."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tightcut

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")

PORT, TOKEN = 8123, "token-of-this-test"


class Client:
    """Sends requests to the application without a socket."""

    def __init__(self, app):
        self.app = app

    def request(self, method, path, **details):
        async def send():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}") as client:
                return await client.request(method, path, **details)

        return asyncio.run(send())

    def get(self, path, **details):
        return self.request("GET", path, **details)

    def post(self, path, **details):
        return self.request("POST", path, **details)


def client_of(controller):
    from tightcut.ask.page.server import make_app

    return Client(make_app(controller, TOKEN))


@pytest.fixture
def client(controller):
    return client_of(controller)


def send(client, action, headers=None, **values):
    return client.post(f"/{TOKEN}/{action}", json=values, headers=headers)


def answer(client, choice, question, kind="pair"):
    second = question["second"] and question["second"]["row"]
    return send(
        client,
        "answer",
        number=question["number"],
        kind=kind,
        first=question["first"]["row"],
        second=second,
        choice=choice,
        seconds=1.5,
    )


def ask(client, kind="pair"):
    return send(client, "question", kind=kind).json()["question"]


def test_the_page_and_its_parts(client):
    for name, kind in (("", "text/html"), ("page.js", "text/javascript"), ("page.css", "text/css")):
        response = client.get(f"/{TOKEN}/{name}")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert "script-src 'self'" in response.headers["content-security-policy"]
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "http://" not in response.text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in response.text


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/page.js", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", "/image/0"])
def test_without_the_token_there_is_nothing(client, path):
    assert client.get(path).status_code == 404
    assert client.post(path, json={}).status_code in {404, 405}


def test_a_page_of_an_earlier_run_is_told_so(client):
    """By a header that only tightcut sends, since another server on the port has no such address either."""
    assert client.post("/earlier/look", json={}).headers["tightcut-replaced"] == "yes"
    assert "open the new address" in client.get("/earlier/").text
    assert "tightcut-replaced" not in client.get(f"/{TOKEN}/").headers
    assert "tightcut-replaced" not in client.get(f"/{TOKEN}/nothing").headers


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", f"127.0.0.1.evil.example:{PORT}", ""])
def test_a_foreign_host_is_refused(client, host):
    assert client.get(f"/{TOKEN}/", headers={"host": host}).status_code == 403
    assert send(client, "question", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
@pytest.mark.parametrize("port", [PORT, 9000])
def test_its_own_names_are_accepted(client, host, port):
    """By any port: SSH may forward another one."""
    headers = {"host": f"{host}:{port}", "origin": f"http://{host}:{port}"}
    assert send(client, "hello", headers=headers).status_code == 200


def test_at_another_address_any_host_may_be_named(controller):
    from tightcut.ask.page.server import make_app, reachable_at

    client = Client(make_app(controller, TOKEN, "0.0.0.0"))
    assert client.get(f"/{TOKEN}/", headers={"host": "server.example:9000"}).status_code == 200
    assert client.get("/another-token/", headers={"host": "server.example:9000"}).status_code == 404
    assert send(client, "look", headers={"host": "a.example", "origin": "http://b.example"}).status_code == 403
    assert reachable_at("0.0.0.0") not in {"", "0.0.0.0"}


@pytest.mark.parametrize(
    "origin", ["http://evil.example", f"http://127.0.0.1:{PORT + 1}", f"https://127.0.0.1:{PORT}", "null"]
)
def test_a_foreign_origin_is_refused(client, controller, origin):
    assert send(client, "undo", headers={"origin": origin}).status_code == 403
    assert controller.session.n_actions_ == 0


def test_a_form_of_another_page_is_refused(client):
    """Forms cannot send JSON, and the browser says where they come from."""
    assert client.post(f"/{TOKEN}/hello", data={"a": "b"}).status_code == 403
    assert send(client, "hello", headers={"sec-fetch-site": "cross-site"}).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "../conftest.py",
        "..%2f..%2fsession.py",
        "%2e%2e/session.py",
        "server.py",
        "controller.py",
        "image/../server.py",
        "image/-1",
        "image/90",
        "image/1e1",
        "image/999999999999999999",
        "image/%D9%A3",
        "/etc/passwd",
    ],
)
def test_no_other_file_is_served(client, path):
    assert client.get(f"/{TOKEN}/{path}").status_code in {403, 404}


def test_pictures(client):
    response = client.get(f"/{TOKEN}/image/3")
    assert response.headers["content-type"] == "image/png"
    assert response.content.startswith(b"\x89PNG")
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("action", "values"),
    [
        ("nonsense", {}),
        ("__class__", {}),
        ("question", {"kind": "riddle"}),
        ("answer", {"number": "0", "choice": "same"}),
        ("answer", {"number": 0, "choice": None}),
        ("answer", {"number": 0, "choice": ["same"]}),
        ("move", {"row": 9000, "choice": 0}),
        ("move", {"row": True, "choice": 0}),
        ("move", {"row": 1, "choice": 77}),
        ("name", {"group": 0, "name": " "}),
        ("name", {"group": 0, "name": "x" * 101}),
        ("name", {"group": 0, "name": "unsure"}),
        ("revise", {"number": 5, "choice": "same"}),
        ("undo", {}),
        ("thing", {"row": -1}),
        ("question", {"kind": ["pair"]}),
        ("answer", {"number": 0, "kind": {}, "choice": "same"}),
        ("move", {"row": 10**30, "choice": 0}),
        ("move", {"row": 1, "choice": 10**30}),
        ("gallery", {"group": 10**30}),
    ],
)
def test_nonsense_is_refused_with_a_reason(client, controller, action, values):
    response = send(client, action, **values)
    assert response.status_code == 422
    assert len(response.json()["error"]) > 10
    assert controller.session.n_actions_ == 0


@pytest.mark.parametrize("body", [b"[1]", b"{", b"\xff", b"[" * 30_000])
def test_broken_bodies(client, body):
    headers = {"content-type": "application/json"}
    assert client.post(f"/{TOKEN}/question", content=body, headers=headers).status_code == 422


def test_half_a_character_is_no_name(client, controller):
    """JavaScript's strings may hold one, and JSON can spell it."""
    body, headers = b'{"group": 0, "name": "half \\ud800"}', {"content-type": "application/json"}
    response = client.post(f"/{TOKEN}/name", content=body, headers=headers)
    assert response.status_code == 422
    assert "half of a character" in response.json()["error"]
    assert controller.session.n_actions_ == 0


def test_large_bodies_are_refused(client):
    assert send(client, "name", group=0, name="x" * 100_000).status_code == 413


def test_hostile_names_stay_text(client, kit):
    """They travel in JSON, which no browser takes for a page; the page's own test looks at what is drawn."""
    response = send(client, "thing", row=0)
    assert response.json()["thing"]["name"] == kit.hostile
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    named = send(client, "name", group=0, name=kit.hostile[:90])
    assert named.status_code == 200
    assert send(client, "view").json()["groups"][0]["name"] == kit.hostile[:90]


def test_an_answer_is_on_disk_before_the_reply(client, answers):
    question = ask(client)
    reply = answer(client, "same", question)
    assert reply.status_code == 200
    last = json.loads(answers.read_text(encoding="utf-8").splitlines()[-1])
    assert (last["first"], last["choice"], last["seconds"]) == (question["first"]["row"], "same", 1.5)
    assert reply.json()["n_answers"] == 1
    assert reply.json()["question"]["number"] != question["number"]


def test_an_answer_that_cannot_be_written_does_not_count(client, controller, monkeypatch):
    question = ask(client)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    reply = answer(client, "same", question)
    assert reply.status_code == 507
    assert "(No space left on device) and does not count. Free some space and repeat" in reply.json()["error"]
    assert controller.session.n_answers_ == 0
    monkeypatch.undo()
    assert answer(client, "same", question).json()["n_answers"] == 1


@pytest.mark.parametrize("replaced", [False, True])
def test_a_lost_journal_is_told_and_all_answers_are_written_to_another(client, controller, answers, kit, replaced):
    answer(client, "same", ask(client))
    question = ask(client)
    if replaced:
        answers.write_text("something else")
    else:
        answers.unlink()
    for reply in (send(client, "look"), answer(client, "same", question)):
        assert reply.status_code == 409
        assert reply.json()["lost"]
        assert str(answers) in reply.json()["error"]
        assert "save_journal" not in reply.json()["error"]
    assert controller.session.n_answers_ == 1
    saved = send(client, "save").json()
    new = answers.with_name("answers-2.jsonl") if replaced else answers
    assert saved["journal"] == controller.journal == send(client, "hello").json()["journal"] == str(new)
    assert str(new) in saved["notice"]
    assert send(client, "look").status_code == 200
    assert answer(client, "same", question).json()["n_answers"] == 2
    assert "journal has all answers" in send(client, "save").json()["notice"]
    assert replaced == (answers.read_text() == "something else")
    kit.close(controller)
    again = kit.make_controller(new)
    assert again.session.answers == controller.session.answers
    kit.close(again)


def test_servers_of_one_journal_are_like_windows_of_one(client, controller, answers, kit):
    other_desk = kit.make_controller(answers)
    other = client_of(other_desk)
    question = ask(client)
    assert {**ask(other), "number": 0} == {**question, "number": 0}
    before = send(other, "look").json()["version"]
    answer(client, "same", question)
    assert send(other, "look").json()["version"] > before
    stale = answer(other, "different", question).json()
    assert "already" in stale["notice"]
    assert answer(other, "same", stale["question"]).json()["n_answers"] == 2
    send(other, "name", group=0, name="left")
    assert send(client, "view").json()["groups"][0]["name"] == "left"
    assert controller.session.answers == other_desk.session.answers
    kit.close(other_desk)


def test_resume(client, controller, answers, kit):
    for _ in range(4):
        question = ask(client)
        same = kit.truth[question["first"]["row"]] == kit.truth[question["second"]["row"]]
        answer(client, "same" if same else "different", question)
    send(client, "name", group=0, name="left")
    before, question = send(client, "view").json(), ask(client)
    kit.close(controller)
    again = kit.make_controller(answers)
    resumed = client_of(again)
    after = send(resumed, "view").json()
    # Numbers of questions that nobody answered are not kept.
    assert {**ask(resumed), "number": 0} == {**question, "number": 0}
    assert {key: after[key] for key in ("answers", "colours")} == {key: before[key] for key in ("answers", "colours")}
    assert after["groups"][0]["name"] == "left"
    kit.close(again)


def test_a_page_opened_before_a_restart_may_still_answer(client, controller, answers, kit):
    question = ask(client)
    kit.close(controller)
    again = kit.make_controller(answers)
    assert "notice" not in answer(client_of(again), "same", question).json()
    assert again.session.n_answers_ == 1
    kit.close(again)


def test_the_same_question_is_answered_once(client, controller):
    question = ask(client)
    answer(client, "same", question)
    second = answer(client, "different", question).json()
    assert "already" in second["notice"]
    assert second["question"]["number"] != question["number"]
    assert [given.choice for given in controller.session.answers] == ["same"]


def test_picks_moves_names_and_revisions(client, controller):
    question = ask(client, "pick")
    answer(client, "uprights", question, "pick")
    group = next(group for group in send(client, "view").json()["groups"] if group["name"] == "uprights")
    assert send(client, "move", row=70, choice="UPRIGHTS").status_code == 200
    assert controller.session.answers[-1].choice == group["id"]
    assert send(client, "revise", number=question["number"], choice="unsure").status_code == 200
    assert controller.session.answers[0].choice == "unsure"
    assert "a change" in send(client, "undo").json()["notice"]
    assert controller.session.answers[0].choice == "none"
    assert len(send(client, "gallery", group=0).json()["things"]) > 0


def test_two_groups_of_one_name(client, controller):
    answer(client, "uprights", ask(client, "pick"), "pick")
    assert len(controller.session.groups) == 2
    reply = send(client, "name", group=0, name="uprights").json()
    assert reply["notice"] == "The two groups named 'uprights' are one now. Undo makes them two again."
    assert [group.name for group in controller.session.groups] == ["uprights"]
    assert [past["words"] for past in send(client, "view").json()["answers"]] == ["a new group: uprights"]
    send(client, "undo")
    assert [group.name for group in controller.session.groups] == [None, "uprights"]


def test_a_correction_that_others_outweigh_is_not_passed_over(client, controller, monkeypatch):
    monkeypatch.setattr(type(controller.session), "answers", [SimpleNamespace(believed=False, first=0, number=0)])
    reply = send(client, "move", row=3, choice=0).json()
    assert "other answers outweigh it" in reply["notice"]


def test_the_curve_is_what_is_expected_to_be_right(client, controller):
    assert send(client, "view").json()["curve"] == []
    for choice in ("same", "different"):
        answer(client, choice, ask(client))
        send(client, "view")
    send(client, "undo")
    (step,) = send(client, "view").json()["curve"]
    progress = controller.session.progress()
    assert step == pytest.approx([1, progress.expected_accuracy, progress.low, progress.high], abs=1e-4)


def test_downloads(client, controller, kit, tmp_path):
    for _ in range(3):
        question = ask(client)
        same = kit.truth[question["first"]["row"]] == kit.truth[question["second"]["row"]]
        answer(client, "same" if same else "different", question)
    labels = send(client, "labels").json()["text"].splitlines()
    assert labels[0] == "id,cluster,name,confidence"
    assert len(labels) == 91
    pairs = send(client, "pairs").json()["text"].splitlines()
    assert pairs[0] == "a,b,type"
    assert len(pairs) == 1 + controller.session.constraints_.n_pairs
    from tightcut.files import read_pairs

    (tmp_path / "pairs.csv").write_text("\n".join(pairs), encoding="utf-8")
    assert read_pairs(tmp_path / "pairs.csv").constraints(kit.names(), "points").n_pairs == len(pairs) - 1


def test_a_pair_says_nothing_about_what_the_program_thinks(client):
    question = ask(client)
    assert set(question) == {"number", "kind", "first", "second", "differing", "evidence"}
    assert question["evidence"] == []
    assert set(question["first"]) == {"row", "name", "image"}


def test_a_session_that_cannot_be_made_says_why(kit):
    from tightcut.ask.page.controller import Controller
    from tightcut.ask.page.items import Things

    def prepare():
        raise ValueError("these data are odd")

    controller = Controller(Things(kit.names()))
    controller.start(prepare, np.zeros((90, 2))).join()
    client = client_of(controller)
    assert send(client, "hello").json()["failure"] == "these data are odd"
    assert send(client, "question").json()["error"] == "these data are odd"


def test_the_port_of_another_program():
    from tightcut.ask.page.server import bound_socket

    with bound_socket() as taken, pytest.raises(ValueError, match="cannot be used"):
        bound_socket(taken.getsockname()[1])


@pytest.mark.skipif(sys.platform == "win32", reason="sends Ctrl-C as a signal")
def test_the_command_serves_until_it_is_interrupted(tmp_path):
    pytest.importorskip("click")
    points = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    np.savetxt(tmp_path / "heaps.csv", points, delimiter=",")
    command = [sys.executable, "-m", "tightcut", "ask", "heaps.csv", "--no-browser"]
    environment = os.environ | {"PYTHONPATH": str(Path(tightcut.__file__).parents[1]), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        reply = httpx.post(f"{address}hello", json={}, timeout=60)
        assert reply.json()["n"] == 60
        assert httpx.post(f"{address}hello", json={}, headers={"Host": "evil.example"}, timeout=60).status_code == 403
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "heaps.answers.jsonl" in errors
    assert "Traceback" not in errors


def ask_in(client, window, **values):
    return send(client, "question", kind="pair", window=window, **values).json()["question"]


def test_windows_get_different_questions(client):
    one, other = ask_in(client, "one"), ask_in(client, "other")
    assert one["first"]["row"] != other["first"]["row"]
    assert ask_in(client, "one")["number"] == one["number"]
    values = {"kind": "pair", "number": one["number"], "first": one["first"]["row"], "second": one["second"]["row"]}
    assert send(client, "answer", choice="different", window="one", who="Ann", **values).status_code == 200
    # While a person thinks, the question stays, whatever the others answer; one that is answered does not.
    assert ask_in(client, "other", keep=True)["number"] == other["number"]
    assert ask_in(client, "one", keep=True)["number"] not in {one["number"], other["number"]}


def test_a_window_that_is_closed_holds_no_question(client, monkeypatch):
    from tightcut.ask.page import windows

    first = ask_in(client, "one")
    monkeypatch.setattr(windows, "FORGOTTEN", 0.0)
    assert ask_in(client, "other")["number"] == first["number"]


def test_who_answered_is_in_the_journal(controller, client, answers):
    controller.who = "Bea"
    for who in ("Ann", "", None):
        question = ask_in(client, "one")
        place = {"first": question["first"]["row"], "second": question["second"]["row"], "number": question["number"]}
        send(client, "answer", kind="pair", choice="unsure", who=who, **place)
    written = [json.loads(line).get("who") for line in answers.read_text().splitlines()[1:]]
    assert written == ["Ann", "Bea", "Bea"]
    assert [answer["who"] for answer in send(client, "view").json()["answers"]] == ["Bea", "Bea", "Ann"]
    assert send(client, "hello").json()["who"] == "Bea"
    assert send(client, "move", row=1, choice="none", who=["x"]).status_code == 422


def test_who_agrees_with_the_others(controller, client):
    for row, who in (0, "Ann"), (1, "Ann"), (2, "Bea"), (3, ""):
        send(client, "move", row=row, choice=0, who=who)
    people = send(client, "view").json()["people"]
    assert people == [{"who": "Ann", "given": 2, "believed": 2}, {"who": "Bea", "given": 1, "believed": 1}]
    send(client, "move", row=0, choice="none", who="Ann")  # and what she said of it before is outweighed
    believed = [answer.believed for answer in controller.session.answers if answer.who == "Ann"]
    assert send(client, "view").json()["people"][0] == {"who": "Ann", "given": 3, "believed": sum(believed)}
    assert not all(believed)


def test_groups_of_texts_have_words(kit):
    from tightcut.ask.page.items import Things

    kinds = ("red apples", "ripe apples"), ("a late train", "the train was late"), ("an old boat", "a white boat")
    texts = [kinds[group][row % 2] for row, group in enumerate(kit.truth)]
    controller = kit.make_controller(things=Things(kit.names(), texts=texts))
    for row in (0, 1, 40, 41):
        controller.session.move(row, "fruit" if kit.truth[row] == 0 else "trains")
    words = {group["name"]: group["words"].split(", ") for group in controller.perform("view", {})["groups"]}
    assert words["fruit"][0] == "apples"
    assert set(words["trains"]) == {"late", "train"}
    assert kit.make_controller().perform("view", {})["groups"][0]["words"] == ""  # pictures


def test_groups_keep_their_places(controller, client):
    for row in (0, 30, 60):
        controller.session.move(row, "none")
    for _ in range(3):
        question = send(client, "question", kind="pick").json()["question"]
        assert [group["id"] for group in question["groups"]] == sorted(group["id"] for group in question["groups"])
        controller.session.move(question["first"]["row"], "none")


def test_the_curve_of_a_journal_that_is_continued(kit, answers):
    controller = kit.make_controller(answers)
    for _ in range(6):
        question = controller.session.question()
        same = kit.truth[question.first] == kit.truth[question.second]
        controller.session.answer(question, "same" if same else "different")
    kit.close(controller)
    again = kit.make_controller(answers)
    again.recall(again.session)
    steps = again.perform("view", {})["curve"]
    assert [step[0] for step in steps] == [1, 2, 3, 4, 5, 6]
    assert all(low <= expected <= high for _, expected, low, high in steps)
    progress = again.session.progress()
    assert steps[-1][1:] == pytest.approx([progress.expected_accuracy, progress.low, progress.high], abs=1e-4)
    kit.close(again)


@pytest.mark.parametrize(
    ("things", "nouns"),
    [
        ({}, ("row", "rows")),
        ({"texts": ["a"] * 90}, ("text", "texts")),
        ({"noun": "flower"}, ("flower", "flowers")),
        ({"noun": "person/people"}, ("person", "people")),
    ],
)
def test_what_a_row_is_called(kit, things, nouns):
    from tightcut.ask.page.items import Things

    controller = kit.make_controller(things=Things(kit.names(), **things))
    assert controller.perform("hello", {})["nouns"] == nouns


def test_what_later_answers_need_is_compiled_before(controller, monkeypatch):
    from tightcut.ask.beliefs import feature_models

    trained = []
    real = feature_models.Forest
    monkeypatch.setattr(feature_models, "Forest", lambda *given: trained.append(given) or real(*given))
    before = controller.session.labels_
    controller.session.prepare()
    assert len(trained) == 1
    assert (controller.session.labels_ == before).all()
