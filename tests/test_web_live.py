"""What a person looks at on the page stays what it is: while output grows, others ask, tabs open and close, a driver dies, the page is loaded anew."""

import json
import os
import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from detent.app import open_app
from detent.app.tally import UsageTally
from detent.interfaces.http.runs_board import RunsBoard, runs
from detent.interfaces.http.shapes import RunsAsked
from tests.driven import CYCLE, PLANS, REDS, running
from tests.patience import LONG, until
from tests.test_pr_surroundings import exhausted
from tests.test_web_api import asked, frames
from tests.webbed import HIDE, QUICKLY, Served, Watched, copies, remarks, script, served, visit, web_project, worktree
from tests.webbed_world import approving, stuck

PLAN = {"docs/Plan_Doc/Active_Plan.md": "# Plan\n\n- feat: add numbers\n"}
FIRST_PAGE = re.compile(r"/api/runs\?.*offset=0$")


def entered(opened: Browser, to: Served, **how: object) -> BrowserContext:
    """Tabs of a person who is let in."""
    context = opened.new_context(**{"viewport": {"width": 1280, "height": 800}, **how})  # type: ignore[arg-type]
    context.set_default_timeout(LONG * 1000)
    context.add_init_script(f"sessionStorage.setItem('detent-token', '{to.token}')")
    return context


def opened_at(context: BrowserContext, to: Served, path: str = "/") -> Page:
    page = context.new_page()
    page.goto(to.url.rstrip("/") + path)
    return page


