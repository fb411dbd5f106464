"""Common to vitest, jest and mocha: a project's files that concern them, how it calls them, and what errors mean."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

import msgspec

from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.javascript import js_command, node_package, node_report
from detent.evidence.runners.javascript.js_command import JsRunner
from detent.evidence.runners.javascript.node_command import matcher
from detent.evidence.runners.report_lines import ReportLanguage, ReportLine

TEST_FOLDERS = frozenset({"test", "tests", "spec", "__tests__", "__mocks__", "__snapshots__"})
CODE = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"})
TEST_NAME = re.compile(r"test|test-.+|.+[._-](?:test|spec)")
CONFIG = re.compile(
    r"package\.json|\.npmrc|(?:vitest|vite|jest|babel)\.(?:config|workspace|setup|preset)(?:\.[\w-]+)*"
    r"|setup-?[tT]ests?\.\w+|\.mocharc(?:\.\w+)?|mocha\.opts|\.babelrc(?:\.\w+)?|\.swcrc"
)
SHARED = frozenset({"package.json", ".npmrc"})  # in a test folder these are data
KEYS = ("jest", "mocha", "vitest", "babel", "ava")  # of package.json
ASSERTIONS = frozenset({"AssertionError", "JestAssertionError", "TestingLibraryElementError", "AssertionError2"})
SNAPSHOT = re.compile(r"Snapshot `.*` mismatched|The snapshot of ")
NO_MODULE = re.compile(
    r"Cannot find (?:module|package) '[^']*'(?: from '| imported from )|Failed to load url |Failed to resolve import \"|Could not locate module "
)


def detect(files: Files, tool: JsRunner) -> Command | None:
    """The test script if it is one call of the runner; without a script, a call if the project depends on it."""
    words = node_package.script_words(files)
    if words:
        found = js_command.adopt(words, tool)
        return msgspec.structs.replace(found, source="npm") if found else None
    if node_package.test_script(files) or tool.name not in _dependencies(files):
        return None
    return Command((f"{js_command.BIN}{tool.name}", *tool.verbs[:1]), tool.name, "npm")


class _Needs(msgspec.Struct):
    """The dependencies in package.json."""

    dependencies: dict[str, object] = {}
    for_developers: dict[str, object] = msgspec.field(name="devDependencies", default_factory=dict)


def _dependencies(files: Files) -> frozenset[str]:
    try:
        needs = msgspec.json.decode(files.read(node_package.FILE) or "", type=_Needs)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return frozenset()
    return frozenset((*needs.dependencies, *needs.for_developers))


def program(base: Command, tool: JsRunner) -> list[str]:
    """The machine's call of the runner: the project's own program, with the command's environment settings."""
    call = js_command.take_apart(base.argv, tool)
    return [*(call.settings if call else ()), f"{js_command.BIN}{tool.name}"]


def options(base: Command, tool: JsRunner) -> list[str]:
    call = js_command.take_apart(base.argv, tool)
    return js_command.kept(call, tool) if call else []


def spread(selectors: tuple[str, ...], files: Files | None, runs: Callable[[str], bool] | None = None) -> Iterator[str]:
    """Patterns and folders expanded to files (in a folder those that `runs` accepts); a selector without matches stays as it is."""
    for selector in selectors:
        globbed = bool(set("*?{") & set(selector))
        if files is None or (PurePosixPath(selector).suffix in CODE and not globbed):
            found = []
        elif globbed:
            rule = matcher(selector)
            found = [path for path in files.paths() if rule.fullmatch(path)]
        else:
            folder = selector.removeprefix("./").rstrip("/").removeprefix(".")
            found = [path for path in files.paths() if path.startswith(f"{folder}/" if folder else "") and (runs or is_run)(path)]
        yield from sorted(found) or [selector]


def is_code(path: str) -> bool:
    return PurePosixPath(path).suffix in CODE


def is_run(path: str) -> bool:
    """Whether a file in a selected folder has tests, by its name or folder."""
    where = PurePosixPath(path)
    return where.suffix in CODE and (is_named_as_test(where) or bool({"test", "tests", "spec", "__tests__"} & set(where.parts[:-1])))


def is_named_as_test(where: PurePosixPath) -> bool:
    return where.suffix in CODE and TEST_NAME.fullmatch(where.stem) is not None


def is_test(path: str) -> bool:
    where = PurePosixPath(path)
    return is_named_as_test(where) or where.suffix == ".snap" or bool(TEST_FOLDERS & set(where.parts[:-1]))


def is_config(path: str) -> bool:
    where = PurePosixPath(path)
    ours = CONFIG.fullmatch(where.name) is not None
    return ours and not (where.name in SHARED and TEST_FOLDERS & set(where.parts[:-1]))


def runner_part(path: str, text: str) -> str:
    """The scripts and test settings of package.json; any other file in full."""
    shared = node_package.runner_part(path, text)
    if path.rpartition("/")[2] != node_package.FILE or shared == text:
        return shared
    try:
        package = msgspec.json.decode(text or "{}", type=dict[str, object])
    except msgspec.DecodeError:
        return text
    return json.dumps({**json.loads(shared), **{key: package.get(key) for key in KEYS}}, sort_keys=True, default=str)


def language(runner: str) -> ReportLanguage:
    """How the report of a JavaScript runner is read. mocha's exit code is the number of failures."""
    return ReportLanguage(runner, " > ", kind, is_missing, range(256) if runner == "mocha" else (0, 1))


def kind(line: ReportLine) -> str:
    asserts = line.kind in ASSERTIONS or line.code == "ERR_ASSERTION" or SNAPSHOT.match(line.message)
    return "AssertionError" if asserts else line.kind


def is_missing(line: ReportLine) -> bool:
    return node_report.is_missing(line.kind, line.code, line.message) or (
        line.kind == "Error" and NO_MODULE.match(line.message) is not None
    )
