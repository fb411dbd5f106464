"""The jobs and effects of `execute` on a real repository: item, branch, workspace, commit, push, and updates of the tracker."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from detent.blocks.check_card import markdown_of
from detent.door import AnyEvent, AnyRun
from detent.effects.make_branch import make_branch
from detent.effects.publish import write_whole
from detent.errors import CannotTell
from detent.evidence.outcomes.claims import REF
from detent.git.commits import bring_to, commit_phase, main_branch, short, slug
from detent.git.land_merge import fetch_main
from detent.git.notes import HANDOFFS, push_notes, read_note, write_notes
from detent.git.remote import fetch_branch, free_name, has_remote, names_at, push_branch, replay
from detent.git.repo import ZERO, Git
from detent.git.workspace import choose_root, make_workspace, remove_workspace, workspace_place
from detent.kernel.model import Sent
from detent.kernel.redact import redactor, secrets_of
from detent.tracker import HERE, Item, NewItem, Status, Tracker, TrackerChange, UnknownItem, open_of
from detent.workflows.execute.execute_data import PLAIN, follow_up_of, item_after, plan_of
from detent.workflows.execute.execute_items import KEY, holder
from detent.workflows.execute.execute_join import take_in
from detent.workflows.execute.execute_last import keep_work, merge_kept_work, newest_tree
from detent.workflows.execute.execute_needs import begun_from, finished, held, of_review, open_pull
from detent.workflows.execute.execute_review import file_issues, let_go_of_issues, open_pull_request, review_branch, watch_items
from detent.world.before_landing import card_of, held_up
from detent.world.furnish import furnish
from detent.world.publish_claims import settle_claims, write_claims
from detent.world.pulls import reached
from detent.world.work_tree import ITEM_FOLDER, Effects, Jobs, RepoWorld, outcome, root_of, stays_inside

PLAN = f"{ITEM_FOLDER}plan.md"
NOTES = HANDOFFS  # notes on the commits of an inner run, copied when these are rebased
LONGEST_NAME = 60  # characters of an item's id, and of its title, in the name of its branch
FAILED = ("FAILED", "TIMEOUT")  # the end states that count as failures of an item


def branch_wanted(template: str, item: str, title: str) -> str:
    """The branch name of an item: its id and title as slugs, without the gaps that empty ones would leave."""
    name = template.replace("{id}", slug(item, LONGEST_NAME)).replace("{title}", slug(title, LONGEST_NAME))
    return re.sub(r"-{2,}", "-", name).strip("-/") or "item"


# -- jobs --------------------------------------------------------------------------------------------------------------------


def _prepare(world: RepoWorld, run: AnyRun) -> Sent:
    """Look at the item; if it may run, claim it and create branch and workspace."""
    with reached():
        tracker = world.config_of(run).tracker()
        try:
            item = tracker.items(run.data.item.id)[0]
        except UnknownItem as e:
            return outcome("not-runnable", e.message)
        waiting, failures = open_of(tracker, item.depends_on), _failures(world, run)
        facts = {"open_dependencies": " ".join(waiting), "failures": str(failures)}
        if waiting or failures >= run.limits["item_failures"]:
            return outcome("started", **facts)  # the gates refuse it
        if reason := _unfit(tracker, item, run):
            return outcome("not-runnable", reason)
    if (there := _on_pull(world, run)) is not None:
        return outcome("started", **facts, **there, at=world.clock())
    about = of_review(world, run, item)
    return _begin(world, run, facts, about.needed or finished(world, run, item.depends_on), about.part_of)


def _wants_plan(run: AnyRun) -> bool:
    from detent.app.registry import workflow_of  # imported late: few executions have an inner run

    return run.data.setup.strategy != PLAIN and workflow_of(run.data.setup.strategy).wants_plan


def _unfit(tracker: Tracker, item: Item, run: AnyRun) -> str:
    """Why an item may not be run now; empty once it is claimed."""
    if item.status == "closed":
        return f"{item.id} is closed"
    if item.status in ("blocked", "deferred") and not run.data.again:
        return f"{item.id} is {item.status}; once that has changed: detent queue retry {item.id}"
    if not tracker.claim(item.id, holder(run)):
        return f"{item.id} is claimed by {tracker.items(item.id)[0].assignee or 'someone else'}"
    return ""


def _failures(world: RepoWorld, run: AnyRun) -> int:
    """How many attempts at the item failed in a row before this one; the count starts again where a person asked for an attempt."""
    name, _, number = run.id.rpartition("-")
    failures = 0
    if run.data.again:
        return 0
    for n in range(int(number) - 1, 0, -1):
        earlier = next(iter(world.runs.family(f"{name}-{n}")), None)
        if earlier is None or earlier.state not in (*FAILED, "CANCELLED"):
            break
        failures += earlier.state in FAILED
        if earlier.data.again:
            break
    return failures


def _on_pull(world: RepoWorld, run: AnyRun) -> dict[str, str] | None:
    """Start on the branch of an open pull request, at its tip. Safe to repeat after a crash, since nothing moved in between."""
    git, ways, own = world.git, world.config_of(run).ways, f"refs/detent/{run.id}/tip"
    known = git.resolve(own)
    there = open_pull(world, run, fetch_main(git, main_branch(git, ways.main), ways.remote), bool(known))
    if there is None:
        return None
    here = git.resolve(f"{there.branch}^{{commit}}")
    moves = [(there.branch, there.tip, here or ZERO)] if here != there.tip else []
    git.update([*moves, *([(own, there.tip, known or ZERO)] if known != there.tip else [])])
    root = choose_root(world.place, run.id)
    inner = make_workspace(git, root, there.branch, there.tip)
    furnish(inner, world.config_of(run), world.place.root, world.collector(run).env, world.runs.wanted)
    where = {"branch": there.branch, "base": there.base, "tree": git.tree(there.tip), "workspace": str(root)}
    return {**where, "begun": "pull", "onto": short(there.branch)}


def _begin(world: RepoWorld, run: AnyRun, facts: dict[str, str], needed: Mapping[str, str], part_of: str) -> Sent:
    git, ways, item = world.git, world.config_of(run).ways, run.data.item
    wanted = branch_wanted(run.data.setup.branch_name, item.id, item.title)

    def choose() -> str:
        return free_name(git, wanted, names_at(git, ways.remote, wanted) if has_remote(git, ways.remote) else frozenset())

    def start(main: str) -> str:
        return next(iter(needed.values())) if part_of else begun_from(git, main, needed, item.id, world.clock())

    made = make_branch(git, run.id, 1, choose, ways.main, ways.remote, start)
    main = main_branch(git, ways.main)
    onto = held(git, made.base, git.resolve(f"refs/remotes/{ways.remote}/{short(main)}") or git.resolve(main), needed)
    root = choose_root(world.place, run.id)
    inner = make_workspace(git, root, made.branch, made.base)
    furnish(inner, world.config_of(run), world.place.root, world.collector(run).env, world.runs.wanted)
    plan = lay_plan(root, run) if _wants_plan(run) else ""
    begun = merge_kept_work(inner, run, made.base, world.clock())
    where = {"branch": made.branch, "base": made.base, "tree": made.tree, "workspace": str(root), "plan": plan, "onto": " ".join(onto)}
    return outcome("started", **facts, **where, part_of=part_of, begun=begun, at=world.clock())


def lay_plan(root: Path, run: AnyRun) -> str:
    """Write the item's text as a plan into the workspace and return its path. An existing one is kept, since its entry may be marked."""
    file = root / PLAN
    if not file.exists() and stays_inside(root, PLAN):
        file.parent.mkdir(exist_ok=True)
        write_whole(file, plan_of(run.data.item, run.data.setup.commit_subject))
    return PLAN


