"""Going back on the page, in a real browser: from an event of the timeline to a new run, with its documents; and the report once it is done."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.patience import LONG
from tests.sessions import REQUEST, TEAM, S
from tests.webbed import Watched, script, served, visit, web_project


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_session_goes_back_to_an_event_on_the_page_and_its_report_is_read_there(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    words = ("run", "--workflow", "pipeline", REQUEST, "--agent", script(p, *TEAM), "--yes-to", "review-strategy", "--json")
    old = p.run(*words).json["run"]
    with served(p) as to:
        page = visit(chromium, to.link)
        watched = Watched(page)
        page.goto(f"{to.url}runs/{old}")
        for gate in ("APPROVE_DESIGN", "REVIEW_STRATEGY"):  # they are on the way before they are reached
            expect(page.locator(f".node[data-state={gate}]")).to_be_visible()
        last = to.get(f"/api/runs/{old}")["run"]["events"]
        page.goto(f"{to.url}runs/{old}/timeline/{last - 1}")
        page.get_by_role("button", name="Go back to here").click()
        expect(page.get_by_role("dialog")).to_contain_text("What came later stays reachable")
        page.get_by_role("button", name="Go back", exact=True).click()
        expect(page).not_to_have_url(f"{to.url}runs/{old}/timeline/{last - 1}", timeout=LONG * 1000)
        fresh = page.url.rpartition("/")[2]
        assert fresh != old and to.get(f"/api/runs/{old}")["run"]["state"] == "ABORTED"
        page.goto(f"{to.url}inbox")
        expect(page.locator(".question > header h3")).to_have_text("Approve the design", timeout=LONG * 1000)
        page.get_by_role("button", name="Approve", exact=True).click()
        expect(page.get_by_text("Your answer is recorded")).to_be_visible(timeout=LONG * 1000)
        page.goto(f"{to.url}runs/{fresh}")
        expect(page.get_by_text("the branch is merged into main")).to_be_visible(timeout=LONG * 3000)
        page.get_by_role("link", name="Read the report").click()
        expect(page.locator(".papers .paper")).to_contain_text(f"from event {last - 1} of {old}")
        page.get_by_role("tab", name="spec.md").click()
        expect(page.locator(".papers .paper")).to_contain_text("prices are added")
        assert (p.root / S / "report.md").is_file()
        watched.unhurt(page)
        page.context.close()
