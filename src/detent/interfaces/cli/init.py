"""`detent init`: write what is detected into detent.toml, and register with clients. What a person set is never changed, and what was written can be taken back."""

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from detent.app.preflight import default_preflight
from detent.config import FILE, PYPROJECT, load
from detent.errors import CannotTell, DetentError
from detent.evidence.runners import Folder
from detent.evidence.runners.detect import find_command
from detent.git.place import Place, find_place
from detent.interfaces.cli.tell import plain
from detent.interfaces.register import PARTS, PROGRAMS
from detent.interfaces.register.files import read, write

HOOKS = ("pre-push",)

if TYPE_CHECKING:
    from detent.app.try_tests import Tried
    from detent.interfaces.register.act import FileChange

HEADER = "# Written by `detent init` ({}). Change what you like; the keys are in docs/configuration.md of Detent.\n"
HEADER_LINE = re.compile(r"# Written by `detent init` \(([0-9a-f]{16})\)\.[^\n]*\n")
PLANS = ("docs/Plan_Doc/Active_Plan.md", "docs/Active_Plan.md", "Active_Plan.md", "docs/PLAN.md", "docs/plan.md", "PLAN.md", "plan.md")

INSTALLED = "installed"  # what `--client` without a name stands for
HINTS = {
    "claude": "Claude Code asks its user once whether to trust the project and its server.",
    "codex": "Codex reads them only in a project that its user trusts, and runs hooks only once they are trusted: `/hooks` there.",
    "gemini": "Gemini CLI reads them only in a folder that its user trusts: `/permissions trust` there.",
    "qwen": "Qwen Code reads them at its next start.",
    "copilot": "Copilot CLI reads them only in a folder that its user trusts: it asks at its start, or `--trust-folder`.",
    "opencode": "opencode reads them at its next start. It has no hook for an agent that stops too early.",
    "cursor": "These are written after Cursor's documentation and have not been tried with the program itself.",
}

Found = dict[str, str | list[str]]


class InitReport(NamedTuple):
    """What a call did, for people and for programs."""

    changed: bool
    says: str
    written: Found = {}
    kept: tuple[str, ...] = ()
    hint: str = ""


