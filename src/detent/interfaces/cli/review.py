"""`detent review`: have a fresh agent read a branch; what it finds becomes items."""

import json
from typing import Any

import click

from detent.app.plain_text import plain


@click.command("review")
@click.argument("branch")
@click.option("--agent", default="", metavar="SPEC", help="The reviewer (default: [review] agent, then [agents] reviewer).")
@click.option("--again", is_flag=True, help="Review again, even if this commit was reviewed before.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(branch: str, agent: str, again: bool, as_json: bool) -> int:
    """Have BRANCH reviewed by an agent that has not seen it: bugs, missing tests, quality, security, performance.

    Each issue is filed as an item; none of them is queued. Exit 0 if the reviewer says that a pull request may be opened, 1 if
    not. An execution that waits because its branch was not ready is reviewed again, and continues if it is ready now.

    \b
    detent review it-7-round-prices
    """
    from detent.app.executions import review, waiting_for
    from detent.app.push import fit_for_push, recorded_agent
    from detent.interfaces.cli.runner import here, person

    app = here(create=True)
    fit_for_push(app, agent)
    if (waits := waiting_for(app, branch)) is not None and not agent:
        from detent.interfaces.cli.live import follow

        person("review", waits.id)
        return follow(app, waits.id, as_json, False)
    found = review(app, branch, recorded_agent(agent), again)
    if as_json:
        click.echo(json.dumps(found))
    else:
        _print(found)
    return 0 if found["pr_ready"] else 1


def _print(found: dict[str, Any]) -> None:
    click.echo(f"{'READY' if found['pr_ready'] else 'NOT READY'}  {found['branch']}  {found['commit'][:12]}\n{plain(found['summary'])}")
    for issue, item in zip(found["issues"], found["items"], strict=True):
        where = f"  {plain(issue.get('file_path', ''))}" if issue.get("file_path") else ""
        click.echo(f"  {item:<10} {plain(issue['severity'])} {plain(issue['type'])}: {plain(issue['title'])}{where}")
