"""Gemini CLI, Qwen Code, Copilot CLI and opencode in a user's own session: without a terminal, with the project's own files."""

import json
from pathlib import Path
from typing import Any

from tests.clients.acp import GEMINI_MODEL, MODEL, NODE
from tests.clients.acp import REAL as PROGRAMS
from tests.clients.real import Played, Turn, stage
from tests.model_server import KEY
from tests.project import Project

PROMPT = "Do what get_task says."
OPENAI = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:PORT/v1"}
QUIET = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")


def home_of(project: Project) -> Path:
    home = project.root.parent / "home"
    home.mkdir(exist_ok=True)
    return home


class Pulled:
    """Common to all: a turn is a tool's name and its arguments."""

    name = ""
    prefix = "mcp__detent__"

    def mcp(self, tool: str, **fields: Any) -> Turn:
        return {"tool": f"{self.prefix}{tool}", "input": fields}

    def shell(self, command: str) -> Turn:
        return self._turn(PROGRAMS[self.name].shell(command))

    def write(self, path: Path, text: str) -> Turn:
        return self._turn(PROGRAMS[self.name].write(str(path), text))

    def _turn(self, tool: Any) -> Turn:
        return {"tool": tool.name, "input": tool.arguments}

    def play(self, project: Project, turns: list[Turn]) -> Played:
        home = home_of(project)
        argv, env, files = self.call(home)
        script = PROGRAMS[self.name].program
        program, words = (NODE, [str(script), *argv]) if script.suffix == ".js" else (script, argv)
        placed = {str(home / name): text for name, text in files.items()}
        return stage(project, program, self.api, words, {"HOME": str(home), **env}, placed, turns)

    api = "chat"

    def call(self, home: Path) -> tuple[list[str], dict[str, str], dict[str, str]]:
        raise NotImplementedError


class Gemini(Pulled):
    """In a folder that its user trusts or does not trust."""

    name, prefix, api = "gemini", "mcp_detent_", "gemini"

    def __init__(self, trusted: bool = True) -> None:
        self.trusted = trusted

    def call(self, home: Path) -> tuple[list[str], dict[str, str], dict[str, str]]:
        trust = {"GEMINI_CLI_TRUST_WORKSPACE": "true"} if self.trusted else {}
        env = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:PORT", "GEMINI_CLI_NO_RELAUNCH": "true", **trust}
        settings = {
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": not self.trusted}},
        }
        flags = [] if self.trusted else ["--skip-trust"]
        argv = ["-p", PROMPT, "--output-format", "stream-json", "--approval-mode", "yolo", "-m", GEMINI_MODEL, *flags]
        return argv, env, {".gemini/settings.json": json.dumps(settings)}


class Qwen(Pulled):
    name = "qwen"

    def call(self, home: Path) -> tuple[list[str], dict[str, str], dict[str, str]]:
        settings = {
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "security": {"auth": {"selectedType": "openai"}},
        }
        argv = ["-p", PROMPT, "--output-format", "stream-json", "--approval-mode", "yolo", "--auth-type", "openai", "-m", MODEL]
        return argv, {**OPENAI, "OPENAI_MODEL": MODEL}, {".qwen/settings.json": json.dumps(settings)}


class Copilot(Pulled):
    """In a folder that its user trusts or does not trust."""

    name, prefix = "copilot", "detent-"

    def __init__(self, trusted: bool = True) -> None:
        self.trusted = trusted

    def call(self, home: Path) -> tuple[list[str], dict[str, str], dict[str, str]]:
        env = {
            "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:PORT/v1",
            "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": KEY, "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_MODEL": MODEL,
        }  # fmt: skip
        argv = ["-p", PROMPT, "--output-format", "json", "--allow-all-tools", "--no-auto-update", "--disable-builtin-mcps"]
        argv += ["--disable-client-telemetry", "--no-ask-user", "--no-remote", *(["--trust-folder"] if self.trusted else [])]
        return argv, env, {}


class Opencode(Pulled):
    name, prefix = "opencode", "detent_"

    def call(self, home: Path) -> tuple[list[str], dict[str, str], dict[str, str]]:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": "http://127.0.0.1:PORT/v1", "apiKey": KEY},
            "models": {MODEL: {"name": MODEL}},
        }
        config = {"model": f"scripted/{MODEL}", "small_model": f"scripted/{MODEL}", "autoupdate": False, "provider": {"scripted": provider}}
        env = {f"OPENCODE_DISABLE_{name}": "1" for name in QUIET}
        argv = ["run", "--format", "json", "--auto", "-m", f"scripted/{MODEL}", PROMPT]
        return argv, env, {".config/opencode/opencode.json": json.dumps(config)}
