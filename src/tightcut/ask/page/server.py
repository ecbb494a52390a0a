"""The page on this machine: starlette behind uvicorn, on the loopback address unless another one is asked for.

Every address begins with a random token, so that other users and other pages cannot guess it. On the loopback address a
request must name this machine as its host (a foreign name that resolves to 127.0.0.1 is refused), by any port, since SSH may
forward one. Where a browser says who asks, a request must come from the page itself. The page may load nothing from
elsewhere and runs no script but its own.
"""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tightcut.ask.page.controller import Controller

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
NAMES = (HOST, "localhost", "[::1]")
ALL = "0.0.0.0"  # noqa: S104 (what a user asks for by name)
LARGEST_BODY = 64 * 1024
STATIC = {
    "": ("page.html", "text/html"),
    "page.js": ("page.js", "text/javascript"),
    "page.css": ("page.css", "text/css"),
}
NOT_FOUND = (
    "Not found: the address needs the token that tightcut ask has printed. A page of an earlier run has the token of that run: "
    "open the new address."
)
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def new_token() -> str:
    return secrets.token_urlsafe(24)


def reachable_at(host: str) -> str:
    """The name by which other machines find this one, where it answers at all of its addresses."""
    return socket.gethostname() if host == ALL else host


def bound_socket(port: int = 0, host: str = HOST) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(64)
    except OSError as error:
        sock.close()
        remedy = "leave out --port to take a free one" if host == HOST else "check --host and --port"
        raise ValueError(f"Port {port} of {host} cannot be used ({error.strerror}); {remedy}.") from None
    return sock


def serve(controller: Controller, sock: socket.socket, token: str) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    app = make_app(controller, token, sock.getsockname()[0])
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2)
    uvicorn.Server(config).run(sockets=[sock])


def make_app(controller: Controller, token: str, host: str = HOST) -> Starlette:
    """The application: the page's files, pictures of rows, and one address for actions.

    Parameters
    ----------
    controller : Controller
    token : str
        What every address begins with.
    host : str
        The address that is listened at.
    """
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    names = NAMES if host == HOST else None

    async def answer(request: Request) -> Response:
        problem = _problem(request, names)
        if problem is not None:
            response = Response(problem, 403, media_type="text/plain")
        elif not secrets.compare_digest(request.path_params["token"].encode(), token.encode()):
            response = Response(NOT_FOUND, 404, {"Tightcut-Replaced": "yes"}, media_type="text/plain")
        else:
            response = await _respond(controller, request, request.path_params["rest"])
        response.headers.update(HEADERS)
        return response

    app = Starlette(
        routes=[Route("/{token}/{rest:path}", answer, methods=["GET", "POST"])],
        exception_handlers={404: _plain, 405: _plain},
    )
    app.router.redirect_slashes = False  # a redirect would come before the checks
    return app


async def _plain(request: Request, error: Any) -> Response:  # noqa: ARG001
    from starlette.responses import Response

    return Response(error.detail, error.status_code, HEADERS, media_type="text/plain")


def _problem(request: Request, names: Sequence[str] | None) -> str | None:
    """Why a request does not come from the page, or None; `names` are those of this machine, where others are refused."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    if names is not None and host.lower().removesuffix(f":{host.rpartition(':')[2]}") not in names:
        return "This server answers to its own address only."
    if origin is not None and origin.lower() != f"http://{host.lower()}":
        return "This server answers its own page only."
    if request.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"} and request.method == "POST":
        return "This server answers its own page only."
    if request.method == "POST" and request.headers.get("content-type", "").split(";")[0] != "application/json":
        return "Actions are sent as application/json."
    return None


async def _respond(controller: Controller, request: Request, rest: str) -> Response:
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import Response

    if request.method == "POST":
        return await _act(controller, request, rest)
    if rest in STATIC:
        name, media_type = STATIC[rest]
        return Response(files("tightcut.ask.page").joinpath(name).read_bytes(), media_type=media_type)
    kind, _, row = rest.partition("/")
    pictures = controller.things.pictures
    if kind == "image" and row.isascii() and row.isdigit() and len(row) < 12 and pictures and pictures.has(int(row)):
        try:
            picture = await run_in_threadpool(pictures.read, int(row))
        except OSError:
            return Response("The picture cannot be read.", 404)
        return Response(picture.content, media_type=picture.media_type)
    return Response("Not found.", 404)


async def _act(controller: Controller, request: Request, action: str) -> Response:
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            return JSONResponse({"error": "The request is too large."}, 413)
    try:
        values = json.loads(body or b"{}")
        if not isinstance(values, dict):
            raise ValueError("An action takes an object of values.")  # noqa: TRY004, TRY301
    except (ValueError, RecursionError) as error:
        return JSONResponse({"error": str(error)}, 422)
    return JSONResponse(*await run_in_threadpool(controller.respond, action, values))
