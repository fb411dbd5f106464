"""A runner's output without the canary: without its lines, its sections, and its share of the counts. One function per runner.

Found by the canary's random words. What is missed is only seen by a reader; no outcome is read from here.
"""

import re
from collections.abc import Callable
from itertools import count

from detent.evidence.runners.adapter import Canary
from detent.evidence.runners.canary_files import words_of

NONE_FAILED = re.compile(r"\b0 failed(?:, | \| )")


def _cut(output: str, canary: Canary, section: str = "") -> str:
    """Remove the sections that begin with a canary line (`{w}` stands for its words), then every other canary line."""
    words = words_of(canary)
    ours = "(?:" + "|".join(map(re.escape, words)) + ")"
    left = re.sub(section.replace("{w}", ours), "", output, flags=re.MULTILINE) if section else output
    return "".join(line for line in left.splitlines(keepends=True) if not any(w in line for w in words))


def _less(text: str, line: str, **shares: int) -> str:
    """A summary line with the canary's share subtracted from `N name`, or for `all` from the number in brackets."""

    def lessened(found: re.Match[str]) -> str:
        summary = found[0]
        for name, share in shares.items():
            what = r"(?<=\()(\d+)(?=\))" if name == "all" else rf"\b(\d+)(?= {name})"
            summary = re.sub(what, lambda m, n=share: str(max(0, int(m[1]) - n)), summary)  # type: ignore[misc]
        return summary if re.search(r"\b0 failed.{1,3}0 passed", summary) else NONE_FAILED.sub("", summary)

    return re.sub(line, lessened, text, flags=re.MULTILINE)


def vitest(output: str, canary: Canary) -> str:
    n = len(canary.canary_files)
    left = _cut(output, canary, r"^ FAIL  .*{w}.*\n(?:(?! FAIL |⎯).*\n)*⎯.*\[\d+/\d+\]⎯\n\n?")
    left = re.sub(r"(?<=Failed Tests )\d+", lambda m: str(max(0, int(m[0]) - n)), left)
    left = re.sub(r"^⎯+ Failed Tests 0 ⎯+\n\n?", "", left, flags=re.MULTILINE)
    at = count(1)
    left = re.sub(r"\[\d+/(\d+)\](?=⎯$)", lambda m: f"[{next(at)}/{max(1, int(m[1]) - n)}]", left, flags=re.MULTILINE)
    return _less(_less(left, r"^ Test Files  .*$", failed=n, all=n), r"^      Tests  .*$", failed=n, passed=n, all=2 * n)


def jest(output: str, canary: Canary) -> str:
    n = len(canary.canary_files)
    left = _cut(output, canary, r"^FAIL .*{w}.*\n(?:(?!PASS |FAIL |Test Suites: |Summary of all ).*\n)*")
    return _less(_less(left, r"^Test Suites: .*$", failed=n, total=n), r"^Tests: .*$", failed=n, passed=n, total=2 * n)


def mocha(output: str, canary: Canary) -> str:
    n = len(canary.canary_files)
    left = _cut(output, canary, r"^  \d+\) .*{w}.*:\n(?:(?: {6}.*| *)\n)*")
    left = _less(left, r"^  \d+ (?:passing|failing)\b.*$", passing=n, failing=n)
    return re.sub(r"^  0 failing\n\n?", "", left, flags=re.MULTILINE)


def unittest(output: str, canary: Canary) -> str:
    n = len(canary.canary_files)
    left = _cut(output, canary, r"^={70}\nFAIL: .*{w}.*\n-{70}\n(?:(?!={70}$|-{70}\nRan ).*\n)*")
    left = re.sub(r"^Ran (\d+)(?= tests? in )", lambda m: f"Ran {max(0, int(m[1]) - 2 * n)}", left, flags=re.MULTILINE)
    left = re.sub(r"(?<=failures=)\d+", lambda m: str(max(0, int(m[0]) - n)), left)
    left = re.sub(r"^FAILED \(failures=0\)$", "OK", left, flags=re.MULTILINE)
    left = re.sub(r"^FAILED \(failures=0, (?=[^)]*(?:errors|unexpected))", "FAILED (", left, flags=re.MULTILINE)
    return re.sub(r"^FAILED \(failures=0, ", "OK (", left, flags=re.MULTILINE)


def rspec(output: str, canary: Canary) -> str:
    n = len(canary.canary_files)
    left = _cut(output, canary, r"^  \d+\) .*{w}.*\n(?:(?: {4}.*| *)\n)*")
    left = re.sub(r"^Failures:\n\s*(?=^Finished in )", "", left, flags=re.MULTILINE)
    left = re.sub(r"^Failed examples:\s*\Z", "", left, flags=re.MULTILINE)

    def corrected(found: re.Match[str]) -> str:
        examples, failures = max(0, int(found[1]) - 2 * n), max(0, int(found[2]) - n)
        return f"{examples} example{'s' * (examples != 1)}, {failures} failure{'s' * (failures != 1)}"

    return re.sub(r"^(\d+) examples?, (\d+) failures?", corrected, left, flags=re.MULTILINE)


def phpunit(output: str, canary: Canary) -> str:
    """Also drops the number of assertions, because it includes the canary's."""
    n = len(canary.canary_files)
    left = _cut(output, canary, r"^\d+\) {w}.*\n(?:(?!\d+\) |FAILURES!|ERRORS!|--$).*\n)*")

    def corrected(found: re.Match[str]) -> str:
        failures = max(0, int(found[1]) - n)
        return {0: "", 1: "There was 1 failure:\n\n"}.get(failures, f"There were {failures} failures:\n\n")

    left = re.sub(r"^There w(?:as|ere) (\d+) failures?:\n\n", corrected, left, flags=re.MULTILINE)
    left = re.sub(r"^Tests: (\d+), Assertions: \d+", lambda m: f"Tests: {max(0, int(m[1]) - 2 * n)}", left, flags=re.MULTILINE)
    left = re.sub(r"(?<=, Failures: )\d+", lambda m: str(max(0, int(m[0]) - n)), left)
    left = left.replace(", Failures: 0", "")
    return re.sub(r"^FAILURES!\nTests: (\d+)\.$", r"OK (\1 tests)", left, flags=re.MULTILINE)


def go(output: str, canary: Canary) -> str:
    """A package that failed only because of the canary is shown as passed."""
    left = _cut(output, canary)
    if re.search(r"--- FAIL|^panic: |\[(?:build|setup) failed\]|exit status", left, re.MULTILINE):
        return left
    return re.sub(r"^FAIL\t", "ok  \t", re.sub(r"^FAIL\n", "PASS\n", left, flags=re.MULTILINE), flags=re.MULTILINE)


def cargo(output: str, canary: Canary) -> str:
    return _cut(output, canary, r"^\S*{w}\.rs: \d+ tests, code .*\n(?:(?!\S+\.rs: \d+ tests, code |running \d+ tests?$).*\n)*")


TIDY: dict[str, Callable[[str, Canary], str]] = {"vitest": vitest, "jest": jest, "mocha": mocha}
