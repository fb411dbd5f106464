"""An agent written with the protocol's own Python package, so that our client talks to an implementation that is not ours.

It shows a plan, asks for permission to write the file that the prompt names, requests a file, and says what the answers were.
"""

import asyncio
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    RequestError,
    plan_entry,
    run_agent,
    start_edit_tool_call,
    update_agent_message_text,
    update_plan,
    update_tool_call,
)
from acp.schema import AllowedOutcome, ClientCapabilities, PermissionOption, ToolCallUpdate

OPTIONS = [
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
    PermissionOption(option_id="once", name="Once", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Agent:
    """An agent whose last words describe the client."""

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **more: Any
    ) -> InitializeResponse:
        assert protocol_version == PROTOCOL_VERSION and client_capabilities is not None
        assert client_capabilities.fs is not None and not client_capabilities.fs.read_text_file and not client_capabilities.terminal
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **more: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="sdk")

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> PromptResponse:
        path = prompt[0].text.split()[-1]
        await self.client.session_update(session_id, update_plan([plan_entry("write it", status="in_progress")]))
        await self.client.session_update(session_id, start_edit_tool_call("1", f"write {path}", path, "x"))
        asked = await self.client.request_permission(session_id, ToolCallUpdate(tool_call_id="1"), OPTIONS)
        chosen = asked.outcome.option_id if isinstance(asked.outcome, AllowedOutcome) else "cancelled"
        await self.client.session_update(session_id, update_tool_call("1", status="completed"))
        try:
            await self.client.read_text_file(session_id, "/etc/passwd")
        except RequestError as e:
            await self.client.session_update(session_id, update_agent_message_text(f"{chosen}, and {e.code}"))
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(run_agent(Agent()))  # type: ignore[arg-type]  # it has only the methods that are called
