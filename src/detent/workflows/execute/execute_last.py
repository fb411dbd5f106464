"""The previous attempt: what is kept of its work, and what the next agent reads about it."""

from collections.abc import Iterable

from detent.app import App
from detent.door import AnyEvent, AnyRun
from detent.git.commits import bring_to, set_index
from detent.git.land_merge import build_merge
from detent.git.repo import ZERO, Git
from detent.journal.journal import Head
from detent.workflows.execute.execute_data import PLAIN, LastAttempt
from detent.world.turn_tree import left_by

LONGEST_DIFF = 20_000  # characters of the last attempt's change that the next agent reads
LONGEST = 6_000  # of each other text, its end
MOST_TESTS = 20
BY_AGENT = ("done", "blocked")  # events whose text is an agent's own


def kept_ref(run: str) -> str:
    """The ref that keeps the work of an ended execution."""
    return f"refs/detent/{run}/kept"


def newest_tree(git: Git, run: AnyRun, events: Iterable[AnyEvent]) -> str:
    """The tree that the last turn left if it was cut off (out of time, silent, crashed) and its files were removed; empty if it was judged."""
    judged = max((event.run.seq for event in events if event.found.tree), default=0)
    turns = {int(number): left.ref for attempt, left in left_by(git, run.id).items() if (number := attempt.rpartition(".")[2]).isdecimal()}
    last = max(turns, default=-1)
    return git.tree(turns[last]) if last >= judged else ""


def keep_work(git: Git, run: AnyRun, tree: str, at: str) -> None:
    """Keep the work of an execution under a ref, as a commit on its base. Idempotent."""
    base = run.data.base
    if not base or not tree or tree == git.tree(base):
        return
    ref, commit = kept_ref(run.id), git.commit(tree, [base], f"The work of {run.id}, as it ended", at)
    if (old := git.resolve(ref)) != commit:
        git.update([(ref, commit, old or ZERO)])


def last_attempt(app: App, head: Head | None, start: str) -> LastAttempt | None:
    """What the next agent reads about an item's newest execution; None if that succeeded, never began work, or does not exist."""
    if head is None or not head.ended:
        return None
    run, events = app.door.load(head.run).run, list(app.worlds.runs.history(head.run))
    if run.state == "COMPLETED" or not run.data.branch:
        return None
    git, kept = app.world.git, app.world.git.resolve(f"{kept_ref(run.id)}^{{commit}}")
    judged = next((event for event in reversed(events) if event.found.tree and event.found.failed), None)
    message = next((event.sent.reply or event.sent.report or event.sent.summary for event in reversed(events) if event.on in BY_AGENT), "")
    output = run.last_error if run.last_error != run.data.reason else ""
    return LastAttempt(
        run.id,
        run.state,
        run.data.reason or "a person ended it",
        _failing(judged),
        output[-LONGEST:].strip(),
        _diff(git, run.data.base, kept),
        message[-LONGEST:].strip(),
        kept,
        start,
    )


def _failing(event: AnyEvent | None) -> tuple[str, ...]:
    """The tests that failed when the work was last judged."""
    if event is None or event.found.record is None or event.found.evidence is None:
        return ()
    counts = event.found.evidence.counts
    return event.found.record.ids[: min(MOST_TESTS, counts.failed + counts.errors)]


def _diff(git: Git, base: str, kept: str) -> str:
    if not kept or not base:
        return ""
    text = git.run("diff", "--no-ext-diff", "--no-textconv", "--no-color", base, kept, "--").text
    cut = f"\n[the diff has {len(text)} characters; the rest is in {kept}]" if len(text) > LONGEST_DIFF else ""
    return text[:LONGEST_DIFF] + cut


def merge_kept_work(inner: Git, run: AnyRun, base: str, at: str) -> str:
    """Merge the work of the last attempt into a new workspace; "kept" if that worked, else why not, empty if it was not wanted."""
    last: LastAttempt | None = run.data.last
    if last is None or last.start != "kept" or run.data.setup.strategy != PLAIN:
        return ""
    if not last.kept or not inner.resolve(f"{last.kept}^{{commit}}"):
        return "none of its work is kept on this machine"
    merge = build_merge(inner, base, last.kept, "the kept work", at)
    if merge.conflict:
        return f"it conflicts with main in {merge.conflict}"
    bring_to(inner, merge.tree)
    set_index(inner, "HEAD")
    return "kept"
