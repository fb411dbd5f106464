"""`detent decisions`: what people are asked, and what they answered."""

import json

import click

from detent.interfaces.cli.tell import STUCK, plain


@click.command("decisions")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--all", "every", is_flag=True, help="Also those that are answered, cancelled or skipped.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(run: str | None, every: bool, as_json: bool) -> int:
    """Show the question that is open, with the answers it takes and how to give one. Changes nothing.

    \b
    detent decisions
    detent answer UD-APPROVE-DESIGN approved
    detent answer UD-APPROVE-DESIGN 'changes-requested: prices are in cents' --to spec
    """
    from detent.app.asked import asked_of, at_work
    from detent.interfaces.cli.runner import here

    app = here()
    chosen = app.chosen(run)
    found = [d for d in asked_of(app, chosen) if every or d["status"] == "pending"]
    if as_json:
        click.echo(json.dumps({"run": chosen, "decisions": found}))
        return 0
    for d in found:
        click.echo(_told(d))
    stuck = [each for each in at_work(app, chosen) if each.state in STUCK]
    if not found:
        click.echo(f"Run {chosen} has no open question.")
    for each in stuck:
        click.echo(f"{each.id} waits to be released: {app.door.hands.tables[each.workflow].instruction(each)}")
    return 0


def _told(d: dict[str, object]) -> str:
    of = f"  ({d['task_id']})" if d["task_id"] else ""
    lines = [f"{d['decision_id']}  {d['status']}{of}", *(f"  {line}" for line in plain(str(d["question"])).splitlines())]
    options, shown = d["options"], d["shown"]
    if d["status"] == "pending":
        lines += [f"  Look at: {path}" for path in (shown if isinstance(shown, list) else ())]
        lines.append(f"  Takes: {', '.join(options) if isinstance(options, list) and options else 'any text'}")
        lines.append(f"  Answer: detent answer {d['decision_id']} VALUE [--note TEXT], or --cancel REASON")
    elif d["status"] == "answered":
        lines.append(f"  {plain(str(d['answer']))}" + (f" ({plain(str(d['note']))})" if d["note"] else ""))
        lines.append(f"  by {d['resolved_by'] or 'a person'}, {d['channel']}, {d['resolved_at']}")
    else:
        lines.append(f"  {plain(str(d['resolution_reason'] or ''))}")
    return "\n".join(lines)