class ClientChanges(NamedTuple):
    """What was changed for one client, as a diff of each file."""

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
    "--hook", "hooks", multiple=True, type=click.Choice(HOOKS), help="Write a git hook that refuses a push which `detent check` says fails."
)
@click.option(
    "--remove", is_flag=True, help="Take back what init wrote: of the clients named, or all of it, where nobody changed it since."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(clients: tuple[str, ...], hooks: tuple[str, ...], remove: bool, as_json: bool) -> int:
    """Write detent.toml with what is detected here: test command, preflight, plan and main branch. Register with clients.

    Safe to repeat: only what is not there yet is added. Without detent.toml, Detent detects the same anew each time.

    With --hook pre-push alone, only that hook is written: it needs nothing else. Skip it once with `git push --no-verify`.
    """
    place = find_place(Path.cwd())
    whole = not clients and not hooks if remove else bool(clients) or not hooks  # not only what is named
    hooked = _hooks(place, hooks, remove, whole)
    done, code = (InitReport(False, ""), 0) if not whole else _remove(place.root / FILE) if remove else (_init(place), 0)
    named = [*hooked, *_clients(place, clients, remove, whole)]
    tried = None if remove or not whole else _try(place)
    if as_json:
        told, found = [c._asdict() for c in named], tried._asdict() if tried else None
        changed = done.changed or any(c.changed for c in named)
        click.echo(json.dumps({"file": FILE, **done._asdict(), "changed": changed, "clients": told, "tried": found}))
        return code
    _tell(done, named)
    if tried:
        click.echo(f"Tried it on the last commit: {tried.words}")
        if tried.trouble or tried.failing or tried.preflight:
            click.echo(tried.hint or "What fails now can be accepted as known when a run starts: detent start --baseline")
    return code


def _try(place: Place) -> "Tried | None":
    """The tests and the preflight as a run would run them: a command that cannot work is told now, not at the first step."""
    from detent.app.try_tests import try_tests
    from detent.interfaces.cli.doctor_project import commands_of

    settings = load(lambda name: read(place.root / name), os.environ)
    try:
        return try_tests(place, settings, os.environ, commands_of(place.root, settings))
    except (DetentError, CannotTell):
        return None  # what stands in the way is for `doctor` to say; what was written is written


def _tell(done: InitReport, clients: list[ClientChanges]) -> None:
    lines = [done.says] if done.says else []
    lines += [f"  {name} = {_toml(value)}" for name, value in done.written.items()]
    lines += [*(f"  kept: {name}" for name in done.kept), *([done.hint] if done.hint else ())]
    for client in clients:
        lines += [client.says, *(plain(diff.rstrip()) for diff in client.diffs.values()), *([client.hint] if client.hint else ())]
    for line in lines:
        click.echo(line)


def _hooks(place: Place, names: tuple[str, ...], remove: bool, whole: bool) -> list[ClientChanges]:
    """Write the hooks that are named, or take them away; without a name, take away all that are ours."""
    from detent.interfaces.register.git_hook import add_hook, remove_hook

    act, what = (remove_hook, "taken out of") if remove else (add_hook, "added to")
    chosen = HOOKS if remove and whole else tuple(dict.fromkeys(names))
    changes = {name: act(place, name) for name in chosen}
    hint = "" if remove else "It runs on each `git push`; `git push --no-verify` skips it once."
    found = [_client(f"the {name} hook", [change] if change else [], what, hint) for name, change in changes.items()]
    return [each for each in found if each.changed or names]


def _clients(place: Place, names: tuple[str, ...], remove: bool, whole: bool) -> list[ClientChanges]:
    """Register with the clients that are named, or take that back; without a name, take back all that are registered."""
    from detent.app.hooks_seen import registered
    from detent.interfaces.register.act import register, unregister, which

    if not remove:
        hints = {name: f"{which()} {HINTS[name]}" for name in _named(names)}
        return [_client(name, register(place, name), "registered with", hint) for name, hint in hints.items()]
    known = [name for name in registered(place.git_dir) if name in PARTS]
    chosen = known if INSTALLED in names or (whole and not names) else names
    return [_client(name, unregister(place, name), "taken out of", "") for name in dict.fromkeys(chosen)]


def _named(names: tuple[str, ...]) -> dict[str, None]:
    """The clients that are meant: those that are named, and all that are installed where `--client` has no name."""
    found = [name for name, programs in PROGRAMS.items() if any(map(shutil.which, programs))]
    if INSTALLED in names and not found:
        raise DetentError("no client is installed here that Detent knows", f"name one: --client {' | '.join(PARTS)}")
    return dict.fromkeys(name for each in names for name in (found if each == INSTALLED else (each,)))


def _client(name: str, changes: "list[FileChange]", what: str, hint: str) -> ClientChanges:
    says = f"Detent was {what} {name}." if changes else f"{name}: nothing to change."
    return ClientChanges(name, bool(changes), says, {c.path: c.diff for c in changes}, hint if changes else "")


def _init(place: Place) -> InitReport:
    """Add what is detected and not set. The settings that are there are checked first."""
    old = read(place.root / FILE)
    settings = load(lambda name: read(place.root / name), {})
    elsewhere = {"test.command"} if settings.test.command else set()  # tdd.properties, which detent.toml would hide
    set_here = _set_names(old or "", place) | elsewhere
    found = _detected(place)
    missing = {name: value for name, value in found.items() if name not in set_here}
    kept = tuple(sorted(set(found) & set_here))
    if old is None and _own_table(place) is not None:
        hint = f"detected and not set there: {', '.join(missing)}" if missing else ""
        return InitReport(False, f"Nothing to change: the settings stand in {PYPROJECT} under [tool.detent].", {}, kept, hint)
    if not missing:
        nothing = "nothing was detected; set [test] command in detent.toml by hand" if not found else ""
        return InitReport(False, "Nothing to change.", {}, kept, nothing)
    new = _merged(old or "", missing)
    if new is None:
        lines = ", ".join(f"{name} = {_toml(value)}" for name, value in missing.items())
        return InitReport(
            False, f"Nothing changed: {FILE} is written in a way that cannot be added to safely.", {}, kept, f"add by hand: {lines}"
        )
    write(place.root / FILE, new)
    return InitReport(
        True, f"{FILE} was {'written' if old is None else 'added to'}.", missing, kept, f"Commit {FILE}, then call `detent start`."
    )


def _remove(file: Path) -> tuple[InitReport, int]:
    text = read(file)
    if text is None:
        return InitReport(False, f"Nothing to remove: there is no {FILE}."), 0
    if not _is_ours(text):
        return InitReport(False, f"{FILE} was not removed: it is not as init wrote it.", hint="delete it by hand if you mean to"), 1
    file.unlink()
    return InitReport(True, f"{FILE} was removed; it was as init wrote it."), 0


# What is there.


def _detected(place: Place) -> Found:
    """What can be told from the files of the project."""
    root, path = place.root, os.environ.get("PATH", os.defpath)
    found: Found = {}
    if call := find_command(Folder(root, path)):
        found["test.command"] = call.text
    if preflight := default_preflight(lambda name: read(root / name), root, path):
        found["preflight.commands"] = list(preflight)
    if plan := next((p for p in PLANS if (root / p).is_file()), ""):
        found["pr.plan"] = plan
    if main := _main_branch(place):
        found["git.main"] = main
    return found


def _main_branch(place: Place) -> str:
    """The main branch, from git's files alone: origin/HEAD, main, master, or the only branch."""
    branches = set(_branches(place.common_dir))
    remote = _pointed(place.common_dir / "refs" / "remotes" / "origin" / "HEAD", "refs/remotes/origin/")
    head = _pointed(place.git_dir / "HEAD", "refs/heads/")
    only = head if not branches or branches == {head} else ""
    return next((name for name in (remote, "main", "master") if name in branches), only)


def _branches(common_dir: Path) -> Iterator[str]:
    heads = common_dir / "refs" / "heads"
    yield from (p.relative_to(heads).as_posix() for p in heads.rglob("*") if p.is_file() and not p.name.endswith(".lock"))
    for line in (read(common_dir / "packed-refs") or "").splitlines():
        name = line.partition(" ")[2]
        if name.startswith("refs/heads/") and not line.startswith("#"):
            yield name.removeprefix("refs/heads/")


def _pointed(file: Path, prefix: str) -> str:
    """The branch that a symbolic ref names; empty for a detached HEAD and for refs that are kept in another form."""
    text = (read(file) or "").strip().removeprefix("ref: ")
    name = text.removeprefix(prefix) if text.startswith(prefix) else ""
    return "" if name == ".invalid" else name


def _set_names(text: str, place: Place) -> set[str]:
    table = tomllib.loads(text) if text else _own_table(place) or {}
    return {f"{section}.{key}" for section, keys in table.items() for key in keys}


def _own_table(place: Place) -> dict[str, dict[str, object]] | None:
    try:
        tool = tomllib.loads(read(place.root / PYPROJECT) or "").get("tool", {})
    except tomllib.TOMLDecodeError:
        return None
    own: dict[str, dict[str, object]] | None = tool.get("detent")
    return own


# The file.


def _merged(old: str, missing: Found) -> str | None:
    """The text with the missing keys added, each in its section; None where that would say anything else."""
    body = HEADER_LINE.sub("", old, count=1) if (ours := not old or _is_ours(old)) else old
    for name, value in missing.items():
        section, _, key = name.partition(".")
        line = f"{key} = {_toml(value)}\n"
        header = re.search(rf"^[ \t]*\[[ \t]*{section}[ \t]*\][ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)", body, re.MULTILINE)
        if header:
            start = body[: header.end()]
            body = start + ("" if start.endswith("\n") else "\n") + line + body[header.end() :]
        else:
            body = body + ("" if not body or body.endswith("\n") else "\n") + f"\n[{section}]\n{line}"
    new = _headed(body) if ours else body
    return new if _says_the_same(old, missing, new) else None


def _says_the_same(old: str, missing: Found, new: str) -> bool:
    wanted = tomllib.loads(old)
    for name, value in missing.items():
        section, _, key = name.partition(".")
        wanted.setdefault(section, {})[key] = value
    try:
        return tomllib.loads(new) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _headed(body: str) -> str:
    return HEADER.format(_print_of(body)) + body


def _print_of(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:16]


def _is_ours(text: str) -> bool:
    """Whether a text is byte for byte what init wrote."""
    header = HEADER_LINE.match(text)
    return header is not None and _headed(text[header.end() :]) == text


def _toml(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
