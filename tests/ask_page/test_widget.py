"""The page in a notebook."""

import pytest

from tightcut.ask.page.widget import reply_to


def test_messages(controller):
    assert reply_to(controller, {"id": "1", "action": "hello", "values": {}})["reply"]["ready"]
    question = reply_to(controller, {"id": "2", "action": "question", "values": {"kind": "pair"}})["reply"]["question"]
    values = {"number": question["number"], "kind": "pair", "choice": "same"}
    values |= {"first": question["first"]["row"], "second": question["second"]["row"]}
    assert reply_to(controller, {"id": "3", "action": "answer", "values": values})["reply"]["n_answers"] == 1
    assert "no action" in reply_to(controller, {"id": "4", "action": "nonsense", "values": {}})["error"]
    assert "object" in reply_to(controller, "nonsense")["error"]


def test_a_lost_journal_is_told(controller, answers):
    answers.unlink()
    reply = reply_to(controller, {"id": "1", "action": "look", "values": {}})
    assert reply == {"id": "1", "error": f"The journal {answers} was deleted or moved.", "lost": True}
    assert reply_to(controller, {"id": "2", "action": "save", "values": {}})["reply"]["journal"] == str(answers)
    assert reply_to(controller, {"id": "3", "action": "look", "values": {}})["reply"]["version"] == 0


def test_the_widget_is_the_page(controller):
    pytest.importorskip("anywidget")
    widget = controller.session.widget(controller.things)
    sent = []
    widget.send = sent.append
    widget._handle_custom_msg({"id": "1", "action": "question", "values": {"kind": "pair"}}, [])
    assert sent[0]["reply"]["question"]["first"]["image"].startswith("data:image/png;base64,")
    assert "export default" in widget._esm
    assert ".tightcut-ask" in widget._css


def test_without_things_rows_are_numbered(controller):
    pytest.importorskip("anywidget")
    widget = controller.session.widget()
    sent = []
    widget.send = sent.append
    widget._handle_custom_msg({"id": "1", "action": "thing", "values": {"row": 7}}, [])
    assert sent[0]["reply"]["thing"] == {"row": 7, "name": "row 7"}
