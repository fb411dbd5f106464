"""The server as one value: routes to handlers, values to JSON, trouble to a sentence with a status. Each call has a thread and a journal of its own."""

import hmac
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as At

from detent.app import open_app
from detent.errors import Busy, DetentError, JournalError
from detent.interfaces.http import executing, openapi, shapes, stream
from detent.interfaces.http import shapes_execute as work
from detent.interfaces.http.heads import NotThere
from detent.interfaces.http.routes import ROUTES, Call, Route, health
from detent.interfaces.http.shape import Shape
from detent.interfaces.http.tally import Tally

STATIC = Path(__file__).parent / "static"
LARGEST_BODY = 1_000_000
THREADS = 8  # calls at work at once
PAGES = ("/", "/inbox", "/queue", "/runs/{rest:path}")
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


def build(root: Path, token: str, once: set[str]) -> Starlette:
    """The server of one checkout. `once` holds the words that are each good for being handed the token a single time."""
    tally, desk = Tally(), executing.Desk()
    limiter = anyio.CapacityLimiter(THREADS)

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        app.state.pulse = pulse = stream.Pulse(root, tally)
        app.state.desk = desk
        async with anyio.create_task_group() as group:
            group.start_soon(pulse.run)
            yield
            await pulse.end()
            group.cancel_scope.cancel()
        pulse.close()
        desk.close()

    async def hand_over(request: Request) -> Response:
        word = _read(await _body(request), shapes.TokenAsked).once
        known = next((w for w in once if hmac.compare_digest(w.encode(), word.encode())), None)
        if known is None:
            return fault(
                401, "this link was used already, or is not of this server", "take the one that `detent serve` prints when it starts"
            )
        once.discard(known)
        return json(shapes.Token(token=token))

    rows = [At(r.path, _handler(r, partial(_work, r, root, tally, desk), limiter), methods=[r.method]) for r in ROUTES]
    streams = [At("/api/runs/{run}/stream", _stream_run), At("/api/stream", _stream_all), At("/api/executions/{id}/stream", _stream_logs)]
    plain = [At("/health", _health), At("/api/openapi.json", _openapi), At("/api/token", _told(hand_over), methods=["POST"])]
    pages = [*(At(path, _page) for path in PAGES), At("/static/{name}", _file)]
    app = Starlette(routes=[*streams, *rows, *plain, *pages], lifespan=living, middleware=[Middleware(GZipMiddleware, minimum_size=1000)])
    app.add_exception_handler(404, _nothing)
    app.add_exception_handler(405, _nothing)
    return app


def needs_token(path: str) -> bool:
    return path.startswith("/api/") and path != "/api/token"


# -- calls ---------------------------------------------------------------------------------------------------------------------


def _handler(route: Route, does: Callable[[dict[str, str], object], object], limiter: anyio.CapacityLimiter) -> Handler:
    async def handle(request: Request) -> Response:
        raw = await _body(request) if route.method == "POST" else b""
        asked = _read(raw or b"{}", route.takes) if route.method == "POST" else _query(request, route.takes)
        done = partial(does, dict(request.path_params), asked)
        return json(await anyio.to_thread.run_sync(done, limiter=limiter), route.status)

    return _told(handle)


def _work(route: Route, root: Path, tally: Tally, desk: executing.Desk, path: dict[str, str], asked: object) -> object:
    app = open_app(root, create=True)
    try:
        return route.does(Call(app, tally, desk, path, asked))
    finally:
        app.journal.close()


def _told(handle: Handler) -> Handler:
    """Trouble as a sentence with the way out. What is not expected is a bug: its traceback goes to the log, not out."""

    async def careful(request: Request) -> Response:
        try:
            return await handle(request)
        except msgspec.ValidationError as e:
            return fault(400, f"what was sent does not fit: {e}", "see /api/openapi.json")
        except msgspec.DecodeError as e:
            return fault(400, f"what was sent is no JSON: {e}", "see /api/openapi.json")
        except (RecursionError, UnicodeDecodeError):
            return fault(400, "what was sent cannot be read", "see /api/openapi.json")
        except NotThere as e:
            return fault(404, e.message, e.hint)
        except JournalError as e:
            return fault(500, e.message, e.hint)
        except DetentError as e:
            return fault(409 if isinstance(e, Busy) or "changed meanwhile" in e.message else 422, e.message, e.hint)

    return careful


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise msgspec.ValidationError("the content type must be application/json")
    data = bytearray()
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
    return Response(msgspec.json.encode(value), status, {**HEADERS, "Cache-Control": "no-store"}, "application/json")


def fault(status: int, error: str, hint: str = "") -> Response:
    return json(shapes.Fault(error=error, hint=hint), status)


async def _nothing(request: Request, e: Exception) -> Response:
    code = getattr(e, "status_code", 404)
    return fault(code, f"there is no {request.method} {request.url.path}", "see /api/openapi.json")


async def _health(request: Request) -> Response:
    return json(health())


async def _openapi(request: Request) -> Response:
    return json(openapi.page())


# -- streams -------------------------------------------------------------------------------------------------------------------


async def _stream_run(request: Request) -> Response:
    async def begin(request: Request) -> Response:
        asked = _query(request, shapes.StreamAsked)
        seen = request.headers.get("last-event-id", "")
        after = int(seen) if seen.isdigit() and len(seen) < 13 else asked.after
        return _streamed(stream.of_run(request.app.state.pulse, request.path_params["run"], after))

    return await _told(begin)(request)


async def _stream_all(request: Request) -> Response:
    return _streamed(stream.of_all(request.app.state.pulse))


async def _stream_logs(request: Request) -> Response:
    async def begin(request: Request) -> Response:
        asked = _query(request, work.LogsAsked)
        seen = request.headers.get("last-event-id", "")
        after = int(seen) if seen.isdigit() and len(seen) < 13 else asked.after
        state = request.app.state
        return _streamed(executing.log_stream(state.pulse, state.desk, request.path_params["id"], after))

    return await _told(begin)(request)


def _streamed(parts: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(parts, 200, {**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}, "text/event-stream")


# -- the page ------------------------------------------------------------------------------------------------------------------


async def _page(request: Request) -> Response:
    return _static("index.html")


async def _file(request: Request) -> Response:
    return _static(request.path_params["name"])


def _static(name: str) -> Response:
    """A file of the build. Names that carry their content's hash may be kept for good."""
    file = STATIC / name
    if file.name != name or name.startswith(".") or not file.is_file():
        return fault(404, f"there is no file {name}", "reload the page")
    kept = "no-cache" if name == "index.html" else "public, max-age=31536000, immutable"
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(file.read_bytes(), 200, {**HEADERS, "Cache-Control": kept}, kind)
