"""Asks a reviewer: a fresh agent in a clean checkout, once for each tree. Knows no workflow.

The agent, its tools and limits are handed in; its usage goes into the event, as for any other agent.
"""

import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from detent.errors import CannotTell
from detent.git.checkout import clean_checkout
from detent.git.repo import Git
from detent.kernel.model import Sent
from detent.storage.state import read_sealed, write_sealed

if TYPE_CHECKING:
    from detent.agents import Turn, Usage

LONGEST_DIFF = 400_000  # characters of a diff for a reviewer
LONGEST_QUOTED = 2_000  # characters quoted of an invalid answer
AGAIN = "Your answer could not be read: {why}. Answer again with the one JSON object that was requested, and nothing after it."
Took = dict[str, str]


class Asking(NamedTuple):
    """How a reviewer is asked: its spec, and a function that makes its turn for a folder."""

    spec: str
    outer: Mapping[str, str]
    turn: "Callable[[Path], Turn]"


class ReviewQuestion(NamedTuple):
    """A question about a tree. `read` parses the answer, and raises CannotTell if it is invalid."""

    name: str  # of the run or the review, for transcripts
    state: str
    tree: str
    goal: str
    prompt: str
    system: str
    read: Callable[[str], str]
    attempt: str  # stable across crashes
    parts: Mapping[str, str] = MappingProxyType({})  # parts of the prompt, for programs that read JSON


class Limited(Exception):
    """The reviewer's usage limit is reached, until a given time."""

    def __init__(self, message: str, not_before: str, took: Took) -> None:
        super().__init__(message)
        self.sent = Sent("outcome", by="system", outcome="limited", output=message, not_before=not_before, facts=took)


def ask_reviewer(git: Git, asking: Asking, question: ReviewQuestion) -> tuple[str, Took]:
    """The review and its usage. An invalid answer is asked for once more, with the reason.

    CannotTell, with the usage, if the reviewer fails or is invalid again; Limited at a usage limit.
    """
    text, took = _asked(git, asking, question)
    try:
        return question.read(text), took
    except CannotTell as e:
        again = f"{question.prompt}\n\n{AGAIN.format(why=e)}\n\n{fenced('Your answer', 'text', text[:LONGEST_QUOTED])}"
    try:
        text, more = _asked(git, asking, question._replace(prompt=again, attempt=f"{question.attempt}.again"))
    except CannotTell as e:
        raise CannotTell(str(e), _together(took, e.facts)) from e
    took = _together(took, more)
    try:
        return question.read(text), took
    except CannotTell as e:
        answer = text.strip()[:LONGEST_QUOTED]
        raise CannotTell(f"the reviewer's answer could not be read, twice: {e}. It said: {answer or '(nothing)'}", took) from e


def _asked(git: Git, asking: Asking, q: ReviewQuestion) -> tuple[str, Took]:
    """One answer, in a fresh context. A program that reads JSON gets everything that a model gets."""
    from detent.agents import AgentFailed, ask  # imported late: few jobs ask a reviewer

    begun = time.monotonic()
    payload = {"run": q.name, "state": q.state, "role": "reviewer", "goal": q.goal, "system": q.system, "attempt_id": q.attempt, **q.parts}
    payload["briefing"] = f"{q.system.strip()}\n\n{q.prompt}"
    with clean_checkout(git, q.tree) as folder:
        turn = asking.turn(folder)
        env = {**turn.env, "DETENT_RUN": q.name, "DETENT_STATE": q.state, "DETENT_ROLE": "reviewer"}
        turn = turn._replace(briefing=json.dumps(payload), prompt=q.prompt, system=q.system, workspace=folder, env=env)
        try:
            reply = ask(asking.spec, turn, asking.outer)
        except AgentFailed as e:
            took = {**_took(e.usage, begun, 1, turn.transcript), "asked": asking.spec}
            if e.sort == "RateLimit" and e.not_before:
                raise Limited(f"the reviewer has to wait: {e.message}", e.not_before, took) from e
            raise CannotTell(f"the reviewer gave no review: {e.message}", took) from e
    return reply.text, {**_took(reply.usage, begun, max(1, reply.turns), turn.transcript), "asked": asking.spec}


def _together(one: Took, two: Took) -> Took:
    """The usage of two turns together."""
    first, second = (json.loads(each["usage"]) for each in (one, two))
    usage = {name: first[name] + second[name] for name in first}
    seconds, turns = float(one["seconds"]) + float(two["seconds"]), int(one["turns"]) + int(two["turns"])
    return {**two, "usage": json.dumps(usage), "seconds": f"{seconds:.1f}", "turns": str(turns)}


def is_parked(not_before: str, now: str) -> bool:
    """Whether a usage limit still holds."""
    return bool(not_before) and datetime.fromisoformat(not_before) > datetime.fromisoformat(now)


def _took(usage: "Usage", begun: float, turns: int, transcript: Path | None) -> Took:
    seconds = f"{time.monotonic() - begun:.1f}"
    return {"usage": json.dumps(usage._asdict()), "seconds": seconds, "turns": str(turns), "transcript": str(transcript or "")}


def kept_review(file: Path, make: Callable[[], tuple[str, Took]], repeats: bool = False) -> tuple[str, Took]:
    """A review from its file, or made and stored there, so that it is paid for once. The file is sealed.

    Its usage is stored too, in case of a crash before the event. `repeats`: several events may use it, so its usage is given only once.
    """
    took_file = file.with_suffix(".took")
    if (known := read_sealed(file)) is not None:
        return known, {} if repeats else json.loads(read_sealed(took_file) or "{}")
    text, took = make()
    write_sealed(took_file, json.dumps(took), durable=False)
    write_sealed(file, text)
    return text, took


def bounded_diff(git: Git, *span: str) -> str:
    """A diff, cut if too long."""
    diff = git.run("diff", "--no-ext-diff", "--no-textconv", "--no-color", *span, "--").text
    cut = f"\n[the diff has {len(diff)} characters; the rest is in the files]" if len(diff) > LONGEST_DIFF else ""
    return diff[:LONGEST_DIFF] + cut


def fenced(title: str, kind: str, text: str) -> str:
    """A fenced part of a prompt, marked as data."""
    return f"## {title}\n\n~~~~~~{kind}\n{text.rstrip()}\n~~~~~~\n"
