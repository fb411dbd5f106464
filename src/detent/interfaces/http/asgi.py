"""Builds the ASGI server: routes to handlers, values to JSON, errors to a sentence with a status. Each worker thread has its own journal."""

import asyncio
import hmac
import mimetypes
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as At

from detent.app.people import must_be_a_persons_page
from detent.app.tally import UsageTally
from detent.errors import Busy, DetentError, JournalError, Moved
from detent.interfaces.http import executing, openapi, shapes, stream
from detent.interfaces.http import shapes_execute as work
from detent.interfaces.http.heads import NotFound, StalePage
from detent.interfaces.http.kept_apps import KeptApps
from detent.interfaces.http.routes import ROUTES, ApiCall, Route, health
from detent.interfaces.http.runs_board import RunsBoard
from detent.interfaces.http.shape import Shape
from detent.interfaces.http.wire import Wire
from detent.interfaces.patience import BODY

STATIC = Path(__file__).parent / "static"
LARGEST_BODY = 1_000_000
THREADS = 8  # concurrent calls
GONE = 499  # status for a client that disconnected mid-request
USED = "\0"  # marks a used link of a client without a name
PAGES = ("/", "/inbox", "/inbox/{rest:path}", "/queue", "/queue/{rest:path}", "/report", "/runs/{rest:path}")
PROGRAMS = ("/api/", "/static/")  # paths that only programs request
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")  # of a file of the build
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
S = TypeVar("S", bound=Shape)
Handler = Callable[[Request], Awaitable[Response]]


def build(root: Path, token: str, once: dict[str, str], ending: asyncio.Event, apps: KeptApps | None = None) -> Starlette:
    """The server of one checkout. `once`: the one-time words of links, which are exchanged for the token, and who used each."""
    apps = apps or KeptApps(root)
    board, wire = RunsBoard(UsageTally()), Wire(os.environ)
    desk = executing.Desk(board)
    threads = ThreadPoolExecutor(THREADS, "calls")

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        app.state.pulse = pulse = stream.Pulse(root, board, wire, ending)
        app.state.desk = desk
        async with anyio.create_task_group() as group:
            group.start_soon(pulse.run)
            yield
            ending.set()
        await pulse.close()
        desk.close()
        threads.shutdown(wait=False)

    def answered(route: Route, path: dict[str, str], asked: object, port: int) -> Response:
        with apps.app() as app:
            if route.method == "POST":
                must_be_a_persons_page(app, port, path.get("run"))
            return _json(wire.encode(route.does(ApiCall(app, board, desk, path, asked))), route.status)

    rows = [At(r.path, _handler(r, partial(answered, r), threads), methods=[r.method]) for r in ROUTES]
    streams = [At(path, _with_error_answers(begin)) for path, begin in STREAMS.items()]
    hand_over = _with_error_answers(partial(_hand_over, token, once))
    plain = [At("/health", _health), At("/api/openapi.json", _openapi), At("/api/token", hand_over, methods=["POST"])]
    pages = [*(At(path, _page) for path in PAGES), At("/static/{name}", _file)]
    app = Starlette(routes=[*streams, *rows, *plain, *pages], lifespan=living, middleware=[Middleware(GZipMiddleware, minimum_size=1000)])
    for code in (404, 405):
        app.add_exception_handler(code, _nothing)
    app.add_exception_handler(Exception, _bug)
    return app


async def _hand_over(token: str, once: dict[str, str], request: Request) -> Response:
    """Exchange a link's one-time word for the token. The client that used it first may repeat it, since an answer can get lost."""
    asked = _read(await _body(request), shapes.TokenAsked)
    word = next((w for w in once if hmac.compare_digest(w.encode(), asked.once.encode())), None)
    if word is None or (once[word] and not hmac.compare_digest(once[word].encode(), asked.by.encode())):
        return fault(
            401, "this link was used already, or belongs to another server", "take the one that `detent serve` prints when it starts"
        )
    once[word] = asked.by or USED
    return json(shapes.Token(token=token))


def needs_token(path: str) -> bool:
    return path.startswith("/api/") and path != "/api/token"


# -- calls ---------------------------------------------------------------------------------------------------------------------


def _handler(route: Route, does: Callable[[dict[str, str], object, int], Response], threads: ThreadPoolExecutor) -> Handler:
    async def handle(request: Request) -> Response:
        raw = await _body(request) if route.method == "POST" else b""
        asked = _read(raw or b"{}", route.takes) if route.method == "POST" else _query(request, route.takes)
        done = partial(does, dict(request.path_params), asked, _port(request))
        return await asyncio.get_running_loop().run_in_executor(threads, done)

    return _with_error_answers(handle)


def _port(request: Request) -> int:
    """The client's port if it is on this machine; else 0."""
    there, here = request.client, request.scope.get("server")
    if there is None or here is None:
        return 0
    return there.port if there.host == here[0] or ip_address(there.host).is_loopback else 0


