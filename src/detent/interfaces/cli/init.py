"""`detent init`: writes detected settings into detent.toml, and registers with clients. Never changes what a person set; --remove undoes it."""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from detent.app.plain_text import plain
from detent.config.sources import FILE, PYPROJECT, load
from detent.errors import DetentError
from detent.git.place import Place, find_place
from detent.interfaces.cli.init_detect import detected
from detent.interfaces.cli.init_file import Found, is_ours, merged, own_table, set_names, toml_text
from detent.interfaces.cli.tell import channel, fold
from detent.interfaces.register import PARTS, PROGRAMS
from detent.interfaces.register.files import read_text, write_text

if TYPE_CHECKING:
    from detent.interfaces.cli.init_look import InitLook
    from detent.interfaces.register.act import FileChange

INSTALLED = "installed"  # the value of `--client` without a name
HOOKS = ("pre-push",)
PLAN = "docs/plan.md"
PLAN_HEAD = "# Plan\n\nEach list item is one pull request. They are done from top to bottom.\n\n"
HINTS = {
    "claude": "Claude Code asks its user once whether to trust the project and its server.",
    "codex": "Codex reads them only in a project that its user trusts, and runs hooks only once they are trusted: `/hooks` there.",
    "gemini": "Gemini CLI reads them only in a folder that its user trusts: `/permissions trust` there.",
    "qwen": "Qwen Code reads them at its next start.",
    "copilot": "Copilot CLI reads them only in a folder that its user trusts: it asks at its start, or `--trust-folder`.",
    "opencode": "opencode reads them at its next start. It has no hook for an agent that stops too early.",
    "cursor": "These follow Cursor's documentation and have not been tried with the program itself.",
}


class InitReport(NamedTuple):
    """What `init` changed in detent.toml."""

    changed: bool
    says: str
    written: Found = {}
    kept: tuple[str, ...] = ()
    hint: str = ""


class ClientChanges(NamedTuple):
    """What was changed for one client or hook, with a diff of each file."""

    client: str
    changed: bool
    says: str
    diffs: dict[str, str]
    hint: str = ""


