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
    "weak-evidence": Kind("note", "only the exit code of the tests is read, or Detent could not add its own tests to their run"),
    "no-proof": Kind("ask", "code changed, but no test needs the change: none fails without it and passes with it"),
    "unnoticed": Kind("ask", "no test notices most of the changed code, or a check that was removed"),
    "vacuous-test": Kind("ask", "a new test that no small change to the code and no other expectation makes fail"),
    "rewritten-test": Kind("ask", "the expectation of an older test was changed or removed"),
    "knows-the-tests": Kind(
        "ask",
        "changed lines of the product look at the runner, the caller, the stack, source files, the environment of tests or a fixed date, or their results depend on a test's name",
    ),
    "knows-the-examples": Kind("ask", "the changed code lists the tests' own values as cases, or returns the same for everything else"),
    "clock-red": Kind("fail", "a test that failed without the change later passes without it, or on another date"),
    "toolchain": Kind("fail", "an installed package of the test runner changed since the run began, but no lock file did"),
    "judged-by": Kind(
        "ask", "something that decides how the work is judged changed: configuration, scripts, CI, or many lines that silence it"
    ),
    "shadow": Kind("ask", "a file or a fixture replaces a module; replacing one of the test runner's own is a failure"),
    "own-review": Kind("note", "only the agent that did the work reviewed it"),
    "secrets": Kind("ask", "a key was added, or code that reads keys or sends them away"),
    "binaries": Kind("ask", "a binary file changed, or text does not read as it runs"),
    "big-files": Kind("ask", "a file of more than 1 MB was added, or code is too large to be read"),
    "executable-bits": Kind("ask", "a file became executable, or starts a program by itself"),
    "new-dependencies": Kind("ask", "a third-party package is new to the project, or comes from a different source than before"),
    "ci-permissions": Kind("ask", "a CI file may do more than before"),
    "gate": Kind("ask", 'a gate that the project configured as a flag failed: [[gate]] with as = "flag"'),
}