def _with_error_answers(handle: Handler) -> Handler:
    """A handler that turns expected errors into a sentence with a hint. A bug's traceback goes to the log, not to the client."""

    async def careful(request: Request) -> Response:
        try:
            return await handle(request)
        except msgspec.ValidationError as e:
            reason = re.sub(r"Expected `str` matching regex '.*'", "a text holds a zero byte", str(e))
            return fault(400, f"the request is not valid: {reason}", "see /api/openapi.json")
        except msgspec.DecodeError as e:
            return fault(400, f"the request is not JSON: {e}", "see /api/openapi.json")
        except (RecursionError, UnicodeDecodeError):
            return fault(400, "the request cannot be read", "see /api/openapi.json")
        except NotFound as e:
            return fault(404, e.message, e.hint)
        except (Busy, Moved, StalePage) as e:
            return fault(409, e.message, e.hint)
        except JournalError as e:
            return fault(500, e.message, e.hint)
        except DetentError as e:
            return fault(422, e.message, e.hint)
        except ClientDisconnect:
            return Response(status_code=GONE)
        except TimeoutError:
            return fault(408, f"the rest of the request did not arrive within {BODY:.0f} s", "send it again")

    return careful


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise msgspec.ValidationError("the content type must be application/json")
    data = bytearray()
    with anyio.fail_after(BODY):
        async for chunk in request.stream():
            data += chunk
            if len(data) > LARGEST_BODY:
                raise msgspec.ValidationError(f"more than {LARGEST_BODY} bytes")
    return bytes(data)


def _read(raw: bytes, kind: type[S]) -> S:
    return msgspec.json.decode(raw, type=kind)


def _query(request: Request, kind: type[S]) -> S:
    return msgspec.convert(dict(request.query_params), type=kind, strict=False)


def json(value: object, status: int = 200) -> Response:
    return _json(msgspec.json.encode(value), status)


def _json(raw: bytes, status: int) -> Response:
    return Response(raw, status, {**HEADERS, "Cache-Control": "no-store"}, "application/json")


def fault(status: int, error: str, hint: str = "") -> Response:
    return json(shapes.ErrorAnswer(error=error, hint=hint), status)


async def _nothing(request: Request, e: Exception) -> Response:
    """Answer a request for nothing: a browser gets the page, which says so; a program gets JSON."""
    code = getattr(e, "status_code", 404)
    if (
        code == 404
        and request.method == "GET"
        and not request.url.path.startswith(PROGRAMS)
        and "text/html" in request.headers.get("accept", "")
    ):
        return _static("index.html", 404)
    return fault(code, f"there is no {request.method} {request.url.path}", "see /api/openapi.json")


async def _bug(request: Request, e: Exception) -> Response:
    return fault(500, f"a bug in Detent: {type(e).__name__}", "the output of `detent serve` has the details; please report it")


async def _health(request: Request) -> Response:
    return json(health())


async def _openapi(request: Request) -> Response:
    return json(openapi.page())


# -- streams -------------------------------------------------------------------------------------------------------------------


async def _stream_run(request: Request) -> Response:
    """The stream of one run's events, with their numbers as ids."""
    run, pulse, seen = request.path_params["run"], request.app.state.pulse, request.headers.get("last-event-id", "")
    place = stream.StreamPosition(pulse, f":{seen}", _query(request, shapes.StreamAsked).after)
    return _streamed(stream.frames(pulse, [await pulse.apart(lambda: stream.of_run(pulse, run, place, lambda: str(place.after)))]))


async def _stream_all(request: Request) -> Response:
    """The stream of the board, and of one named run's events or execution's output, so that a page needs only one stream."""
    asked, state = _query(request, shapes.EverythingAsked), request.app.state
    pulse, place = state.pulse, stream.StreamPosition(state.pulse, request.headers.get("last-event-id", ""), asked.after)
    news, every = [stream.of_all(pulse, place)], stream.BEAT
    if asked.run:
        news.append(await pulse.apart(lambda: stream.of_run(pulse, asked.run, place, lambda: str(place))))
    elif asked.execution:
        news.append(await pulse.apart(lambda: executing.of_execution(pulse, state.desk, asked.execution, place, lambda: str(place))))
        every = executing.EVERY
    return _streamed(stream.frames(pulse, news, every))


async def _stream_logs(request: Request) -> Response:
    """The stream of one execution's output, until it has ended."""
    id, state, seen = request.path_params["id"], request.app.state, request.headers.get("last-event-id", "")
    place = stream.StreamPosition(state.pulse, f":{seen}", _query(request, work.LogsAsked).after)
    news = await state.pulse.apart(lambda: executing.of_execution(state.pulse, state.desk, id, place, lambda: str(place.after)))
    return _streamed(stream.frames(state.pulse, [news], executing.EVERY, lambda: executing.is_over(state.pulse.app, state.desk, id)))


STREAMS: dict[str, Handler] = {
    "/api/runs/{run}/stream": _stream_run,
    "/api/stream": _stream_all,
    "/api/executions/{id}/stream": _stream_logs,
}


def _streamed(parts: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(parts, 200, {**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}, "text/event-stream")


# -- the page ------------------------------------------------------------------------------------------------------------------


async def _page(request: Request) -> Response:
    return _static("index.html")


async def _file(request: Request) -> Response:
    return _static(request.path_params["name"])


def _static(name: str, status: int = 200) -> Response:
    """A file of the web build. Names with a content hash are cacheable forever."""
    file = STATIC / name
    if not NAME.fullmatch(name) or not file.is_file():
        return fault(404, f"there is no file {name}", "reload the page")
    kept = "no-cache" if name == "index.html" else "public, max-age=31536000, immutable"
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(file.read_bytes(), status, {**HEADERS, "Cache-Control": kept}, kind)