@click.command("init")
@click.option(
    "--client",
    "clients",
    multiple=True,
    is_flag=False,
    flag_value=INSTALLED,
    type=click.Choice([*PARTS, INSTALLED]),
    help="Register the MCP server and the hooks with it; repeat for more. Without a name: with every client that is installed.",
)
@click.option(
    "--hook", "hooks", multiple=True, type=click.Choice(HOOKS), help="Write a git hook that refuses a push when `detent check` fails."
)
@click.option("--remove", is_flag=True, help="Remove what init wrote, for the clients named or all of it, where nobody changed it since.")
@click.option(
    "--entry", "entries", multiple=True, metavar="TEXT", help="Add this pull request to the plan; makes a first plan if there is none."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(clients: tuple[str, ...], hooks: tuple[str, ...], remove: bool, entries: tuple[str, ...], as_json: bool) -> int:
    """Look at this project, write detent.toml with what is detected, and say what is missing and what to type next.

    \b
    detent init                                     look, write, and say what is next
    detent init --entry "Round prices to cents"     make a first plan with this pull request
    detent init --client claude                     register with Claude Code too
    detent init --remove                            remove what init wrote

    Safe to repeat: it adds only what is missing. Without detent.toml, Detent detects the same each time.

    With --hook pre-push alone, only that hook is written: it needs nothing else. Skip it once with `git push --no-verify`.
    """
    place = find_place(Path.cwd())
    if remove and entries:
        raise click.UsageError("--entry and --remove do not go together")
    whole = not clients and not hooks if remove else bool(clients) or not hooks  # not only the named clients and hooks
    asked = whole and not remove and not as_json and channel() == "terminal"
    planned = _plan(place, entries or (_asked_for_entry(place) if asked else ()))
    hooked = _hooks(place, hooks, remove, whole)
    done, code = (InitReport(False, ""), 0) if not whole else _remove(place) if remove else (_init(place), 0)
    named = [*hooked, *_clients(place, clients, remove, whole)]
    seen = None if remove or not whole else _look(place)
    if as_json:
        _tell_json(done, planned, named, seen)
        return code
    _tell(done, planned, named)
    for line in _lines(seen):
        click.echo(plain(line))
    return code


def _look(place: Place) -> "InitLook":
    from detent.interfaces.cli.init_look import look

    return look(place, load(lambda name: read_text(place.root / name), os.environ), os.environ)


def _lines(seen: "InitLook | None") -> list[str]:
    from detent.interfaces.cli.init_look import lines

    return lines(seen) if seen else []


def _tell_json(done: InitReport, planned: str, named: list[ClientChanges], seen: "InitLook | None") -> None:
    changed = done.changed or bool(planned) or any(c.changed for c in named)
    looked = [row._asdict() for row in seen.rows] if seen else None
    tried = seen.tried._asdict() if seen and seen.tried else None
    following = [command for command, _ in seen.following] if seen else []
    report = {"file": FILE, **done._asdict(), "changed": changed, "plan": planned or None, "clients": [c._asdict() for c in named]}
    click.echo(json.dumps({**report, "tried": tried, "found": looked, "next": following}))


def _asked_for_entry(place: Place) -> tuple[str, ...]:
    """Ask a person without a plan for its first entry."""
    if (
        "pr.plan" in detected(place)
        or read_text(place.root / load(lambda name: read_text(place.root / name), os.environ).pr.plan) is not None
    ):
        return ()
    click.echo(fold("There is no plan yet. A plan is a list of pull requests, and Detent takes an agent through them one by one."))
    answer = click.prompt("What should the first one do? (Enter: no plan now)", default="", show_default=False)
    return (answer,) if answer.strip() else ()


def _plan(place: Place, entries: tuple[str, ...]) -> str:
    """Add entries to the plan, creating it if needed; returns its path if written."""
    wanted = [" ".join(entry.split()) for entry in entries]
    if not all(wanted):
        raise DetentError("a plan entry needs text", 'say what the pull request does: --entry "Round prices to cents"')
    if not wanted:
        return ""
    named = load(lambda name: read_text(place.root / name), os.environ).pr.plan
    path = next((each for each in (named, str(detected(place).get("pr.plan", ""))) if each and (place.root / each).is_file()), PLAN)
    text = read_text(place.root / path, "utf-8") or PLAN_HEAD
    write_text(place.root / path, f"{text}{'' if text.endswith(chr(10)) else chr(10)}" + "".join(f"- {entry}\n" for entry in wanted))
    return path


def _tell(done: InitReport, planned: str, clients: list[ClientChanges]) -> None:
    lines = [done.says] if done.says else []
    lines += [f"  {name} = {toml_text(value)}" for name, value in done.written.items()]
    lines += [*(f"  kept: {name}" for name in done.kept), *([fold(done.hint)] if done.hint else ())]
    lines += [f"The plan {planned} was written."] if planned else []
    for client in clients:
        lines += [client.says, *(plain(diff.rstrip()) for diff in client.diffs.values()), *([fold(client.hint)] if client.hint else ())]
    for line in lines:
        click.echo(line)


def _hooks(place: Place, names: tuple[str, ...], remove: bool, whole: bool) -> list[ClientChanges]:
    """Write or remove the named git hooks; without names, remove all of Detent's."""
    from detent.interfaces.register.git_hook import add_hook, remove_hook

    act, what = (remove_hook, "removed from") if remove else (add_hook, "added to")
    chosen = HOOKS if remove and whole else tuple(dict.fromkeys(names))
    changes = {name: act(place, name) for name in chosen}
    hint = "" if remove else "It runs on each `git push`; `git push --no-verify` skips it once."
    found = [_client(f"the {name} hook", [change] if change else [], what, hint) for name, change in changes.items()]
    return [each for each in found if each.changed or names]


def _clients(place: Place, names: tuple[str, ...], remove: bool, whole: bool) -> list[ClientChanges]:
    """Register or unregister the named clients; without names, unregister all."""
    from detent.app.hooks_seen import registered
    from detent.interfaces.register.act import register, unregister, which

    if not remove:
        hints = {name: f"{which()} {HINTS[name]}" for name in _named(names)}
        return [_client(name, register(place, name), "registered with", hint) for name, hint in hints.items()]
    known = [name for name in registered(place.git_dir) if name in PARTS]
    chosen = known if INSTALLED in names or (whole and not names) else names
    return [_client(name, unregister(place, name), "removed from", "") for name in dict.fromkeys(chosen)]


def _named(names: tuple[str, ...]) -> dict[str, None]:
    """The named clients, and all installed ones for `--client` without a name."""
    found = [name for name, programs in PROGRAMS.items() if any(map(shutil.which, programs))]
    if INSTALLED in names and not found:
        raise DetentError("no client that Detent knows is installed here", f"name one: --client {' | '.join(PARTS)}")
    return dict.fromkeys(name for each in names for name in (found if each == INSTALLED else (each,)))


def _client(name: str, changes: "list[FileChange]", what: str, hint: str) -> ClientChanges:
    says = f"Detent was {what} {name}." if changes else f"{name}: nothing to change."
    return ClientChanges(name, bool(changes), says, {c.path: c.diff for c in changes}, hint if changes else "")


def _init(place: Place) -> InitReport:
    """Add detected settings that are not set. Checks the existing settings first."""
    old = read_text(place.root / FILE)
    settings = load(lambda name: read_text(place.root / name), {})
    elsewhere = {"test.command"} if settings.test.command else set()  # set in tdd.properties, which detent.toml would override
    set_here = set_names(old or "", place) | elsewhere
    found = detected(place)
    missing = {name: value for name, value in found.items() if name not in set_here}
    kept = tuple(sorted(set(found) & set_here))
    if old is None and own_table(place) is not None:
        hint = f"detected and not set there: {', '.join(missing)}" if missing else ""
        return InitReport(False, f"Nothing to change: the settings are in {PYPROJECT} under [tool.detent].", {}, kept, hint)
    if not missing:
        nothing = f"nothing was detected; set [test] command in {FILE} by hand" if not found else ""
        return InitReport(False, "Nothing to change.", {}, kept, nothing)
    new = merged(old or "", missing)
    if new is None:
        lines = ", ".join(f"{name} = {toml_text(value)}" for name, value in missing.items())
        return InitReport(
            False, f"Nothing changed: {FILE} is written in a way that Detent cannot safely add to.", {}, kept, f"add by hand: {lines}"
        )
    write_text(place.root / FILE, new)
    return InitReport(True, f"{FILE} was {'written' if old is None else 'added to'}.", missing, kept)


def _remove(place: Place) -> tuple[InitReport, int]:
    """Remove detent.toml if it is unchanged since init wrote it, and not committed."""
    from detent.interfaces.register.local_only import tracked

    text = read_text(place.root / FILE)
    if text is None:
        return InitReport(False, f"Nothing to remove: there is no {FILE}."), 0
    if not is_ours(text):
        return InitReport(False, f"{FILE} was not removed: it is not as init wrote it.", hint="delete it by hand if you mean to"), 1
    if tracked(place, [FILE]):
        return InitReport(False, f"{FILE} was not removed: it is committed.", hint=f"to remove it for everybody: git rm {FILE}"), 1
    (place.root / FILE).unlink()
    return InitReport(True, f"{FILE} was removed; it was as init wrote it."), 0
