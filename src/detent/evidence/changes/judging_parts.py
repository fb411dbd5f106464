"""The part of a file that judges: tool configuration, and the targets that preflight calls. Pure: texts in, texts out.

Versions and dependencies in the same file are left out, and so are settings for layout and output, since they let no bad code through.
"""

import json
import re
from pathlib import PurePosixPath

from detent.evidence.changes import stricter_settings
from detent.evidence.changes.judging_config import SHARED, has_targets, is_judging, targets_called

HIDES = re.compile(
    r"^(?!\s*#).*\s(?:-diff\b|linguist-(?:generated|vendored)\b(?!=false)|filter=(?!lfs\b)|merge=ours)"
    r"|^\s*(?:\S*/)?(?:\*|\S*\.(?:py|[cm]?[jt]sx?|go|rb|php|rs|java|kt|cs))\s+(?:.*\s)?binary\b"
)  # lines of .gitattributes that hide changes from reviewers, or make git alter file contents
STEERING = (
    r"(?:NODE_OPTIONS|NODE_TEST_\w+|PYTEST_\w+|PYTHON(?:STARTUP|OPTIMIZE|BREAKPOINT)|COVERAGE_(?:RCFILE|PROCESS_START)|RUBYOPT|SPEC_OPTS|TESTOPTS|GOFLAGS|GODEBUG"
    r"|CARGO_TARGET_\w+_RUNNER|RUSTC_WRAPPER|JAVA_TOOL_OPTIONS|LD_(?:PRELOAD|AUDIT)|DYLD_INSERT_LIBRARIES|(?:VI|JE)TEST_?\w*|MOCHA_\w+|DETENT_\w+)"
)  # variables that change how tests run
STEERS = re.compile(rf"^\s*(?:export\s+)?(?:{STEERING}|NODE_PATH|PYTHON(?:PATH|HOME)|RUBYLIB|LD_\w+)\s*=", re.MULTILINE)  # in a .env
TOOLS = (
    "ruff", "mypy", "pyright", "basedpyright", "pylint", "flake8", "black", "isort", "bandit", "pydocstyle", "vulture", "interrogate", "ty", "codespell",
    "deptry", "importlinter", "import-linter", "poe", "taskipy", "pyrefly", "yapf", "autopep8", "pyupgrade", "docformatter", "pytest", "coverage", "tox", "nox",
)  # tables below [tool] in pyproject.toml  # fmt: skip
SECTIONS = (
    "mypy",
    "flake8",
    "pylint",
    "pycodestyle",
    "pydocstyle",
    "isort",
    "bandit",
    "coverage",
    "tool",
    "pytest",
    "testenv",
    "tox",
    "yapf",
    "pep8",
    "importlinter",
    "doc8",
)
INIS = (".flake8", ".pylintrc", "pylintrc", ".isort.cfg")  # files that judge as a whole
ENVIRONMENTS = ("tox.toml", "hatch.toml")  # files whose dependency lists may change freely
NEEDS = ("deps", "dependencies", "extra-dependencies", "features", "requires", "extras")  # keys of dependency lists
PACKAGE = (
    "eslintConfig",
    "eslintIgnore",
    "prettier",
    "stylelint",
    "xo",
    "standard",
    "c8",
    "nyc",
    "lint-staged",
    "husky",
    "jest",
    "mocha",
    "vitest",
    "ava",
    "babel",
    "tsd",
)
JUDGES = re.compile(
    r"(?:pre|post)?(?:test|lint|check|type-?check|types|format|fmt|style|ci|verify|validate|coverage|cov|preflight|audit|eslint|tsc|mypy|ruff)(?:[:_.-].*)?"
)
# Settings for layout, and options that only change how much of a run is shown.
KEYS = (
    "line-length", "line_length", "max-line-length", "max_line_length", "max-doc-length", "wrap-length",
    "indent-width", "indent-style", "line-ending", "quote-style", "skip-string-normalization",
    "skip-magic-trailing-comma", "docstring-code-format", "docstring-code-line-length", "multi_line_output",
    "include_trailing_comma", "force_grid_wrap", "use_parentheses", "lines_after_imports", "lines-after-imports",
    "force_sort_within_sections", "console_output_style",
)  # fmt: skip
RULE = re.compile(
    r"E[123]\d\d|E50[12]|E70[1-4]|W191|W29[123]|W391|W50[345]|I001|Q00\d|COM8\d\d"  # of pycodestyle and ruff
    r"|C030[1345]|line-too-long|trailing-whitespace|trailing-newlines|missing-final-newline|wrong-import-order|ungrouped-imports"  # of pylint
)
SHOWS = re.compile(
    r"(?:(?<=\s)|^)(?:-v+|-q+|--verbose|--quiet|--colou?r(?:=\S+)?|--tb=\S+|-r[a-zA-Z]+|--durations(?:-min)?=[\d.]+|--cov-report=\S+|--no-header"
    r"|--show-?locals|-l)(?=\s|$)"
)
PYTEST = re.compile(r"(?:^|[\s/])(?:pytest|py\.test)(?=\s|$)")
OPTIONS = ("addopts",)
RULES = ("ignore", "disable", "extend-ignore", "extend-select", "enable")


