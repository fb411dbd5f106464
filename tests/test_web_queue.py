"""Executions on the page and over the API: items are filed, queued, followed, cancelled and tried again, in a real browser with a real worker."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPResponse
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from detent.app.queueing import open_queue
from detent.app.tally import UsageTally
from detent.git.place import find_place
from detent.interfaces.http.executing import Desk, executions
from detent.interfaces.http.runs_board import RunsBoard
from detent.interfaces.http.shapes_execute import ExecutionsAsked
from detent.queue.queue_protocol import QueueJob
from tests.driven import running, scripted
from tests.executions import WORKS, Till
from tests.patience import LONG
from tests.project import Project
from tests.test_queue_outside import NOT_READY, PULL_REQUESTS
from tests.test_web_api import asked, frames
from tests.webbed import Served, served, visit, web_project

AGENT = """import pathlib, sys, time
print("at work on it", "<b>not bold</b>", sep="\\n", flush=True)
flag = pathlib.Path(sys.argv[1])
if not flag.exists():
    flag.touch()
    time.sleep(600)
for name, text in FILES.items():
    pathlib.Path(name).write_text(text)
print("Prices are added, and a test shows it.")
"""  # takes very long, the first time

ISSUE = {
    "title": "No test for negative prices",
    "description": "add one",
    "priority": 2,
    "type": "task",
    "severity": "minor",
    "file_path": "calc.py",
    "line_numbers": [1],
}
REVIEW = {"issues": [ISSUE], "summary": "one thing is missing", "pr_ready": True}


@pytest.fixture
def at_work(tmp_path: Path) -> Iterator[tuple[Project, Served]]:
    """A project, its server, and a worker."""
    p = web_project(tmp_path / "p")
    agent = tmp_path / "agent.py"
    agent.write_text(f"FILES = {WORKS['write']!r}\n{AGENT}")
    reviewer = tmp_path / "reviewer.py"
    reviewer.write_text(f"print({json.dumps(REVIEW)!r})\n")
    who = f"[review]\nagent = 'command:{sys.executable} {reviewer}'\n[agents]\nworker = 'command:{sys.executable} {agent} {tmp_path / 'flag'}'\n"
    p.write({"detent.toml": (p.root / "detent.toml").read_text() + who})
    p.git("commit", "-qam", "who works")
    with served(p) as to:
        to.ask("/api/items", {"title": "Add prices"})
        status, queued = to.ask("/api/executions", {"items": ["it-1"]})
        assert status == 201, queued
        with running(p, "work"):
            yield p, to


@pytest.mark.slow
def test_an_execution_is_followed_cancelled_and_tried_again_in_the_browser(chromium: Browser, at_work: tuple[Project, Served]) -> None:
    p, to = at_work
    page = visit(chromium, to.link)
    page.keyboard.press("g")
    page.keyboard.press("q")
    expect(page.locator(".event .chip")).to_have_text("running", timeout=LONG * 1000)
    expect(page.locator(".log")).to_contain_text("<b>not bold</b>", timeout=LONG * 1000)
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".event .chip")).to_have_text("cancelled", timeout=LONG * 1000)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-id=execute-it-1-2] .chip")).to_have_text("done", timeout=LONG * 1000)
    page.locator("[data-id=execute-it-1-2]").click()
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("status").filter(has_text="one thing is missing")).to_be_visible(timeout=LONG * 1000)
    page.get_by_role("link", name="See the run").click()
    expect(page.locator(".node.now[data-state=COMPLETED]")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("b")
    expect(page.locator(".standing")).to_have_text("0 of 3 slots, 0 next, 0 waiting")
    row = page.locator("[data-run=execute-it-1-2]")
    expect(row.get_by_role("button")).to_have_text(["Review"])
    row.get_by_role("button", name="Review").click()
    expect(page.get_by_role("status").filter(has_text="one thing is missing").last).to_be_visible(timeout=LONG * 1000)
    page.keyboard.press("g")
    page.keyboard.press("q")
    page.get_by_role("button", name="New item").click()
    page.get_by_label("Title").fill("Round <i>prices</i>")
    page.get_by_role("button", name="File it").click()
    page.get_by_role("tab", name="Items").click()
    expect(page.get_by_label("Items")).to_contain_text("Round <i>prices</i>")
    expect(page.get_by_label("Items")).to_contain_text("No test for negative prices")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused: a person paused it")).to_be_visible()
    page.context.close()
    assert p.run("items", "show", "it-1", "--json").json["status"] == "closed"
    assert "it-1: Add prices" in p.git("log", "--all", "--format=%s")


@pytest.mark.slow
def test_a_long_log_is_shown_whole_and_many_executions_stay_quick(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    with served(p) as to:
        to.ask("/api/items", {"title": "Add prices"})
        to.ask("/api/executions", {"items": ["it-1"], "agent": "command:true"})
        queue = open_queue(find_place(p.root), p.env)
        for n in range(400):
            queue.store.write("execute-it-1-1", 1, f"line {n}\n\nand half")
            queue.store.write("execute-it-1-1", 1, " of it\n")
        queue.add([QueueJob(f"x-{n:04}", title=f"Job {n}") for n in range(300)])
        page = visit(chromium, to.link)
        page.goto(f"{to.url}queue/execute-it-1-1")
        expect(page.locator(".log .tools .num")).to_have_text("1,200 lines")
        expect(page.locator(".line").last).to_have_text("1200and half of it")
        assert page.locator(".event").count() < 60
        first = to.get("/api/executions/it-1/logs?limit=10")
        assert (len(first["pieces"]), first["next"], first["dropped"]) == (10, 10, 0)
        assert to.get("/api/executions/it-1/logs?after=790&limit=10")["next"] is None
        board = to.get("/api/executions?limit=100&offset=100")
        assert len(board["executions"]) == 100 and board["next"] == 200 and to.get("/api/executions?limit=100&offset=300")["next"] is None
        page.keyboard.press("j")
        expect(page.locator(".event.here")).to_contain_text("Job")
        queue.close()
        page.context.close()


@pytest.mark.slow
def test_the_board_says_how_the_queue_stands_and_cancels_and_tries_again(chromium: Browser, tmp_path: Path) -> None:
    with served(web_project(tmp_path / "p")) as to:
        two_queued(to)
        page = visit(chromium, to.link)
        bar, first, second = page.locator(".standing"), page.locator("[data-run=execute-it-1-1]"), page.locator("[data-run=execute-it-2-1]")
        expect(bar).to_have_text("No worker, 1 next, 1 waiting")
        expect(first.locator(".state")).to_have_text("next")
        expect(second.locator(".state")).to_contain_text("waits for it-1")
        assert to.ask("/api/queue", {"paused": True})[0] == 200
        expect(bar.locator(".chip")).to_have_text("paused")
        first.get_by_role("button", name="Cancel").click()
        page.get_by_label("Why").fill("not now")
        page.get_by_role("button", name="Cancel it").click()
        first.get_by_role("button", name="Try again").click()
        expect(page.locator("[data-run=execute-it-1-2] .state")).to_have_text("next")
        expect(first.get_by_role("button")).to_have_count(0)  # only the newest one of an item is tried again
        bar.click()
        shown = page.locator(".event")
        expect(shown).to_have_count(3)
        page.keyboard.press("/")
        page.keyboard.type("not now")
        expect(shown).to_have_count(1)
        expect(shown).to_contain_text("it-1")
        expect(page.locator(".shown h3")).to_have_text("Add prices", timeout=LONG * 1000)  # what is looked at stays, whether it fits or not
        expect(page.get_by_label("Attempts").locator("li")).to_have_count(2)  # both attempts at the item are one story
        expect(page.get_by_label("Attempts").locator("li").first).to_contain_text("execute-it-1-1 cancelled", ignore_case=True)
        page.get_by_label("State").select_option("Waits for others")
        expect(page.get_by_text("No execution matches")).to_be_visible()
        page.get_by_role("button", name="Show all").click()
        expect(shown).to_have_count(3)
        page.context.close()


def two_queued(to: Served) -> None:
    """Two items that are queued; the second waits for the first, and no worker is there."""
    for title, needs in (("Add prices", []), ("Add taxes", ["it-1"])):
        assert to.ask("/api/items", {"title": title, "depends_on": needs})[0] == 201
    status, told = to.ask("/api/executions", {"items": ["it-1", "it-2"], "agent": "command:true"})
    assert (status, told["counts"]) == (201, {"waiting": 1, "ready": 1, "running": 0}), told


@pytest.mark.slow
def test_executions_are_searched_at_the_server_and_what_happens_elsewhere_is_seen_at_once(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")

    def found(asked: str) -> list[tuple[str, str]]:
        return [(e["title"], e["state"]) for e in to.get(f"/api/executions?{asked}")["executions"]]

    with served(p) as to:
        assert to.get("/api/executions")["counts"] == {"waiting": 0, "ready": 0, "running": 0}, "asking makes no queue"
        two_queued(to)
        queue = open_queue(find_place(p.root), p.env)
        queue.add([QueueJob("x-1", title="Round 50% of ÄRGER"), QueueJob("x-2", title="Round 500 prices")])
        queue.close()
        assert found("q=round%20PRICES") == [("Round 500 prices", "ready")] and found("q=50%25") == [("Round 50% of ÄRGER", "ready")]
        assert found("q=%C3%84RGER") == [("Round 50% of ÄRGER", "ready")] and found("q=execute-it-1") == [("Add prices", "ready")]
        assert found("state=waiting") == [("Add taxes", "waiting")] and found("q=it-2&state=ready") == []
        first = to.get("/api/executions?q=round&limit=1")
        assert (len(first["executions"]), first["next"], first["counts"]["ready"]) == (1, 1, 3)
        assert to.ask("/api/executions?state=nothing")[0] == 400
        to.ask("/api/items/it-1/close", {"reason": "done by hand"})
        assert found("q=taxes") == [("Add taxes", "ready")], "what waited for a closed item may run"
        to.ask("/api/runs/execute-it-2-1/abort", {"reason": "not now"})
        assert found("q=taxes&all=true") == [("Add taxes", "cancelled")], "a run that was ended has left the queue"


def test_whoever_looks_at_the_queue_sees_what_happened_outside_of_it(tmp_path: Path) -> None:
    till = Till(tmp_path, remote=False)
    one, two = till.file("Add prices"), till.file("Add taxes", depends_on=("it-1",))
    till.project.run("queue", "add", one, two, "--agent", "command:true")

    def seen(desk: Desk) -> list[tuple[str, str]]:
        return [(e.item, e.state) for e in executions(app, desk, ExecutionsAsked()).executions]

    with till.app() as app, closing(Desk(RunsBoard(UsageTally()), 3600)) as once, closing(Desk(RunsBoard(UsageTally()), 0)) as again:
        assert seen(once) == seen(again) == [(one, "ready"), (two, "waiting")]
        till.change(one, status="closed")  # by a program that knows nothing of the queue
        assert seen(once)[1] == (two, "waiting"), "the tracker is not asked with every look"
        assert seen(again) == [(one, "ready"), (two, "ready")]


@pytest.mark.slow
def test_an_execution_that_waits_for_a_person_is_answered_or_given_up_on_the_page(chromium: Browser, tmp_path: Path) -> None:
    till = Till(tmp_path, PULL_REQUESTS)
    one, two = till.file("Add prices"), till.file("Add taxes")
    agent = scripted(till.project, {**WORKS, "again": True, "usage": {"usd": 0.5}}, {**NOT_READY, "again": True})
    till.project.run("queue", "add", one, two, "--agent", agent)
    assert till.project.run("work", "--once").code == 10
    with served(till.project) as to:
        waits = to.get("/api/executions?state=blocked")["executions"]
        assert {(e["item"], e["run_state"], e["usage"]["usd"]) for e in waits} == {(two, "NOT_READY", 0.5), (one, "NOT_READY", 0.5)}
        asked = to.get("/api/decisions/execute-it-1-1:waits")
        assert [o["value"] for o in asked["options"]] == ["override", "fix", "review", "abort"]
        assert to.ask("/api/decisions/execute-it-1-1:waits", {"shown": asked["shown"], "value": "override"})[1]["state"] == "OPENING"
        assert to.get("/api/executions/it-1")["state"] == "ready", "it goes on in the queue, with a worker"
        page = visit(chromium, to.link)
        row = page.locator("[data-run=execute-it-2-1]")
        expect(row.locator(".cost")).to_have_text("$0.50")
        row.get_by_role("link", name="Answer").click()
        expect(page.locator(".answer .buttons button")).to_have_text(["Stop the run", "Open it anyway", "Have it fixed", "Review again"])
        expect(page.locator(".asked")).to_contain_text("No error handling (high bug): words are added too")
        page.get_by_role("button", name="Stop the run").click()
        page.get_by_role("button", name="Stop it").click()
        expect(page.get_by_text("Nothing waits for you")).to_be_visible()
        assert [e["state"] for e in to.get("/api/executions?q=it-2&all=true")["executions"]] == ["cancelled"]
        page.context.close()
    assert till.run("execute-it-2-1").state == "CANCELLED" and till.item(two).status == "open"


@pytest.mark.slow
def test_executions_are_listed_polled_streamed_and_stopped_over_the_api(at_work: tuple[Project, Served]) -> None:
    _, to = at_work
    with asked(to, "/api/executions/execute-it-1-1/stream") as answer:
        first = next(f for f in stream_of(answer) if "not bold" in f["data"])
    told = to.get("/api/executions/it-1/logs?after=0")
    assert told["after"] >= int(first["id"]) and "at work on it" in "".join(piece["text"] for piece in told["pieces"])
    assert to.get(f"/api/executions/it-1/logs?after={told['after']}")["pieces"] == []
    board = to.get("/api/executions")
    assert [(e["item"], e["state"], e["run_state"]) for e in board["executions"]] == [("it-1", "running", "RUNNING")] and board[
        "slots"
    ] == 3
    status, ended = to.ask("/api/executions/it-1/cancel", {"reason": "not now"})
    assert (status, ended["state"]) == (200, "cancelled")
    assert to.get("/api/runs/execute-it-1-1")["run"]["state"] == "CANCELLED"
    for path in ("", "/logs", "/stream"):
        assert to.ask(f"/api/executions/nothing{path}", None)[0] == 404, path
    assert to.ask("/api/executions/nothing/cancel", {})[0] == 404 and to.ask("/api/items/nothing/close", {})[0] == 404
    with asked(to, "/api/executions/execute-it-1-1/stream") as answer:
        assert "at work on it" in answer.read().decode(), "the stream of an execution that has ended comes to an end"
    assert to.ask("/api/executions", {})[0] == 422 and to.ask("/api/items", {"title": " "})[0] == 422
    assert to.ask("/api/reviews", {"branch": "nothing"})[0] == 422
    assert [i["status"] for i in to.get("/api/items")["items"]] == ["open"]
    status, item = to.ask("/api/items/it-1/close", {"reason": "no need"})
    assert (status, item["status"]) == (200, "closed") and to.get("/api/items")["items"] == []


def stream_of(answer: HTTPResponse) -> Iterator[dict[str, str]]:
    return (f for f in frames(answer) if f.get("event") == "output")
