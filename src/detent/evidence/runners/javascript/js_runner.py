"""The `Runner` of vitest, jest and mocha, which differ only in their calls and in their message when there are no tests.

Owns what all three share; knows none of them by name. Starts no process.
"""

import re
from functools import partial

from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Call, Runner
from detent.evidence.runners.javascript import js_command, js_project
from detent.evidence.runners.javascript.js_canary import canary
from detent.evidence.runners.javascript.js_command import JsRunner
from detent.evidence.runners.javascript.js_patterns import patterns, reaches
from detent.evidence.runners.report_lines import no_tests, read_report


def js_runner(tool: JsRunner, argv: Call, nothing: re.Pattern[str] | None = None, scratch: tuple[str, ...] = ()) -> Runner:
    """The adapter of one runner. `nothing`: the message by which it says that it found no tests."""

    def seen(report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        none = no_tests(report, exit_code, output, nothing, tool.name) if nothing else None
        return none or read_report(report, exit_code, output, js_project.language(tool.name))

    return Runner(
        name=tool.name,
        adopt=partial(js_command.adopt, tool=tool),
        detect=partial(js_project.detect, tool=tool),
        parse=partial(js_command.parse, tool=tool),
        argv=argv,
        read=seen,
        tests=js_project.is_test,
        config=js_project.is_config,
        runner_part=js_project.runner_part,
        test_patterns=partial(patterns, tool.name),
        reaches=partial(reaches, tool.name),
        canary=partial(canary, tool=tool),
        scratch=scratch,
    )
