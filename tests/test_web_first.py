"""The page as a person meets it first, in a real browser: the tour, the dialog of a new run, wrong addresses, notifications."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.webbed import HIDE, Watched, script, served, visit, web_project

PLAN = {"docs/Plan_Doc/Active_Plan.md": "# Plan\n\n- feat: add numbers\n"}
RECORDER = """window.notified = []; const Real = Notification;
window.Notification = class extends Real { constructor(title, more) { super(title, more); notified.push([title, more.body, more.tag]) } }"""


def walk_the_tour(page: Page) -> None:
    tour = page.get_by_label("How it works")
    expect(tour).to_contain_text("1 of 4")
    expect(tour).to_contain_text("detent init")
    titles = [tour.get_by_role("heading").inner_text()]
    for n in (2, 3, 4):
        tour.get_by_role("button", name="Next").click()
        expect(tour).to_contain_text(f"{n} of 4")
        titles.append(tour.get_by_role("heading").inner_text())
    assert len(set(titles)) == 4
    page.keyboard.press("ArrowLeft")
    expect(tour).to_contain_text("3 of 4")
    page.keyboard.press("ArrowRight")
    tour.get_by_role("button", name="Start the first run").click()


@pytest.mark.slow
def test_an_empty_board_leads_to_the_first_run_and_its_dialog_says_itself_what_is_wrong(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    with served(p, ANTHROPIC_API_KEY="sk-ant-none", OPENAI_API_KEY="") as to:
        page = visit(chromium, to.link)
        watched = Watched(page)
        walk_the_tour(page)
        dialog, agent = page.get_by_role("dialog"), page.get_by_role("dialog").get_by_label("Agent")
        expect(agent.locator("optgroup option")).to_have_text(re.compile("anthropic"))  # no other is installed here, or has a key
        dialog.get_by_text("not ready here").click()
        expect(dialog.locator(".lacking")).to_contain_text("codex")
        agent.select_option(label="Another one…")
        dialog.get_by_label("Its name").fill("claud")
        dialog.get_by_label("What is wanted").fill("add numbers")
        page.keyboard.press("Control+Enter")
        expect(dialog.get_by_role("alert")).to_contain_text("there is no agent 'claud'")
        expect(dialog.get_by_role("alert")).to_be_in_viewport()  # beside the button, however long the dialog is
        expect(page.locator(".note")).to_have_count(0)
        expect(dialog.get_by_label("What is wanted")).to_have_value("add numbers")
        for what in ("add a big one", "another", "no longer"):  # as quickly as keys can come: the next dialog gets every letter
            page.keyboard.press("Escape")
            page.keyboard.type(f"n{what}", delay=0)
            expect(page.get_by_label("What is wanted")).to_have_value(what)
        expect(page.get_by_role("dialog").get_by_role("alert")).to_have_count(0)
        page.goto(f"{to.url}bord/of/runs")
        expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
        expect(page.locator("main")).to_contain_text("/bord/of/runs")
        page.get_by_role("link", name="To the board").click()
        expect(page.get_by_text("No runs yet")).to_be_visible()
        page.goto(f"{to.url}report")
        expect(page.get_by_text("Nothing happened")).to_be_visible()
        assert to.ask("/api/bord")[0] == 404 and to.ask("/bord", Accept="application/json")[1]["error"] == "there is no GET /bord"
        watched.faults = [f for f in watched.faults if "404" not in f]
        watched.unhurt(page)
        page.context.close()


def test_a_run_that_is_started_on_the_page_says_what_is_done_until_it_is_there(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    with served(p) as to:
        page = visit(chromium, to.link)
        page.get_by_role("button", name="New run").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Agent").select_option(label="Another one…")
        dialog.get_by_label("Its name").fill(script(p, {"fail": {"sort": "ModelUnavailable", "message": "gone"}}))
        dialog.get_by_label("What is wanted").fill("add numbers")
        dialog.get_by_role("button", name="Start").click()
        expect(dialog.get_by_role("status")).to_contain_text("Detent runs the tests once")
        page.wait_for_url("**/runs/tdd-*")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.context.close()


@pytest.mark.slow
def test_a_question_is_told_by_the_browser_where_that_is_allowed_and_only_then(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", PLAN)
    p.debugging(1)
    with served(p) as to:
        page = visit(chromium, to.link)
        page.context.add_init_script(RECORDER)
        page.goto(f"{to.url}inbox")
        page.reload()
        expect(page.get_by_role("button", name="Allow notifications")).to_be_visible()
        page.context.grant_permissions(["notifications"], origin=to.url.rstrip("/"))
        page.get_by_role("button", name="Allow notifications").click()
        expect(page.get_by_text("tells you when a run needs you")).to_be_visible()
        page.evaluate(HIDE, True)  # its stream rests now
        assert p.run("escalate-for-external-help", "--report", "-", stdin="# Help\n").code == 10
        page.wait_for_function("() => notified.length")
        assert page.evaluate("notified") == [["The agent asks for help", "feat: add numbers", page.evaluate("notified[0][2]")]]
        page.context.close()