def _push(world: RepoWorld, run: AnyRun) -> Sent:
    git, remote, branch = world.git, world.config_of(run).ways.remote, run.data.branch
    tip = _tip(git, run)
    if (stop := held_up(world, run, failed="red-look")) is not None:
        return stop
    if not has_remote(git, remote):
        return outcome("pushed", commit=tip)
    write_claims(world, run)  # its evidence may be on another machine
    pushed = push_branch(git, remote, tip, branch)
    if pushed.ok and (fault := push_notes(git, remote, REF, HANDOFFS)):
        raise CannotTell(f"the notes could not be pushed with the branch: {fault}")
    return outcome("pushed", commit=tip) if pushed.ok else outcome("rejected", pushed.output)


def _tip(git: Git, run: AnyRun) -> str:
    """The commit to push. Its tree must be the proved one."""
    tip = git.resolve(f"{run.data.branch}^{{commit}}")
    if not tip or git.tree(tip) != run.data.proved_tree:
        raise CannotTell(f"{run.data.branch} is not at the tree that was proved; someone moved it")
    return tip


def _rebase(world: RepoWorld, run: AnyRun) -> Sent:
    """Replay the branch onto the remote's version of it. If it is already on top of that, a crash came after the rebase."""
    git, data = world.git, run.data
    tip, theirs = git.resolve(f"{data.branch}^{{commit}}"), fetch_branch(git, world.config_of(run).ways.remote, data.branch)
    if theirs and not git.is_ancestor(theirs, tip):
        base = git.run("merge-base", theirs, tip).text
        done = replay(git, base, tip, theirs, world.clock())
        if done.conflict:
            return outcome("conflict", f"The branch conflicts with what the remote has: {done.conflict}")
        write_notes(git, NOTES, {new: note for old, new in done.commits if (note := read_note(git, NOTES, old))})
        own = f"refs/detent/{run.id}/tip"
        git.update([(data.branch, done.tip, tip), (own, done.tip, git.resolve(own) or ZERO)])
        tip = done.tip
    bring_to(git, git.tree(tip), world.snapshot(run))
    return outcome("rebased", commit=tip)


