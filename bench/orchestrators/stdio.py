"""A minimal MCP client over standard input and output: start, call a tool, end."""

import json
import subprocess
from pathlib import Path
from typing import Any, Self

from detent.errors import DetentError

VERSION = "2024-11-05"


class Answered(DetentError):
    """A tool answered with an error."""


class Server:
    """One MCP server in one folder; a context manager."""

    def __init__(self, argv: list[str], folder: Path, env: dict[str, str]) -> None:
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self.child = subprocess.Popen(argv, cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=quiet, text=True, encoding="utf-8")
        self.asked = 0

    def __enter__(self) -> Self:
        self.ask("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *exc: object) -> None:
        self.child.kill()
        self.child.communicate()

    def call(self, name: str, **arguments: object) -> str:
        """A tool's answer as text."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        words = "\n".join(part.get("text", "") for part in result.get("content", ()))
        if result.get("isError"):
            raise Answered(words)
        return words

    def ask(self, method: str, params: object) -> Any:
        self.asked += 1
        self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        assert self.child.stdout is not None
        for line in self.child.stdout:
            if not line.startswith("{"):
                continue  # some servers also log there
            message = json.loads(line)
            if message.get("id") == self.asked and "method" not in message:
                if "error" in message:
                    raise Answered(str(message["error"].get("message")))
                return message["result"]
            if "id" in message and "method" in message:
                self.send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "not offered"}})
        raise RuntimeError(f"the server ended at {method}")

    def send(self, message: object) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()
