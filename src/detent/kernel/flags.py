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
    "rewritten-test": Kind("ask", "what an older test expects was changed or taken out"),
    "toolchain": Kind("fail", "an installed package of the test runner changed since the run began, and no lock file did"),
    "judged-by": Kind("ask", "configuration that decides how the work is judged was changed"),
}
