"""The report over the API and on the page, in a real browser: what waits leads to its answer, hostile titles stay text, and a phone shows it all."""

from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from detent.app.queueing import open_queue
from detent.queue.queue_protocol import ExecutionEnd
from tests.executions import CONFIG, Till
from tests.nights import held, queued, turned
from tests.patience import LONG
from tests.webbed import Watched, served, visit


@pytest.mark.slow
def test_the_report_says_on_the_page_what_waits_and_what_failed(chromium: Browser, tmp_path: Path) -> None:
    till = Till(tmp_path, CONFIG)
    with till.app() as app, closing(open_queue(app.place, app.world.outer)) as queue:
        waits, fails = queued(app, queue, till.file("<img src=x onerror='window.hurt=1'>"), till.file("Round prices"))
        assert (turned(app, waits, "no-model", "there is no such model"), turned(app, fails, "over-budget", "too much")) == (
            "HALTED",
            "FAILED",
        )
        held(queue, waits, ExecutionEnd("blocked", "it waits for a person"))
        held(queue, fails, ExecutionEnd("failed", "too much"))
        queue.hold("it is outside of [queue] window 22:00-07:00", "window", 2_000_000_000.0)
    with served(till.project) as to:
        said = to.get("/api/report?since=1h")
        assert {group: n for group, n in said["counts"].items() if n} == {"waits": 1, "failed": 1}
        assert said["queue"]["paused"]["until"].startswith("2033-05-18") and to.get("/api/executions")["paused_until"].startswith(
            "2033-05-18"
        )
        assert to.ask("/api/report?since=soon")[0] == 422
        page = visit(chromium, to.link)
        watched = Watched(page)
        page.keyboard.press("g")
        page.keyboard.press("r")
        expect(page.locator(".lands li")).to_have_count(2, timeout=LONG * 1000)
        expect(page.locator(".lands li").first).to_contain_text("<img src=x")
        expect(page.locator(f"li[data-run={fails}]")).to_contain_text("too much")
        expect(page.locator(".report .gone")).to_contain_text("outside of [queue] window")
        expect(page.locator("table.shares").first).to_contain_text("worker")
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator(".lands .button", has_text="Answer").click()
        expect(page.locator(".question")).to_contain_text("no such model")
        watched.unhurt(page)
