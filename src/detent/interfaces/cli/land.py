"""`detent land`: bring finished branches into main, one at a time."""

import json
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from detent.app.plain_text import plain
from detent.interfaces.cli.tell import channel, flag_lines

if TYPE_CHECKING:
    from detent.app import App
    from detent.app.land_branches import LandedBranch, LandReport
    from detent.app.land_flags import Accepts

WORDS = {
    "landed": "LANDED  {branch}  main is {commit}",
    "already": "IN MAIN {branch}",
    "agent": "BACK    {branch}  {reason}\n        {item} goes back to an agent as {execution}; `detent work` executes it",
    "person": "PERSON  {branch}  {reason}\n        The branch is as it was. Merge main into it, resolve, commit; then: detent land {branch}",
    "waits": "WAITS   {branch}  {reason} ({execution})\n        To try it as it is: detent land {branch}",
    "flagged": "FLAGS   {branch}  {reason}\n        To land it as it is: detent land {branch} --accept {tree}",
    "untouched": "LEFT    {branch}  it was not its turn yet",
}


@click.command("land")
@click.argument("branches", nargs=-1, metavar="[BRANCH]…")
@click.option(
    "--to",
    type=click.Choice(["agent", "person"]),
    default="agent",
    show_default=True,
    help="Who gets a branch that conflicts or fails once merged; one without an item always goes to a person.",
)
@click.option("--agent", default="", metavar="SPEC", help="The agent for what goes back (default: as [agents] says).")
@click.option("--accept", multiple=True, metavar="TREE", help="Accept the flags of the branch whose tree this is, as it was shown.")
@click.option("--yes-to", multiple=True, metavar="POLICY", help="Accept these kinds of flags in advance: flags=KIND,…")
@click.option("--events", is_flag=True, help="Print JSON Lines as things happen, the result last.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text; progress goes to stderr.")
def command(
    branches: tuple[str, ...],
    to: Literal["agent", "person"],
    agent: str,
    accept: tuple[str, ...],
    yes_to: tuple[str, ...],
    events: bool,
    as_json: bool,
) -> int:
    """Bring finished branches into main, one at a time: the most urgent first, then the oldest.

    Each branch is merged on main as it is at that moment (fetched, where there is a remote), all tests run on the merged tree in a clean
    checkout, and only if they pass is main pushed and moved. Nothing is forced, no branch is deleted, and a branch that cannot land is
    left as it was: its item is executed again with the conflict in the briefing, or a person gets it.

    \b
    detent land                      the branches of all completed executions that are not in main yet
    detent land feat-a feat-b        these branches
    detent land --to person          file nothing; say what people have to do

    A branch with open flags that nobody has accepted is left as it is, and its flags are shown with the tree that an answer is bound to.
    The merge commit says which flags were accepted, and by whom.

    Exit 0 if everything is in main, 1 if something went back to an agent (or another landing is at work), 10 if a person is needed, 2 if
    Detent cannot tell (the remote does not answer, main itself is red): what landed before that stays.
    """
    from detent.app.land_branches import Back, land
    from detent.app.push import recorded_agent
    from detent.interfaces.cli.queue import sent_by_person

    def watch(branch: str, text: str) -> None:
        row = {"event": "landing", "branch": branch, "text": text}
        click.echo(json.dumps(row) if events else f"  {plain(branch)}: {plain(text)}", err=not events)

    app = _here()
    back = Back(to, recorded_agent(agent), _accepts(app, accept, yes_to))
    _must_be_fit(app)
    return _print_report(land(app, branches, back, sent_by_person("start"), watch), as_json or events)


def _accepts(app: "App", trees: tuple[str, ...], yes_to: tuple[str, ...]) -> "Accepts":
    """The flags that the options accept; refused where a person may not decide."""
    from detent.app.land_flags import Accepts
    from detent.app.people import allowed
    from detent.app.policy import flags_alone, kinds_of, read_policies

    policies = read_policies(yes_to)
    flags_alone(policies, "a landing")
    if trees or policies:
        allowed(app, channel())
    return Accepts(trees, kinds_of(policies), channel())


def _here() -> "App":
    """The app of this repository, after its fingerprint was checked."""
    from detent.git import fingerprint
    from detent.interfaces.cli.runner import here

    app = here(create=True)
    fingerprint.check(app.place)
    return app


def _must_be_fit(app: "App") -> None:
    """Check the sandbox that the tests of branches run in."""
    from detent.app.project import project_settings
    from detent.app.run_configs import must_hold

    must_hold(project_settings(app.world.git, app.world.outer)[0], app.world.outer)


def _lines(branch: "LandedBranch") -> list[str]:
    words = {**branch._asdict(), "reason": plain(branch.reason), "commit": branch.commit[:12], "tree": branch.tree[:12]}
    first, *rest = WORDS[branch.outcome].format(**words).split("\n")
    return [first, *(f"        {plain(line)}" for line in flag_lines(branch.flags)[:-1]), *rest]


def _print_report(report: "LandReport", as_json: bool) -> int:
    outcomes = {branch.outcome for branch in report.branches}
    if as_json:
        rows = [{**branch._asdict(), "flags": [msgspec.to_builtins(flag) for flag in branch.flags]} for branch in report.branches]
        click.echo(json.dumps({"main": report.main, "branches": rows, "error": report.error or None}))
    else:
        lines = [line for branch in report.branches for line in _lines(branch)]
        click.echo("\n".join(lines) or "Nothing is left to land: every finished branch is in main.")
        if report.error:
            click.echo(f"detent: {plain(report.error)}", err=True)
    return 2 if report.error else 10 if outcomes & {"person", "flagged"} else 1 if outcomes & {"agent", "waits"} else 0
