"""Adds and removes git hooks that run `detent check`, where this checkout's git looks for them. Never changes a foreign hook."""

import os
import re
import shlex
from hashlib import sha256
from pathlib import Path

from detent.errors import DetentError
from detent.git.place import Place
from detent.git.repo import Git
from detent.interfaces.register.act import FileChange, program
from detent.interfaces.register.files import read_text, remove, write_text

CHECKS = "check --pushed --fail-on failed"
HEAD = "#!/bin/sh\n# Written by `detent init --hook pre-push` ({}). `detent init --remove` takes it away.\n"
HEAD_LINES = re.compile(r"#!/bin/sh\n# Written by `detent init --hook pre-push` \(([0-9a-f]{16})\)\.[^\n]*\n")
BODY = """{program} {checks} || {{
    code=$?
    echo "detent: nothing was pushed. To push all the same: git push --no-verify" >&2
    exit $code
}}
"""
CHAINED = {  # a word in a hook that a tool manages -> where to add the line instead
    "pre-commit": "add it to .pre-commit-config.yaml instead: docs/ci.md of Detent has the lines",
    "lefthook": f"add it to lefthook.yml instead: pre-push: {{commands: {{detent: {{run: detent {CHECKS}, use_stdin: true}}}}}}",
}


def add_hook(place: Place, name: str) -> FileChange | None:
    """Write the hook; None if it is there already. A foreign hook is refused, with a hint on how to have both."""
    file = _file(place, name)
    now = read_text(file, "utf-8")
    if now is not None and not is_ours(now):
        hint = next((way for word, way in CHAINED.items() if word in now), f"add a line to it: detent {CHECKS} || exit $?")
        raise DetentError(f"there is a {name} hook already: {file}", f"{hint}\na hook can read git's input only once")
    text = _text()
    if now == text and os.access(file, os.X_OK):
        return None
    write_text(file, text)
    file.chmod(0o755)
    return FileChange(_shown(file, place), now, text)


def remove_hook(place: Place, name: str) -> FileChange | None:
    """Remove the hook; None if there is none of ours."""
    file = _file(place, name, ours=False)
    now = read_text(file, "utf-8")
    if now is None or "detent init --hook" not in now:
        return None
    if not is_ours(now):
        raise DetentError(f"{file} was not removed: it is not as init wrote it", "remove Detent's lines by hand")
    if file.is_relative_to(place.common_dir):
        file.unlink()
    else:
        remove(file, place.root)
    return FileChange(_shown(file, place), now, None)


def is_ours(text: str) -> bool:
    """Whether a hook is exactly what init wrote."""
    head = HEAD_LINES.match(text)
    return head is not None and head[1] == _print_of(text[head.end() :])


def _text() -> str:
    body = BODY.format(program=shlex.join(program()), checks=CHECKS)
    return HEAD.format(_print_of(body)) + body


def _print_of(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:16]


def _file(place: Place, name: str, ours: bool = True) -> Path:
    """The path where git looks for this hook: its own folder, or that of core.hooksPath."""
    try:
        lines = Git(place, os.environ).call("config", "--show-scope", "--get-all", "core.hooksPath").text.splitlines()
    except DetentError:
        if ours:
            raise
        lines = []  # without git, nothing was written elsewhere
    configured = [path for scope, _, path in (line.partition("\t") for line in lines) if scope != "command"]  # that is our own override
    if not configured:
        return place.common_dir / "hooks" / name
    folder = Path(os.path.normpath(place.root / Path(configured[-1]).expanduser()))
    if ours and not folder.is_relative_to(place.root) and not folder.is_relative_to(place.common_dir):
        hint = f"add a line to the {name} hook there: detent {CHECKS} || exit $?"
        raise DetentError(f"the hooks of this repository are in {folder}, which other repositories may share", hint)
    husky = folder.name == "_" and folder.parent.name == ".husky"  # husky's generated folder; people's hooks are beside it
    return (folder.parent if husky else folder) / name


def _shown(file: Path, place: Place) -> str:
    return str(file.relative_to(place.root)) if file.is_relative_to(place.root) else str(file)