@pytest.mark.slow
def test_what_a_person_types_and_looks_at_stays_when_others_ask_too(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    first = approving(worktree(p, "till"))
    with served(p) as to:
        page = opened_at(entered(chromium, to), to, "/inbox")
        watched, words = Watched(page), page.locator("textarea[name=words]")
        heading = page.locator(".question > header h3")
        expect(heading).to_have_text("Approve the design")
        words.fill("please use cents everywhere")
        stuck(worktree(p, "numbers"))
        expect(page.get_by_label("2 waiting")).to_be_visible()
        expect(page.locator(".event")).to_have_count(2)
        expect(heading).to_have_text("Approve the design")
        expect(words).to_have_value("please use cents everywhere")
        page.get_by_role("button", name="The agent asks for help").click()
        expect(heading).to_have_text("The agent asks for help")
        expect(page.locator(".question .asked")).not_to_contain_text("detent ")
        page.keyboard.press("j")
        expect(heading).to_have_text("Approve the design")
        expect(words).to_have_value("please use cents everywhere")
        page.get_by_role("tab", name="acceptance.json").click()
        expect(page.locator(".criteria li").first).to_contain_text("AC-001prices are addedchecked by pytest -q tests/test_add.py")
        page.get_by_role("link", name="Board").click()
        page.locator(".row", has_text="A till").get_by_text("Answer").click()
        expect(heading).to_have_text("Approve the design")
        page.reload()
        expect(heading).to_have_text("Approve the design")
        to.ask(f"/api/runs/{first}/abort", {})
        expect(page.get_by_text("This question is closed")).to_be_visible()
        watched.unhurt(page)
        page.context.close()


def hears(page: Page) -> list[str]:
    """The streams that a page asks for."""
    heard: list[str] = []
    page.on("request", lambda r: heard.append(r.url) if "/stream" in r.url else None)
    return heard


@pytest.mark.slow
def test_eight_tabs_with_one_stream_each_that_rests_while_nobody_sees_it(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    run = p.task()["run"]
    with served(p) as to:
        context = entered(chromium, to)
        tabs: list[Page] = []
        streams: list[list[str]] = []
        for _ in range(8):
            if tabs:
                tabs[-1].evaluate(HIDE, True)
            page = context.new_page()
            heard = hears(page)
            page.goto(f"{to.url}runs/{run}/timeline")
            expect(page.locator(".event[data-seq='1']")).to_be_visible()
            tabs.append(page)
            streams.append(heard)
        remarks(p, run, ["said while nobody looked"])
        expect(tabs[-1].locator(".event[data-seq='2']")).to_contain_text("said while nobody looked")
        assert tabs[0].locator(".event[data-seq='2']").count() == 0
        tabs[-1].evaluate(HIDE, True)
        tabs[0].evaluate(HIDE, False)
        expect(tabs[0].locator(".event[data-seq='2']")).to_contain_text("said while nobody looked")
        expect(tabs[0].locator(".link")).to_have_text("Live")
        assert {url.partition("?")[0].rpartition("/api")[2] for heard in streams for url in heard} == {"/stream"}
        assert len(streams[3]) <= 2, "the board alone until the run is known, then the run with it"
        context.close()


@pytest.mark.slow
def test_the_address_says_what_is_looked_at_and_other_tabs_are_let_in(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", config=f"{QUICKLY}[limits]\nfiles = 20\n")
    run = p.run("run", "add numbers", "--agent", script(p, *CYCLE), "--json").json["run"]
    with served(p) as to:
        page = visit(chromium, to.link)
        watched = Watched(page)
        page.locator(".row .title").click()
        expect(page.locator(".limit")).to_have_text("Files3 of 20")
        page.get_by_role("tab", name="Timeline").click()
        page.get_by_role("button", name="3 red, success").click()
        expect(page.get_by_label("Event 3")).to_be_visible()
        assert page.url.endswith(f"/runs/{run}/timeline/3")
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids)), "each id is there once"
        page.keyboard.press("j")
        expect(page.get_by_label("Event 2")).to_be_visible()
        page.reload()
        expect(page.get_by_label("Event 2")).to_be_visible()
        page.get_by_role("tab", name="Turns").click()
        turns = page.get_by_label("Turns").get_by_role("button")
        expect(turns.first).to_have_attribute("aria-current", "true")
        page.keyboard.press("j")
        expect(turns.nth(1)).to_have_attribute("aria-current", "true")
        page.go_back()
        expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Escape")
        with page.context.expect_page() as other:
            page.locator(".row .title").click(modifiers=["Control"])
        expect(other.value.get_by_role("heading", level=1)).to_have_text("add numbers")
        watched.unhurt(page)
        page.context.close()


@pytest.mark.slow
def test_a_link_whose_answer_got_lost_is_good_for_the_same_tab_only(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    with served(p) as to:
        page = chromium.new_page()
        page.route("**/api/token", lambda route: (route.fetch(), route.abort()))  # the server has answered, the page never hears it
        page.goto(to.link)
        expect(page.get_by_role("alert")).to_contain_text("Your link is still good in this tab")
        assert "once" not in page.url
        page.unroute("**/api/token")
        page.evaluate("sessionStorage.clear()")  # as a browser does that was out of memory
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_text("No runs yet")).to_be_visible()
        thief = chromium.new_context().new_page()
        thief.goto(to.link)
        expect(thief.get_by_label("Or paste the token")).to_be_visible()
        page.reload()
        expect(page.get_by_text("No runs yet")).to_be_visible()
        assert page.evaluate("history.state") is None, "what it was asked with is gone"
        thief.context.close()
        page.close()


@pytest.mark.slow
def test_one_answer_that_gets_lost_is_asked_for_again_and_nobody_notices(chromium: Browser, tmp_path: Path) -> None:
    """A browser fails whatever is on its way when an address of the machine comes or goes, also what stays on this machine (ERR_NETWORK_CHANGED)."""
    p, asked = web_project(tmp_path / "p"), list[tuple[str, str | None]]()

    def once(route: Route) -> None:
        asked.append((route.request.url.partition("/api")[2], route.request.post_data))
        if asked.count(asked[-1]) == 1:
            route.fetch()
            route.abort("internetdisconnected")
        else:
            route.continue_()

    with served(p) as to:
        page = chromium.new_page()
        page.route(re.compile("/api/(token|runs|decisions|agents)"), once)
        page.goto(to.link)
        expect(page.get_by_text("No runs yet")).to_be_visible()
        page.keyboard.press("n")
        expect(page.get_by_role("dialog")).to_contain_text("not ready here")
        expect(page.locator(".note")).to_have_count(0)
        assert len(asked) >= 6 and asked[0] == asked[1] and asked[0][0] == "/token"
        page.close()


@pytest.mark.slow
def test_a_driver_that_dies_is_told_on_the_page_and_in_the_terminal_and_continues(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    agent = script(p, {**PLANS, "usage": {"usd": 0.25}}, {"state": "RED", "wait": 600})
    with served(p) as to:
        run = to.ask("/api/runs", {"request": "add numbers", "agent": agent})[1]["run"]["run"]
        with asked(to, f"/api/runs/{run}/stream?after=0") as answer:
            next(f for f in frames(answer) if json.loads(f.get("data", "{}")).get("state") == "RED")
        with asked(to, "/api/stream") as answer:
            heard = frames(answer)
            assert json.loads(next(f for f in heard if f.get("event") == "hello")["data"]) == {"kept": False}
            os.kill(int(to.get(f"/api/runs/{run}")["held_by"].split()[0]), signal.SIGKILL)
            row = json.loads(next(f for f in heard if f.get("event") == "run")["data"])
            assert (row["run"], row["driven"], row["group"]) == (run, False, "working")
        with running(p, "status", "--watch", "--run", run) as watching:
            assert watching.stdout is not None
            assert any("No process drives it. Continue: detent resume" in line for line in watching.stdout)
        until(lambda: "Stopped: The process that drove it has ended." in p.run("status", "--run", run).out)
        page = opened_at(entered(chromium, to), to, "/inbox")
        expect(page.get_by_role("heading", name="No process drives this run")).to_be_visible()
        script(p, {"state": "RED", "wait": 600})
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_text("Nothing waits for you")).to_be_visible()
        until(lambda: to.get(f"/api/runs/{run}")["held_by"])
        to.ask(f"/api/runs/{run}/abort", {})
        page.context.close()


@pytest.mark.slow
def test_a_review_that_finds_no_end_is_told_with_its_findings_and_the_run_may_be_ended(tmp_path: Path) -> None:
    p = exhausted(tmp_path / "p")
    with served(p) as to:
        (row,) = to.get("/api/decisions")["decisions"]
        shown = to.get(f"/api/decisions/{row['id']}")
        assert "after the last round" in shown["text"] and "- calc.py:2: adds wrongly (mend it)" in shown["text"], shown["text"]
        assert [o["value"] for o in shown["options"]] == ["resume", "approve", "another-round", "abort"]
        status, told = to.ask(f"/api/decisions/{row['id']}", {"shown": shown["shown"], "value": "abort", "note": "enough"})
        assert (status, told["status"], told["state"]) == (200, "SUCCESS", "ABORTED")


@pytest.mark.slow
def test_an_end_by_ctrl_c_with_a_page_open_is_quiet(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    p.task()
    with served(p) as to:
        page = visit(chromium, to.link)
        expect(page.locator(".row")).to_be_visible()
        to.child.send_signal(signal.SIGINT)
        assert to.child.wait(LONG) == 128 + signal.SIGINT
        assert to.child.stderr is not None and to.child.stderr.read() == "", (
            "its streams ended by themselves, before they would have been cut"
        )
        page.context.close()


@pytest.mark.slow
def test_on_a_phone_everything_is_large_enough_to_touch(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    stuck(p)
    assert p.run("items", "add", "Show the total of a basket, in the currency of the shop").code == 0
    with served(p) as to:
        context = entered(chromium, to, viewport={"width": 390, "height": 844}, has_touch=True)
        for path, there in (("/", ".row"), ("/inbox", ".event"), ("/queue/items", ".item")):
            page = opened_at(context, to, path)
            expect(page.locator(there).first).to_be_visible()
            small = page.evaluate(
                "[...document.querySelectorAll('button, a.button, select, input:not([type=checkbox])')].filter(e => e.offsetHeight && e.offsetHeight < 40).map(e => e.outerHTML)"
            )
            assert small == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
            if there == ".item":
                box = page.locator(".item b").bounding_box()
                assert box and box["width"] > 200, "what it is about can be read"
            page.close()
        context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_of_text_can_be_read_on_every_ground(theme: str) -> None:
    css = (Path(__file__).parent.parent / "web" / "src" / "style.css").read_text()
    block = re.search(r":root \{(.*?)\n\}" if theme == "light" else r':root\[data-theme="dark"\] \{(.*?)\n\}', css, re.DOTALL)
    assert block is not None
    colours = dict(re.findall(r"--(\w+): (#\w+)", block.group(1)))

    def light(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        return sum(
            w * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )

    for name in ("text", "muted", "faint"):
        for ground in ("bg", "panel", "sunk"):
            one, other = sorted((light(colours[name]), light(colours[ground])))
            assert (other + 0.05) / (one + 0.05) >= 4.5, (name, ground)


@pytest.mark.slow
def test_a_secret_that_a_test_prints_leaves_the_server_nowhere(tmp_path: Path) -> None:
    key, value = "sk-ant-" + "a1B2" * 8, "open <sesame> \\1"
    p = web_project(tmp_path / "p", {"tests/test_old.py": f"# {key} {value}\n"})  # there before: what a step adds would be refused
    p.env["SHOP_API_KEY"] = value
    spelled = f"''.join(map(chr, {[ord(c) for c in value]}))"  # as it stands it would not get into a commit
    prints = f"def test_tells():\n    assert 'sk-ant-' + 'a1B2' * 8 == {spelled}\n"
    reds = {**REDS, "write": {"tests/test_add.py": prints, "tests/test_old.py": f"# {key} {value}\n# older\n"}, "say": [key]}
    run = p.run("run", "x", "--agent", script(p, PLANS, reds, {"state": "GREEN", "fail": {"sort": "ModelUnavailable"}}), "--json")
    with served(p) as to:
        base = f"/api/runs/{run.json['run']}"
        red = next(e["seq"] for e in to.get(f"{base}/events")["events"] if e["on"] == "red")
        for path in ("", f"/events/{red}", "/events", f"/diff?event={red}", f"/tests?event={red}", "/output", "/proof"):
            told = str(to.get(base + path))
            assert key not in told and value not in told, path
        assert "[redacted]" in to.get(f"{base}/events/{red}")["output"] and "[redacted]" in to.get(f"{base}/diff?event={red}")["text"]
        with asked(to, f"{base}/stream?after=0") as answer:
            heard = [f for f, _ in zip(frames(answer), range(red), strict=False)]
        assert key not in str(heard)


def test_many_runs_are_paged_before_their_rows_are_built(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    copies(p, p.task()["run"], 300)
    app, board = open_app(p.root, env=p.env), RunsBoard(UsageTally())
    found = runs(app, board, RunsAsked(limit=10, sort="group"))
    assert (found.total, len(found.runs), found.next, found.counts["working"]) == (301, 10, 10, 301)
    assert len(board._rows) == 10, "a row is built when it is handed out"
    before = board._rows[found.runs[0].run]
    assert runs(app, board, RunsAsked(limit=10, sort="group")).runs[0] is before[1], "and once for each thing that happened"
    assert runs(app, board, RunsAsked(q="x00299")).total == 1 and runs(app, board, RunsAsked(offset=300)).next is None
    app.journal.close()


@pytest.mark.slow
def test_a_run_beyond_the_first_page_is_found_by_search_and_by_scrolling(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    copies(p, p.task()["run"], 300)
    with served(p) as to:
        page = opened_at(entered(chromium, to), to)
        expect(page.get_by_role("button", name="All")).to_have_text("All301")
        expect(page.locator(".row").first).to_be_visible()
        assert page.locator(".row").count() < 60
        page.get_by_label("Search runs").fill("x00007")
        expect(page.locator(".row")).to_have_count(1)
        held: list[Route] = []
        page.route(FIRST_PAGE, lambda route: held.append(route))  # who scrolls before the page knows of a next one gets it all the same
        with page.expect_request(FIRST_PAGE):
            page.get_by_label("Search runs").fill("")
        expect(page.locator("[data-run=pr-x00299]")).to_be_visible()
        page.locator(".rows").evaluate("e => { e.scrollTop = e.scrollHeight }")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        held[0].continue_()
        expect(page.locator(".whole")).to_have_attribute("style", f"height: {40 + 301 * 58}px;")
        page.context.close()
