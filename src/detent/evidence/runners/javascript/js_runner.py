"""The adapter that the runners of JavaScript share: they differ in how they are called and in what they say where there are no tests.

Owns what is the same for vitest, jest and mocha; knows none of them by name. Starts no process.
"""

import re
from collections.abc import Callable

from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Canary, Command, Files
from detent.evidence.runners.javascript import js_canary, js_command, js_project
from detent.evidence.runners.javascript.js_command import Tool
from detent.evidence.runners.report_lines import no_tests, read

Call = Callable[[Command, tuple[str, ...], str, Files | None], list[str]]


class JsRunner:
    """One of them: its tool, the machine's own call, and the words by which it says that it found no tests."""

    def __init__(self, tool: Tool, call: Call, nothing: re.Pattern[str] | None = None, scratch: tuple[str, ...] = ()) -> None:
        self.name = tool.name
        self.scratch = scratch  # folders beside installed packages that it writes to while it starts
        self._tool, self._call, self._nothing = tool, call, nothing

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        return js_command.adopt(words, self._tool)

    def detect(self, files: Files) -> Command | None:
        return js_project.detect(files, self._tool)

    def refuse(self, command: str, base: Command) -> str | None:
        return js_command.parse(command, base, self._tool).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return js_command.parse(command, base, self._tool).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        return self._call(base, selectors, report_path, files)

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        nothing = no_tests(report, exit_code, output, self._nothing, self.name) if self._nothing else None
        return nothing or read(report, exit_code, output, js_project.tongue(self.name))

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return js_canary.canary(base, selectors, files, near, self._tool)

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        from detent.evidence.runners.javascript.js_patterns import patterns

        return patterns(self.name, base, files)

    def is_test(self, path: str) -> bool:
        return js_project.is_test(path)

    def is_config(self, path: str) -> bool:
        return js_project.is_config(path)

    def runner_part(self, path: str, text: str) -> str:
        return js_project.runner_part(path, text)
