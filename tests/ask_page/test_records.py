"""The page for records: pairs only, without a map; the answers are rules of the resolution."""

import pytest

from tightcut import resolve
from tightcut.ask.page.controller import Controller
from tightcut.ask.page.items import Things

PAIRS = [("ann", "anna", 0.9), ("anna", "anne", 0.6), ("ann", "anne", 0.45), ("bob", "rob", 0.7)]


@pytest.fixture
def controller():
    session = resolve(PAIRS).session()
    names = session.ids.tolist()
    controller = Controller(
        Things(names, fields={"town": ["Ulm"] * len(names)}), title="people", kind="pair", records=True
    )
    controller.begin(session, None)
    yield controller
    session.close()


def ask(controller, **values):
    return controller.perform("question", values)["question"]


def answer(controller, question, choice):
    values = {"number": question["number"], "kind": "pair", "choice": choice}
    rows = {"first": question["first"]["row"], "second": question["second"]["row"]}
    return controller.perform("answer", values | rows)


def test_every_action_of_the_page(controller):
    hello = controller.perform("hello", {})
    assert hello["records"]
    assert hello["ready"]
    question = ask(controller)
    assert (question["first"]["name"], question["second"]["name"]) == ("anna", "anne")
    following = answer(controller, question, "different")["question"]
    assert (following["first"]["name"], following["second"]["name"]) == ("bob", "rob")
    view = controller.perform("view", {})
    assert [answer["words"] for answer in view["answers"]] == ["different"]
    assert sorted(group["size"] for group in view["groups"]) == [1, 2]
    assert view["colours"] == []
    assert "map" not in view
    group = next(group for group in view["groups"] if group["size"] == 2)
    assert {thing["name"] for thing in controller.perform("gallery", {"group": group["id"]})["things"]} == {
        "ann",
        "anna",
    }
    assert controller.perform("pairs", {})["text"].splitlines() == ["a,b,type", "anna,anne,cannot"]
    assert len({line.split(",")[1] for line in controller.perform("labels", {})["text"].splitlines()[1:]}) == 3
    controller.perform("revise", {"number": question["number"], "choice": "same"})
    assert "Undone: a change of an answer." in controller.perform("undo", {})["notice"]
    controller.perform("move", {"row": question["second"]["row"], "choice": group["id"]})


def test_what_contradicts_is_refused_with_a_reason(controller):
    answer(controller, ask(controller), "different")  # anna and anne
    ann, anna, anne = (controller.things.names.index(name) for name in ("ann", "anna", "anne"))
    controller.perform("move", {"row": anne, "choice": int(controller.session.labels_[ann])})
    assert controller.session.labels_[anne] == controller.session.labels_[ann] != controller.session.labels_[anna]
    with pytest.raises(ValueError, match="'anna' is not 'anne'.*Undo or change the answer that is wrong"):
        controller.perform("move", {"row": anna, "choice": int(controller.session.labels_[ann])})
    assert controller.session.n_answers_ == 2


def test_in_a_browser(window, kit, controller):
    served = kit.serve(controller)
    page = window(served.address)
    assert page.locator("h2").first.inner_text() == "Are these two the same?"
    for selector in (".kinds", ".map", ".blind", ".naming"):
        assert not page.locator(selector).is_visible()
    assert page.locator(".compared tr").all_inner_texts()[1].split() == ["town", "Ulm", "Ulm"]
    assert page.locator(".evidence").inner_text().startswith("Their score is 0.6.")
    page.get_by_text("3 decisions left").wait_for()
    page.keyboard.press("?")
    assert "Ctrl-C" in page.locator("dialog").inner_text()
    assert "map" not in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    for number, key in enumerate("nyy", 1):
        page.keyboard.press(key)
        page.wait_for_function("n => document.querySelectorAll('.answers li:not(.none)').length === n", arg=number)
    assert page.locator("h2").first.inner_text() == "Nothing is left to ask"
    page.wait_for_selector(".gallery input")
    assert all(page.locator(".gallery input").evaluate_all("fields => fields.map(one => one.readOnly)"))
    served.stop()
    assert controller.session.n_answers_ == 3


@pytest.mark.parametrize(("action", "values"), [("question", {"kind": "pick"}), ("name", {"group": 0, "name": "Ann"})])
def test_what_records_do_not_have(controller, action, values):
    with pytest.raises(ValueError, match="pairs|no names"):
        controller.perform(action, values)


def test_how_many_decisions_are_left_and_what_speaks_for_them(controller):
    assert controller.perform("view", {})["left"] == 3
    question = ask(controller)
    # anna and anne; ann is like anna (0.9), and less like anne (0.45)
    assert question["evidence"] == ["Their score is 0.6.", "Against it: like one, unlike the other, is ann."]
    answer(controller, question, "unsure")
    assert controller.perform("view", {})["left"] == 2
    assert ask(controller)["evidence"] == ["Their score is 0.7."]


def test_evidence_of_a_pair_that_was_not_compared():
    from tightcut.ask import Question

    session = resolve([("a", "b", 0.9), ("b", "c", 0.9), ("a", "d", 0.8), ("c", "d", 0.8), ("b", "d", 0.99)]).session()
    a, c = (session.ids.tolist().index(name) for name in "ac")
    assert session.evidence(Question(0, "pair", a, c, (), "")) == [
        "Nothing has compared these two.",
        "For it: like both are b, d.",
    ]


def test_decisions_left_in_the_terminal(controller):
    from tightcut.ask.page.terminal import converse

    written, waiting = [], iter(["y", "q"])
    converse(controller.session, controller.things, lambda _: next(waiting), written.append, "pair")
    assert "3 decisions left." in written[0]
    assert "Their score is 0.6." in written[0]
    assert "%" not in "".join(written)
