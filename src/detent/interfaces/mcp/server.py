"""The MCP server: tools and resources in the protocol's types, each call in a thread, for old and new versions of the protocol.

Knows the protocol's package and nothing of runs. A refusal is a result; a DetentError is a result marked as an error.
"""

import json
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from detent import __version__
from detent.errors import DetentError
from detent.interfaces.mcp import mcp_work as work
from detent.interfaces.mcp import resources
from detent.interfaces.mcp.dialog import Question, read_answer
from detent.interfaces.mcp.mcp_answers import cut_answer
from detent.interfaces.mcp.tools import TOOLS, Check, GetTask, Looked, read_arguments, schema
from detent.kernel.model import Briefing, Verdict

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult
T = TypeVar("T")
BEAT = 1.0  # seconds between progress reports
LOOK = 0.1  # seconds between polls for progress
DIALOG = "decision"

INSTRUCTIONS = (
    "Detent gives you one step of work at a time and verifies each by itself. Call get_task, do exactly what its briefing says, then make the "
    "one call that it names, usually submit_work; the verdict says what comes next. Never run the tests yourself: only what Detent runs counts. "
    "When get_task says that a person has to act, stop and tell the user. check looks at a change as a reviewer would; it hands in nothing."
)


class Calls:
    """Handles the calls of all clients of one server, and remembers which questions were shown."""

    def __init__(self, dialogs: bool = True) -> None:
        self.dialogs = dialogs
        self.asked: dict[str, str] = {}  # run -> digest of the question shown, so that it is shown once

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Result:
        try:
            call = read_arguments(params.name, params.arguments or {})
            if isinstance(call, GetTask):
                return await self._get_task(ctx, params, call)
            if isinstance(call, Check):
                progress = ["looking at the repository"]
                return call_result(await attended(ctx, params.name, partial(work.check, call, progress.append), progress))
            verdict = await attended(ctx, params.name, partial(work.SPEAK[params.name], call))
            return call_result(verdict)
        except DetentError as e:
            return trouble(e)

    async def _get_task(self, ctx: Context, params: types.CallToolRequestParams, call: GetTask) -> Result:
        """The next briefing. At a person's turn, the user is asked once in a dialog first; no answer changes nothing."""
        if params.request_state is not None:
            await self._send_choice(ctx, params.request_state, (params.input_responses or {}).get(DIALOG))
        briefing, question = await self._briefed(ctx, call)
        if question is None or self.asked.get(briefing.run) == question.digest or not self.dialogs or not has_dialogs(ctx):
            return call_result(briefing)
        self.asked[briefing.run] = question.digest
        form = types.ElicitRequestFormParams(message=question.message, requested_schema=question.schema)
        state = f"{question.run} {question.digest}"
        if ctx.protocol_version in types.version.MODERN_PROTOCOL_VERSIONS:
            return types.InputRequiredResult(input_requests={DIALOG: types.ElicitRequest(params=form)}, request_state=state)
        try:
            result = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
        except MCPError:
            return call_result(briefing)  # the client claims to support dialogs, but does not
        await self._send_choice(ctx, state, result)
        return call_result((await self._briefed(ctx, call))[0])

    async def _briefed(self, ctx: Context, call: GetTask) -> tuple[Briefing, Question | None]:
        briefing, question = await attended(ctx, "get_task", partial(work.get_task, call))
        if question is None:
            self.asked.pop(briefing.run, None)
        return briefing, question

    async def _send_choice(self, ctx: Context, state: str, result: object) -> None:
        """Send the user's choice, unless it was declined, cancelled or invalid."""
        run, _, digest = state.partition(" ")
        chosen = result.content if isinstance(result, types.ElicitResult) and result.action == "accept" else None
        answer = read_answer((run, digest), chosen)
        if answer is not None:
            port = ctx.request.client.port if ctx.request is not None else None
            await attended(ctx, "answer", partial(work.answer, answer, port))


