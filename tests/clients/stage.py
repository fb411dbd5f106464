"""Plays one session of a real client against a scripted model, in a network with only loopback. Run as a program.

Standard input: one JSON object {api, argv, cwd, env, files, turns, seconds}. A turn is a text, which ends the agent's turn, or a call: for the
apis `messages`, `chat` and `gemini` {"tool": name, "input": {…}}, for `responses` an item of that API. "PORT" in argv, env and files stands for
the model's port. Standard output: one JSON object with the answer to each call, and how the client ended.
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.any_service import AnyService, Asked, Says, Tool
from tests.model_server import ModelServer, Reply, call, say, tool
from tests.responses_server import ResponsesServer

Json = dict[str, Any]
MODEL = "claude-opus-4-5-20251101"
OVER = "The script is over."
NAMED = "0" * 40  # in a turn: stands for the commit that the previous answer names


class Player:
    """The scripted model: one turn for each request of the agent; other requests of a client get one word."""

    def __init__(self, turns: list[Any]) -> None:
        self.turns, self.at = turns, 0
        self.results: list[str] = []
        self.told: list[str] = []  # other texts in the conversation

    def next(self) -> Any:
        self.at += 1
        turn = self.turns[self.at - 1] if self.at <= len(self.turns) else OVER
        named = re.findall(r"\b[0-9a-f]{40}\b", self.results[-1]) if self.results else []
        return json.loads(json.dumps(turn).replace(NAMED, named[-1])) if named else turn

    def message(self, body: Json, number: int) -> Reply:
        if not body.get("tools"):
            return say("ok")
        blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        self.results = [text_of(b["content"]) for b in blocks if b["type"] == "tool_result"]
        self.told = [b["text"] for b in blocks if b["type"] == "text"]
        turn = self.next()
        return say(turn) if isinstance(turn, str) else call(tool(turn["tool"], turn["input"], id=f"toolu_{number}"))

    def item(self, body: Json, number: int) -> Json:
        self.results = [text_of(i["output"]) for i in body["input"] if i["type"] in ("function_call_output", "custom_tool_call_output")]
        self.told = [text_of(i["content"]) for i in body["input"] if i["type"] == "message"]
        turn = self.next()
        if isinstance(turn, str):
            return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn}]}
        return {**turn, "call_id": f"call_{number}"}

    def says(self, asked: Asked) -> Says:
        """The next turn, for the other two APIs."""
        self.results, self.told = asked.results, [*self.told, *(text for text in asked.users if text not in self.told)]
        turn = self.next()
        return turn if isinstance(turn, str) else Tool(turn["tool"], turn["input"])


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def main() -> None:
    asked = json.load(sys.stdin)
    player = Player(asked["turns"])
    with server_of(asked["api"], player) as server:
        placed = json.loads(json.dumps(asked).replace("PORT", server.url.rpartition(":")[2]))
        for name, text in placed["files"].items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        done = run(placed["argv"], placed["cwd"], placed["env"], placed["seconds"])
    print(json.dumps({"results": player.results, "told": player.told, **done}))


def server_of(api: str, player: Player) -> ModelServer | ResponsesServer | AnyService:
    if api in ("chat", "gemini"):
        return AnyService(player.says)
    return ModelServer(player.message, models=[MODEL]) if api == "messages" else ResponsesServer(player.item)


def run(argv: list[str], cwd: str, env: dict[str, str], seconds: float) -> Json:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as child:
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            err += f"\nit was ended after {seconds} seconds"
    return {"exit": child.returncode, "out": out, "err": err}


if __name__ == "__main__":
    main()
