"""The review of a branch by a fresh agent, the items filed for its issues, and the pull request that waits for its approval."""

import shlex
from pathlib import Path
from typing import NamedTuple

from detent.blocks.briefs import prompt as prompt_file
from detent.blocks.open_flags import for_reviewer
from detent.door import AnyEvent, AnyRun
from detent.effects.merge import offered
from detent.errors import CannotTell
from detent.gates.item import BranchReview, read_review, review_in
from detent.git.commits import short
from detent.git.repo import Git
from detent.kernel.model import Flag, Sent
from detent.storage.state import read_sealed, write_sealed
from detent.tracker import Item, Tracker, TrackerChange
from detent.workflows.execute.execute_items import holder, keys_of, of_issue
from detent.world.landing import open_pr
from detent.world.pulls import judged_by_ci, kept_url, reached
from detent.world.reviewer import Limited, ReviewQuestion, ask_reviewer, bounded_diff, fenced, is_parked, kept_review
from detent.world.work_tree import RepoWorld, outcome

PROMPTS = Path(__file__).parent / "prompts"


class About(NamedTuple):
    """What is reviewed, and what the reviewer reads about it."""

    name: str  # of the run or the review, for its record
    branch: str
    base: str
    tip: str
    item: str = ""
    title: str = ""
    description: str = ""
    guidance: str = ""
    flags: tuple[Flag, ...] = ()
    seq: int = 0  # of the event that asks for it: another review of the same branch is a new attempt, even if nothing changed


def question_about(git: Git, about: About) -> ReviewQuestion:
    item = f"Work item {about.item}: {about.title}\n\n{about.description}\n\n" if about.item else ""
    guidance = f"## Said by a person\n\n{about.guidance}\n\n" if about.guidance else ""
    head = f"# Review of the branch {about.branch}\n\n{item}{guidance}The files as the branch has them are in your folder.\n\n"
    head += f"{flags}\n\n" if (flags := for_reviewer(about.flags)) else ""
    prompt = head + fenced("The diff", "diff", bounded_diff(git, f"{about.base}...{about.tip}"))
    return ReviewQuestion(
        about.name,
        "REVIEWING",
        git.tree(about.tip),
        f"Review {about.branch}",
        prompt,
        f"{prompt_file(PROMPTS, 'review-branch')}\n",
        _read,
        f"{about.name}.{about.seq}.{about.tip}" if about.seq else f"{about.name}.{about.tip}",
    )


def _read(words: str) -> str:
    text = review_in(words)
    read_review(text)
    return text


def review_branch(world: RepoWorld, run: AnyRun) -> Sent | None:
    """Have the pushed branch reviewed. The answer is kept, so a crash does not pay twice; a usage limit parks the run."""
    data, item = run.data, run.data.item
    if is_parked(run.not_before, world.clock()):
        return None
    about = About(
        run.id, short(data.branch), data.base, data.pushed, item.id, item.title, item.description, run.guidance, run.flags, run.seq
    )
    file = world.place.common_dir / "detent" / "reviews" / f"{run.id}-{run.seq}-{data.pushed}.json"
    try:
        text, took = kept_review(file, lambda: ask_reviewer(world.git, world.runs.reviewer(run), question_about(world.git, about)))
    except Limited as e:
        return e.sent
    return outcome("ready" if read_review(text).pr_ready else "not-ready", findings=text, **took)


def filed(tracker: Tracker, review: BranchReview, about: str, branch: str, found_in: str) -> list[Item]:
    """File every issue of a review as an item, once each."""
    return [tracker.add(of_issue(issue, about, branch, found_in)) for issue in review.issues]


def file_issues(world: RepoWorld, event: AnyEvent) -> None:
    """File the review's issues. Claim those that this execution fixes itself, close those that are gone, and leave the rest open."""
    run, review = event.run, event.run.data.review
    if review is None:
        return
    tracker, item = world.config_of(run).tracker(), run.data.item.id
    found = filed(tracker, review, item, short(run.data.branch), item)
    for each in found if not review.pr_ready else ():
        if each.status == "closed":
            tracker.change(each.id, TrackerChange("open", note=f"Found again by the review of {run.data.pushed[:12]}."))
        if run.state == "RUNNING":
            tracker.claim(each.id, holder(run))
    resolved = _of_earlier(world, run) - keys_of(review, item)
    _let_go(tracker, run, keys_of(review, item) if run.state != "RUNNING" else set())
    for each in (each for each in (tracker.items() if resolved else ()) if each.key in resolved and each.status != "closed"):
        tracker.change(each.id, TrackerChange("closed", "", note=f"The review of {run.data.pushed[:12]} no longer finds it."))


def _of_earlier(world: RepoWorld, run: AnyRun) -> set[str]:
    """The keys of all issues that reviews of this execution have found."""
    reviews = (each.run.data.review for each in world.runs.history(run.id) if each.run.seq <= run.seq and each.run.data.review is not None)
    return {key for review in reviews for key in keys_of(review, run.data.item.id)}


def _let_go(tracker: Tracker, run: AnyRun, keys: set[str]) -> None:
    """Release the items of these keys that this execution holds, and open them again."""
    for each in tracker.items() if keys else ():
        if each.key in keys and each.assignee == holder(run):
            tracker.change(each.id, TrackerChange("open" if each.status == "in_progress" else "", ""))


def let_go_of_issues(world: RepoWorld, run: AnyRun, tracker: Tracker) -> None:
    """Release the unfixed issues of an execution that has ended."""
    _let_go(tracker, run, _of_earlier(world, run))


def watch_items(world: RepoWorld, run: AnyRun) -> Sent | None:
    """Report "items-closed" once every item that the review filed is closed."""
    keys = keys_of(run.data.review, run.data.item.id) if run.data.review else set()
    with reached():
        mine = [item for item in world.config_of(run).tracker().items() if item.key in keys]
    done = keys and {item.key for item in mine if item.status == "closed"} == keys
    return outcome("items-closed") if done else None


def open_pull_request(world: RepoWorld, run: AnyRun) -> Sent:
    """Open the pull request, once per commit, and only for a commit that a review or a person approved."""
    if run.data.reviewed != run.data.pushed:
        raise CannotTell(f"no review found {run.data.pushed[:12]} ready; nothing was opened")
    mark = offered(world.git, run.data.branch)
    if read_sealed(mark) != run.data.pushed:
        open_pr(world, run, world.collector(run), shlex.split(world.config_of(run).ways.pr_command))
        write_sealed(mark, run.data.pushed)
    return judged_by_ci(world, run) or outcome("opened", url=kept_url(world.place.common_dir, run.id))
