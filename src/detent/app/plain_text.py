"""Texts for a terminal: control characters made visible, and an agent's calls written as commands.

Tables and briefings name calls as tools (`submit_work with summary`); a terminal needs what can be typed
(`detent submit-work --summary …`). Knows the names of the calls; changes nothing else in a text.
"""

import re

import msgspec

from detent.kernel.model import Briefing

STUCK = ("HALTED", "BLOCKED")


def render_briefing(briefing: Briefing) -> tuple[str, str, int]:
    """A briefing as text, as JSON, and with its exit code."""
    trouble = f"\n\nLast error: {plain(briefing.last_error)}" if briefing.actor == "system" and briefing.last_error else ""
    text = typed(plain(briefing.briefing)).rstrip() + trouble + "\n"
    return text, msgspec.json.encode(briefing).decode() + "\n", 10 if briefing.state in STUCK else 0


def plain(text: str) -> str:
    """Text with control characters escaped, so that it cannot move the cursor, hide or recolour anything."""
    return HIDDEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")  # all but tab and newline


# -- the calls in the words of the command line ----------------------------------------------------------------------------------

FIELDS = ("summary", "test_command", "expectation", "analysis_decision", "commit_hash", "findings", "reply", "no_pr_left")
JSON = r"\{(?:[^{}\n]|\{[^{}\n]*\})*\}"  # an object, with objects in it
FIELD = rf"(?:an? )?(?:{'|'.join(FIELDS)})(?: (?:\"[^\"\n]*\"|true\b|{JSON}))?(?: or \"[^\"\n]*\")?"
LIST = rf"{FIELD}(?:(?:, and |, | and ){FIELD})*"
SUBMIT = re.compile(rf"\b([Cc])all submit_work(?: with ({LIST}))?")
ONE = re.compile(rf"(?:an? )?({'|'.join(FIELDS)})(?: (\"[^\"\n]*\"|true\b|{JSON}))?(?: or (\"[^\"\n]*\"))?")
REPORT = re.compile(r"\b([Cc])all escalate_for_external_help(?: with markdown_report)?")
PASSED_TO = re.compile(r"\bpass it to\s+escalate_for_external_help as markdown_report")
OTHERS = re.compile(r"\b([Cc])all (get_task|request_scope_reduction)\b")
HANDED = re.compile(r"\bas `?(findings|commit_hash)`?(?=[.:])")
LISTED = re.compile(r"^- (request_scope_reduction|escalate_for_external_help): ", re.MULTILINE)
FITS = re.compile(r"^(submit_work|request_scope_reduction|escalate_for_external_help)(?= is not possible in )", re.MULTILINE)
GIVEN = re.compile(rf"\b(with|pass) (expectation|reply) (\"[^\"\n]*\"|{JSON})")
WITH_TEST_COMMAND = re.compile(r"(?<=together with )test_command\b")
LACKING = re.compile(
    r"^(- `)?(test_command|expectation|reply|commit_hash)(?=` is | is (?:missing|empty)\b| is [^\n]*, but HEAD is )", re.MULTILINE
)


def typed(text: str) -> str:
    """A text of Detent with every call of an agent written as a command."""
    text = SUBMIT.sub(lambda m: f"{_run(m[1])} `{' '.join(['detent submit-work', *_flags(m[2] or '')])}`{_held(m[2] or '')}", text)
    text = text.replace("--reply FILE`, the one ", "--reply FILE`, where FILE has the one ")
    text = REPORT.sub(lambda m: f"{_run(m[1])} `detent escalate-for-external-help --report FILE`", text)
    text = PASSED_TO.sub("hand it in with `detent escalate-for-external-help --report FILE`", text)
    text = OTHERS.sub(lambda m: f"{_run(m[1])} `detent {m[2].replace('_', '-')}`", text)
    text = FITS.sub(lambda m: f"`detent {m[1].replace('_', '-')}`", text)
    text = GIVEN.sub(lambda m: f"{m[1]} --{m[2]} {_quoted(m[3])}", WITH_TEST_COMMAND.sub("--test-command", text))
    text = LACKING.sub(lambda m: f"{m[1] or ''}--{m[2].replace('_', '-')}", text)
    text = HANDED.sub(lambda m: f"with `--{m[1].replace('_', '-')}`", text)
    return LISTED.sub(lambda m: f"- `detent {m[1].replace('_', '-')}`: ", text)


def _run(letter: str) -> str:
    return "Run" if letter == "C" else "run"


def _quoted(value: str) -> str:
    """A value as a shell takes it: a word as it is, JSON in quotes."""
    return value.strip('"') if value.startswith('"') else f"'{value}'"


def _held(sentence: str) -> str:
    """The content of the reply file, if the sentence shows it."""
    shown = [value for _, value, _ in ONE.findall(sentence) if value.startswith("{")]
    return f", where FILE has {shown[0]}" if shown else ""


def _flags(sentence: str) -> list[str]:
    """The fields that a sentence names, as command-line flags with their values."""
    found = []
    for name, value, other in ONE.findall(sentence):
        flag = f"--{name.replace('_', '-')}"
        if name == "no_pr_left":
            found.append(flag)
        elif name in ("findings", "reply") and not value.startswith('"'):
            found.append(f"{flag} FILE")
        else:
            found.append(f"{flag} {'|'.join(each.strip(chr(34)) for each in (value, other) if each) or '…'}")
    return found
