"""The board and its keys, in a real browser: titles, plans, few that ended, a search that Escape ends, colours of runners wherever they are told."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from detent.app import open_app
from detent.journal.journal import SqliteJournal
from detent.journal.journal_rows import to_entry
from detent.kernel.model import Event, Flag, Found, Sent, Verdict
from tests.project import Project
from tests.webbed import Served, Watched, served, visit, web_project

RED = "\x1b[31m1 failed\x1b[0m in \x1b[1m0.1s\x1b[0m"
PLAN = {"docs/Plan_Doc/Active_Plan.md": "# Plan\n\n- feat: add numbers\n"}


def written(p: Project) -> str:
    """29 runs of one plan that ended and one of another, and one that stopped, and tells in every field what a runner with colours said; its id."""
    run = str(p.task()["run"])
    app = open_app(p.root, env=p.env)
    assert isinstance(app.journal, SqliteJournal)
    app.journal.db.execute("PRAGMA synchronous=OFF")
    first = app.door.load(run)
    table = app.door.tables[first.run.workflow]
    for n in range(30):
        plan, entry = ("docs/plan.md", f"feat: part {n}") if n < 29 else ("docs/other.md", "docs: say how")
        data = replace(first.run.data, setup=replace(first.run.data.setup, plan=plan, entries=(entry, "feat: the rest")))
        now = replace(first.run, id=f"pr-x{n:05}", state="ABORTED", data=data, seq=1)
        app.journal.append(to_entry(table, replace(first, run=now)), 0)
    seq = first.run.seq + 1
    now = replace(
        first.run, seq=seq, state="HALTED", cause="errors", last_error=RED, last_reason=f"stopped: {RED}", guidance=f"look: {RED}"
    )
    said = Verdict("FAILURE", "HALTED", f"all of it: {RED}", "detent resume", reasons=(f"the tests fail: {RED}",))
    flag = Flag("weak-evidence", f"it ended with {RED}", "tests")
    sent = Sent("steer", by="human", channel="web", note=f"I saw {RED}")
    made = Event(now, "steer", first.run.state, first.at, sent, Found(flagged=(flag,)), "FAILURE", said)
    app.journal.append(to_entry(table, made), seq - 1)
    app.journal.close()
    return run


def look_everywhere(page: Page, to: Served, run: str) -> None:
    """No view of a run shows the escape of a colour; what is coloured is."""
    for path in ("", "inbox", f"runs/{run}", f"runs/{run}/timeline/2", "report"):
        page.goto(to.url + path)
        if path == f"runs/{run}":
            page.get_by_text("What went wrong last").click()
        if path == "inbox":
            page.get_by_text("What was seen last", exact=True).click()
        expect(page.locator("main").get_by_text("feat: add numbers").first).to_be_visible()
        if path not in ("", "report"):
            expect(page.locator(".ansi-red-fg", has_text="1 failed").first).to_be_visible()
        if path.endswith("/2"):
            expect(page.get_by_label("Event 2").locator(".ansi-red-fg")).to_have_count(3)  # reason, flag, what was said
            page.get_by_role("tab", name="Output").last.click()
            expect(page.locator("pre.output .ansi-red-fg")).to_be_visible()
        expect(page.locator("main")).not_to_contain_text("x1b")


@pytest.mark.slow
def test_the_board_tells_runs_apart_groups_those_of_a_plan_and_hears_every_key(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    run = written(p)
    with served(p) as to:
        page = visit(chromium, to.link)
        watched, rows = Watched(page), page.locator(".row")
        expect(page.locator(f"[data-run={run}] .title")).to_have_text("feat: add numbers")
        expect(page.locator("[data-run=pr-x00029] .title")).to_have_text("docs: say how")
        expect(page.locator(".planned-runs")).to_have_text(["Plan docs/plan.md19 runs"])
        page.keyboard.type("jjjk", delay=0)
        expect(page.locator(".row.at")).to_have_attribute("data-run", rows.nth(1).get_attribute("data-run") or "")
        page.keyboard.type("/nothing like this", delay=0)
        expect(page.get_by_text("No run matches")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_label("Search runs")).to_have_value("")
        expect(rows.first).to_be_visible()
        page.locator(".rows").evaluate("e => { e.scrollTop = e.scrollHeight }")
        page.get_by_role("button", name="Show 10 more that ended").click()
        expect(page.locator(".whole")).to_have_attribute("style", f"height: {40 + 58 + 40 + 58 + 30 + 29 * 58}px;")
        page.locator(".rows").evaluate("e => { e.scrollTop = 0 }")
        expect(page.locator(".planned-runs .count")).to_have_text("29 runs")
        page.keyboard.type("kkkkkkk2", delay=0)  # nowhere to go further up; the tabs are of a run
        page.keyboard.press("Enter")
        page.keyboard.type("2", delay=0)  # before the run is there
        expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
        look_everywhere(page, to, run)
        watched.unhurt(page)
        page.context.close()
