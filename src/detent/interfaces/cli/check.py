"""`detent check`: judges any change, without a run and without notes."""

import json
import os
import sys
import threading
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from detent.interfaces.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from detent.evidence.outcomes.card import Checked

FORMATS = ("json", "markdown", "sarif", "junit")
WORST = ("clean", "flagged", "could-not-verify", "failed")


@click.command("check")
@click.argument("span", metavar="[RANGE]", default="")
@click.option("--staged", is_flag=True, help="Check what is staged against HEAD.")
@click.option("--worktree", is_flag=True, help="Check the files in the checkout against HEAD: staged, changed and new.")
@click.option("--pushed", is_flag=True, help="Check what a push brings, for a pre-push hook: detent init --hook pre-push.")
@click.option("--each", is_flag=True, help="Check commit by commit.")
@click.option("--declare", type=click.Choice(["refactor", "docs", "chore"]), default=None, help="What the change declares itself to be.")
@click.option("--budget", type=click.FloatRange(min=1), default=None, metavar="SECONDS", help="Time for the probes; 60 unless configured.")
@click.option("--fail-on", type=click.Choice(["flagged", "failed"]), default="flagged", help="failed: report flags, but exit 0.")
@click.option(
    "--install", default="", metavar="CMD", help="Run CMD in clean checkouts of base and change, and run the tests with what it made."
)
@click.option("--explain", metavar="NAME", default=None, help="Explain one thing on the card: a flag, a place or a test.")
@click.option("--fresh", is_flag=True, help="Ignore results kept from earlier checks of the same trees.")
@click.option("--verbose", is_flag=True, help="Show everything, however long.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown, for the text of a pull request.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for code scanning.")
@click.option("--junit", "as_junit", is_flag=True, help="Print JUnit XML, for tools that show tests.")
@click.option("--github", is_flag=True, help="Write GitHub Actions annotations, and the card to the step summary.")
def command(span: str, **given: object) -> int:
    """Show what a change proves: which tests fail without it and pass with it, what broke, what no test notices, and what to look at.

    \b
    detent check                    what this branch adds to main
    detent check origin/main..HEAD  what HEAD adds to origin/main
    detent check COMMIT             one commit
    detent check --staged           what is about to be committed
    detent check --worktree         the files as they are here

    Needs no run and no set-up, and takes commits of any agent or person. The tests run in clean checkouts, in a sandbox where one is
    available; this checkout stays as it is. Settings and test command come from the commit that the range starts from, never from the change.

    Each thing on the card can be explained by its kind, place or name: what was tried, both versions, and the commands that repeat it.

    \b
    detent check --explain unnoticed
    detent check origin/main..HEAD --explain src/cart.py:41

    A commit can declare what it is with a trailer: `Detent-Change: refactor` or `chore`. Then no test has to fail without it, and
    some test must notice everything that it changed. `docs` says that it changed no code.

    Exit 0 clean, 10 flagged: a person should look, 1 failed, 4 could not be verified, 2 usage error. See docs/check.md.
    """
    wanted, out = _form(span, given), sys.stdout
    at_once = bool(given["each"]) and not wanted and not given["github"] and given["explain"] is None
    with progress("detent check") as say:
        # rich's status captures stdout for the terminal; output to a file must bypass it
        done = partial(_card, verbose=bool(given["verbose"]), file=None if out.isatty() else out) if at_once else None
        found = _check(span, given, say, done)
    if given["explain"] is not None:
        return _explain(found, str(given["explain"]), wanted)
    if not at_once:
        _tell(found, wanted, bool(given["verbose"]), bool(given["github"]), bool(given["each"] or given["pushed"]))
    from detent.blocks.check_card import CODES

    answer = max((one.answer for one in found), key=WORST.index, default="clean")
    return 0 if answer == "flagged" and given["fail_on"] == "failed" else CODES[answer]


