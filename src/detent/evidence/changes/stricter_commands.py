"""Command lines that only became stricter: an option that makes more fail, a higher limit, a further check beside the others. Pure."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from detent.evidence.changes.stricter_values import Value, words

OPTIONS: Mapping[str, re.Pattern[str]] = {
    "pytest": re.compile(r"--strict(?:-markers|-config)?|-W=error(?:::?[\w.:]+)?"),
    "mypy": re.compile(r"--strict(?:-(?:optional|equality|bytes))?|--(?:warn|disallow|no-implicit)-[\w-]+|--check-untyped-defs|--extra-checks"),
    "eslint": re.compile(r"--max-warnings=0|--report-unused-disable-directives"),
    "tsc": re.compile(r"--strict|--no(?:Unused|Implicit|Unchecked)\w+"),
    "go": re.compile(r"-race"),
    "sphinx-build": re.compile(r"-[Wn]|--nitpicky|--fail-on-warning"),
    "coverage": re.compile(r"(?!)"), "vitest": re.compile(r"(?!)"), "nyc": re.compile(r"--check-coverage"), "c8": re.compile(r"--check-coverage"),
}  # tools with the options that only make more fail  # fmt: skip
LIMIT = re.compile(
    r"(--(?:cov-fail-under|fail-under|statements|branches|functions|lines|(?:coverage\.)?thresholds\.(?:statements|branches|functions|lines)))"
    r"=(\d+(?:\.\d+)?)"
)
WITH_VALUE = re.compile(r"--(?:cov-fail-under|fail-under|max-warnings|statements|branches|functions|lines)|-W")
OF_SHELL = set("|;<>`$&\"'()\\")
CALL = r"(?:(?:npx|pnpm exec|yarn|uvx|uv run|poetry run|pdm run|python3?\s+-m)\s+)?"
CHECK = re.compile(
    rf"{CALL}(?:(?:mypy|pyright|basedpyright|ty check|pyrefly check|flake8|pylint|bandit|pydocstyle|vulture|codespell|interrogate|deptry|lint-imports|doc8"
    r"|twine check|yamllint|check-manifest|eslint|stylelint|oxlint|biome (?:check|lint|ci)|knip|publint|attw|tsd|go vet|staticcheck|golangci-lint run)\b"
    r"|ruff check\b|(?:black|isort|ruff format|prettier|cargo fmt)\b(?=.*\s(?:--check|--check-only|-c|--list-different)(?:\s|$))|tsc\b(?=.*\s--noEmit\b)"
    r"|cargo clippy\b|coverage report\b)[^|;<>`$&]*"
)  # a call that changes no file and can only fail
WRITES = re.compile(
    r"(?<!\S)(?:--?(?:[\w-]*fix|write|in-?place|unsafe|out\w*|install|update|junit|html|xml|cobertura)[\w-]*|-[wio])(?=[\s=]|$)"
)
BY_NAME = re.compile(r"(?:npm|pnpm|yarn|bun)(?:\s+run)?\s+([\w:.-]+)")
ENVIRONMENTS = ("envlist", "env_list")
FREE = ("description", "labels")  # of an environment: they change nothing
OF_NEW = frozenset({"commands", "skip_install", "skipsdist", "basepython", "base_python", "changedir", "passenv", "pass_env", "usedevelop", "package", *FREE})  # fmt: skip
RUNS = re.compile(
    rf"{CALL}(?:(?:pytest|coverage (?:run|report|xml|html)|sphinx-build|mkdocs build|build|towncrier (?:check|build))\b)[^|;<>`$&]*"
)


def stricter_commands(key: str, was: Mapping[str, Value], now: Mapping[str, Value]) -> bool:
    """Whether a table that says what runs (scripts, an environment of tox, its list of them) runs at least as much as before."""
    old, new = was.get(key), now.get(key)
    if old == new:
        return True
    if old is None:
        return isinstance(new, dict) and _is_new_environment(key, was, new)
    return _stricter_table(key, old, new)


def _stricter_table(key: str, was: Value, now: Value) -> bool:
    if was == now or key in FREE:
        return True
    if key in ENVIRONMENTS:
        return set(words(was) or ["?"]) <= set(words(now) or ())
    if key == "commands" and isinstance(was, str) and isinstance(now, str):
        return stricter_lines(_lines(was), _lines(now))
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return False
    if key in ("scripts", "tasks"):
        return all(_stricter_script(name, was, now) for name in {*was, *now})
    return all(_stricter_table(name, was.get(name), now.get(name)) for name in {*was, *now})


def _stricter_script(name: str, was: Mapping[str, Value], now: Mapping[str, Value]) -> bool:
    old, new = was.get(name), now.get(name)
    if old is None and isinstance(new, str):  # `pre` and `post` would run around another one
        return not name.startswith(("pre", "post", "test"))
    if old == new:
        return True
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    scripts = {each: script for each, script in now.items() if isinstance(script, str)}
    parts = [[part.strip() for part in script.split("&&")] for script in (old, new)]
    return stricter_lines(parts[0], parts[1], scripts)


def _is_new_environment(key: str, was: Mapping[str, Value], section: Mapping[str, Value]) -> bool:
    """Whether a section of tox is an environment that was none before, by its name, and runs nothing but tests, checks and documents."""
    name = key.removeprefix("testenv:")
    tox = was.get("tox")
    listed = str({each: tox.get(each) for each in ENVIRONMENTS} if isinstance(tox, dict) else "")
    known = {part for each in (*was, *re.findall(r"[\w.]+", listed)) for part in re.split(r"[:\-]", each)}
    commands = section.get("commands", "")
    lines = _lines(commands) if isinstance(commands, str) else []
    return (
        name != key
        and not {part for part in name.split("-") if part in known or re.match(r"py(py|thon)?\d*$|\d", part)}
        and set(section) <= OF_NEW
        and bool(lines)
        and all(is_check(line) or RUNS.fullmatch(line) for line in lines)
    )


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def stricter_lines(was: Sequence[str], now: Sequence[str], scripts: Mapping[str, str] = {}) -> bool:
    """Whether the calls of before are all there, in their order and at least as strict, with nothing but checks beside them."""
    for how, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if how == "insert" and all(is_check(line, scripts) for line in now[c:d]):
            continue
        if how != "equal" and (b - a != d - c or not all(map(stricter_call, was[a:b], now[c:d]))):
            return False
    return True


def is_check(line: str, scripts: Mapping[str, str] = {}) -> bool:
    """Whether a call changes nothing and can only fail: a linter, a type checker, or a script of nothing else."""
    if (named := BY_NAME.fullmatch(line)) and named[1] in scripts:
        return all(is_check(part.strip()) for part in scripts[named[1]].split("&&"))
    return CHECK.fullmatch(line) is not None and WRITES.search(line) is None


def stricter_call(was: str, now: str, tool: str = "") -> bool:
    """Whether a call has the same words, but for options that only make more fail, and limits at least as high."""
    if was == now:
        return True
    old, new = (_parsed(each.split(), tool) for each in (was, now))
    if old is None or new is None:
        return False
    return old[0] == new[0] and old[1] <= new[1] and all(limit <= new[2].get(name, -1) for name, limit in old[2].items())


def stricter_options(key: str, was: Value, now: Value) -> bool:
    """The same for pytest's options, as a text or a list."""
    sides = ["" if each is None else " ".join(map(str, each)) if isinstance(each, list) else each for each in (was, now)]
    if any(isinstance(each, list) and any(" " in str(word) for word in each) for each in (was, now)):
        return False
    return isinstance(sides[0], str) and isinstance(sides[1], str) and stricter_call(sides[0], sides[1], "pytest")


