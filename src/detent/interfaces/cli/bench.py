"""`detent bench gates`: measures how often the gates let a cheat pass, and how often they stop an honest agent."""

import json
import os
import shutil
from collections.abc import Sequence

import click

from detent.errors import DetentError
from detent.interfaces.gatebench import BenchAgent, BenchLanguage, languages
from detent.interfaces.gatebench.bench_report import as_json, line, summary
from detent.interfaces.gatebench.play import play_all

Pair = tuple[BenchLanguage, BenchAgent]


@click.command("bench")
@click.argument("what", metavar="WHAT", type=click.Choice(["gates"]))
@click.option("--language", "only", multiple=True, help="Only this language; repeatable.")
@click.option("--agent", "named", multiple=True, help="Only the agent of this name; repeatable.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one a core", help="How many to run at once.")
@click.option("--list", "listed", is_flag=True, help="Only list the agents and what they do.")
@click.option("--json", "as_text", is_flag=True, help="Print JSON.")
def command(what: str, only: tuple[str, ...], named: tuple[str, ...], jobs: int, listed: bool, as_text: bool) -> int:
    """Run scripted agents against the gates: honest ones, lazy ones, and ones that cheat in every way we know.

    Each works through one pull request in a throw-away project, on the default settings, with real git and the language's real test
    runner, until its run gets to the end or it gives up. A dishonest agent must fail or be flagged; one that lands silently is a hole,
    unless no machine can judge it (docs/gate-bench.md says why). An honest agent must not fail; where it is flagged, it is listed.

    Two tables come out, for each language and for all: dishonest agents by failed, flagged and landed silently, honest ones by landed,
    flagged and failed. Below them are the names, by kind of flag. Exit 0 if all were judged that way, 1 if not. A language whose
    programs are not installed is named as not run.
    """
    pairs = [(each, agent) for each in languages(only) for agent in each.agents if not named or agent.name in named]
    if not pairs:
        raise DetentError(f"there is no agent '{named[0]}'", "`detent bench gates --list` names them")
    if listed:
        rows = [{"language": each.language, "sort": agent.sort, "name": agent.name, "does": agent.does} for each, agent in pairs]
        lines = "\n".join("{language:<11} {sort:<7} {name:<36} {does}".format(**row) for row in rows)
        click.echo(json.dumps(rows, indent=2) if as_text else lines)
        return 0
    ready, missing = _split(pairs)
    outcomes = []
    for outcome in play_all(ready, jobs):
        outcomes.append(outcome)
        click.echo(f"{len(outcomes):>3}/{len(ready)} {line(outcome)}", err=as_text)
    outcomes.sort(key=lambda o: (o.language, o.name))
    click.echo(json.dumps(as_json(outcomes, missing), indent=2) if as_text else "\n" + "\n".join(summary(outcomes, missing)))
    return 1 if not outcomes or any(o.right is False for o in outcomes) else 0


def _split(pairs: Sequence[Pair]) -> tuple[list[Pair], list[str]]:
    """The pairs that can be run, and a line for each language that cannot."""
    lacking = {each.language: [p for p in each.needs if shutil.which(p) is None] for each, _ in pairs}
    missing = [f"{name} ({', '.join(programs)} not installed)" for name, programs in lacking.items() if programs]
    return [pair for pair in pairs if not lacking[pair[0].language]], missing
