"""The only caller of the git program. Hardened (no hooks, prompts or replace refs; clean environment) and durable (core.fsync=all).

Refs change only through `update`: one transaction, with the expected old values. Never forces, never guesses. Of the person's settings it
uses line endings, ignored files and Git LFS, and none that names a program, which whoever can write to the home folder could use to run
one. Calls that only read settings or talk to a remote keep all settings, for identities, credential helpers and proxies.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

from detent.errors import DetentError
from detent.git.place import Place, branch_at
from detent.storage.state import state_dir

ZERO = "0" * 40
KEPT = ("HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK", "TZ")
FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,  # grafts cannot change parents
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "LC_ALL": "C.UTF-8",
}
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.fsync=all", "core.fsyncMethod=fsync", "core.quotePath=false",
    "core.pager=cat", "core.untrackedCache=false", "core.protectHFS=true", "core.protectNTFS=true", "gc.auto=0", "maintenance.auto=false",
    "commit.gpgSign=false", "tag.gpgSign=false", "diff.external=", "submodule.recurse=false", "protocol.ext.allow=never",
    "core.attributesFile=/dev/null", "core.ignoreStat=false", "core.trustctime=true", "core.checkStat=default",
    "core.commitGraph=false", "advice.detachedHead=false", "color.ui=false", "safe.bareRepository=explicit", "transfer.fsckObjects=true",
)  # fmt: skip
OWN_INDEX = ("-c", "core.fsync=all,-index")  # our own index is temporary; the objects must be durable

AS_THE_PERSON = ("config", "fetch", "ls-remote", "push", "remote")  # calls that need the person's own settings, and run no filter

OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
KEPT_FILES, KEPT_BYTES = 400, 100_000  # limits of the cache of files: how many, and how large each
PATCH = ("--patch", "--unified=0", "--text", "--no-ext-diff", "--no-textconv")


class GitError(DetentError):
    """A git command failed."""


class Out(NamedTuple):
    """The result of a git call."""

    code: int
    raw: bytes
    err: str

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8", "surrogateescape").strip()

    @property
    def items(self) -> list[str]:
        """The entries of NUL-separated output."""
        return [p.decode("utf-8", "surrogateescape") for p in self.raw.split(b"\0") if p]


def find_git(root: Path, search: str) -> str:
    """The absolute path of git, never one inside the workspace."""
    for folder in search.split(os.pathsep):
        file = Path(folder) / "git"
        if folder.startswith("/") and not file.resolve().is_relative_to(root) and os.access(file, os.X_OK):
            return str(file)
    raise GitError("git was not found", "install git and put it on PATH")


def git_version(program: str) -> str:
    """The version that this git reports."""
    return subprocess.run([program, "--version"], capture_output=True, text=True).stdout.removeprefix("git version ").strip()


class Git:
    """git for one checkout."""

    def __init__(self, place: Place, env: Mapping[str, str]) -> None:
        self.place = place
        self.program = find_git(place.root, env.get("PATH", os.defpath))
        base = {k: env[k] for k in KEPT if k in env}
        ours = {**FIXED, "GIT_CONFIG_GLOBAL": personal_config(env)}
        self.env = {**base, **ours, "PATH": env.get("PATH", os.defpath), "GIT_DIR": str(place.git_dir), "GIT_WORK_TREE": str(place.root)}
        self.prefix = [self.program, *(part for s in SETTINGS for part in ("-c", s))]
        self.files_read = dict[tuple[str, str], bytes]()

    def call(
        self, *args: str, stdin: bytes = b"", index: Path | None = None, also: Mapping[str, str] | None = None, timeout: float = 300
    ) -> Out:
        """One git call; the caller checks the exit code. Repeated once if it failed at a lock that is gone now."""
        out = self._asked(args, stdin, index, also, timeout)()
        if out.code and ".lock': File exists" in out.err:
            from detent.git.left_locks import freed  # rare

            if freed(self.place, out.err):
                return self._asked(args, stdin, index, also, timeout)()
        return out

    def _asked(
        self, args: Sequence[str], stdin: bytes, index: Path | None, also: Mapping[str, str] | None, timeout: float
    ) -> Callable[[], Out]:
        """Start a call; the returned function waits for its result."""
        env = {**self.env, **(also or {}), **({"GIT_INDEX_FILE": str(index)} if index else {})}
        if args[0] in AS_THE_PERSON:
            env = {name: value for name, value in env.items() if name not in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")}
        argv = [*self.prefix, *(OWN_INDEX if index else ()), *args]
        try:
            child = subprocess.Popen(argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=self.place.root, env=env)
        except OSError as e:
            raise GitError(f"git could not be started: {e}", "see `detent doctor`") from e
        return lambda: _answer(child, args[0], stdin, timeout)

    def run_both(self, one: Sequence[str], other: Sequence[str], other_index: Path) -> tuple[list[str], list[str]]:
        """The output of two read-only calls made in parallel; the second uses an index of its own."""
        asked = self._asked(other, b"", other_index, None, 300)
        try:
            first = self.run(*one)
        finally:
            out = asked()
        return first.items, _good(other[0], out).items

    def run(
        self, *args: str, stdin: bytes = b"", index: Path | None = None, also: Mapping[str, str] | None = None, timeout: float = 300
    ) -> Out:
        """One git call that must succeed."""
        return _good(args[0], self.call(*args, stdin=stdin, index=index, also=also, timeout=timeout))

    # -- reading -------------------------------------------------------------------------------------------------------------

    def resolve(self, name: str) -> str:
        """The object that a full name resolves to, or ""."""
        out = self.call("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return out.text if out.code == 0 else ""

    def head(self) -> str:
        return self.resolve("HEAD^{commit}")

    def branch(self) -> str:
        """The full ref of the branch that is checked out; empty if HEAD is detached."""
        if (named := branch_at(self.place)) is not None:
            return named
        out = self.call("symbolic-ref", "--quiet", "HEAD")
        return out.text if out.code == 0 else ""

    def tree(self, rev: str) -> str:
        return self.resolve(f"{rev}^{{tree}}")

    def trees(self, names: Sequence[str]) -> dict[str, str]:
        """name -> tree, for those of the names that resolve to an existing tree. One call for all."""
        out = self.run("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin="".join(f"{n}\n" for n in names).encode())
        rows = (line.split() for line in out.text.splitlines())
        return {name: row[1] for name, row in zip(names, rows, strict=True) if row[0] == "tree" and len(row) == 2}

    def message(self, rev: str) -> str:
        return self.run("log", "-1", "--format=%B", "--end-of-options", rev).text

    def commit_shown(self, rev: str) -> tuple[str, str, str]:
        """Hash, tree and message of a commit; empty strings if it does not exist."""
        out = self.call("log", "-1", "--format=%H%x00%T%x00%B", "--end-of-options", rev)
        parts = out.raw.decode("utf-8", "surrogateescape").split("\0", 2) if out.code == 0 and out.raw else ["", "", ""]
        return parts[0], parts[1], parts[2].strip()

    def count(self, base: str, tip: str) -> int:
        return 0 if base == tip else int(self.run("rev-list", "--count", f"{base}..{tip}", "--").text)

    def is_ancestor(self, old: str, new: str) -> bool:
        return self.call("merge-base", "--is-ancestor", old, new).code == 0

    def read(self, tree: str, path: str) -> bytes | None:
        """A file of a tree, or None. Cached, since a tree never changes."""
        if (tree, path) in self.files_read:
            return self.files_read[tree, path]
        out = self.call("cat-file", "blob", f"{tree}:{path}")
        if out.code == 0 and OBJECT.fullmatch(tree) and len(out.raw) <= KEPT_BYTES and len(self.files_read) < KEPT_FILES:
            self.files_read[tree, path] = out.raw
        return out.raw if out.code == 0 else None

    def is_link(self, tree: str, path: str) -> bool:
        return self.run("ls-tree", "-z", tree, "--", path).raw.startswith(b"120000 ")

    def changes(self, old: str, new: str) -> list[tuple[str, str]]:
        """(letter, path) for every path that differs between two trees. A rename is a deletion and an addition."""
        return self.patch(old, new, ())[0]

    def patch(self, old: str, new: str, how: Sequence[str] = PATCH) -> tuple[list[tuple[str, str]], bytes]:
        """`changes`, and the patch without context lines. Attributes and settings do not affect how contents are shown."""
        raw, _, patch = self.run("diff-tree", "-r", "-z", "--no-renames", "--raw", *how, old, new).raw.partition(b"\0\0")
        parts = [part.decode("utf-8", "surrogateescape") for part in raw.split(b"\0") if part]
        return [(row[-1], path) for row, path in zip(parts[::2], parts[1::2], strict=True)], patch

    def config(self, key: str) -> str:
        out = self.call("config", "--get", key)
        return out.text if out.code == 0 else ""

    # -- writing -------------------------------------------------------------------------------------------------------------

    def identity(self, at: str = "") -> dict[str, str]:
        """Environment variables for author and committer, with a fallback for a person without a git identity."""
        name = self.config("user.name") or "Detent"
        mail = self.config("user.email") or "detent@localhost"
        values = {"NAME": name, "EMAIL": mail, **({"DATE": at} if at else {})}
        return {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in values.items()}

    def commit(self, tree: str, parents: Sequence[str], message: str, at: str) -> str:
        """A commit object. The same values give the same commit, so that it can be made again after a crash."""
        args = [part for parent in parents for part in ("-p", parent)]
        return self.run("commit-tree", tree, *args, stdin=message.encode(), also=self.identity(at)).text

    def update(self, moves: Sequence[tuple[str, str, str]]) -> None:
        """Move refs, given as (full name, new value, expected old value), all or none. ZERO means the ref does not exist."""
        lines = ["start"]
        for ref, new, old in moves:
            lines.append(f"delete {ref} {old}" if new == ZERO else f"create {ref} {new}" if old == ZERO else f"update {ref} {new} {old}")
        self.run("update-ref", "--stdin", stdin="\n".join([*lines, "prepare", "commit", ""]).encode())


def _answer(child: subprocess.Popen[bytes], name: str, stdin: bytes, timeout: float) -> Out:
    """Wait for a started call. It is never left running."""
    try:
        out, err = child.communicate(stdin, timeout)
    except subprocess.TimeoutExpired as e:
        raise GitError(f"git {name} did not finish within {timeout:.0f} s", "check the repository and the network") from e
    finally:
        if child.returncode is None:
            child.kill()
            child.communicate()
    return Out(child.returncode, out, err.decode("utf-8", "replace").strip())


def _good(name: str, out: Out) -> Out:
    if out.code != 0:
        raise GitError(f"git {name} failed: {out.err or out.text or out.code}", "nothing was recorded; see `detent doctor`")
    return out


ALLOWED = {
    "core": ("autocrlf", "eol", "safecrlf", "excludesfile", "ignorecase", "precomposeunicode", "filemode", "symlinks"),
    "user": ("name", "email"),
    "init": ("defaultbranch",),
    "safe": ("directory",),
    "i18n": ("commitencoding",),
}
LFS = {  # the one filter that is common; accepted only as Git LFS's own installer writes it
    "clean": "git-lfs clean -- %f",
    "smudge": "git-lfs smudge -- %f",
    "process": "git-lfs filter-process",
    "required": "true",
}
HEADER = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')


def personal_config(env: Mapping[str, str]) -> str:
    """A file with the person's harmless settings, for GIT_CONFIG_GLOBAL; /dev/null if there are none."""
    home = env.get("HOME", "")
    xdg = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = (Path("/etc/gitconfig"), Path(xdg) / "git" / "config", Path(home or "/nonexistent") / ".gitconfig")
    text = "".join(line for file in files for line in _harmless(_text(file)))
    return str(_kept(text)) if text else os.devnull


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _harmless(text: str) -> Iterator[str]:
    """The allowed settings, each with its section."""
    section = name = ""
    for raw in re.sub(r"\\\r?\n", "", text).splitlines():
        line = raw.strip()
        if found := HEADER.match(line):
            section, name, line = found[1].lower(), found[2] or "", found[3]
        key, _, value = (part.strip() for part in line.partition("="))
        if key.lower() in ALLOWED.get(section, ()) and not name:
            yield f"[{section}]\n\t{key} = {value}\n"
        elif section == "filter" and name == "lfs" and value and LFS.get(key.lower()) == value.strip('"'):
            yield f'[filter "lfs"]\n\t{key} = {value}\n'


def _kept(text: str) -> Path:
    """Write the settings to a file of ours, unless it is there already."""
    data = text.encode("utf-8", "surrogateescape")
    file = state_dir() / "git" / f"{hashlib.sha256(data).hexdigest()[:24]}.config"
    if not file.is_file() or file.read_bytes() != data:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
        draft.write_bytes(data)
        os.replace(draft, file)
    return file
