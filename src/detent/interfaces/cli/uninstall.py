"""`detent uninstall`: lists everything that Detent wrote for this repository, and removes it once a person confirms."""

import json
import os
import shlex
from functools import partial
from pathlib import Path

import click

from detent.app.leaving import Piece, forget_this_call, kept_branches, open_here, pieces
from detent.app.plain_text import plain
from detent.config.sources import FILE
from detent.git.place import Place, find_place
from detent.git.repo import Git
from detent.installation import removing
from detent.interfaces.cli.init import HOOKS, PLAN, PLAN_HEAD
from detent.interfaces.cli.init_file import is_ours
from detent.interfaces.cli.runner import may_decide
from detent.interfaces.cli.tell import channel, fold
from detent.interfaces.register import PARTS
from detent.interfaces.register.files import read_text

KINDS = {"file": "Files", "exclude": "Lines for git", "ref": "Refs", "workspace": "Workspaces", "state": "State"}


@click.command("uninstall")
@click.option("--yes", is_flag=True, help="Remove it without being asked.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(yes: bool, as_json: bool) -> int:
    """List everything that Detent wrote for this repository (files, excludes, refs, state), then remove it.

    \b
    detent uninstall          list, and ask
    detent uninstall --yes    list, and remove

    Your commits and branches stay. So do files that you changed since Detent wrote them: they are named. Without a terminal and without
    --yes nothing is removed.
    """
    place = find_place(Path.cwd())
    if yes:
        may_decide("uninstall Detent")
    found = [*_registered(place), *pieces(place, dict(os.environ))]
    kept, busy = _kept(place), open_here(place)
    if not as_json:
        _list(found, kept, busy)
    sure = yes or (not as_json and bool(found) and channel() == "terminal" and _asked(busy))
    if sure and not yes:
        may_decide("uninstall Detent")
    before = _committed(place)
    if sure:
        for piece in found:
            piece.remove()
    forget_this_call()
    _end(found, sure, kept, as_json)
    if sure and not as_json and (changed := [path for path, text in before.items() if read_text(place.root / path) != text]):
        click.echo(f"To remove it for everybody:\n  git commit -m 'Remove Detent' -- {plain(shlex.join(changed))}")
    return 0


def _committed(place: Place) -> dict[str, str | None]:
    """The files that init writes and git knows, as they are."""
    from detent.app.hooks_seen import registered
    from detent.interfaces.register.local_only import tracked

    parts = [part.path for name in registered(place.git_dir) if name in PARTS for part in PARTS[name](["detent"])]
    return {path: read_text(place.root / path) for path in sorted(tracked(place, [FILE, *parts]))}


def _registered(place: Place) -> list[Piece]:
    """What `detent init` wrote: detent.toml, git hooks, and entries in clients' files."""
    from detent.app.hooks_seen import registered

    found = list[Piece]()
    text = read_text(place.root / FILE)
    if text is not None and is_ours(text):
        found.append(Piece("file", FILE, (place.root / FILE).unlink))
    for name in HOOKS:
        hook = place.common_dir / "hooks" / name
        if hook.is_file() and "detent init --hook" in hook.read_text("utf-8", "replace"):
            found.append(Piece("file", f"the {name} hook", partial(_drop_hook, place, name)))
    for client in registered(place.git_dir):
        if client in PARTS:
            paths = ", ".join(part.path for part in PARTS[client](["detent"]))
            found.append(Piece("file", f"the entries for {client} in {paths}", partial(_unregister, place, client)))
    return found


def _drop_hook(place: Place, name: str) -> None:
    from detent.interfaces.register.git_hook import remove_hook

    remove_hook(place, name)


def _unregister(place: Place, client: str) -> None:
    from detent.interfaces.register.act import unregister

    unregister(place, client)


def _kept(place: Place) -> list[str]:
    """Lines on what stays, and why."""
    kept = [f"the branch {name}: it holds work" for name in kept_branches(Git(place, os.environ))]
    text = read_text(place.root / FILE)
    if text is not None and not is_ours(text):
        kept.append(f"{FILE}: it is not as init wrote it; delete it yourself if you mean to")
    if (read_text(place.root / PLAN, "utf-8") or "").startswith(PLAN_HEAD):
        kept.append(f"the plan {PLAN}: its entries are yours")
    return kept


def _list(found: list[Piece], kept: list[str], busy: list[str]) -> None:
    if not found:
        click.echo("Detent has written nothing for this repository.")
    for kind, title in KINDS.items():
        mine = [piece for piece in found if piece.kind == kind]
        if mine:
            click.echo(f"{title}:")
        for piece in mine:
            click.echo(fold(f"  {plain(piece.what)}", 4))
    for line in kept:
        click.echo(fold(f"Stays: {plain(line)}", 2))
    if busy:
        click.echo(fold(f"Still open, and gone with it: {', '.join(busy)}. To end a run properly: detent abort --run ID"))


def _asked(busy: list[str]) -> bool:
    return click.confirm("Remove all of this?" if not busy else "Remove all of this, with the open runs?", default=False)


def _end(found: list[Piece], done: bool, kept: list[str], as_json: bool) -> None:
    if as_json:
        rows = [{"kind": piece.kind, "what": piece.what} for piece in found]
        click.echo(json.dumps({"removed": done and bool(found), "pieces": rows, "kept": kept, "detent": removing()}))
    elif done:
        click.echo(fold(f"Removed. What was pushed stays at the remote. Detent itself: {removing()}"))
    elif found:
        click.echo("Nothing was removed. To remove it: detent uninstall --yes")
