"""The real clients: where their programs are, how to start each without a network, and the form of its agent's calls."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tests.clients.stage import MODEL
from tests.machine import need
from tests.model_server import KEY
from tests.patience import LONG
from tests.project import ROOT, Project

MODULES = Path(__file__).parent / "node_modules"
CLAUDE = MODULES / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
CODEX = MODULES / "@openai" / "codex-linux-x64" / "vendor" / "x86_64-unknown-linux-musl" / "bin" / "codex"
SECONDS = LONG
KEPT = ("PATH", "XDG_STATE_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "LANG")

Json = dict[str, Any]
Turn = Json | str


class Played(NamedTuple):
    """The record of a session: the answers to the agent's calls, its other messages, and how the client ended."""

    results: list[str]
    told: list[str]
    exit: int
    out: str
    err: str

    def __str__(self) -> str:
        return "\n".join([*(f"{n}: {text[:400]}" for n, text in enumerate(self.results)), f"exit {self.exit}", self.err[-2000:]])


class Real(Protocol):
    """One real client."""

    name: str

    def mcp(self, tool: str, **fields: Any) -> Turn: ...
    def shell(self, command: str) -> Turn: ...
    def write(self, path: Path, text: str) -> Turn: ...
    def play(self, project: Project, turns: list[Turn]) -> Played: ...


def stage(
    project: Project, program: Path, api: str, argv: list[str], env: dict[str, str], files: dict[str, str], turns: list[Turn]
) -> Played:
    """One session in a network of its own."""
    need("clients", "bubblewrap", "namespaces")
    kept = {name: project.env[name] for name in KEPT if name in project.env}
    asked = {
        "api": api,
        "argv": [str(program), *argv],
        "cwd": str(project.root),
        "env": {**kept, "PWD": str(project.root), **env},
        "files": files,
        "turns": turns,
        "seconds": SECONDS,
    }
    inside = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--unshare-pid", "--proc", "/proc", "--die-with-parent"]
    done = subprocess.run(
        [*inside, sys.executable, "-m", "tests.clients.stage"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=SECONDS + 15,
    )
    assert done.returncode == 0, done.stderr
    return Played(**json.loads(done.stdout))


class Claude:
    """Claude Code, headless, with the project's own settings and MCP server."""

    name = "claude"

    def mcp(self, tool: str, **fields: Any) -> Turn:
        return {"tool": f"mcp__detent__{tool}", "input": fields}

    def shell(self, command: str) -> Turn:
        return {"tool": "Bash", "input": {"command": command, "description": "a command"}}

    def write(self, path: Path, text: str) -> Turn:
        return {"tool": "Write", "input": {"file_path": str(path), "content": text}}

    def play(self, project: Project, turns: list[Turn]) -> Played:
        home = project.root.parent / "home"
        home.mkdir(exist_ok=True)
        argv = ["-p", "Do what get_task says.", "--output-format", "stream-json", "--verbose", "--model", MODEL]
        argv += ["--permission-mode", "acceptEdits", "--allowedTools", "Bash Read Edit Write Monitor mcp__detent"]
        off = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
        env = {"HOME": str(home), "ANTHROPIC_BASE_URL": "http://127.0.0.1:PORT", "ANTHROPIC_API_KEY": KEY, **dict.fromkeys(off, "1")}
        return stage(project, CLAUDE, "messages", argv, {**env, "CLAUDE_CODE_MAX_RETRIES": "0"}, {}, turns)


CODEX_CONFIG = """model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
apps = false
plugins = false
remote_plugin = false
shell_snapshot = false
enable_request_compression = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:PORT/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
supports_websockets = false
[projects.{root}]
trust_level = "trusted"
"""


class Codex:
    """Codex, headless, in a project that its user trusts; its hooks are trusted for this call only, or not at all."""

    name = "codex"

    def __init__(self, trusted: bool = True) -> None:
        self.trusted = trusted

    def mcp(self, tool: str, **fields: Any) -> Turn:
        return {"type": "function_call", "name": tool, "namespace": "mcp__detent", "arguments": json.dumps(fields)}

    def shell(self, command: str) -> Turn:
        return {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}

    def write(self, path: Path, text: str) -> Turn:
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path.name if path.parent.name != 'tests' else f'tests/{path.name}'}\n{lines}*** End Patch"
        return {"type": "custom_tool_call", "status": "completed", "name": "apply_patch", "input": patch}

    def play(self, project: Project, turns: list[Turn]) -> Played:
        home = project.root.parent / "home"
        search = {
            "type": "tool_search_call",
            "execution": "client",
            "status": "completed",
            "arguments": {"query": "detent get_task", "limit": 8},
        }
        argv = [
            "exec",
            "--json",
            "-C",
            str(project.root),
            *(["--dangerously-bypass-hook-trust"] if self.trusted else []),
            "Do what get_task says.",
        ]
        files = {str(home / ".codex" / "config.toml"): CODEX_CONFIG.format(root=json.dumps(str(project.root)))}
        env = {"HOME": str(home), "CODEX_HOME": str(home / ".codex"), "SCRIPTED_KEY": "x", "TMPDIR": "/var/tmp"}
        return stage(project, CODEX, "responses", argv, env, files, [search, *turns])