def has_dialogs(ctx: Context) -> bool:
    """Whether the client can show its user a form."""
    can = ctx.session.client_capabilities
    return can is not None and can.elicitation is not None and (can.elicitation.form is not None or can.elicitation.url is None)


# -- a call in a thread --------------------------------------------------------------------------------------------------------


async def attended(ctx: Context, doing: str, job: Callable[[Callable[[], bool]], T], progress: Sequence[str] = ()) -> T:
    """Do a job in a thread, with progress reports. A cancelled call or a disconnected client stops its programs.

    Always waits for the thread, which stops its programs and releases the run first.
    """
    stop = threading.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(_report, ctx, doing, stop, progress)
        outcome = await anyio.to_thread.run_sync(_outcome, job, stop)
        group.cancel_scope.cancel()
    if isinstance(outcome, DetentError):
        raise outcome
    return outcome


async def _report(ctx: Context, doing: str, stop: threading.Event, progress: Sequence[str]) -> None:
    """Report new progress at once, and every BEAT that the job is still at work."""
    begun = reported = anyio.current_time()
    last = ""
    try:
        while True:
            await anyio.sleep(LOOK)
            now, fresh = anyio.current_time(), progress[-1] if progress else ""
            if fresh == last and now - reported < BEAT:
                continue
            last, reported, seconds = fresh, now, round(now - begun)
            await ctx.session.report_progress(
                seconds, None, f"{doing}: {f'{progress[-1]}, {seconds} s so far' if progress else f'at work for {seconds} s'}"
            )
    finally:
        stop.set()


def _outcome(job: Callable[[Callable[[], bool]], T], stop: threading.Event) -> T | DetentError:
    """The result of a job, or its error. A bug becomes an error too, with its traceback in the log."""
    try:
        return job(lambda: not stop.is_set())
    except DetentError as e:
        return e
    except Exception as e:  # noqa: BLE001 - a bug in one call must not end the server
        traceback.print_exc(file=sys.stderr)
        return DetentError(f"this is a bug in Detent: {type(e).__name__}: {e}", "tell the user; nothing more can be done from here")


# -- values in the protocol's types --------------------------------------------------------------------------------------------


def call_result(value: Briefing | Verdict | Looked) -> types.CallToolResult:
    """An answer as structured content and as the same in text, since clients pass on one or the other."""
    text = msgspec.json.encode(cut_answer(value)).decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=json.loads(text))


def trouble(error: DetentError) -> types.CallToolResult:
    text = f"{error.message}\n{error.hint}".strip()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_tool(name) for name in TOOLS])


def _tool(name: str) -> types.Tool:
    tool = TOOLS[name]
    marks = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.takes),
        output_schema=schema(tool.gives),
        annotations=marks,
    )


async def list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    found = [(uri, name, resources.RESOURCES[name]) for uri, name in resources.OF_THIS_CHECKOUT.items()]
    return types.ListResourcesResult(
        resources=[types.Resource(uri=uri, name=name, title=r.title, description=r.description, mime_type=r.mime) for uri, name, r in found]
    )


async def list_templates(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    found = [(uri, f"{name} of a run", resources.RESOURCES[name]) for uri, name in resources.OF_A_RUN.items()]
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(uri_template=uri, name=name, title=r.title, description=r.description, mime_type=r.mime)
            for uri, name, r in found
        ]
    )


async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    try:
        what, run = resources.find(params.uri)
        text = await attended(ctx, "read", lambda wanted: resources.read(what, run))
    except DetentError as e:
        raise MCPError(code=types.INVALID_PARAMS, message=f"{e.message}; {e.hint}", data={"uri": params.uri}) from e
    kind = resources.RESOURCES[what].mime
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text=text, mime_type=kind)])


def build(dialogs: bool = True) -> Server[dict[str, Any]]:
    """The server, ready for stdio or HTTP."""
    server: Server[dict[str, Any]] = Server(
        "detent",
        version=__version__,
        title="Detent",
        description="Holds a coding agent at every step until evidence releases it.",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=Calls(dialogs).call,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="detent"))
    return server
