"""The replies of a session's agents: their form, strict reader, and effective verdict; and the gates over what a role may write.

A reply is an agent's statement about its own work, or its verdict on another's. It never counts as proof.
"""

import hashlib
import re
from fnmatch import fnmatch
from typing import Literal

import msgspec

from detent.evidence.look import FilesLook, SubmitLook
from detent.gates.documents import RECORDS, RESEARCH, SPECS, SessionData
from detent.gates.plain_values import json_value
from detent.kernel.model import Value

ReplyStatus = Literal["OK", "BLOCKED", "NEEDS_INFO", "NEEDS_DECISION", "PASS_WITH_NOTES", "FAIL"]

REVIEWING = ("Reviewer", "QA", "Security")
OF_ROLE = {
    "Reviewer": ("review_comments",),
    "QA": ("test_results", "coverage_gaps"),
    "Security": ("findings",),
    "Researcher": ("options", "confidence"),
}


class Artifacts(Value, frozen=True, omit_defaults=False):
    """The files that were written, and notes for the report."""

    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Gates(Value, frozen=True, omit_defaults=False):
    """The agent's assessment of its own work. It can ask for more scrutiny, never for less."""

    meets_definition_of_done: bool
    needs_review: bool
    needs_tests: bool
    security_concerns: tuple[str, ...]


class Next(Value, frozen=True, omit_defaults=False):
    """The agent's opinion of what comes next."""

    research: bool = False
    ui: bool = False
    complexity: Literal["low", "medium", "high"] = "low"
    reason: str = ""


class ReviewComment(Value, frozen=True, omit_defaults=False):
    """One comment of a Reviewer."""

    severity: Literal["nit", "minor", "major", "blocker"]
    category: str
    file: str
    line: int
    message: str
    suggested_fix: str = ""

    @property
    def text(self) -> str:
        return f"{self.severity} {self.file}:{self.line} {self.message}" + (f" ({self.suggested_fix})" if self.suggested_fix else "")


class SecurityFinding(Value, frozen=True, omit_defaults=False):
    """One finding of Security."""

    severity: Literal["low", "medium", "high", "critical"]
    category: str
    file: str
    description: str
    recommended_fix: str = ""

    @property
    def text(self) -> str:
        return f"{self.severity} {self.file} {self.description}" + (f" ({self.recommended_fix})" if self.recommended_fix else "")


class TestResults(Value, frozen=True, omit_defaults=False):
    """QA's report of the tests. The machine runs them itself as well."""

    __test__ = False

    passed: int = 0
    failed: int = 0
    summary: str = ""


class RoleReply(Value, frozen=True):
    """The reply of any role. Each field after `next` belongs to one role."""

    status: ReplyStatus
    summary: str
    artifacts: Artifacts
    gates: Gates
    next: Next = Next()
    review_comments: tuple[ReviewComment, ...] | None = None
    test_results: TestResults | None = None
    coverage_gaps: tuple[str, ...] | None = None
    findings: tuple[SecurityFinding, ...] | None = None
    options: tuple[str, ...] | None = None
    confidence: Literal["low", "medium", "high"] | None = None


class ReviewPoint(Value, frozen=True):
    """A finding of a reviewing role, with an id by which a person can waive it. The id stays when the finding moves to another line."""

    id: str
    text: str
    blocks: bool = False
    medium: bool = False


def read_reply(text: str, role: str) -> tuple[RoleReply | None, str]:
    """Parse a role's reply; returns it, or what is wrong with it. Never raises."""
    try:
        reply = msgspec.convert(json_value(text), RoleReply)
    except ValueError as e:
        return None, f"the reply cannot be read: {e}"
    fault = _fault(reply, role)
    return (None, f"the reply cannot be taken: {fault}") if fault else (reply, "")


