"""`detent items`: the items of the configured tracker: file, list, show, edit, close, reopen, and dependencies."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from detent.app import App
from detent.app.plain_text import plain
from detent.errors import DetentError
from detent.interfaces.cli.tell import channel
from detent.tracker import STATUSES, Item, NewItem, Tracker, TrackerChange

if TYPE_CHECKING:
    from detent.app.executions import ItemAttempt

KINDS = ("task", "bug", "feature", "epic", "chore")
LONGEST = 5_000_000  # bytes of a file of items
FROM_HERE = click.core.ParameterSource.COMMANDLINE
HELD = "detent/"  # the prefix of the assignee of an item that an execution has claimed
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def open_tracker() -> tuple[App, Tracker]:
    from detent.app.project import items_of
    from detent.interfaces.cli.runner import here

    app = here(create=True)
    return app, items_of(app)


def tracker() -> Tracker:
    return open_tracker()[1]


@click.group("items")
def command() -> None:
    """File, list and close the work items of this repository.

    Items come from the tracker that [tracker] kind names: the built-in list, which needs nothing, beads, or the issues of GitHub or GitLab.
    An item runs only after a person queued it (`detent queue add ID`), or directly with `detent run --workflow execute ID`.

    \b
    detent items add "Round prices to cents" -d "Totals show fractions of a cent."
    detent items add --file plan.md   every entry of a list
    detent items dep it-2 it-1        it-2 waits until it-1 is closed
    detent items list                 what is open
    """


@command.command("add")
@click.argument("title", required=False)
@click.option("--file", "listed", type=click.Path(path_type=Path), help="File every item of a list: .md, .csv, .json or .jsonl.")
@click.option("-d", "--description", default="", metavar="TEXT", help="What is to be done; the agent reads it. - reads standard input.")
@click.option("-p", "--priority", type=click.IntRange(0, 4), default=2, show_default=True, help="0 is the most urgent.")
@click.option("-t", "--type", "sort", type=click.Choice(KINDS), default="task", show_default=True, help="The type of work.")
@click.option("-l", "--label", "labels", multiple=True, metavar="WORD", help="A label; repeatable.")
@click.option("--dep", "needs", multiple=True, metavar="ID", help="An item that must be closed first; repeatable.")
@AS_JSON
@click.pass_context
def add(
    asked: click.Context, title: str | None, listed: Path | None, description: str, priority: int, sort: str,
    labels: tuple[str, ...], needs: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """File an item, and print its id; or every item of a file.

    \b
    In a markdown list each entry is an item, and what is indented below it is its description:
    - [ ] Round prices (P1) #money
          Totals show fractions of a cent.
          needs: Store prices as decimals

    CSV, JSON and JSON Lines have the fields id, title, description, priority, type, labels and depends_on. What an entry needs is the title
    or the id of another one of the file, or the id of an item. All is checked before anything is filed; filing the same file again files
    what is new in it.
    """
    if listed is not None:
        given = [name for name in ("title", "description", "priority", "sort", "needs") if asked.get_parameter_source(name) == FROM_HERE]
        if given:
            raise click.UsageError("with --file, the file describes each item; only --label can be added, to all of them")
        _add_listed(listed, labels, as_json)
        return
    if title is None or not title.strip():
        raise click.UsageError("an item needs a title, or a list with --file")
    text = sys.stdin.read() if description == "-" else description
    item = tracker().add(NewItem(title.strip(), text, priority, sort, labels, needs))
    _tell(item, as_json, f"{item.id}  {plain(item.title)}\nQueue it: detent queue add {item.id}")


def _add_listed(file: Path, labels: tuple[str, ...], as_json: bool) -> None:
    from detent.tracker.listed import file_listed, read_listed

    items = file_listed(tracker(), read_listed(file.name, _text_of(file)), labels)
    if as_json:
        click.echo(json.dumps({"items": [_row(i) for i in items]}))
    else:
        click.echo("\n".join(f"{i.id}  {plain(i.title)}" for i in items) + "\nQueue what is ready: detent queue add --ready")


def _text_of(file: Path) -> str:
    try:
        raw = file.read_bytes() if file.stat().st_size <= LONGEST else None
    except OSError as e:
        raise DetentError(f"{file} cannot be read: {e.strerror}", "name a file that exists") from e
    if raw is None:
        raise DetentError(f"{file} has more than {LONGEST:,} bytes", "split the file")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as e:
        raise DetentError(f"{file} is not UTF-8 text (byte {e.start})", "save it as UTF-8") from e


@command.command("edit")
@click.argument("id")
@click.option("--title", default="", metavar="TEXT", help="What it is called.")
@click.option("-d", "--description", metavar="TEXT", help="What is to be done. - reads standard input.")
@click.option("-p", "--priority", type=click.IntRange(0, 4), help="0 is the most urgent.")
@click.option("-t", "--type", "sort", type=click.Choice(KINDS), default=None, help="The type of work.")
@click.option("-l", "--label", "labels", multiple=True, metavar="WORD", help="A label to add; repeatable.")
@click.option("--unlabel", "unlabel", multiple=True, metavar="WORD", help="A label to remove; repeatable.")
@AS_JSON
def edit(
    id: str,
    title: str,
    description: str | None,
    priority: int | None,
    sort: str | None,
    labels: tuple[str, ...],
    unlabel: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change an item. An execution that has begun keeps the item as it was."""
    if not (title.strip() or description is not None or priority is not None or sort or labels or unlabel):
        raise click.UsageError("say what is to change: --title, --description, --priority, --type, --label or --unlabel")
    if common := set(labels) & set(unlabel):
        raise click.UsageError(f"'{min(common)}' cannot be both added and removed")
    text = sys.stdin.read() if description == "-" else description
    change = TrackerChange(labels=labels, title=title.strip(), description=text, priority=priority, type=sort or "", drop=unlabel)
    item = tracker().change(id, change)
    _tell(item, as_json, f"{item.id}  P{item.priority} {item.status:<11} {item.type:<8} {plain(item.title)}")


