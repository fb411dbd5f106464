"""`detent verify`: proves commits again from the repository alone."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from detent.app.verify_span import BrokenCheck
    from detent.app.verifying import ReplayResult, Watch

MOST_NAMED = 20
CODES = {"verified": 0, "failed": 1, "not-verifiable": 1, "could-not-verify": 2}
WORDS = {
    "verified": "VERIFIED: every claim holds again",
    "failed": "FAILED: what is claimed does not hold",
    "not-verifiable": "NOT VERIFIABLE: not everything here is claimed with evidence",
    "could-not-verify": "COULD NOT VERIFY: the tests could not be run properly here",
}


@click.command("verify")
@click.argument("span", metavar="[RANGE]", default="")
@click.option(
    "--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, help="How many checkouts are tested at a time. Else one per core."
)
@click.option("--require-red", is_flag=True, help="Fail on changed code that has no RED step and that no test fails for; for CI.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text, for CI.")
def command(span: str, jobs: int, require_red: bool, as_json: bool) -> int:
    """Prove RANGE again: every RED fails again, every GREEN passes, tests stayed frozen in between, and none was lost.

    \b
    detent verify                     what this branch adds to main; on main, what was landed last
    detent verify origin/main..HEAD   what HEAD adds to origin/main
    detent verify COMMIT              one commit

    The claims are notes below refs/notes/detent-evidence, which holds the trees of the steps too. Fetch it first:

    \b
    git fetch origin refs/notes/detent-evidence:refs/notes/detent-evidence

    No claim is taken on trust. Every tree is checked out into a folder of its own, and its whole suite is run, with the test command that
    is configured at the commit where RANGE starts. A commit without a claim, or no evidence at all, is "not verifiable", and never a yes.

    A step called a refactoring proves nothing new, and for work that was proved as a whole no RED was seen: its tests
    pass and none is lost. Code that such a step changed and that no test fails for is listed, and with --require-red it is a failure.

    Exit 0 only if everything holds; 1 if something fails or is not verifiable; 2 if the tests cannot be run here. See docs/verify.md.
    """
    from detent.app.preload import nothing_newer
    from detent.app.verifying import verify
    from detent.interfaces.cli import ends, tell  # noqa: F401 - loaded before any test of the range runs

    nothing_newer()
    with _bar(not as_json and sys.stderr.isatty()) as watch:
        proof = verify(Path.cwd(), span, jobs, dict(os.environ), watch, require_red)
    if as_json:
        click.echo(json.dumps(as_object(proof)))
    else:
        _tell(proof)
    return CODES[proof.answer]


@contextmanager
def _bar(wanted: bool) -> "Iterator[Watch]":
    """A progress bar, if wanted."""
    if not wanted:
        yield lambda done, total, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("Replaying"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total, what: progress.update(task, completed=done, total=total, description=_plain(what)[:60])


def as_object(proof: "ReplayResult") -> dict[str, Any]:
    """The result as a JSON object, documented in docs/verify.md."""
    replayed = proof.trees > 0
    wrong = {(b.commit, b.step) for b in proof.broken}
    steps = [
        {
            "commit": link.commit.hash,
            "step": link.name,
            "phase": link.phase,
            "from_tree": link.start,
            "tree": link.step.tree,
            "run": link.run,
            "found": found,
            "holds": (link.commit.hash, link.name) not in wrong if replayed else None,
        }
        for link, found in zip(proof.links, proof.found or [""] * len(proof.links), strict=True)
    ]
    return {
        "answer": proof.answer,
        "exit_code": CODES[proof.answer],
        "base": proof.span.base,
        "tip": proof.span.tip,
        "commits": [{"hash": c.hash, "tree": c.tree, "subject": c.subject} for c in proof.span.commits],
        "steps": steps,
        "broken": [b._asdict() for b in proof.broken],
        "known_failures": list(proof.known),
        "without_red": list(proof.without_red),
        "code_without_red": [{"commit": b.commit, "step": b.step, "says": b.says} for b in proof.code_without_red],
        "not_looked_at": list(proof.beside),
        "flags": [{"kind": f.kind, "level": f.level, "place": f.place, "says": f.sentence} for f in proof.flags],
        "command": proof.command,
        "sandbox": proof.sandbox,
        "trees_tested": proof.trees,
        "seconds": round(proof.seconds, 1),
    }


def _tell(proof: "ReplayResult") -> None:
    """Print the result for people."""
    span = proof.span
    click.echo(f"{span.base[:12]}..{span.tip[:12]}: {_plural(len(span.commits), 'commit')}, {_plural(len(proof.links), 'step')}")
    for commit in span.commits:
        wrong = [b for b in proof.broken if b.commit == commit.hash]
        phases = ", ".join(link.phase for link in proof.links if link.commit == commit)
        mark = "NO" if wrong else "ok" if proof.trees else "--"
        click.echo(f"  {mark}  {commit.hash[:12]}  {_plain(commit.subject)[:60]}" + (f"  ({phases})" if phases else ""))
        for each in wrong:
            click.echo(f"        {_in_words(each)}")
    named = {c.hash for c in span.commits}
    for each in proof.broken:
        if each.commit not in named:
            click.echo(f"  NO  {each.commit[:12]}  {_in_words(each)}")
    if proof.known:
        click.echo(f"Known failures, there before and accepted when the run started: {_plain(', '.join(proof.known))}")
    if proof.without_red:
        click.echo(f"New or changed tests that came without a RED step: {_plain(', '.join(proof.without_red))}")
    for bare in proof.code_without_red if not proof.broken else ():
        click.echo(f"Not proved by a RED: {bare.commit[:12]} step {_plain(bare.step)}: {_plain(bare.says)}")
    if proof.beside:
        more = f" and {len(proof.beside) - MOST_NAMED} more" if proof.beside[MOST_NAMED:] else ""
        click.echo(f"Changed, but checked by nothing here: {_plain(', '.join(proof.beside[:MOST_NAMED]))}{more}")
    for flag in proof.flags:
        click.echo(
            f"{'To look at' if flag.level == 'ask' else 'Note'}: {flag.kind}: {_plain(flag.place)} {_plain(flag.sentence)}".replace(
                ":  ", ": "
            )
        )
    if proof.trees:
        click.echo(
            f"The tests ran on {_plural(proof.trees, 'tree')}, sandbox {proof.sandbox}, {proof.seconds:.0f} s: {_plain(proof.command)}"
        )
    else:
        click.echo("No test was run: fix what is missing above first.")
    click.echo(WORDS[proof.answer])


def _in_words(broken: "BrokenCheck") -> str:
    step = f"step {_plain(broken.step)}: " if broken.step else ""
    return f"{step}{broken.check}: {_plain(broken.says)}"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _plain(text: str) -> str:
    from detent.app.plain_text import plain

    return plain(text).replace("\n", " ")
