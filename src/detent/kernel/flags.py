"""The kinds of flags: what each is about, and what it does unless the configuration says otherwise. Values only."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Level = Literal["allow", "note", "ask", "fail"]
LEVELS: tuple[Level, ...] = ("allow", "note", "ask", "fail")


class Kind(NamedTuple):
    """One kind of flag. A gate that raises it may choose another level for its case; `[flags]` overrules both."""

    level: Level
    when: str


KINDS: Mapping[str, Kind] = {
    "weak-evidence": Kind("note", "only an exit code is read of the tests, or nothing of the machine's own could watch their run"),
    "no-proof": Kind("ask", "code changed, and no test needs the change: none fails without it and passes with it"),
    "unnoticed": Kind("ask", "most of the changed code, or a check that was removed, is noticed by no test"),
    "vacuous-test": Kind("ask", "a new test that no small change of the code and no other expectation makes fail"),
    "rewritten-test": Kind("ask", "what an older test expects was changed or removed"),
    "knows-the-tests": Kind(
        "ask",
        "changed lines of the product look at the runner, the caller, the stack, source files, the environment of tests or a fixed date, or its answers depend on a test's name",
    ),
    "knows-the-examples": Kind("ask", "the changed code lists the tests' own values as cases, or gives the same answer to everything else"),
    "clock-red": Kind("fail", "a test that failed without the change passes there by itself later, or on another date"),
    "toolchain": Kind("fail", "an installed package of the test runner changed since the run began, and no lock file did"),
    "judged-by": Kind("ask", "what decides how the work is judged was changed: configuration, scripts, CI, or many lines that silence it"),
    "shadow": Kind("ask", "a file or a fixture takes the place of a module; of the test runner's own, that is a failure"),
    "own-review": Kind("note", "only the agent that did the work reviewed it"),
    "secrets": Kind("ask", "an added line holds what looks like a key"),
    "binaries": Kind("ask", "a binary file was added or changed"),
    "big-files": Kind("ask", "a file of more than 1 MB was added"),
    "executable-bits": Kind("ask", "a file can be run as a program that could not be before"),
    "new-dependencies": Kind("ask", "a third-party package is new to the project, or comes from another place than before"),
    "ci-permissions": Kind("ask", "a CI file may do more than before"),
    "gate": Kind("ask", 'a gate that the project configured as a flag fails: [[gate]] with as = "flag"'),
}