def judges(path: str, before: str, after: str, preflight: tuple[str, ...]) -> bool:
    """Whether the judging part of a file changed: tool configuration, or a target that preflight calls."""
    name = PurePosixPath(path).name
    if has_targets(name):
        return _targets(before, preflight) != _targets(after, preflight)
    parts = [judging_part(path, text) for text in (before, after)] if is_judging(path) else ["", ""]
    if parts[0] != parts[1] and not asks_only_more(path, *([before, after] if stricter_settings.is_read_whole(path) else parts)):
        return True
    if name != "package.json":
        return False
    scripts = [_scripts(text) for text in (before, after)]
    return any(scripts[0].get(each) != scripts[1].get(each) for each in targets_called(preflight, "npm"))


def _scripts(text: str) -> dict[str, object]:
    try:
        found = json.loads(text or "{}").get("scripts", {})
    except (ValueError, AttributeError):
        return {"": text}
    return found if isinstance(found, dict) else {}


def _targets(text: str, preflight: tuple[str, ...]) -> dict[str, str]:
    """The targets that preflight calls or whose name says that they judge, each with its recipe."""
    found, name = dict[str, str](), ""
    wanted = targets_called(preflight, "make")
    for line in text.splitlines():
        head = re.match(r"([\w.%/-]+(?:[ ][\w.%/-]+)*)\s*(?:[\w ]*):(?!=)(.*)", line)
        if head and not line[:1].isspace():
            name = head[1].strip()
            found[name] = head[2].strip()
        elif name and line[:1].isspace() and line.strip() and not line.strip().startswith("#"):
            found[name] += f"\n{line.strip()}"
        elif re.match(r"\w+\s*[:?+]?=", line):
            found[line.partition("=")[0].strip()] = line if re.search(r"FLAGS|LINT|TEST|CHECK|MYPY|RUFF|ESLINT", line) else ""
    needed = {need for name in wanted for need in found.get(name, "").partition("\n")[0].split()}
    return {
        name: recipe
        for name, recipe in found.items()
        if name in wanted | needed or JUDGES.fullmatch(name) or "=" in recipe.partition("\n")[0]
    }


def judging_part(path: str, text: str) -> str:
    """The judging part of a file, as text for comparison; the whole file if it does not parse."""
    name = PurePosixPath(path).name
    try:
        if name == "pyproject.toml":
            return _toml(text)
        if name in ("setup.cfg", "tox.ini", *INIS):
            return _ini(text, whole=name in INIS)
        if name == "package.json":
            return _package(text)
        if name == ".gitattributes":
            return "\n".join(line for line in text.splitlines() if HIDES.search(line))
        if name.startswith(".env") and name != ".envrc":
            return "\n".join(line for line in text.splitlines() if STEERS.match(line))
        if name == "project.json":
            return json.dumps(json.loads(text or "{}").get("targets"), sort_keys=True)
        if name == "composer.json":
            return json.dumps(json.loads(text or "{}").get("scripts"), sort_keys=True)
        if name.endswith((".json", ".jsonc")):
            return json.dumps(json.loads(jsonc(text) or "null"), sort_keys=True)
        if name.endswith(".toml"):
            import tomllib

            whole = tomllib.loads(text)
            return json.dumps(judging_value(_without_needs(whole) if name in ENVIRONMENTS else whole), sort_keys=True, default=str)
    except (ValueError, AttributeError, RecursionError):
        return text
    return "\n".join(line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";", "//")))


