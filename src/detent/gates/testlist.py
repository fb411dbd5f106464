"""The test list (test-list.md) and the reply that picks a test from it: their forms, strict readers, and the gates over them.

An entry is identified by its text. Only the machine ticks boxes, once a test is proved. Knows nothing of git or of states.
"""

import json
import re
from collections.abc import Callable, Iterator

import msgspec

from detent.evidence.look import FilesLook, SubmitLook, SuiteLook
from detent.gates.plain_values import twice
from detent.kernel.model import OnBranch, Value

FILE = "test-list.md"
MARK = r"\s*(?:[-*+]|\d+[.)])"
ENTRY = re.compile(rf"{MARK}\s+\[([ xX])\]\s+(\S.*)")
NEARLY = re.compile(rf"(?:{MARK})?\s*\[.?\](?![(:])")  # meant as a checkbox but written wrongly
FENCE = re.compile(r"\s*(?:```|~~~)")


class ListedTest(Value, frozen=True):
    """One entry of the list. `proof` is the sequence number of the event that proved it; `before`: it was ticked when the run began."""

    text: str
    done: bool = False
    proof: int = 0
    before: bool = False


class CurrentTest(Value, frozen=True, omit_defaults=False, rename="camel"):
    """The test that a cycle is about."""

    description: str
    test_file: str
    impl_file: str


class TestListReply(Value, frozen=True, rename="camel"):
    """The answer of the test list agent: the next test, or none."""

    current_test: CurrentTest | None


class ListData(OnBranch, frozen=True):
    """The part of a run's data that these gates need."""

    entries: tuple[ListedTest, ...] = ()  # the list as the machine last accepted it
    current: CurrentTest | None = None
    feature_request: str = ""  # what a person asked for

    def asked_for(self, read: Callable[[str], str | None], setting: Callable[[str], str]) -> str:
        return self.feature_request

    def step_words(self) -> str:
        return f"{self.current.description} {self.current.impl_file}" if self.current else ""

    def file_to_write(self) -> str:
        return self.current.impl_file if self.current else ""


def even_out(text: str) -> str:
    """A text with normalised white space, for comparing."""
    return " ".join(text.split())


def normalized_entry(text: str) -> str:
    """A text normalised for recognising an entry: white space, case, a full stop and surrounding markup do not matter."""
    return even_out(text).casefold().strip("`*_\"' ").rstrip(". ")


def read_list(text: str) -> tuple[tuple[ListedTest, ...], tuple[str, ...]]:
    """Parse a list; returns its entries and all its faults."""
    entries: dict[str, ListedTest] = {}
    faults: list[str] = []
    for at, line in _lines(text):
        found = ENTRY.fullmatch(line)
        if found is None:
            if NEARLY.match(line):
                faults.append(f"{FILE}:{at}: a checkbox is written `- [ ] text` or `- [x] text`, and this line reads `{line.strip()}`")
            continue
        entry = ListedTest(even_out(found[2]), found[1] != " ")
        if entry.text in entries:
            faults.append(f"{FILE}:{at}: '{entry.text}' appears twice")
        entries[entry.text] = entry
    if not entries and not faults:
        faults.append(f"{FILE} has no checkbox; write one line `- [ ] text` for each test")
    return tuple(entries.values()), tuple(faults)


