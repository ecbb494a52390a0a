"""A small session with known truth, and a real server for it in this process."""

import os
import shutil
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from tightcut.ask import Session
from tightcut.ask.page.controller import Controller
from tightcut.ask.page.items import Things
from tightcut.drawing.pictures import ArrayPictures

TRUTH = np.repeat([0, 1, 2], 30)
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


def points():
    centres = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0]])
    return np.random.default_rng(0).normal(size=(90, 3)) + centres[TRUTH]


def pictures():
    """A bright bar whose place is the class."""
    pixels = np.random.default_rng(1).integers(0, 60, size=(90, 8, 8)).astype(np.uint8)
    for row, group in enumerate(TRUTH):
        pixels[row, 1 + 2 * group : 3 + 2 * group] = 230
    return ArrayPictures(pixels)


def names():
    return [HOSTILE if row == 0 else f"thing {row}" for row in range(90)]


def make_controller(answers=None, things=None, **settings):
    things = things or Things(names(), pictures=pictures())
    journal = None if answers is None else str(answers)
    controller = Controller(
        things, title="Three heaps", journal=journal, address=lambda row: f"image/{row}", **settings
    )
    X = points()
    controller.begin(Session(X, answers=answers, random_state=0, n_jobs=1), X)
    return controller


def close(controller):
    controller.session._journal.close()


@dataclass
class Running:
    controller: Controller
    address: str
    server: object
    thread: threading.Thread

    def stop(self):
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(20)


def serve_in_thread(controller, port=0, token=None):
    uvicorn = pytest.importorskip("uvicorn")
    from tightcut.ask.page.server import bound_socket, make_app, new_token

    sock, token = bound_socket(port), token or new_token()
    port = sock.getsockname()[1]
    config = uvicorn.Config(make_app(controller, token), log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
    return Running(controller, f"http://127.0.0.1:{port}/{token}/", server, thread)


@pytest.fixture(scope="session")
def kit():
    """What tests need to make a session of their own."""
    return SimpleNamespace(
        truth=TRUTH, hostile=HOSTILE, names=names, make_controller=make_controller, close=close, serve=serve_in_thread
    )


@pytest.fixture
def answers(tmp_path):
    return tmp_path / "answers.jsonl"


@pytest.fixture
def controller(answers):
    made = make_controller(answers)
    yield made
    close(made)


@pytest.fixture
def running(controller):
    served = serve_in_thread(controller)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def browser():
    """Chromium; its event loop runs as long as the fixture lives, and other modules have loops of their own."""
    missing = [name for name in ("playwright", "uvicorn", "starlette") if find_spec(name) is None]
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if missing or chromium is None:
        required = os.environ.get("TIGHTCUT_REQUIRE_BROWSER") == "1"
        reason = f"needs {', '.join([*missing, *([] if chromium else ['chromium (apt-get install chromium)'])])}"
        (pytest.fail if required else pytest.skip)(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def window(browser):
    """Opens windows, and checks at the end that none of them ran foreign code or failed."""
    contexts, errors = [], []

    def open_window(address, *, width=1200, height=900, **settings):
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        context.set_default_timeout(60_000)  # milliseconds: machines may be busy
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector(".choices")
        return page

    yield open_window
    for context in contexts:
        assert not any(
            page.evaluate("window.hacked") for page in context.pages if not page.url.startswith("chrome-error")
        )
        context.close()
    assert errors == []
