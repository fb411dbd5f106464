"""`detent check`: what any change is worth, without a run and without notes."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from detent.evidence.card import Checked

FORMATS = ("json", "markdown", "sarif", "junit")
WORST = ("clean", "flagged", "could-not-verify", "failed")


@click.command("check")
@click.argument("span", metavar="[RANGE]", default="")
@click.option("--staged", is_flag=True, help="What is staged, against HEAD.")
@click.option("--worktree", is_flag=True, help="What lies in the checkout, against HEAD: staged, changed and new files.")
@click.option("--each", is_flag=True, help="Commit by commit.")
@click.option("--declare", type=click.Choice(["refactor", "docs", "chore"]), default=None, help="What the change says of itself.")
@click.option("--budget", type=click.FloatRange(min=1), default=None, metavar="SECONDS", help="For the probes; 60 unless configured.")
@click.option("--fail-on", type=click.Choice(["flagged", "failed"]), default="flagged", help="failed: flags are told, and end with 0.")
@click.option("--fresh", is_flag=True, help="Believe nothing that was found before for the same trees.")
@click.option("--verbose", is_flag=True, help="Everything, however long.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--markdown", "as_markdown", is_flag=True, help="For the text of a pull request.")
@click.option("--sarif", "as_sarif", is_flag=True, help="SARIF 2.1.0, for code scanning.")
@click.option("--junit", "as_junit", is_flag=True, help="JUnit XML, for what shows tests.")
@click.option("--github", is_flag=True, help="Annotations, and the card in the step summary, of GitHub Actions.")
def command(span: str, **given: object) -> int:
    """Say what a change proves: which tests fail without it and pass with it, what broke, what no test notices, and what to look at.

    \b
    detent check                    what this branch has over main
    detent check origin/main..HEAD  what HEAD has over origin/main
    detent check COMMIT             one commit
    detent check --staged           what is about to be committed
    detent check --worktree         what lies here

    Needs no run and no set-up, and takes commits of any agent or person. The tests run in clean checkouts, in a sandbox where one can be
    had; this checkout stays as it is. Settings and test command come from the commit that the range starts from, never from the change.

    A commit may say what it is, by a trailer: `Detent-Change: refactor`, `docs` or `chore`. Then no test has to need it, and everything that
    it changed has to be noticed by one.

    Exit 0 clean, 10 flagged: a person should look, 1 failed, 4 could not be verified, 2 wrong use. See docs/check.md.
    """
    from detent.app.check import Wish, check, check_each
    from detent.app.preload import nothing_newer
    from detent.interfaces import check_reports  # noqa: F401 - loaded before any test runs
    from detent.interfaces.cli import ends, tell  # noqa: F401
    from detent.workflows import check_card

    if (given["staged"] and given["worktree"]) or (span and (given["staged"] or given["worktree"])):
        raise click.UsageError("name one: a RANGE, --staged or --worktree")
    what = "staged" if given["staged"] else "worktree" if given["worktree"] else "range"
    wish = Wish(what, span, float(given["budget"] or 0), str(given["declare"] or ""), bool(given["fresh"]))  # type: ignore[arg-type]
    wanted = next((name for name in FORMATS if given[f"as_{name}"]), "")
    nothing_newer()
    with _told(not wanted and sys.stderr.isatty()) as say:
        here, env = Path.cwd(), dict(os.environ)
        found = check_each(here, wish, env, say) if given["each"] else [check(here, wish, env, say)]
    _tell(found, wanted, bool(given["verbose"]), bool(given["github"]), bool(given["each"]))
    answer = max((one.answer for one in found), key=WORST.index, default="clean")
    code: int = check_card.CODES[answer]
    return 0 if answer == "flagged" and given["fail_on"] == "failed" else code


def _tell(found: "list[Checked]", wanted: str, verbose: bool, github: bool, each: bool) -> None:
    from detent.interfaces import check_reports
    from detent.interfaces.cli.tell import plain
    from detent.workflows import check_card

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
        for one in found:
            for line in check_card.lines_of(one, verbose, _width()):
                click.echo(plain(line))
    if github:
        check_reports.tell_github(found, os.environ.get("GITHUB_STEP_SUMMARY", ""), click.echo)


def _width() -> int:
    import shutil

    return max(60, min(shutil.get_terminal_size((80, 24)).columns, 120))


@contextmanager
def _told(wanted: bool) -> "Iterator[Callable[[str], None]]":
    """What is done now, where a person looks."""
    if not wanted:
        yield lambda words: None
        return
    from rich.console import Console

    with Console(stderr=True).status("", spinner="line") as status:
        yield lambda words: status.update(words)
