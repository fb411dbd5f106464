"""The web page and its API: from an event in the journal to the screen, the first view over the wire, and answers under load."""

import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Figure
from tests.project import Project
from tests.webbed import Served, browser, copies, remarks, served, visit, web_project

PACE, SECONDS = 50, 6  # events a second, and for how long
CALLS, CALLERS, RUNS = 200, 8, 2000
MANY = 1000  # runs
PLAN = {"docs/Plan_Doc/Active_Plan.md": "# Plan\n\n- feat: add numbers\n"}
WATCH = """() => { window.seen = new Map(); new MutationObserver(() => { for (const row of document.querySelectorAll('.event[data-seq]')) {
  const said = /at=(\\d+)/.exec(row.textContent); if (said && !window.seen.has(said[1])) window.seen.set(said[1], Date.now() - Number(said[1])); } })
  .observe(document.body, { subtree: true, childList: true, characterData: true }) }"""


def paced() -> Iterator[str]:
    """One text per event at an even pace, with the time it was written."""
    begun = time.monotonic()
    for n in range(PACE * SECONDS):
        time.sleep(max(0.0, begun + n / PACE - time.monotonic()))
        yield f"at={time.time() * 1000:.0f}"


def started(folder: Path) -> tuple[Project, str]:
    p = web_project(folder / "p", PLAN)
    return p, str(p.task()["run"])


def event_to_screen(folder: Path) -> Figure:
    """The time from writing an event until its row is on the screen, as the 95th percentile."""
    p, run = started(folder)
    with served(p) as to, browser() as opened:
        page = visit(opened, to.link)
        page.locator(".row .title").click()
        page.get_by_role("tab", name="Timeline").click()
        page.evaluate(WATCH)
        remarks(p, run, paced(), durable=True)
        page.wait_for_function(f"window.seen.size >= {PACE * SECONDS * 0.9}", timeout=30_000)
        took = sorted(page.evaluate("[...window.seen.values()]"))
        page.context.close()
    return Figure(f"event to screen at {PACE} a second, 95th of 100", took[int(len(took) * 0.95)] / 1000, "300 ms", 0.3, 1.0)


def first_view(folder: Path) -> Figure:
    """All bytes of the first view over the wire, with headers and data."""
    p, _ = started(folder)
    sizes: list[int] = []
    with served(p) as to, browser() as opened:
        page = opened.new_context().new_page()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", lambda e: sizes.append(e["encodedDataLength"]))
        page.goto(to.link)
        page.wait_for_selector(".row")
        page.wait_for_timeout(500)
        page.context.close()
    return Figure("first view over the wire", sum(sizes), "200,000 bytes", 200_000, 1.0, "bytes")


def loaded(to: Served, path: str) -> float:
    """The median answer time while several callers ask at once."""
    took: list[float] = []

    def ask() -> None:
        for _ in range(CALLS // CALLERS):
            begun = time.perf_counter()
            to.get(path)
            took.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=ask) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statistics.median(took)


def api_runs(folder: Path) -> Figure:
    p, run = started(folder)
    remarks(p, run, (f"remark {n}" for n in range(RUNS)))
    with served(p) as to:
        to.get("/api/runs")
        return Figure(f"GET /api/runs, {CALLERS} at once, a run of {RUNS} events", loaded(to, "/api/runs"), "250 ms", 0.25, 1.0)


def api_events(folder: Path) -> Figure:
    p, run = started(folder)
    remarks(p, run, (f"remark {n}" for n in range(RUNS)))
    with served(p) as to:
        path = f"/api/runs/{run}/events?after={RUNS - 200}"
        return Figure(f"GET 200 events of {RUNS}, {CALLERS} at once", loaded(to, path), "250 ms", 0.25, 1.0)


def many_runs(folder: Path) -> Figure:
    """The first page of very many runs, as the board requests it."""
    p, run = started(folder)
    copies(p, run, MANY)
    with served(p) as to:
        path = "/api/runs?sort=group&limit=200"
        to.get(path)
        return Figure(f"GET 200 of {MANY} runs, {CALLERS} at once", loaded(to, path), "500 ms", 0.5, 1.0)


def many_questions(folder: Path) -> Figure:
    p, run = started(folder)
    copies(p, run, MANY)
    with served(p) as to:
        return Figure(f"GET /api/decisions over {MANY} runs, {CALLERS} at once", loaded(to, "/api/decisions"), "500 ms", 0.5, 1.0)


def search(folder: Path) -> Figure:
    """A search that matches one of very many runs, after the rows were built."""
    p, run = started(folder)
    copies(p, run, MANY)
    with served(p) as to:
        to.get("/api/runs?q=x00007")
        return Figure(f"search over {MANY} runs, {CALLERS} at once", loaded(to, "/api/runs?q=x00007"), "500 ms", 0.5, 1.0)
