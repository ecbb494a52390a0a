"""The page in a notebook: the same module, with messages of anywidget instead of a server."""

from __future__ import annotations

from base64 import b64encode
from importlib.resources import files
from typing import Any

from tightcut.ask.base import QuestionSession
from tightcut.ask.page.controller import Controller
from tightcut.ask.page.items import Things
from tightcut.utils.extras import require_package


def make_widget(
    session: QuestionSession, X: Any, things: Things | None = None, *, affinity: str = "knn", kind: str = "pick"
) -> Any:
    """A widget that asks the questions of a session.

    Parameters
    ----------
    session : QuestionSession
    X : array-like
        The points or similarities that it asks about.
    things : Things, optional
        What is shown of the rows; row numbers by default.
    affinity : {"knn", "precomputed"}, default="knn"
    kind : {"pick", "pair"}, default="pick"
        How to ask at first.
    """
    require_package("anywidget", "The widget", "widget")
    import anywidget
    import traitlets

    things = things if things is not None else Things.numbered(len(session.labels_))
    journal = session.journal
    controller = Controller(
        things,
        journal=None if journal is None else str(journal),
        kind=kind,
        address=lambda row: _data_address(things, row),
    )
    controller.begin(session, X, affinity=affinity)
    page = files("tightcut.ask.page")

    class AskWidget(anywidget.AnyWidget):
        _esm = page.joinpath("page.js").read_text(encoding="utf-8")
        _css = page.joinpath("page.css").read_text(encoding="utf-8")
        name = traitlets.Unicode("tightcut").tag(sync=True)

    widget = AskWidget()
    widget.on_msg(lambda _widget, message, _buffers: widget.send(reply_to(controller, message)))
    return widget


def reply_to(controller: Controller, message: Any) -> dict[str, Any]:
    """The reply to a message of the widget: {"id", "action", "values"} gives {"id", "reply"} or {"id", "error"}."""
    if not isinstance(message, dict):
        return {"id": None, "error": "A message is an object with an id, an action and values."}
    number, values = message.get("id"), message.get("values")
    reply, status = controller.respond(str(message.get("action")), values if isinstance(values, dict) else {})
    return {"id": number, "reply": reply} if status == 200 else {"id": number, **reply}


def _data_address(things: Things, row: int) -> str:
    assert things.pictures is not None  # noqa: S101 (only rows with a picture are asked for)
    picture = things.pictures.read(row)
    return f"data:{picture.media_type};base64,{b64encode(picture.content).decode()}"
