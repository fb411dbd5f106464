"""One checkout of a clone, kept between calls with its environment. Owns everything that git does there; the clone itself is only read."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bench import meter
from bench.history import Project, Suite
from bench.history.runners import read, runner_of
from detent.errors import DetentError

WHO = (("user.name", "history bench"), ("user.email", "bench@example.org"), ("commit.gpgsign", "false"), ("core.hooksPath", "/dev/null"))
LIMIT = 8
DROPPED = ("DETENT_", "GIT_", "TDD_", "PYTHON", "PYTEST_", "VIRTUAL_ENV", "CONDA_")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def write(path: Path, value: object) -> None:
    """Write a file atomically, so that an interrupted call leaves no partial one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_bytes(msgspec.json.format(msgspec.json.encode(value)))
    new.replace(path)


class Checkout:
    """The folder of one clone in the work folder: `checkout`, `reports`, `corpus.json`, `replays`, `state`."""

    def __init__(self, clone: Path, work: Path, given: Project, timeout: float = 600) -> None:
        self.clone, self.folder, self.timeout = clone.resolve(), work.resolve() / name_of(clone), timeout
        self.root = self.folder / "checkout"
        kept = msgspec.json.decode(self._kept.read_bytes(), type=Project) if self._kept.exists() else Project()
        limit = given.limit or kept.limit or LIMIT
        look = given.look or (0 if given.limit else kept.look) or limit + (limit + 1) // 2
        self.project = Project(given.command or kept.command, given.setup or kept.setup, limit, look)
        if not self.project.command:
            raise DetentError(f"nothing says how {self.name} is tested", "give --command, such as '.venv/bin/python -m pytest'")
        self.runner = runner_of(self.project.command)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def _kept(self) -> Path:
        return self.folder / "project.json"

    def git(self, *args: str, env: Mapping[str, str] | None = None, stdin: str | None = None) -> str:
        where = self.root if self.root.exists() else self.clone
        argv = ["git", *args]
        done = subprocess.run(
            argv, cwd=where, env={**self.env, **(env or {})}, input=stdin, capture_output=True, encoding="utf-8", errors="replace"
        )
        if done.returncode:
            raise DetentError(
                f"{self.name}: git {args[0]} failed: {done.stderr.strip()[-400:]}", "look at the checkout, or remove its folder"
            )
        return done.stdout.strip()

    @property
    def env(self) -> dict[str, str]:
        """A user's environment, without variables of Detent or this Python. No bytecode: two trees of the same second would share it."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(DROPPED)}
        inner = str(Path(sys.executable).parent)
        kept["PATH"] = os.pathsep.join(part for part in kept.get("PATH", os.defpath).split(os.pathsep) if part != inner)
        own = {"XDG_STATE_HOME": str(self.folder / "state"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return {**kept, **own, "UV_LINK_MODE": "copy"}  # linked files change when another environment is made from them

    # -- set-up --------------------------------------------------------------------------------------------------------------

    def make(self) -> None:
        """Create the checkout and its environment once; again only for another set-up command."""
        self._alone()
        done = self.folder / "ready"
        if done.exists() and done.read_text() == self.project.setup:
            write(self._kept, self.project)
            return
        self._forget(done)
        if not (self.root / ".git").exists():
            self._clone()
        self.lay(self.git("rev-parse", "refs/bench/tip^{tree}"))
        if self.project.setup:
            say(f"{self.name}: {self.project.setup}")
            got = meter.run(["sh", "-c", self.project.setup], self.root, self.env, timeout=1800)
            if got.code:
                raise DetentError(
                    f"{self.name}: the set-up failed ({got.code}): {(got.out + got.err)[-1500:]}", "fix --setup and run it again"
                )
        made = [f"/{line}" for line in self.git("ls-files", "-o", "--directory").splitlines()]
        (self.folder / "made").write_text("".join(f"{line}\n" for line in made))
        write(self._kept, self.project)
        done.write_text(self.project.setup)

    def _alone(self) -> None:
        """Lock the checkout until this process ends, since two calls would spoil each other's trees."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = (self.folder / "lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DetentError(f"another call works on {self.name} in {self.folder}", "wait for it, or give another --work") from None

    def _forget(self, done: Path) -> None:
        """Delete reports made with another environment."""
        done.unlink(missing_ok=True)
        (self.folder / "corpus.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "reports", ignore_errors=True)

    def _clone(self) -> None:
        say(f"{self.name}: making a checkout of {self.clone}")
        half = self.folder / "checkout.new"
        shutil.rmtree(half, ignore_errors=True)
        half.parent.mkdir(parents=True, exist_ok=True)
        self.git("clone", "-q", "--shared", "--no-checkout", str(self.clone), str(half))
        for args in (
            *(("config", key, value) for key, value in WHO),
            ("update-ref", "refs/bench/tip", "HEAD"),
            ("remote", "remove", "origin"),
        ):
            subprocess.run(["git", *args], cwd=half, env=self.env, check=True, capture_output=True)
        half.replace(self.root)

    # -- trees -----------------------------------------------------------------------------------------------------------------

    def lay(self, tree: str) -> None:
        """Make index and files exactly this tree; files of the set-up stay, everything else is removed."""
        made = self.folder / "made"
        (self.root / ".git/info/exclude").write_text(made.read_text() if made.exists() else "")
        for lock in (self.root / ".git").glob("*.lock"):
            lock.unlink()  # left by an interrupted call; nobody else works here
        self.git("read-tree", "--reset", "-u", tree)
        keep = [word for line in (made.read_text().splitlines() if made.exists() else ()) for word in ("-e", line)]
        self.git("clean", "-qffdx", *keep)

    def fresh(self) -> None:
        """Remove every trace of Detent from the repository."""
        for place in (self.root / ".git/detent", self.folder / "state"):
            shutil.rmtree(place, ignore_errors=True)
        for ref in self.git("for-each-ref", "--format=%(refname)", "refs/detent", "refs/notes", "refs/heads").splitlines():
            self.git("update-ref", "-d", ref)

    def mixed(self, base: str, other: str, paths: Sequence[str]) -> str:
        """The tree of `base` with these paths taken from `other`, including deletions."""
        index = {"GIT_INDEX_FILE": str(self.folder / "index")}
        self.git("read-tree", base, env=index)
        zero = "".join(f"0 {'0' * 40}\t{path}\0" for path in paths)
        there = self.git("ls-tree", "-rz", other, "--", *paths) if paths else ""
        self.git("update-index", "-z", "--index-info", env=index, stdin=zero + "".join(f"{line}\0" for line in there.split("\0") if line))
        return self.git("write-tree", env=index)

    def changed(self, old: str, new: str) -> list[str]:
        """The paths that differ between two trees."""
        return [path for path in self.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new).split("\0") if path]

    def text(self, tree: str, path: str) -> str | None:
        """The text of a file in a tree; None if it is missing or not UTF-8."""
        done = subprocess.run(["git", "cat-file", "blob", f"{tree}:{path}"], cwd=self.root, env=self.env, capture_output=True)
        try:
            return done.stdout.decode() if done.returncode == 0 else None
        except UnicodeDecodeError:
            return None

    def overlaid(self, tree: str, files: Mapping[str, str | None]) -> str:
        """A tree with other texts in some files; None removes one."""
        index = {"GIT_INDEX_FILE": str(self.folder / "index")}
        self.git("read-tree", tree, env=index)
        modes = {line.partition("\t")[2]: line[:6] for line in self.git("ls-tree", "-rz", tree).split("\0")}
        lines = []
        for path, text in files.items():
            blob = self.git("hash-object", "-w", "--stdin", stdin=text) if text is not None else "0" * 40
            lines.append(f"{modes.get(path, '100644') if text is not None else '0'} {blob}\t{path}\0")
        self.git("update-index", "-z", "--index-info", env=index, stdin="".join(lines))
        return self.git("write-tree", env=index)

    def committed(self, tree: str, parent: str, title: str, ref: str) -> str:
        """A commit with a fixed date, kept under a ref."""
        date = {"GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000000 +0000"}
        made = self.git("commit-tree", tree, "-p", parent, "-m", title, env=date)
        self.git("update-ref", ref, made)
        return made

    # -- the plain runner ------------------------------------------------------------------------------------------------------

    def suite(self, tree: str, timeout: float = 0) -> Suite:
        """The plain runner's results for a tree; known trees are not run again."""
        kept = self.folder / "reports" / f"{tree}.json"
        if kept.exists():
            return msgspec.json.decode(kept.read_bytes(), type=Suite)
        self.lay(tree)
        report = self.folder / "report"
        report.unlink(missing_ok=True)
        argv = ["sh", "-c", self.runner.asked(self.project.command, str(report))]
        got = meter.run(argv, self.root, {**self.env, "PYTHONDONTWRITEBYTECODE": "1"}, timeout=timeout or self.timeout)
        try:
            cases, groups = read(self.runner, report, got.out, self.root)
            problem = "" if cases else f"no test ran: {readable(got.out + got.err)}"
        except (ValueError, KeyError, SyntaxError) as e:  # a missing or incomplete report
            cases, groups, problem = {}, {}, f"no report: {readable(got.err or got.out or str(e))}"
        killed = got.code is None or got.code < 0 or got.code > 128
        found = Suite(cases, groups, got.cpu, got.seconds, problem, killed)
        write(kept, found)
        return found


def readable(output: str) -> str:
    """The end of a program's output on one line; of JSON lines their texts."""
    texts = [json.loads(line).get("Output", "") if line.startswith('{"') else line for line in output.splitlines()]
    return " ".join(" ".join(texts).split())[-300:]


def name_of(clone: Path) -> str:
    """The project's name: mirrors are called `owner+name/repo`, checkouts by their folder."""
    last = clone.resolve()
    return (last.parent if last.name in ("repo", ".git") else last).name.removesuffix(".git")
