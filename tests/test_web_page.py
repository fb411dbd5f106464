"""The page, in a real browser: runs are started, watched, answered and stopped as a person would, and nothing that an agent says is more than text."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from detent.app import open_app
from detent.app.live_log import live_file
from tests.driven import ENDS, GREENS, PLANS, REDS, REFACTORS
from tests.patience import LONG
from tests.project import Project
from tests.sessions import DESIGN, INTAKE, REQUEST, TEAM, plays, reply
from tests.webbed import Served, Watched, remarks, script, served, visit, web_project

HOSTILE = "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>"
BIDI = "abc\u202egnp.exe\u200b"
SAID = [HOSTILE, BIDI, "\x1b[31mred words\x1b[0m and \x1b]0;a title\x07 and \x1b[2J gone", "[a link](javascript:window.hurt=3)"]
FINDING = {"severity": "high", "category": "input", "file": "calc.py", "description": "prices are trusted", "recommended_fix": "check them"}


def at_state(page: Page, state: str, seconds: float = 30) -> None:
    """Wait until the diagram is lit there."""
    expect(page.locator(f".node.now[data-state={state}]")).to_be_visible(timeout=seconds * 1000)


@pytest.mark.slow
def test_a_run_is_started_watched_and_read_through_a_reload_and_the_loss_of_the_server(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    wrong = {**GREENS, "write": {"calc.py": "def add(a, b):\n    return 0\n"}, "reply": HOSTILE}
    slow = {**GREENS, "wait": 12.0, "say": ["thinking"]}  # so that a slow machine sees it too
    agent = script(p, {**PLANS, "say": SAID, "usage": {"usd": 0.25}}, {**REDS, "wait": 2.0}, wrong, slow, REFACTORS, ENDS)
    with served(p) as to:
        page = visit(chromium, to.link)
        watched = Watched(page)
        assert to.token not in page.url and "once" not in page.url
        expect(page.get_by_text("No runs yet")).to_be_visible()
        expect(page.get_by_text("detent init")).to_be_visible()
        page.keyboard.press("n")
        page.get_by_label("What is wanted").fill(f"add numbers {HOSTILE} {BIDI}")
        page.get_by_label("Agent").select_option(label="Another one…")
        page.get_by_label("Its name").fill(agent)
        page.get_by_role("button", name="Start", exact=True).click()
        at_state(page, "RED")
        at_state(page, "GREEN")
        run = page.url.rpartition("/")[2]
        expect(page.get_by_role("heading", level=1)).to_contain_text("<script>window.hurt = 1</script>")
        expect(page.get_by_role("heading", level=1)).to_contain_text("\\u202e")
        page.get_by_role("tab", name="Output").click()
        expect(page.get_by_text("red words", exact=True)).to_have_class(re.compile("ansi-red-fg"))
        expect(page.locator(".log")).to_contain_text("onerror")
        expect(page.locator(".log")).to_contain_text("thinking")
        page.reload()
        at_state(page, "GREEN")
        to.child.kill()
        expect(page.get_by_role("alert")).to_contain_text("does not answer")
        port = to.port
    with served(p, port=port):
        expect(page.get_by_role("alert")).to_have_count(0, timeout=LONG * 1000)
        at_state(page, "COMPLETE")
        page.keyboard.press("2")
        page.locator(".event", has_text="failure").click()
        shown = page.get_by_label("Event 4")
        expect(shown).to_contain_text("tests/test_add.py::test_add")
        expect(shown).to_contain_text("assert 0 == 3")
        shown.get_by_role("tab", name="Changes").click()
        expect(shown.locator("tr.insert")).to_contain_text(["return 0"])
        page.locator(".event", has_text="red → green").click()
        expect(page.get_by_label("Event 3")).to_contain_text("tests/test_add.py")
        page.keyboard.press("3")
        expect(page.locator("table.code[aria-label='calc.py'] tr.insert").first).to_contain_text("def add(a, b):")
        page.keyboard.press("5")
        page.locator(".event").nth(3).click()
        expect(page.locator(".transcript .reply")).to_contain_text(HOSTILE)
        page.keyboard.press("Escape")
        expect(page.locator(f"[data-run={run}]")).to_contain_text("$0.25")
        page.get_by_label("Search runs").fill("nothing like this")
        expect(page.get_by_text("No run matches")).to_be_visible()
        page.get_by_role("button", name="Show all").click()
        page.keyboard.press("Escape")
        expect(page.locator(f"[data-run={run}]")).to_be_visible()
        page.keyboard.press("j")
        expect(page.locator(".row.at")).to_have_count(1)
        page.keyboard.press("Enter")
        at_state(page, "COMPLETE")
        watched.unhurt(page)
        page.context.close()


def answer(page: Page, button: str, words: str = "") -> None:
    page.locator("textarea[name=words]").fill(words)
    page.get_by_role("button", name=button, exact=True).click()


@pytest.mark.slow
def test_a_design_is_sent_back_and_approved_a_strategy_chosen_and_a_security_question_answered(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    folder = next(iter(INTAKE["write"])).rpartition("/")[0]
    cents = {
        **INTAKE,
        "again": False,
        "write": {**INTAKE["write"], f"{folder}/spec.md": INTAKE["write"][f"{folder}/spec.md"] + f"\nin cents {HOSTILE}\n"},
    }
    worried = plays("SECURITY", again=False, reply=reply("Security", "NEEDS_DECISION", findings=[FINDING]))
    team = script(p, {**INTAKE, "again": False}, cents, DESIGN, worried, *TEAM)
    run = p.run("run", "--workflow", "pipeline", REQUEST, "--agent", team, "--json").json["run"]
    with served(p) as to:
        page = visit(chromium, to.link, color_scheme="dark")
        watched = Watched(page)
        expect(page.get_by_label("1 waiting")).to_be_visible()
        page.keyboard.press("g")
        page.keyboard.press("i")
        expect(page.get_by_role("heading", name="Approve the design")).to_be_visible()
        expect(page.locator(".paper")).to_contain_text("prices are added")
        page.get_by_role("tab", name="architecture.md").click()
        expect(page.locator(".paper")).to_contain_text("one module")
        expect(page.get_by_role("button", name="Request changes")).to_be_disabled()
        answer(page, "Request changes", "prices are in cents")
        page.get_by_role("tab", name="spec.md").click()
        expect(page.locator(".paper")).to_contain_text("in cents <script>", timeout=LONG * 1000)
        spec = Path(to.get(f"/api/runs/{run}")["workspace"]) / folder / "spec.md"
        spec.write_text(spec.read_text() + "\nchanged behind your back\n")
        answer(page, "Approve")
        expect(page.get_by_role("status").filter(has_text="has changed since")).to_be_visible()
        expect(page.locator(".paper")).to_contain_text("changed behind your back")
        spec.write_text(spec.read_text().removesuffix("\nchanged behind your back\n"))
        page.reload()
        answer(page, "Approve")
        expect(page.get_by_role("heading", name="Approve the plan")).to_be_visible(timeout=LONG * 1000)
        answer(page, "One final review")
        expect(page.locator(".question .asked")).to_contain_text("prices are trusted", timeout=LONG * 1000)
        expect(page.locator(".event .chip.bad")).to_have_text("security")
        answer(page, "Accept")
        page.get_by_role("link", name="Board").click()
        page.locator(f"[data-run={run}] .title").click()
        expect(page.locator(".card", has_text="Child runs")).to_contain_text("T-001: add")
        page.get_by_role("button", name="Tell the agent").click()
        page.get_by_label("Its next briefing includes it").fill("keep it short")
        page.get_by_role("button", name="Tell it").click()
        expect(page.get_by_role("status").filter(has_text="noted")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Stop it").click()
        expect(page.locator(".head .chip").first).to_have_text("aborted", timeout=LONG * 1000)
        watched.unhurt(page)
        page.context.close()
    told = {d["decision_id"]: d for d in p.run("decisions", "--run", run, "--all", "--json").json["decisions"]}
    assert told["UD-APPROVE-DESIGN"]["channel"] == "web" and told["UD-REVIEW-STRATEGY"]["answer"] == "single-final"


@pytest.mark.slow
def test_an_escalation_is_read_and_answered_on_a_phone_and_a_wrong_token_opens_nothing(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", {"docs/Plan_Doc/Active_Plan.md": "# Plan\n\n- feat: add numbers\n"})
    p.debugging(1)
    assert p.run("escalate-for-external-help", "--report", "-", stdin=f"# Help\n\nI am **stuck** {HOSTILE}\n").code == 10
    with served(p) as to:
        page = visit(chromium, to.url, viewport={"width": 390, "height": 844}, has_touch=True)
        watched = Watched(page)
        page.get_by_label("Or paste the token").fill("wrong")
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_label("Or paste the token")).to_be_visible()
        page.get_by_label("Or paste the token").fill(to.token)
        page.get_by_role("button", name="Open").click()
        page.get_by_role("link", name="Inbox").click()
        page.locator(".event").click()
        expect(page.locator(".asked strong", has_text="stuck")).to_be_visible()
        expect(page.locator(".asked")).to_contain_text("<script>window.hurt")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing sticks out"
        answer(page, "Continue", "the test is right")
        expect(page.get_by_text("Nothing waits for you")).to_be_visible()
        watched.faults = [f for f in watched.faults if "401" not in f]
        watched.unhurt(page)
        page.context.close()
    assert "the test is right" in p.task()["briefing"]


def output_of(p: Project, run: str) -> Path:
    """The file of what is written while a run is driven."""
    app = open_app(p.root, env=p.env)
    file = live_file(app, run)
    app.journal.close()
    file.parent.mkdir(exist_ok=True)
    return file


# -- long ones ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def long(tmp_path: Path) -> Iterator[tuple[Project, Served, str]]:
    p = web_project(tmp_path / "p", {"docs/Plan_Doc/Active_Plan.md": "# Plan\n\n- feat: add numbers\n"})
    run = p.task()["run"]
    remarks(p, run, (f"remark {n}" for n in range(2, 10_001)))
    with served(p) as to:
        yield p, to, run


@pytest.mark.slow
def test_ten_thousand_events_and_a_hundred_thousand_lines_stay_quick_and_nothing_jumps(
    chromium: Browser, long: tuple[Project, Served, str]
) -> None:
    p, to, run = long
    file = output_of(p, run)
    file.write_text("".join(f"line {n}\n" for n in range(1, 60_001)))
    page = visit(chromium, to.link)
    page.locator(".row .title").click()
    page.get_by_role("tab", name="Timeline").click()
    rows = page.locator(".event[data-seq]")
    expect(rows.first).to_contain_text("remark 10000")
    assert rows.count() < 60
    page.locator(".events").evaluate("e => { e.scrollTop = e.scrollHeight / 2 }")
    expect(page.locator(".event[data-seq='5000']")).to_contain_text("remark 5000")
    at = page.locator(".event[data-seq='5000']").bounding_box()
    status, _ = to.ask(f"/api/runs/{run}/steer", {"text": "one more"})
    assert status == 200
    expect(page.get_by_role("tab", name="Timeline")).to_contain_text("10001")
    assert page.locator(".event[data-seq='5000']").bounding_box() == at, "what is looked at stays where it is"
    page.get_by_role("tab", name="Output").click()
    expect(page.locator(".line", has_text="line 60000")).to_be_visible(timeout=LONG * 1000)
    assert page.locator(".line").count() < 120
    with file.open("a") as out:
        for n in range(60_001, 100_001, 100):  # it goes on while it is read, and the page is loaded anew in between
            out.write("".join(f"line {m}\n" for m in range(n, n + 100)))
            out.flush()
            if n == 80_001:
                page.reload()
    expect(page.locator(".log .tools .num")).to_have_text("100,000 lines")
    expect(page.locator(".line", has_text="line 100000")).to_be_visible()
    page.get_by_label("Search the output").fill("line 77777")
    expect(page.locator(".line")).to_have_count(1)
    page.context.close()


def test_the_first_view_is_small_over_the_wire_and_comes_from_nowhere_else(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    with served(p) as to:
        page = chromium.new_context().new_page()
        sizes: dict[str, int] = {}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}))
        asked: list[str] = []
        page.on("request", lambda r: asked.append(r.url))
        page.goto(to.link)
        expect(page.get_by_text("No runs yet")).to_be_visible()
        page.wait_for_function("performance.getEntriesByType('resource').length > 3")
        assert 10_000 < sum(sizes.values()) < 200_000
        assert {u for u in asked if not u.startswith(to.url)} == set()
        page.context.close()
