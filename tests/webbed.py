"""Helpers for tests of the web page: a repository with runs in every state, the real server on loopback, and a real browser."""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from playwright.sync_api import Browser, Page, sync_playwright

from detent.app import open_app
from detent.journal.journal import SqliteJournal
from detent.journal.journal_rows import from_entry, to_entry
from detent.kernel.model import Event, Found, Sent
from tests.driven import ALONE, Json, project
from tests.machine import need
from tests.patience import LONG
from tests.project import Project
from tests.repos import sh
from tests.sessions import DAY

CHROMIUM = Path("/usr/bin/chromium")
HIDE = """hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange')) }"""
TOKEN = "For programs: Authorization: Bearer "
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")
QUICKLY = f"{ALONE}[sandbox]\nlevel = 'none'\n[debug]\ninstrument = 1\nreduce_scope = 1\nescalate = 1\n"


class Served(NamedTuple):
    """A running server."""

    child: "subprocess.Popen[str]"
    url: str
    token: str
    link: str

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rpartition(":")[2])

    def ask(self, path: str, body: Json | None = None, **headers: str) -> tuple[int, Any]:
        """(status, value) of one call; with `body` it is a POST."""
        data = json.dumps(body).encode() if body is not None else None
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.url.rstrip("/") + path, data, sent)
        try:
            with urllib.request.urlopen(request, timeout=LONG) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as e:
            with e:
                text = e.read().decode()
            return e.code, json.loads(text) if text.startswith("{") else text

    def get(self, path: str) -> Any:
        status, value = self.ask(path)
        assert status == 200, (status, value)
        return value


@contextmanager
def served(p: Project, *args: str, port: int = 0, **env: str) -> Iterator[Served]:
    """`detent serve` on a free port, until the block ends."""
    need("loopback")
    argv = p.argv("serve", "--port", str(port), "--no-open", *args)
    with subprocess.Popen(
        argv, cwd=p.root, env={**p.env, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        try:
            yield _told(child)
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
                try:
                    child.wait(LONG)
                except subprocess.TimeoutExpired:
                    child.kill()


def _told(child: "subprocess.Popen[str]") -> Served:
    assert child.stdout is not None
    first, link = next(iter(child.stdout), ""), ""
    if first.startswith("Open "):  # what a person needs comes first
        link = first.removeprefix("Open ").strip()
    for line in child.stdout:
        if link and line.startswith(TOKEN):
            return Served(child, link.partition("#")[0], line.removeprefix(TOKEN).strip(), link)
    raise AssertionError(child.stderr.read() if child.stderr else "")


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's chromium with a profile of its own."""
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        try:
            yield opened
        finally:
            opened.close()


def visit(opened: Browser, link: str, **context: Any) -> Page:
    """A page in a context of its own; an error in it fails the test."""
    page = opened.new_context(**{"viewport": {"width": 1280, "height": 800}, **context}).new_page()
    page.set_default_timeout(LONG * 1000)
    page.goto(link)
    page.locator("#page > *").first.wait_for()  # keys typed before it is drawn would be lost
    return page


class Watched:
    """Hidden errors of a page."""

    def __init__(self, page: Page) -> None:
        self.faults: list[str] = []
        page.on("pageerror", lambda e: self.faults.append(str(e)))
        page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" and "net::ERR" not in m.text else None)

    def unhurt(self, page: Page) -> None:
        assert page.evaluate("window.hurt") is None
        assert [f for f in self.faults if "Failed to load resource" not in f] == []


def worktree(p: Project, name: str) -> Project:
    """Another checkout of the same repository, with runs of its own in the same journal."""
    folder = p.root.parent / name
    sh(p.root, "git", "worktree", "add", "-q", "-b", name, str(folder), "main")
    made = Project(folder, made=True)
    made.env = dict(p.env)
    return made


def web_project(folder: Path, files: Mapping[str, str] | None = None, config: str = QUICKLY) -> Project:
    made = project(folder, config, files)
    made.env |= DAY
    return made


def script(p: Project, *entries: Json, name: str = "script") -> str:
    """The spec of an agent that plays these entries."""
    file = p.root.parent / f"{p.root.name}.{name}.json"
    file.write_text(json.dumps(entries))
    return f"scripted:{file}"


def remarks(p: Project, run: str, texts: Iterable[str], durable: bool = False) -> None:
    """Append an event to a run for each text, as if a person had steered it. Not synced to disk unless `durable`."""
    app = open_app(p.root, env=p.env)
    assert isinstance(app.journal, SqliteJournal)
    if not durable:
        app.journal.db.execute("PRAGMA synchronous=OFF")
    event = app.door.load(run)
    table = app.door.tables[event.run.workflow]
    for seq, text in enumerate(texts, event.run.seq + 1):
        now = msgspec.structs.replace(event.run, seq=seq)
        said = Sent("steer", by="human", channel="web", note=text)
        app.journal.append(to_entry(table, Event(now, "steer", now.state, event.at, said, Found(), "SUCCESS", event.verdict)), seq - 1)
    app.journal.close()


def copies(p: Project, run: str, count: int) -> None:
    """Append this many more runs that began like this one."""
    app = open_app(p.root, env=p.env)
    assert isinstance(app.journal, SqliteJournal)
    app.journal.db.execute("PRAGMA synchronous=OFF")
    table = app.door.tables[app.door.load(run).run.workflow]
    event = from_entry(table, app.journal.events(run, 0, 1)[0])
    for n in range(count):
        now = msgspec.structs.replace(event.run, id=f"{event.run.workflow}-x{n:05}", worktree=f"/elsewhere/{n}")
        app.journal.append(to_entry(table, msgspec.structs.replace(event, run=now)), 0)
    app.journal.close()
