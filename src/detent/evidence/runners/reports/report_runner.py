"""Any runner that writes JUnit XML, TRX or TAP: `[test] command` is run as it is, and the report at `[test] report` is read.

Nothing is known about the runner, so an agent cannot select tests, and there is no canary.
"""

import re
from functools import partial

from detent.evidence.runners.adapter import Command, Files, Parsed, Runner
from detent.evidence.runners.javascript import js_project
from detent.evidence.runners.javascript.node_package import CALLS
from detent.evidence.runners.report_lines import ReportLanguage, read_report
from detent.evidence.runners.reports.test_file_of import TESTS
from detent.evidence.runners.wrapper import RunOrder, wrapped

MISSING = re.compile(
    r"is not defined\b|[Uu]ndefined (?:name|variable|function|method|symbol|local|reference|sub)|[Cc]annot find (?:module|symbol|name)|No module named"
    r"|has no attribute|is not a function\b|command not found|[Uu]ninitialized constant"
)


def parse(command: str, base: Command) -> Parsed:
    if command.strip() == base.text or (base.source == "npm" and tuple(command.split()) in CALLS):
        return Parsed()
    given = command.strip()[:200]
    return Parsed(fault=f"`{given}` is not how this project is tested; use the project's own test command, `{base.text}`, unchanged")


def order(base: Command, selectors: tuple[str, ...], files: Files | None) -> RunOrder:
    return RunOrder(list(base.argv), [base.report], list(selectors))


LANGUAGE = ReportLanguage(
    "report", " > ", lambda line: line.kind, lambda line: MISSING.search(line.message) is not None, range(126), "the test command"
)
RUNNER = Runner(
    name="report",
    adopt=lambda words: None,  # it is chosen where `[test] report` is set, and only there
    detect=lambda files: None,
    parse=parse,
    argv=wrapped("detent.evidence.runners.reports.report_run", order),
    read=partial(read_report, language=LANGUAGE),
    tests=TESTS.search,
    config=re.compile(r"(?!(?:.*/)?(?:tests?|__tests__)/)(?:.*/)?(?:package\.json|\.npmrc|ava\.config\.\w+)").fullmatch,
    runner_part=js_project.runner_part,
    scratch=("node_modules/.cache/ava",),  # ava writes there before it runs anything
)
