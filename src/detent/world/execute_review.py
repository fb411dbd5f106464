"""The review of a branch by a fresh agent, the items it files, and the pull request that it may hold back. On a real repository."""

import json
import os
import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.door import AnyEvent, AnyRun
from detent.errors import CannotTell
from detent.gates.item import BranchReview, read_review, review_in
from detent.git.checkout import clean_checkout
from detent.git.commits import short
from detent.git.repo import Git
from detent.kernel.model import Sent
from detent.tracker import Item, Tracker
from detent.workflows.prompts import review_prompt
from detent.world.items import of_issue, reached
from detent.world.kit import Kit
from detent.world.landing import open_pr
from detent.world.repo import RepoWorld, outcome

LONGEST_DIFF = 400_000  # characters that a reviewer gets to read
PATIENCE = 3600.0


class About(NamedTuple):
    """What is reviewed."""

    name: str  # of the run or the review, for the record
    branch: str
    base: str
    tip: str
    item: str = ""
    title: str = ""
    description: str = ""
    guidance: str = ""


class Asking(NamedTuple):
    """How a reviewer is asked."""

    git: Git
    kit: Kit
    outer: Mapping[str, str]
    env: Mapping[str, str]
    wanted: Callable[[], bool]


def ask_reviewer(asking: Asking, about: About) -> tuple[str, dict[str, str]]:
    """The review of a branch as JSON, and what it took. CannotTell if the reviewer fails or answers nonsense."""
    from detent.agents import AgentFailed, Turn, ask  # most jobs ask nobody

    begun = time.monotonic()
    with clean_checkout(asking.git, asking.git.tree(about.tip)) as folder:
        prompt = _prompt(asking.git, about)
        told = {"run": about.name, "state": "REVIEWING", "role": "reviewer", "goal": f"Review {about.branch}", "briefing": prompt}
        env = {**asking.env, "DETENT_RUN": about.name, "DETENT_STATE": "REVIEWING", "DETENT_ROLE": "reviewer"}
        turn = Turn(
            json.dumps(told), prompt, review_prompt(), folder, env=env, timeout=PATIENCE, start=asking.kit.start, apart=asking.kit.apart
        )
        try:
            reply = ask(asking.kit.reviewer, turn._replace(wanted=asking.wanted), asking.outer)
        except AgentFailed as e:
            raise CannotTell(f"the reviewer gave no review: {e.message}") from e
    text = review_in(reply.text)
    read_review(text)
    took = {"usage": json.dumps(reply.usage._asdict()), "seconds": f"{time.monotonic() - begun:.1f}", "turns": str(max(1, reply.turns))}
    return text, took


def _prompt(git: Git, about: About) -> str:
    diff = git.run("diff", "--no-ext-diff", "--no-textconv", "--no-color", f"{about.base}...{about.tip}", "--").text
    cut = f"\n[the diff has {len(diff)} characters; the rest is in the files]" if len(diff) > LONGEST_DIFF else ""
    item = f"Work item {about.item}: {about.title}\n\n{about.description}\n\n" if about.item else ""
    said = f"## Said by a person\n\n{about.guidance}\n\n" if about.guidance else ""
    head = f"# Review of the branch {about.branch}\n\n{item}{said}The files as the branch has them are in your folder.\n\n"
    return f"{head}## The diff\n\n~~~~~~diff\n{diff[:LONGEST_DIFF]}{cut}\n~~~~~~\n"


def kept_review(file: Path, make: Callable[[], tuple[str, dict[str, str]]]) -> tuple[str, dict[str, str]]:
    """A review that is paid for once: what is kept in a file is taken from there."""
    if file.exists():
        return file.read_text("utf-8"), {}
    text, took = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_suffix(".new")
    scratch.write_text(text, "utf-8")
    os.replace(scratch, file)
    return text, took


def review_branch(world: RepoWorld, run: AnyRun) -> Sent:
    """Have the pushed branch reviewed. A crash after a paid call does not pay again."""
    data, asking = run.data, Asking(world.git, world.kit_of(run), world.outer, world.collector(run).env, world.gear.wanted)
    item = data.item
    about = About(run.id, short(data.branch), data.base, data.pushed, item.id, item.title, item.description, run.guidance)
    file = world.place.common_dir / "detent" / "reviews" / f"{run.id}-{run.seq}-{data.pushed}.json"
    text, took = kept_review(file, lambda: ask_reviewer(asking, about))
    return outcome("ready" if read_review(text).pr_ready else "not-ready", findings=text, **took)


def filed(tracker: Tracker, review: BranchReview, about: str, branch: str, found_in: str) -> list[Item]:
    """Every issue of a review as an item, each filed once."""
    return [tracker.add(of_issue(issue, about, branch, found_in)) for issue in review.issues]


def file_issues(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    if run.data.review is not None:
        filed(world.kit_of(run).tracker(), run.data.review, run.data.item.id, short(run.data.branch), run.data.item.id)


def watch_items(world: RepoWorld, run: AnyRun) -> Sent | None:
    """Whether every item that the review filed is closed."""
    review, branch = run.data.review, short(run.data.branch)
    keys = {of_issue(issue, run.data.item.id, branch).key for issue in review.issues} if review else set()
    with reached():
        mine = [item for item in world.kit_of(run).tracker().items() if item.key in keys]
    done = keys and {item.key for item in mine if item.status == "closed"} == keys
    return outcome("items-closed") if done else None


def open_pull_request(world: RepoWorld, run: AnyRun) -> Sent:
    """Open it once: what was offered at this commit is open."""
    git, ways, branch = world.git, world.kit_of(run).ways, run.data.branch
    mark = f"refs/detent/offered/{short(branch)}"
    if git.resolve(mark) != run.data.pushed:
        if not ways.pr_command:
            raise CannotTell("git.pr_command is not set, so no pull request can be opened")
        open_pr(world, world.collector(run), shlex.split(ways.pr_command))
        git.run("update-ref", mark, run.data.pushed)
    return outcome("opened")
