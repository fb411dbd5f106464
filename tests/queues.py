"""Helpers for the queue's tests: a queue on either database, workers in processes of their own, and what must hold afterwards."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from detent.queue.database import open_database
from detent.queue.engine import DurableQueue
from tests import postgres
from tests.patience import LONG, lives

PATIENCE = LONG


class Rig:
    """One queue, the folder of its programs, and its workers."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.file = folder, url, folder / "detent" / "queue.db"
        self.queue = DurableQueue(open_database(url, self.file))
        self.workers: list[Work] = []

    def work(self, how: str = "0.1", slots: int = 2, limit: int = 3, pace: tuple[float, ...] = (), sources: str = "") -> "Work":
        words = [self.url, self.file, self.folder, slots, limit, how, *pace]
        started = Work([sys.executable, "-m", "tests.queue_worker", *map(str, words)], sources)
        self.workers.append(started)
        return started

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait for something; fail with `what` if it never comes."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"{what}: {[(e.id, e.state, e.worker, e.reason) for e in self.queue.all()]}"
            time.sleep(0.02)

    def states(self) -> dict[str, str]:
        return {e.id: e.state for e in self.queue.all(limit=100_000)}

    def noted(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text().splitlines() if file.exists() else []

    def alive(self) -> list[int]:
        """The programs that are alive, of all that were started here."""
        return [pid for pid in map(int, self.noted("pids")) if lives(pid)]

    def close(self) -> None:
        for worker in self.workers:
            worker.end()
        self.queue.close()


class Work:
    """A worker in a process of its own, and its output."""

    def __init__(self, argv: list[str], sources: str = "") -> None:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in (sources, *sys.path) if p)}
        root = Path(__file__).parent.parent
        self.process = subprocess.Popen(
            argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root
        )
        self.told: list[dict[str, str]] = []
        self.errors: list[str] = []
        self._readers = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.told.append(json.loads(line))

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def kinds(self, kind: str) -> list[str]:
        return [told["id"] for told in self.told if told["kind"] == kind]

    def kill(self) -> None:
        self.process.kill()
        self._over()

    def end(self) -> int:
        """Ask the worker to stop, as a person would; its exit code."""
        assert self.process.stdin is not None
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(LONG)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._over()
        return self.process.returncode

    def _over(self) -> None:
        self.process.wait(LONG)
        for reader in self._readers:
            reader.join(LONG)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            if not stream.closed:
                with suppress(BrokenPipeError):
                    stream.close()


@contextmanager
def rig_on(kind: str, folder: Path, made: dict[str, str], server: Callable[[], postgres.Server]) -> Iterator[Rig]:
    """A rig on a fresh queue, copied from one that is set up once per test process."""
    if kind == "sqlite":
        if "sqlite" not in made:
            first = Rig(folder / "first", "")
            first.close()
            made["sqlite"] = str(first.file)
        (folder / "detent").mkdir()
        shutil.copy(made["sqlite"], folder / "detent" / "queue.db")
        rig = Rig(folder, "")
    else:
        if "postgres" not in made:
            Rig(folder, server().database()).close()
            made["postgres"] = f"t{server().made}"
        rig = Rig(folder, server().database(made["postgres"]))
    try:
        yield rig
    finally:
        rig.close()


@pytest.fixture
def rig(request: pytest.FixtureRequest, tmp_path: Path, queue_templates: dict[str, str]) -> Iterator[Rig]:
    """A rig on the database that the test is parametrized with; by default the embedded one."""
    kind = getattr(request, "param", "sqlite")
    with rig_on(kind, tmp_path, queue_templates, lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


BOTH = pytest.mark.parametrize("rig", ["sqlite", "postgres"], indirect=True)