def _fault(reply: RoleReply, role: str) -> str:
    """What is missing from a reply, or not allowed in it, for its role; empty if nothing."""
    mine = OF_ROLE.get(role, ())
    given = [name for names in OF_ROLE.values() for name in names if getattr(reply, name) is not None]
    if not reply.summary.strip():
        return "summary is empty"
    if reply.status == "OK" and not reply.gates.meets_definition_of_done:
        return "status is OK, and gates.meets_definition_of_done is false; finish the work, or say what stops you as BLOCKED or NEEDS_INFO"
    if foreign := [name for name in given if name not in mine]:
        return f"{foreign[0]} is not for {role}"
    if missing := [name for name in mine if name not in given and reply.status != "FAIL"]:
        return f"{missing[0]} is missing"
    if role in REVIEWING and reply.status in ("BLOCKED", "PASS_WITH_NOTES") and not points(reply):
        return f"{reply.status} without a single finding; say what is wrong, or OK"
    return ""


def points(reply: RoleReply) -> tuple[ReviewPoint, ...]:
    """Everything that a reviewing role found."""
    comments = tuple(
        ReviewPoint(_name(c.file, c.category, c.message), c.text, blocks=c.severity in ("major", "blocker"))
        for c in reply.review_comments or ()
    )
    findings = tuple(
        ReviewPoint(_name(f.file, f.category, f.description), f.text, f.severity in ("high", "critical"), f.severity == "medium")
        for f in reply.findings or ()
    )
    gaps = tuple(ReviewPoint(_name("", "coverage", gap), f"not covered: {gap}") for gap in reply.coverage_gaps or ())
    failed = reply.test_results.failed if reply.test_results else 0
    return (*comments, *findings, *gaps, *((ReviewPoint("failing-tests", f"{failed} tests fail", blocks=True),) if failed else ()))


def left_open(reply: RoleReply) -> tuple[str, ...]:
    """The findings that do not block and the notes, which the report mentions."""
    return (*(p.text for p in points(reply) if not p.blocks), *(note.strip() for note in reply.artifacts.notes if note.strip()))


def points_of(reply: RoleReply) -> tuple[ReviewPoint, ...]:
    """What a person is asked about: the findings of a reviewing role, or the notes of any other."""
    return points(reply) or tuple(ReviewPoint(_name("", "note", note), note) for note in reply.artifacts.notes)


def _name(file: str, category: str, words: str) -> str:
    return hashlib.sha256(f"{file}\n{category.lower()}\n{' '.join(words.lower().split())}".encode()).hexdigest()[:12]


def effective_status(reply: RoleReply, waived: frozenset[str] = frozenset()) -> ReplyStatus:
    """A reply's effective status: an OK with a blocking finding is BLOCKED, with a medium one a question. Waived findings do not count."""
    left = [p for p in points(reply) if p.id not in waived]
    if reply.status in ("OK", "PASS_WITH_NOTES") and any(p.blocks for p in left):
        return "BLOCKED"
    if reply.status in ("OK", "PASS_WITH_NOTES") and any(p.medium for p in left):
        return "NEEDS_DECISION"
    if reply.status in ("BLOCKED", "PASS_WITH_NOTES", "NEEDS_DECISION") and points(reply) and not left:
        return "OK"
    return reply.status


# Gates: what a role may write

DOCS = ("README*", "docs/*", "CHANGELOG*", "*.md", "*.rst")
BUILD = (
    "Makefile", "makefile", "*.mk", "CMakeLists.txt", "*.cmake", "meson.build", "BUILD", "*.bazel", "Dockerfile*", "compose*.y*ml", ".dockerignore",
    "*.toml", "*.cfg", "*.ini", "setup.py", "MANIFEST.in", "requirements*.txt", "*.lock", "package*.json", "*lock.json", "pnpm-*.yaml", "tsconfig*.json",
    "*.gradle*", "gradle/*", "pom.xml", "*.csproj", "*.sln", "go.mod", "go.sum", "Gemfile*", "composer.*", ".github/*", ".gitlab-ci.yml", "ci/*",
    "scripts/*", "CHANGELOG*", "RELEASE*", "VERSION", "docs/release*",
)  # fmt: skip


def _fits(path: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch(path, g) or fnmatch(path.rpartition("/")[2], g) for g in globs)


def _strays(look: FilesLook[SessionData], globs: tuple[str, ...]) -> list[str]:
    return [c.path for c in look.changed() if not _fits(c.path, globs)]