def _form(span: str, given: dict[str, object]) -> str:
    """The wanted output format, "" for text. Refuses options that do not go together."""
    if sum(map(bool, (span, given["staged"], given["worktree"], given["pushed"]))) > 1 or (given["pushed"] and given["each"]):
        raise click.UsageError("give only one of RANGE, --staged, --worktree and --pushed")
    forms = [name for name in FORMATS if given[f"as_{name}"]]
    if len(forms) > 1 or (forms and given["github"]):
        raise click.UsageError(f"choose one output format: {', '.join(f'--{name}' for name in (*FORMATS, 'github'))}")
    wanted = forms[0] if forms else ""
    if given["explain"] is not None and (wanted not in ("", "json") or given["github"]):
        raise click.UsageError("--explain is told as text, or with --json")
    return wanted


def _check(
    span: str, given: dict[str, object], say: "Callable[[str], None]", done: "Callable[[Checked], None] | None" = None
) -> "list[Checked]":
    say("1 of 5: looking for the tests")  # before the slow imports, so that it shows at once
    from detent.app.checking import Wish, check, check_each
    from detent.app.preload import nothing_newer
    from detent.blocks import check_card  # noqa: F401
    from detent.interfaces import check_explained, check_reports  # noqa: F401 - loaded before any test runs
    from detent.interfaces.cli import ends, tell  # noqa: F401

    what = "staged" if given["staged"] else "worktree" if given["worktree"] else "range"
    wish = Wish(what, span, float(given["budget"] or 0), str(given["declare"] or ""), bool(given["fresh"]), install=str(given["install"]))  # type: ignore[arg-type]
    nothing_newer()
    stop, here, env = threading.Event(), Path.cwd(), dict(os.environ)
    rest = (env, say, lambda: not stop.is_set())
    with ends.before_stopping(stop.set):
        if given["pushed"]:
            from detent.app.check_span import pushed

            ranges = pushed(here, env, sys.stdin if not sys.stdin.isatty() else ())
            if not ranges:
                say("nothing to check: this push has no commit that can be compared with one already there")
            return [check(here, wish._replace(text=text), *rest) for text in ranges]
        if given["each"]:
            return check_each(here, wish, *rest, *([done] if done else []))
        return [check(here, wish, *rest)]


def _explain(found: "list[Checked]", name: str, wanted: str) -> int:
    from detent.app.explain import explain
    from detent.app.plain_text import plain
    from detent.interfaces.check_explained import explained_lines, explained_object

    explained = explain(Path.cwd(), os.environ, found, name)
    if wanted:
        click.echo(json.dumps(explained_object(explained, name)))
    else:
        for line in explained_lines(explained, _width()):
            click.echo(plain(line))
    return 0


def _card(one: "Checked", verbose: bool, file: IO[str] | None = None) -> None:
    from detent.app.plain_text import plain
    from detent.blocks import check_card

    for line in check_card.lines_of(one, verbose, _width()):
        click.echo(plain(line), file=file)


def _tell(found: "list[Checked]", wanted: str, verbose: bool, github: bool, each: bool) -> None:
    from detent.blocks import check_card
    from detent.interfaces import check_reports

    if wanted == "json":
        objects = [check_card.object_of(one) for one in found]
        click.echo(json.dumps({"schema": check_card.SCHEMA, "commits": objects} if each else objects[0]))
    elif wanted == "sarif":
        click.echo(json.dumps(check_reports.sarif_of(found), indent=2))
    elif wanted == "junit":
        click.echo(check_reports.junit_of(found))
    elif wanted == "markdown":
        click.echo("\n".join(check_card.markdown_of(one) for one in found))
    else:
        with check_reports.no_commands(click.echo) if github else nullcontext():
            for one in found:
                _card(one, verbose)
    if github:
        check_reports.tell_github(found, os.environ.get("GITHUB_STEP_SUMMARY", ""), click.echo)


def _width() -> int:
    import shutil

    return max(60, min(shutil.get_terminal_size((80, 24)).columns, 120))
