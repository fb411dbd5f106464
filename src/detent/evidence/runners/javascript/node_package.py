"""What `package.json` says about tests: its test script, and the part of it that decides how tests run."""

import json

import msgspec

from detent.evidence.runners.adapter import Files
from detent.evidence.runners.command_words import ASSIGNMENT, split

FILE = "package.json"
NO_TESTS = "no test specified"  # npm's own script for a project that has none
AROUND = ("pretest", "posttest")  # what npm runs before and after the test script
CALLS = (("npm", "test"), ("npm", "t"), ("npm", "run", "test"), ("npm", "run-script", "test"))


class NodePackage(msgspec.Struct):
    """The part that is read."""

    scripts: dict[str, object] = {}
    type: object = None
    imports: object = None


def read_package(text: str | None) -> NodePackage | None:
    """A `package.json`, or None if there is none that can be read."""
    try:
        return msgspec.json.decode(text or "", type=NodePackage)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def test_script(files: Files) -> str:
    """The script that `npm test` runs; empty if the project has none of its own."""
    package = read_package(files.read(FILE))
    script = package.scripts.get("test", "") if package else ""
    return script if isinstance(script, str) and script.strip() and NO_TESTS not in script else ""


def script_words(files: Files) -> tuple[str, ...]:
    """The script as words that can be run without a shell and without npm; empty if it needs either."""
    package = read_package(files.read(FILE))
    if package is None or any(name in package.scripts for name in AROUND):
        return ()
    script, settings = test_script(files).strip(), []
    while found := ASSIGNMENT.match(script):
        word, _, script = script.partition(" ")
        if any(c in word[found.end() :] for c in "'\"$`\\"):
            return ()
        settings.append(word)
    words, fault = split(script, globs=True)
    return () if fault else (*(("env", *settings) if settings else ()), *words)


def runner_part(path: str, text: str) -> str:
    """What of a file concerns the test run, as text that can be compared; the whole file if it cannot be taken apart."""
    if path.rpartition("/")[2] != FILE:
        return text
    package = read_package(text or "{}")
    if package is None:
        return text
    scripts = {name: package.scripts.get(name) for name in ("test", *AROUND)}
    return json.dumps({"scripts": scripts, "type": package.type, "imports": package.imports}, sort_keys=True, default=str)
