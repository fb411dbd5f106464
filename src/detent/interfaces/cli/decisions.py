"""`detent decisions`: the questions to people, and their answers."""

import json
import re
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from detent.app import App
from detent.app.plain_text import STUCK, plain
from detent.blocks.open_flags import CAUSE
from detent.interfaces.cli.tell import fold, local_time


@click.command("decisions")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--all", "every", is_flag=True, help="Also those that are answered, cancelled or skipped.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(run: str | None, every: bool, as_json: bool) -> int:
    """Show the question that is open, with the answers it takes and how to give one. Changes nothing.

    Where this checkout has no run of its own, the open questions of all runs are shown, executions of the queue among them. Branches that
    `detent land` left because of their flags are shown too, with the command that lands them as they are.

    \b
    detent decisions
    detent decisions --run execute-it-7-1
    detent answer UD-APPROVE-DESIGN approved
    detent answer UD-APPROVE-DESIGN 'changes-requested: prices are in cents' --to spec
    """
    from detent.app.land_asked import open_landings, row_of
    from detent.app.questions import asked_of, open_everywhere, open_of_run, open_runs
    from detent.interfaces.cli.runner import here

    app = here()
    mine = app.current()
    chosen = app.chosen(run) if run or mine or every else None
    found = open_of_run(app, chosen) if chosen else open_everywhere(app)
    found += [d for d in asked_of(app, chosen) if d["status"] != "pending"] if chosen and every else []
    found += [] if run else [row_of(left) for left in open_landings(app)]
    if as_json:
        click.echo(json.dumps({"run": chosen, "decisions": found}))
        return 0
    for d in found:
        click.echo(_decision_text(d, "" if mine and chosen == mine.run else f" --run {str(d['run']).partition('.')[0]}"))
    stuck = [line for top in ([chosen] if chosen else open_runs(app)) for line in (*_stuck(app, top), *_undriven(app, top))]
    if not found and (chosen or not stuck):
        click.echo(f"Run {chosen} has no open question." if chosen else "No run has an open question.")
    for line in (*stuck, *(line for top in ([chosen] if chosen else open_runs(app)) for line in _changed(app, top))):
        click.echo(line)
    return 0


def _changed(app: App, run: str) -> list[str]:
    """Lines on documents that the person changed but has not applied yet."""
    from detent.app.revising import changed_words

    return ["\n" + fold(plain(line)) for line in changed_words(app, run)]


def _stuck(app: App, run: str) -> list[str]:
    """Lines on runs that wait to be released, and how."""
    from detent.app.questions import at_work

    mine, found = app.current(), [each for each in at_work(app, run) if each.state in STUCK and each.cause != CAUSE]
    more = "" if mine and mine.run == run else f" --run {run}"
    ways = {each.id: app.door.tables[each.workflow].instruction(each).replace(f" --run {each.id}", "") for each in found}
    return [f"{id} waits to be released: {way.replace('detent resume', f'detent resume{more}')}" for id, way in ways.items()]


def _undriven(app: App, run: str) -> list[str]:
    """Lines on why no process drives a run, and how to continue it."""
    from detent.app.next_step import after_a_word, nobody_drives

    why = nobody_drives(app, app.journal.heads(run)[0])
    return [fold(f"{run} is stopped. {plain(why)} Continue: {after_a_word(app, run)}", 2)] if why else []


def _to_look_at(paths: list[str]) -> list[str]:
    """Lines that name the documents of a question and their folder."""
    if not paths:
        return []
    parts = paths[0].split("/")
    depth = next((i + 2 for i, part in enumerate(parts) if part == ".agents-work"), len(parts) - 1)
    folder = Path(*(part or "/" for part in parts[:depth]))
    here = Path.cwd()
    names = ", ".join(sorted(path.removeprefix(f"{folder}/") for path in paths))
    short = folder.relative_to(here) if folder.is_relative_to(here) else folder
    return [
        f"  Look at: {names}",
        f"  in {short}",
        *paper("You may edit them: what you change is shown, and asked about again, before it counts."),
        "",
    ]


def _commands(start: str, means: dict[str, str], of_run: str) -> list[str]:
    """The answers as commands, each with what it does."""
    lines = ["  Answer with one of:"]
    for typed, does in means.items():
        lines += ["", f"    {start} {typed}{of_run}", *paper(does, "      ")]
    return lines


def _decision_text(d: dict[str, object], of_run: str) -> str:
    of = f"  ({d['task_id']})" if d["task_id"] else ""
    text = d.get("text") if d["status"] == "pending" and d["kind"] != "flags" else d["question"]
    lines = [f"{d['decision_id']}  {d['status']}{of}", *paper(str(text or d["question"]))]
    options, shown = d["options"], d["shown"]
    if d["status"] == "pending":
        lines += ["", *_to_look_at([str(path) for path in shown] if isinstance(shown, list) else [])]
        means = d.get("means")
        if isinstance(means, dict) and means and not d.get("command"):
            return "\n".join((*lines, *_commands(f"detent answer {d['decision_id']}", means, of_run)))
        words = options if isinstance(options, list) else []
        lines.append(f"  Takes: {', '.join((*words, *(() if words and d['kind'] != 'clarify' else ('any text',))))}")
        declines = "" if d["kind"] == "state" else ", or --cancel REASON"
        command = d.get("command") or f"detent answer {d['decision_id']} VALUE{of_run} [--note TEXT]{declines}"
        lines.append(f"  Answer: {command}")
    elif d["status"] == "answered":
        lines.append(f"  {plain(str(d['answer']))}" + (f" ({plain(str(d['note']))})" if d["note"] else ""))
        lines.append(f"  by {d['resolved_by'] or 'a person'}, {d['channel']}, {local_time(str(d['resolved_at']))}")
    else:
        lines.append(f"  {plain(str(d['resolution_reason'] or ''))}")
    return "\n".join(lines)


NARROW, WIDE = 40, 100


def paper(text: str, indent: str = "  ") -> list[str]:
    """A markdown text as wrapped lines; code and diffs are not wrapped."""
    width = max(NARROW, min(WIDE, shutil.get_terminal_size((80, 24)).columns)) - 1
    return [f"{indent}{line}".rstrip() for line in _lines(plain(text), width - len(indent))]


def _lines(text: str, width: int) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            yield f"  {line}"
        elif heading := re.match(r"#{1,6}\s+(.*)", line):
            yield heading[1].upper()
        elif not line.strip():
            yield ""
        else:
            yield from _wrapped(line, width)


def _wrapped(line: str, width: int) -> list[str]:
    start = re.match(r"\s*(?:[-*>]\s+|\d+[.)]\s+)?", line)
    hang = " " * len(start[0]) if start else ""
    bare = re.sub(r"\*\*(.+?)\*\*", r"\1", line)
    return textwrap.wrap(bare, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False) or [""]
