"""What `detent serve` does before it answers, and for each answer: what it loads, and how often it opens the repository."""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from detent.app import App, open_app
from detent.errors import DetentError, JournalDamaged
from detent.interfaces.http.asgi import build
from detent.interfaces.http.kept_apps import KeptApps
from tests.project import Project
from tests.webbed import web_project

LOADS = "import sys, detent.interfaces.http.page_server; print(*(m for m in sys.modules if '.' not in m or m.startswith('detent.')))"
STARTED = {"sitecustomize", "usercustomize"}  # of a system's own Python, Debian's for one: loaded before anything of ours
NEEDED = {"anyio", "click", "detent", "h11", "msgspec", "python_multipart", "sniffio", "starlette", "typing_extensions", "uvicorn"}


class Counted(KeptApps):
    """Apps that are counted as they are opened."""

    def __init__(self, p: Project) -> None:
        self.opened = 0

        def opening(root: Path) -> App:
            self.opened += 1
            return open_app(root, create=True, env=p.env)

        super().__init__(p.root, opening)


def test_before_it_answers_serve_loads_no_workflow_no_agent_and_nothing_for_the_eye() -> None:
    loaded = subprocess.run([sys.executable, "-I", "-c", LOADS], capture_output=True, text=True, check=True).stdout.split()
    installed = {name for name in loaded if "." not in name and name not in sys.stdlib_module_names and not name.startswith("_")}
    assert installed <= NEEDED | STARTED, installed - NEEDED
    late = (
        "detent.workflows",
        "detent.agents.anthropic",
        "detent.agents.openai",
        "detent.agents.acp",
        "detent.sandbox.probe",
        "detent.queue.dbos",
    )
    assert [name for name in loaded if name.startswith(late)] == []


async def answers(app: Starlette, *paths: str) -> list[tuple[int, Any]]:
    """What the server says to these, one after the other."""
    found = []
    async with app.router.lifespan_context(app):
        for path in paths:
            sent: list[Any] = []

            async def receive() -> dict[str, Any]:
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(message: Any, sent: list[Any] = sent) -> None:
                sent.append(message)

            where, _, query = path.partition("?")
            scope = {
                "type": "http",
                "method": "GET",
                "path": where,
                "query_string": query.encode(),
                "headers": [],
                "client": ("127.0.0.1", 1),
            }
            await app(scope, receive, send)
            found.append((sent[0]["status"], json.loads(b"".join(m.get("body", b"") for m in sent))))
    return found


def test_a_hundred_calls_open_the_repository_once_for_each_thread_at_most(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    apps = Counted(p)
    asked = ("/api/runs", "/api/decisions", "/api/runs/nobody", "/api/runs?limit=0") * 25
    said = asyncio.run(answers(build(p.root, "token", {}, asyncio.Event(), apps), *asked))
    assert [status for status, _ in said[:4]] == [200, 200, 404, 400]
    assert 1 <= apps.opened <= 8


def test_an_app_is_opened_anew_where_settings_may_name_another_journal_and_after_what_nobody_expected(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    apps = Counted(p)

    def use(raises: type[Exception] | None = None) -> int:
        with apps.app() as app:
            app.journal.heads()
            if raises:
                raise raises("x", "y")
        return apps.opened

    assert [use(), use()] == [1, 1]
    with pytest.raises(DetentError):
        use(DetentError)
    assert use() == 1, "a refusal is nothing to begin anew for"
    for kind in (JournalDamaged, KeyError):
        with pytest.raises(kind):
            use(kind)
    assert (apps.opened, use(), use()) == (2, 3, 3)
    with p.root.joinpath("detent.toml").open("a") as file:
        file.write("# it may say where the journal is\n")
    assert [use(), use()] == [4, 4]
    other = threading.Thread(target=use)
    other.start()
    other.join()
    assert (apps.opened, use()) == (5, 5), "each thread has its own"
