"""`rollback`: a new run from an earlier event of an old one. The old run ends and loses nothing; no counter is reset."""

import re
import secrets
import time

import msgspec

from detent.app import App
from detent.app.driver_lock import driver_of
from detent.app.policy import user
from detent.app.registry import workflow_of
from detent.door import AnyEvent, AnyRun
from detent.errors import DetentError
from detent.git.commits import bring_to, marker, switch
from detent.git.repo import ZERO, Git
from detent.git.snapshot import take
from detent.journal.journal_rows import from_entry
from detent.kernel.decide import spoken, with_line
from detent.kernel.model import Sent
from detent.world.known_runs import FROM_EVENT, FROM_RUN

LEAVES = 60.0  # seconds for a driver to notice that its run has ended


def roll_back(app: App, run: str, to: str, channel: str) -> str:
    """End the run, and start a new one from the event `to`, a number or a commit; returns the new run's id."""
    git: Git = app.worlds.of(app.door.load(run).run).git
    head = app.journal.heads(run)[0]
    event = _event(app, git, run, to)
    table = app.door.tables[event.run.workflow]
    if table.states[event.run.state].end:
        raise DetentError(
            f"event {event.run.seq} ended the run; there is nothing to continue from", "choose an earlier one: `detent history`"
        )
    now = app.door.load(run).run
    commit = _commit_at(git, event)
    kept = take(git, run, over=now.data.good_tree).tree
    if not head.ended:
        app.door.submit(run, Sent("abort", by="human", channel=channel, note=f"rolled back to event {event.run.seq}"))
    _until_left(app, run)
    try:
        return _begin_again(app, event, commit, kept, now, channel)
    except DetentError as e:
        raise DetentError(e.message, f"{run} has ended, and no new run took its place; try again: detent rollback {to} --run {run}") from e


def _until_left(app: App, run: str) -> None:
    """Wait until the driver of the old run has left its workspace, before anything in it is moved."""
    until = time.monotonic() + LEAVES
    while process := driver_of(app, run):
        if time.monotonic() > until:
            raise DetentError(
                f"{run} has ended, and process {process} is still at work in its workspace", "wait for it, then go back again"
            )
        time.sleep(0.2)


def _begin_again(app: App, event: AnyEvent, commit: str, kept: str, now: AnyRun, channel: str) -> str:
    """Start the new run, after its branch and workspace are laid out, so that a run that exists is complete."""
    run = event.run.id
    git = app.worlds.of(event.run).git  # makes the workspace again if it went with the old run
    _lay_out(git, event, commit, kept)
    fresh = f"{event.run.workflow}-{secrets.token_hex(3)}"
    facts = {FROM_RUN: run, FROM_EVENT: str(event.run.seq), "who": user()}
    sent = Sent("rollback", by="human", channel=channel, note=f"from event {event.run.seq} of {run}", facts=facts)
    remarks = with_line(now.said, spoken(sent))  # keeps what people said since
    counts = {**event.run.counts, **now.counts}
    first = workflow_of(event.run.workflow).as_new(
        msgspec.structs.replace(event.run, id=fresh, seq=0, counts=counts, joined=(), said=remarks)
    )
    git.update([(f"refs/detent/{fresh}/tip", commit, ZERO), (marker(fresh, 1, "began"), commit, ZERO)])
    workflow_of(first.workflow).before_rollback(app.worlds.of(first), event.run, first)
    app.door.start(first, sent)
    workflow_of(first.workflow).after_rollback(app.worlds.of(first), first)
    app.worlds.settle("publish", app.door.load(fresh))
    return fresh


def _event(app: App, git: Git, run: str, to: str) -> AnyEvent:
    """The event that a number or a commit names."""
    table = app.door.tables[app.journal.heads(run)[0].workflow]
    if to.isdigit() and len(to) < 7:
        seq = int(to)
    else:
        commit = git.resolve(f"{to}^{{commit}}")
        marks = git.run("for-each-ref", "--format=%(objectname) %(refname)", f"refs/detent/{run}/done/").text.splitlines()
        found = [m.rpartition("/")[2] for m in marks if commit and m.startswith(commit)]
        if not found:
            raise DetentError(f"no event of {run} made the commit {to}", "name an event by its number: `detent history`")
        seq = int(re.split("-", found[0])[0])
    entry = app.journal.at(run, seq)
    if entry is None:
        raise DetentError(f"run {run} has no event {to}", "see `detent history`")
    return from_entry(table, entry)


def _commit_at(git: Git, event: AnyEvent) -> str:
    """The commit that the branch was at after an event: the newest by then, of the run or of a joined child."""
    own = [commit for seq, commit in _made(git, event.run.id) if seq <= event.run.seq]
    made = [*own, *(commit for child in event.run.joined for _, commit in _made(git, f"{event.run.id}.{child}"))]
    base = event.run.data.base or git.head()
    if not event.run.joined or not made:
        return own[-1] if own else base
    order = git.run("rev-list", "--reverse", "--topo-order", *made, f"^{base}", "--").text.splitlines()
    return max(made, key=lambda commit: order.index(commit) if commit in order else -1)


def _made(git: Git, run: str) -> list[tuple[int, str]]:
    """The commits that the machine made for a run, with the number of the event, the oldest first."""
    refs = git.run("for-each-ref", "--format=%(objectname) %(refname)", f"refs/detent/{run}/done/").text.splitlines()
    ends = ("-checkpoint", "-plan", "-phase", "-began")
    return sorted((int(re.split("-", ref.rpartition("/")[2])[0]), ref.split(" ")[0]) for ref in refs if ref.endswith(ends))


def _lay_out(git: Git, event: AnyEvent, commit: str, kept: str) -> None:
    """Move branch and workspace back; a ref keeps the current tip reachable."""
    branch = event.run.data.branch or git.branch()
    tip = git.resolve(branch)
    moves = [(f"refs/detent/{event.run.id}/rolled-back/{event.run.seq}-{tip[:12]}", tip, ZERO)] if tip else []
    if git.branch() != branch:
        if not tip:
            git.update([(branch, commit, ZERO)])
            tip = commit
        switch(git, branch, git.tree("HEAD"))
    if tip != commit:
        fresh = [m for m in moves if not git.resolve(m[0])]
        git.update([*fresh, (branch, commit, tip)])
    tree = event.found.tree if event.found.tree and git.resolve(event.found.tree) else event.run.data.good_tree or git.tree(commit)
    bring_to(git, tree, kept)
    git.run("read-tree", commit)
    git.call("update-index", "-q", "--refresh")
