"""What `package.json` says about tests: the test script, and the part that decides how tests run."""

import json
import re
from collections.abc import Callable

import msgspec

from detent.evidence.runners.adapter import Files
from detent.evidence.runners.javascript.node_scripts import scripts_called, tests_in

FILE = "package.json"
NO_TESTS = "no test specified"  # npm's placeholder script
AROUND = ("pretest", "posttest")  # npm runs these before and after the test script
LOCKED = {  # lock file -> the command that installs
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
    "pnpm-lock.yaml": "pnpm install",
    "yarn.lock": "yarn install",
    "bun.lock": "bun install",
    "bun.lockb": "bun install",
}
CALLS = (("npm", "test"), ("npm", "t"), ("npm", "run", "test"), ("npm", "run-script", "test"))
CHATTER = re.compile(r"npm (?:notice|warn|WARN)\b|> \S|\s*$")


class NodePackage(msgspec.Struct):
    """The keys of package.json that are read here."""

    scripts: dict[str, object] = {}
    type: object = None
    imports: object = None


def read_package(text: str | None) -> NodePackage | None:
    """A parsed `package.json`; None if there is none or it cannot be read."""
    try:
        return msgspec.json.decode(text or "", type=NodePackage)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def installing(read: Callable[[str], object]) -> str:
    """The command that installs the dependencies. `read` returns None for a missing file."""
    return next((command for lock, command in LOCKED.items() if read(lock) is not None), "npm install")


def test_script(files: Files) -> str:
    """The script that `npm test` runs; empty if the project has none of its own."""
    package = read_package(files.read(FILE))
    script = package.scripts.get("test", "") if package else ""
    return script if isinstance(script, str) and script.strip() and NO_TESTS not in script else ""


def script_words(files: Files) -> tuple[str, ...]:
    """The call of the test runner in the test script, as words to run without shell and npm; empty if it needs either."""
    package = read_package(files.read(FILE))
    return tests_in(package.scripts) if package is not None and test_script(files) else ()


def runner_part(path: str, text: str) -> str:
    """The part of a file that concerns the test run, as text to compare; the whole file if it cannot be parsed."""
    if path.rpartition("/")[2] != FILE:
        return text
    package = read_package(text or "{}")
    if package is None:
        return text
    scripts = {name: package.scripts.get(name) for name in dict.fromkeys(("test", *AROUND, *scripts_called(package.scripts)))}
    return json.dumps({"scripts": scripts, "type": package.type, "imports": package.imports}, sort_keys=True, default=str)


def without_chatter(text: str) -> str:
    """A program's output without the package manager's own lines."""
    return "\n".join(line for line in text.splitlines() if not CHATTER.match(line))