def _parsed(given: Sequence[str], tool: str) -> tuple[list[str], frozenset[str], dict[str, float]] | None:
    """The words without stricter options, these options, and the limits. None if they cannot be parsed."""
    if any(OF_SHELL & set(word) for word in given):
        return None
    left, raises, limits = list[str](), set[str](), dict[str, float]()
    for word in _joined(given):
        tool = tool or (word.rpartition("/")[2] if word.rpartition("/")[2] in OPTIONS else "")
        is_value = bool(left) and left[-1].startswith("-") and "=" not in left[-1]  # the word may be this option's value
        if tool and not is_value and OPTIONS[tool].fullmatch(word):
            raises.add(word)
        elif tool and not is_value and (limit := LIMIT.fullmatch(word)) and float(limit[2]) <= 100:
            limits[limit[1]] = float(limit[2])
        else:
            left.append(word)
    return left, frozenset(raises), limits


def _joined(given: Sequence[str]) -> list[str]:
    """The words, with an option and its value as one: `-W error`, `-Werror` → `-W=error`."""
    found = list[str]()
    for word in given:
        before = found[-1] if found else ""
        if WITH_VALUE.fullmatch(before) and (before != "-W" or re.match(r"error|ignore|default|always|module|once", word)):
            found[-1] = f"{before}={word}"
        else:
            found.append(re.sub(r"^-W(?==?error)=?", "-W=", word))
    return found