def wrote_nothing(look: FilesLook[SessionData]) -> str | None:
    """The tree is the one that the role was given to judge: a Reviewer and Security write nothing."""
    changed = [c.path for c in look.changed()]
    return (
        f"{changed[0]} changed while the tree was judged; this role writes nothing, and a verdict holds only for the tree it was given"
        if changed
        else None
    )


def wrote_only_tests(look: FilesLook[SessionData]) -> str | None:
    """QA writes test files and nothing else."""
    wrong = [c.path for c in look.changed() if c.sort != "test"]
    return f"{wrong[0]} changed; QA writes test files only" if wrong else None


def wrote_only_build_files(look: FilesLook[SessionData]) -> str | None:
    """The Integrator writes build and release files and nothing else."""
    wrong = _strays(look, BUILD)
    return f"{wrong[0]} changed; the Integrator writes build and release files only" if wrong else None


def wrote_only_docs(look: FilesLook[SessionData]) -> str | None:
    """Docs writes documentation and nothing else."""
    wrong = _strays(look, DOCS)
    return f"{wrong[0]} changed; Docs writes documentation only" if wrong else None


def readme_or_reason(look: FilesLook[SessionData]) -> str | None:
    """Docs changed the README, or states in artifacts.notes why not."""
    reply = _reply(look, "Docs")
    has_reason = reply is None or any(
        note.strip() and not any(how.match(note.strip()) for how in HOW.values()) for note in reply.artifacts.notes
    )
    readme = any(c.path.rpartition("/")[2].upper().startswith("README") for c in look.changed())
    return None if readme or has_reason else "the README is as it was; update it, or say in artifacts.notes why it needs no change"


HOW = {
    "run": re.compile(r"(how to )?run\b", re.IGNORECASE),
    "test": re.compile(r"(how to )?test\b", re.IGNORECASE),
}  # the beginnings of such notes


def says_how_to_run_and_test(look: SubmitLook[SessionData]) -> str | None:
    """Docs tells in artifacts.notes how to run what was built, and how to test it."""
    reply = _reply(look, "Docs")
    notes = reply.artifacts.notes if reply else ()
    missing = [word for word, begins in HOW.items() if not any(begins.match(note.strip()) for note in notes)]
    return (
        f"artifacts.notes has no note that begins with '{missing[0]} it: '; the report tells people how to {missing[0]} it"
        if missing
        else None
    )


def _reply(look: SubmitLook[SessionData], role: str) -> RoleReply | None:
    """The reply to judge: the one handed in, or the one that a person accepted."""
    accepted: RoleReply | None = getattr(look.run.data, "accepted", None)
    return read_reply(look.sent.reply, role)[0] if look.sent.reply else accepted


def _inside(look: SubmitLook[SessionData], role: str, folder: str) -> list[str]:
    """The files below a folder of the session that the role's reply names."""
    reply = _reply(look, role)
    return [path for path in (reply.artifacts.files if reply else ()) if path.startswith(f"{look.run.data.session}/{folder}")]


def _named(look: FilesLook[SessionData], role: str, folder: str) -> str | None:
    inside = _inside(look, role, folder)
    empty = [path for path in inside if not (look.read(path) or "").strip()]
    if not inside:
        return f"artifacts.files names no file below {look.run.data.session}/{folder}"
    return f"{empty[0]} is named but does not exist" if empty else None


def research_is_there(look: FilesLook[SessionData]) -> str | None:
    """The Researcher's report exists and is named in its reply."""
    return _named(look, "Researcher", RESEARCH)


def records_are_there(look: FilesLook[SessionData]) -> str | None:
    """Every decision record that the Architect names exists; those of earlier rounds are looked at too."""
    inside, earlier = _inside(look, "Architect", RECORDS), look.run.data.records
    empty = [path for path in dict.fromkeys((*inside, *earlier)) if not (look.read(path) or "").strip() and path in inside]
    return f"{empty[0]} is named but does not exist" if empty else None


def design_spec_is_there(look: FilesLook[SessionData]) -> str | None:
    """The Designer's spec exists and is named in its reply."""
    return _named(look, "Designer", SPECS)
