"""The tools of a model-driven agent: six, all working in one workspace. What a model sends is checked here before anything runs.

A tool is a module with its arguments, its description for the model and one function; TOOLS lists them. Tools know nothing of states and
models: what may be written and how commands run is passed in. What a Bash command writes is found later, by comparing trees.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from detent.errors import ToolError
from detent.sandbox.process import Ran
from detent.tools import bash, edit, glob, grep, read, write
from detent.tools.beneath import Beneath, Opener, best_opener
from detent.tools.search import ripgrep
from detent.tools.tool_paths import shorten, visible
from detent.tools.tool_values import ToolResult, ToolRoom

__all__ = ["TOOLS", "Tool", "ToolResult", "Toolbox", "schemas"]


class Tool(NamedTuple):
    """One tool: what the model learns of it, and what it does."""

    name: str
    description: str
    arguments: type[msgspec.Struct]
    function: Callable[[ToolRoom, Any], ToolResult]  # takes the `arguments` type above

    @property
    def input_schema(self) -> dict[str, object]:
        """The JSON schema of the arguments."""
        _, parts = msgspec.json.schema_components((self.arguments,))
        return {key: value for key, value in parts[self.arguments.__name__].items() if key != "title"}

    @property
    def form(self) -> str:
        """The arguments in short, for a model that got them wrong."""
        fields = msgspec.structs.fields(self.arguments)
        return f"{self.name}{{{', '.join(f.encode_name + ('' if f.required else '?') for f in fields)}}}"


TOOLS: tuple[Tool, ...] = (
    Tool("Read", read.DESCRIPTION, read.ReadArguments, read.read),
    Tool("Write", write.DESCRIPTION, write.WriteArguments, write.write),
    Tool("Edit", edit.DESCRIPTION, edit.EditArguments, edit.edit),
    Tool("Bash", bash.DESCRIPTION, bash.BashArguments, bash.bash),
    Tool("Glob", glob.DESCRIPTION, glob.GlobArguments, glob.glob),
    Tool("Grep", grep.DESCRIPTION, grep.GrepArguments, grep.grep),
)


def schemas() -> list[dict[str, object]]:
    """The tools in the Messages API's format."""
    return [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in TOOLS]


class Toolbox:
    """The tools of one workspace."""

    def __init__(
        self,
        root: Path,
        may_write: Callable[[str], str | None],
        shell: Callable[[str], Ran],
        spill: Path,
        opener: Opener | None = None,
        find_ripgrep: Callable[[Path], Path | None] = ripgrep,
    ) -> None:
        self.root, self.may_write, self.shell, self.spill = root, may_write, shell, spill
        roots = tuple(dict.fromkeys((os.path.abspath(root), os.path.realpath(root))))
        self._room = ToolRoom(Beneath(root, roots, opener or best_opener()), may_write, shell, spill, find_ripgrep(root), {})

    def schemas(self) -> list[dict[str, object]]:
        return schemas()

    def call(self, name: str, arguments: object) -> ToolResult:
        """Run one call. Whatever a model sends, the answer is text; only a bug or an unavailable shell raises."""
        try:
            tool = _named(name)
            answer = tool.function(self._room, _checked(tool, arguments))
        except ToolError as e:
            answer = ToolResult(shorten(str(e), 4_000), failed=True)
        return ToolResult(visible(answer.text), answer.failed)


def _named(name: str) -> Tool:
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise ToolError(f"There is no tool {str(name)[:100]}. The tools are {', '.join(t.name for t in TOOLS)}.")


def _checked(tool: Tool, arguments: object) -> msgspec.Struct:
    try:
        return msgspec.convert(arguments, tool.arguments)
    except (msgspec.ValidationError, UnicodeError) as e:  # text that is not valid Unicode cannot be converted
        raise ToolError(f"Nothing was done: {shorten(str(e), 300)}. The form is {tool.form}.") from e