JOBS: Jobs = {
    "prepare": _prepare,
    "push": _push,
    "rebase": _rebase,
    "review_branch": review_branch,
    "watch_items": watch_items,
    "take_in": take_in,
    "open_pull_request": open_pull_request,
}

# -- effects -----------------------------------------------------------------------------------------------------------------


def _commit(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    before = run.data.pushed or run.data.base  # an inner run commits by itself; what it made is in the pushed commit
    commit_phase(world.git, run.id, run.seq, event.found.tree, run.data.subject, event.at, before)


def _snapshot(world: RepoWorld, event: AnyEvent) -> None:
    """Keep what is in the workspace, if it still exists, under a ref; never a person's own checkout. Of a turn that was cut off, keep what that left."""
    run = event.run
    if run.data.setup.workspace and world.place.root == root_of(world.place.common_dir, run):
        tree = world.snapshot(run)
        keep_work(world.git, run, newest_tree(world.git, run, world.runs.history(run.id)) or tree, event.at)


def _update_item(world: RepoWorld, event: AnyEvent) -> None:
    """Update the item as the end demands, and release the claim."""
    run, tracker = event.run, world.config_of(event.run).tracker()
    if run.data.review is not None:
        let_go_of_issues(world, run, tracker)
    try:
        now = tracker.items(run.data.item.id)[0]
    except UnknownItem:
        return  # the item is gone, so there is nothing to update
    after, mine = item_after(run), now.assignee == holder(run)
    status: Status | str = after.status or ("open" if mine and now.status == "in_progress" else "")
    if status or after.labels or mine:
        change = TrackerChange("", "" if mine else None, after.labels, note=_proof(world, run, tracker), by_merge=run.state == "COMPLETED")
        tracker.change(now.id, msgspec.structs.replace(change, status=status))


def _proof(world: RepoWorld, run: AnyRun, tracker: Tracker) -> str:
    """A comment for an external tracker: the branch, its pull request and the proof card; empty if the work is not done."""
    if run.state != "COMPLETED" or tracker.name in HERE:
        return ""
    where = f"Done on `{short(run.data.branch)}`" + (f": {run.data.pull}" if run.data.pull else ".")
    try:
        return f"{where}\n\n{markdown_of(card_of(world, run))}"
    except CannotTell:
        return where


def _file_follow_up(world: RepoWorld, event: AnyEvent) -> None:
    follow = follow_up_of(event.run)
    if follow is None:
        return
    tracker, redact = world.config_of(event.run).tracker(), redactor(secrets_of(world.outer))  # a tracker's data may be pushed
    follow = msgspec.structs.replace(follow, title=redact(follow.title), description=redact(follow.description))
    new = NewItem(follow.title, follow.description, type="bug", labels=("follow-up",), found_in=follow.linked_to, key=KEY + follow.key)
    filed = tracker.add(new)
    if follow.description.strip() not in filed.description:  # it existed before: add these details as a note
        tracker.change(filed.id, TrackerChange("open" if filed.status == "closed" else "", note=follow.description))


def _note(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    text = f"{run.data.setup.strategy}: {run.data.item.title} [DONE] {world.git.resolve(run.data.branch)[:12]} on {run.data.branch}"
    world.config_of(run).tracker().change(run.data.item.id, TrackerChange(note=f"{text} (execution {run.id})"))


def _sync(world: RepoWorld, event: AnyEvent) -> None:
    """Persist the tracker's data. A failure is kept as a warning of this execution and stops nothing."""
    file = warnings_file(world.place.common_dir, event.run.id)
    if fault := world.config_of(event.run).tracker().sync():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps([f"the tracker could not persist its data: {fault}"]), "utf-8")


def warnings_file(common: Path, run: str) -> Path:
    return common / "detent" / "transcripts" / run / "warnings.json"


def _clean_up(world: RepoWorld, event: AnyEvent) -> None:
    common = world.place.common_dir
    if event.run.data.setup.workspace:
        remove_workspace(workspace_place(common, root_of(common, event.run)))


def _end_processes(world: RepoWorld, event: AnyEvent) -> None:
    """Wait until the driver has ended the agent and its whole process tree."""
    from detent.world.turn_tree import wait_for_end

    wait_for_end(world.place.common_dir, event.run.id)


EFFECTS: Effects = {
    "commit_judged_tree": _commit,
    "publish_claims": settle_claims,
    "snapshot": _snapshot,
    "update_item": _update_item,
    "file_follow_up": _file_follow_up,
    "file_issues": file_issues,
    "note_on_item": _note,
    "sync_tracker": _sync,
    "clean_up": _clean_up,
    "end_processes": _end_processes,
}