def ticked(text: str, done: frozenset[str]) -> str:
    """The list with the boxes of these entries ticked, otherwise unchanged."""
    lines = text.splitlines(keepends=True)
    for at, line in _lines(text):
        found = ENTRY.fullmatch(line)
        if found and found[1] == " " and even_out(found[2]) in done:
            lines[at - 1] = lines[at - 1].replace("[ ]", "[x]", 1)
    return "".join(lines)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines outside code blocks."""
    fenced = False
    for at, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield at, line


def read_reply(text: str) -> tuple[TestListReply | None, str]:
    """Parse the reply; returns it, or what is wrong with it."""
    form = 'pass reply {"currentTest": {"description": …, "testFile": …, "implFile": …}}, or {"currentTest": null} when every box is ticked'
    if not text.strip():
        return None, f"reply is missing; {form}"
    try:
        reply = msgspec.convert(json.loads(text, object_pairs_hook=_once), TestListReply)
    except (ValueError, RecursionError) as e:
        return None, f"the reply cannot be read ({e}); {form}"
    faults = tuple(_case_faults(reply.current_test)) if reply.current_test else ()
    return (None, "\n".join(faults)) if faults else (reply, "")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if doubled := twice([k for k, _ in pairs]):
        raise ValueError(f"{doubled[0]} appears twice")
    return dict(pairs)


def _case_faults(case: CurrentTest) -> Iterator[str]:
    if not case.description.strip():
        yield "currentTest.description: must be a non-empty string"
    for name, path in (("testFile", case.test_file), ("implFile", case.impl_file)):
        if not path.strip() or path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/"):
            yield f"currentTest.{name}: must be a path inside the project, from its root, with /"
    if case.test_file == case.impl_file:
        yield "currentTest.implFile: must be another file than testFile"


def _sound(look: FilesLook[ListData]) -> tuple[ListedTest, ...] | None:
    """The entries of the judged list; None if it cannot be parsed, which list_parses reports."""
    entries, faults = read_list(look.read(FILE) or "")
    return None if faults else entries


def list_parses(look: FilesLook[ListData]) -> str | None:
    """test-list.md is there and is made of markdown checkboxes, at least one, none twice."""
    text = look.read(FILE)
    if text is None:
        return f"{FILE} is missing; write it, one line `- [ ] text` for each test"
    return "\n".join(read_list(text)[1]) or None


def entries_kept(look: FilesLook[ListData]) -> str | None:
    """No entry is reworded or removed: an open one only after a person's steer or guidance, a proved one never."""
    entries = _sound(look)
    if entries is None:
        return None
    steered = bool(look.run.steers or look.run.guidance)
    there = {e.text for e in entries}
    lost = [e for e in look.run.data.entries if e.text not in there and (e.done or not steered)]
    if not lost:
        return None
    why = "it is proved and stays" if lost[0].done else "adding and reordering is free, rewording or removing needs a person's steer"
    return f"'{lost[0].text}' is no longer in {FILE}; {why}; put the line back as it was"


def boxes_are_ours(look: FilesLook[ListData]) -> str | None:
    """The ticked boxes are exactly those that the machine ticked."""
    entries = _sound(look)
    ticked = {e.text for e in look.run.data.entries if e.done}
    for entry in entries or ():
        if entry.done and entry.text not in ticked:
            return f"the box of '{entry.text}' was ticked; the machine ticks it once the test is proved; set it back to [ ]"
        if not entry.done and entry.text in ticked:
            return f"the box of '{entry.text}' was cleared, and its test is proved; set it back to [x]"
    return None


def reply_names_a_test(look: SubmitLook[ListData]) -> str | None:
    """The reply carries {"currentTest": {description, testFile, implFile}} and nothing else."""
    reply, fault = read_reply(look.sent.reply)
    if reply is None:
        return fault
    return None if reply.current_test else "currentTest is null; name an open entry"


def current_is_open(look: FilesLook[ListData]) -> str | None:
    """The description of currentTest is the text of an open entry."""
    reply, _ = read_reply(look.sent.reply)
    entries = _sound(look)
    if reply is None or reply.current_test is None or entries is None:
        return None
    named = even_out(reply.current_test.description)
    open_now = [e.text for e in entries if not e.done]
    if normalized_entry(named) in map(normalized_entry, open_now):
        return None
    return f"currentTest.description '{named}' is not the text of an open entry; open: {'; '.join(open_now[:5]) or 'none'}"


def every_box_is_ticked(look: FilesLook[ListData]) -> str | None:
    """{"currentTest": null} is believed only if every box is [x]."""
    left = [e.text for e in _sound(look) or () if not e.done]
    return f"currentTest is null, and {len(left)} entries are open, first: '{left[0]}'; name an open entry as currentTest" if left else None


def only_list_changed(look: FilesLook[ListData]) -> str | None:
    """PLAN changes test-list.md and nothing else."""
    wrong = strays_of_plan(look)
    return f"{wrong[0]} changed; PLAN writes {FILE} only" if wrong else None


def strays_of_plan(look: FilesLook[ListData]) -> list[str]:
    return sorted(c.path for c in look.changed() if c.path != FILE)


def a_test_is_new(look: SuiteLook[ListData]) -> str | None:
    """At least one test is new."""
    seen = look.outcomes()
    new = seen.pins | seen.newly_failing
    return None if new else "no new test was collected, so there is nothing that could be satisfied already"