@command.command("reopen")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option("--reason", default="", metavar="TEXT", help="The reason; kept as a note.")
@AS_JSON
def reopen(ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Reopen items: closed, blocked or deferred ones, and those that nobody works on any more."""
    from detent.app.people import allowed

    app, here = open_tracker()
    allowed(app, channel())
    for item in here.items(*ids):
        if item.assignee.startswith(HELD) and (run := _at_work(app, item.id)):
            raise DetentError(f"{item.id} is being executed as {run}", f"end that first: detent queue cancel {item.id}")
    items = [here.change(id, TrackerChange("open", assignee="", note=reason)) for id in ids]
    _tell_all(items, as_json)


def _at_work(app: App, id: str) -> str:
    """The id of an item's open execution; else empty."""
    from detent.app.executions import the_items

    last = the_items().last_of(app, id)
    return last.run if last is not None and not last.ended else ""


@command.command("list")
@click.option("--all", "everything", is_flag=True, help="Closed items too.")
@click.option("--status", type=click.Choice(STATUSES), help="Only items of this status.")
@click.option("--ready", is_flag=True, help="Only open items that wait for nothing.")
@AS_JSON
def list_(everything: bool, status: str | None, ready: bool, as_json: bool) -> None:
    """List the items that are not closed, the most urgent first."""
    every = tracker().items()
    done = {item.id for item in every if item.status == "closed"}
    shown = [i for i in every if (i.status == status if status else everything or i.status != "closed")]
    if ready:
        shown = [i for i in shown if i.status == "open" and not i.assignee and set(i.depends_on) <= done]
    shown.sort(key=lambda i: i.priority)
    if as_json:
        click.echo(json.dumps({"items": [_row(i) for i in shown]}))
    elif not shown:
        hidden = len(every) - len(shown)
        click.echo(f"No matching items ({hidden} more with --all)." if hidden else 'No items yet. File one: detent items add "TITLE"')
    for item in shown if not as_json else ():
        waits = [need for need in item.depends_on if need not in done]
        click.echo(f"{item.id:<10} P{item.priority} {item.status:<11} {item.type:<8} {plain(item.title)[:90]}" + _waiting(waits))


def _waiting(waits: list[str]) -> str:
    return f"  (waits for {', '.join(waits)})" if waits else ""


@command.command("show")
@click.argument("id")
@AS_JSON
def show(id: str, as_json: bool) -> None:
    """Show one item: all its details, every attempt at it, and what similar items have cost so far."""
    from detent.app.estimating import estimates
    from detent.app.executions import attempts
    from detent.interfaces.cli.report_text import estimated

    app, here = open_tracker()
    item = here.items(id)[0]
    url, expected = _pull_request(app, item), estimates(app, here, [item])[0]
    parts = [f"{item.id}  {plain(item.title)}", f"{item.status}, {item.type}, priority {item.priority}, filed {item.created_at or '?'}"]
    parts += [f"claimed by {plain(item.assignee)}"] if item.assignee else []
    parts += [f"labels: {', '.join(item.labels)}"] if item.labels else []
    parts += [f"waits for: {', '.join(item.depends_on)}"] if item.depends_on else []
    parts += [f"found in: {', '.join(item.found_in)}"] if item.found_in else []
    parts += [f"pull request: {plain(url)}"] if url else []
    parts += [f"estimate: {estimated([expected])}"] if item.status != "closed" else []
    parts += ["", plain(item.description).rstrip()] if item.description else []
    parts += ["", "Notes:", plain(item.notes).rstrip()] if item.notes else []
    tried = attempts(app, item.id)
    parts += ["", "Attempts:", *(line for each in tried for line in _attempt(each))] if tried else []
    row = {**_row(item), "estimate": expected._asdict() if expected else None, "attempts": [each._asdict() for each in tried]}
    click.echo(json.dumps(row) if as_json else "\n".join(parts))


def _attempt(each: "ItemAttempt") -> list[str]:
    """One attempt at an item, as lines."""
    how = " from the work of the one before" if each.starts_from else f" on the branch of {each.part_of}" if each.part_of else ""
    found = [f"  {each.run}  {each.state}{how}, {each.last or each.begun}"]
    found += [f"    {plain(each.reason)}"] if each.reason else []
    found += [f"    branch {plain(each.branch)}"] if each.branch else []
    found += [f"    pull request {plain(each.pull_request)}"] if each.pull_request else []
    return found + ([f"    its work: git diff {each.kept}~ {each.kept}"] if each.kept and each.state != "COMPLETED" else [])


@command.command("close")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option("--reason", default="", metavar="TEXT", help="The reason; kept as a note.")
@AS_JSON
def close(ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Close items. What waits for them can then run."""
    from detent.app.people import allowed
    from detent.app.queueing import catch_up

    app, here = open_tracker()
    allowed(app, channel())
    closed = [here.change(id, TrackerChange("closed", note=reason)) for id in ids]
    catch_up(app)
    _tell_all(closed, as_json)


@command.command("dep")
@click.argument("id")
@click.argument("needs", nargs=-1, required=True, metavar="NEEDS…")
@AS_JSON
def dep(id: str, needs: tuple[str, ...], as_json: bool) -> None:
    """Let ID wait until the items NEEDS are closed. A cycle is refused, and named."""
    item = tracker().change(id, TrackerChange(depends_on=needs))
    _tell(item, as_json, f"{item.id}  waits for {', '.join(item.depends_on)}")


def _pull_request(app: App, item: Item) -> str:
    """The URL of the pull request of its newest execution."""
    from detent.app.executions import the_items
    from detent.world.pulls import url_of

    last = the_items().last_of(app, item.id)
    return url_of(app.place.common_dir, app.door.load(last.run).run) if last else ""


def _row(item: Item) -> dict[str, Any]:
    return msgspec.structs.asdict(item)


def _tell(item: Item, as_json: bool, text: str) -> None:
    click.echo(json.dumps(_row(item)) if as_json else text)


def _tell_all(items: list[Item], as_json: bool) -> None:
    """Print items whose status was changed."""
    text = "\n".join(f"{item.id}  {item.status}  {plain(item.title)}" for item in items)
    click.echo(json.dumps({"items": [_row(item) for item in items]}) if as_json else text)