def asks_only_more(path: str, before: str, after: str) -> bool:
    """Whether a settings file only became stricter. `before`, `after`: its judging part as JSON, or the whole text (see `is_read_whole`)."""
    return stricter_settings.asks_only_more(path, before, after, judging_value)


def only_judging_differs(path: str, before: str, after: str) -> bool:
    """Whether two versions of a settings file differ only in what judging tools read."""
    name = PurePosixPath(path).name
    if name.startswith(".env") or has_targets(name) or not is_judging(path) or not before:
        return False
    if name not in SHARED or name == "tox.ini":
        return True
    try:
        return _besides(name, before) == _besides(name, after)
    except (ValueError, AttributeError, RecursionError):
        return False


def _besides(name: str, text: str) -> object:
    """The rest of a shared file, which judging tools do not read."""
    import configparser
    import tomllib

    if name == "pyproject.toml":
        whole = tomllib.loads(text)
        return {**whole, "tool": {tool: table for tool, table in whole.get("tool", {}).items() if tool not in TOOLS}}
    if name == "package.json":
        return {key: value for key, value in json.loads(text).items() if key not in PACKAGE}
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as e:
        raise ValueError(str(e)) from e
    return {s: dict(parser[s]) for s in parser.sections() if re.split(r"[:\-.]", s)[0] not in SECTIONS}


def jsonc(text: str) -> str:
    """Turn JSON with comments and trailing commas into plain JSON."""
    bare = re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.DOTALL)
    return re.sub(r",(\s*[}\]])", r"\1", bare)


def _toml(text: str) -> str:
    import tomllib

    whole = tomllib.loads(text)
    tools, plugins = whole.get("tool", {}), whole.get("project", {}).get("entry-points", {}).get("pytest11")
    ours = {name: tools[name] for name in TOOLS if name in tools}
    hatch, pdm, uv = (tools.get(name, {}) for name in ("hatch", "pdm", "uv"))
    return json.dumps(
        judging_value(
            _without_needs({**ours, "envs": hatch.get("envs"), "scripts": pdm.get("scripts"), "tasks": uv.get("tasks"), "plugins": plugins})
        ),
        sort_keys=True,
        default=str,
    )


def _without_needs(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_needs(below) for key, below in value.items() if key not in NEEDS}
    return value


def _ini(text: str, whole: bool = False) -> str:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return text
    ours = [s for s in parser.sections() if whole or re.split(r"[:\-.]", s)[0] in SECTIONS]
    return json.dumps(judging_value({s: {k: v for k, v in parser[s].items() if k not in NEEDS} for s in ours}), sort_keys=True)


def _package(text: str) -> str:
    package = json.loads(text or "{}")
    scripts = {name: script for name, script in package.get("scripts", {}).items() if JUDGES.fullmatch(name)}
    return json.dumps({"scripts": scripts, **{key: package.get(key) for key in PACKAGE}}, sort_keys=True)


def judging_value(value: object, key: str = "") -> object:
    """The settings without those for layout and output."""
    if isinstance(value, dict):
        return {name: judging_value(below, name) for name, below in value.items() if name not in KEYS}
    if isinstance(value, list):
        return [judging_value(each, key) for each in value if not (isinstance(each, str) and _is_of_looks(each, key))]
    return _of_words(value, key) if isinstance(value, str) else value


def _is_of_looks(word: str, key: str) -> bool:
    return bool(RULE.fullmatch(word)) or (key in OPTIONS and bool(SHOWS.fullmatch(word)))


def _of_words(value: str, key: str) -> str:
    """A string setting without layout rules and output options: a list of rules, or lines that may call pytest."""
    if key in RULES:
        return " ".join(word for word in re.split(r"[\s,]+", value) if word and not RULE.fullmatch(word))
    return "\n".join(
        " ".join(SHOWS.sub("", line).split()) if key in OPTIONS or PYTEST.search(line) else line for line in value.splitlines()
    )
