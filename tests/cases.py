"""Helpers for tests of whole cases: quick projects, a trace of test runs, and waiting for other processes."""

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.laid_out import Places
from tests.patience import LONG
from tests.project import GREEN, START, Project

WRONG = "def add(a, b):\n    return 0\n"


def project(folder: Path, config: str = "", files: dict[str, str] | None = None, branch: str = "main", made: bool = False) -> Project:
    """A project with this detent.toml and these extra files; `made`: it exists already. Every run of its tests adds a line to `runs(project)`."""
    if not made:
        folder = Places.take(folder)
    trace = folder.parent / f"{folder.name}.runs"
    start = (
        f"import os\n\nGATE = {str(_gate(folder))!r}\n\n\ndef test_start():\n    with open({str(trace)!r}, 'a') as f:\n        f.write('ran\\n')\n"
        "    if os.path.exists(GATE):\n        open(GATE).read()\n"
    )
    whole = {**START, "tests/test_start.py": start, "detent.toml": config, **(files or {})}
    found = Project(folder, whole, branch, made)
    if "mutation" in config:
        found.env.pop("DETENT_EVIDENCE_MUTATION", None)
    return found


def _gate(folder: Path) -> Path:
    return folder.parent / f"{folder.name}.gate"


def runs(p: Project) -> int:
    """How often the project's tests have run."""
    trace = p.root.parent / f"{p.root.name}.runs"
    return len(trace.read_text().splitlines()) if trace.exists() else 0


def counts(p: Project) -> dict[str, int]:
    """The counters of the run."""
    found: dict[str, int] = p.run("status", "--json").json["counts"]
    return found


def standing(p: Project) -> dict[str, Any]:
    """Everything that a refusal must leave unchanged."""
    status = p.run("status", "--json").json
    same = {name: status[name] for name in ("state", "step", "counts", "branch", "unproven", "cause")}
    return {**same, "published": p.state, "head": p.git("rev-parse", "HEAD"), "refs": p.git("for-each-ref", "refs/heads"), "runs": runs(p)}


def pass_all(p: Project) -> None:
    """Submit a correct GREEN step."""
    verdict = p.green(GREEN)
    assert verdict["status"] == "SUCCESS", verdict


def await_that(what: Callable[[], bool], seconds: float = LONG) -> None:
    """Wait for something that another process brings about."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come about in time"
        select.select([], [], [], 0.01)


def submitting(p: Project, **fields: str) -> subprocess.Popen[str]:
    """Start a submit that runs while the test does other things."""
    child = subprocess.Popen(
        p.argv("submit-work", "-", "--json"),
        cwd=p.root,
        env=p.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    child.stdin.write(json.dumps({"summary": "s", **fields}))
    child.stdin.close()
    child.stdin = None
    return child


@contextmanager
def held(p: Project, **fields: str) -> Iterator[subprocess.Popen[str]]:
    """A submit whose test run has begun and cannot end before the block does."""
    gate = _gate(p.root)
    os.mkfifo(gate)
    child = submitting(p, **fields)

    fds: list[int] = []

    def has_begun() -> bool:
        assert child.poll() is None, child.communicate()
        with suppress(OSError):
            fds.append(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
        return bool(fds)

    await_that(has_begun)
    gate.unlink()
    try:
        yield child
    finally:
        os.close(fds[0])


def verdict_of(child: subprocess.Popen[str]) -> dict[str, Any]:
    """The verdict of such a submit, with the exit code."""
    out, err = child.communicate(timeout=LONG)
    assert child.returncode != 3, err
    return {**json.loads(out), "exit": child.returncode}


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
