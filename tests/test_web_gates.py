"""The gates of a session, in a real browser: every question shows what a person needs to answer it, and documents are revised from the page."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.patience import LONG
from tests.sessions import CODE_ADD, CRITERION, DESIGN, INTAKE, REQUEST, SPEC, TEAM, TEST_ADD, S, acceptance_text, plays
from tests.webbed import Watched, script, served, visit, web_project

SCOPED = SPEC + "# Scope\nadding prices\n# Out of scope\ntaxes and receipts\n"
LOOK = {"id": "AC-002", "description": "the total can be read", "verify": ["manual: the total is right"]}
WRONG, WORSE = CODE_ADD.replace("a + b", "a"), CODE_ADD.replace("a + b", "b")
REPAIRS = 3  # as often as failing tests are repaired before a person is asked


def specifies(spec: str, **more: object) -> dict[str, object]:
    return {**INTAKE, "write": {f"{S}/spec.md": spec, f"{S}/acceptance.json": acceptance_text(CRITERION, LOOK)}, **more}


TEAM_THAT_STUMBLES = (
    specifies(SCOPED, again=False),
    specifies(SCOPED.replace("prices are added", "prices are added, in cents")),
    DESIGN,
    plays("CODE", step="add prices", write={"calc.py": WRONG, "tests/test_add.py": TEST_ADD}),
    *(plays("FIX_TESTS", again=False, write={"calc.py": WORSE}) for _ in range(REPAIRS)),
    plays("FIX_TESTS", write={"calc.py": CODE_ADD}),
    *TEAM,
)


def answered(page: Page, button: str, words: str = "") -> None:
    page.locator("textarea[name=words]").fill(words)
    page.get_by_role("button", name=button, exact=True).click()


def revised(page: Page, p_root: Path, url: str, run: str) -> None:
    """A person changes the specification in their own checkout, sees it as a diff on the page, and takes it over there."""
    spec = p_root / S / "spec.md"
    spec.write_text(spec.read_text().replace("taxes and receipts", "taxes, receipts and tips"))
    page.goto(f"{url}runs/{run}")
    page.set_viewport_size({"width": 390, "height": 844})  # on a phone too, everything that can be done is in reach
    for button in page.locator(".head .acts > *").all():
        box = button.bounding_box()
        assert box and box["x"] + box["width"] <= 390
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_text("You changed spec.md in your checkout").get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("tr.delete .line")).to_have_text("taxes and receipts")
    expect(dialog.locator("tr.insert .line")).to_have_text("taxes, receipts and tips")
    expect(dialog.locator("textarea[name=revision]")).to_have_value(spec.read_text())
    dialog.get_by_role("button", name="Apply the change").click()
    expect(dialog).to_have_count(0)


def approves(page: Page, p_root: Path, url: str, run: str) -> None:
    asked = page.locator(".question .asked")
    expect(asked).to_contain_text("Scope (spec.md)adding pricesOut of scope (spec.md)taxes and receipts")
    expect(asked).not_to_contain_text("What was asked for")
    answered(page, "Request changes", "prices are in cents")
    expect(asked).to_contain_text("What was asked forprices are in cents", timeout=LONG * 1000)
    expect(asked.locator("tr.insert .line")).to_have_text("prices are added, in cents")
    revised(page, p_root, url, run)
    page.goto(f"{url}inbox")
    expect(asked).to_contain_text("taxes, receipts and tips")
    spec = p_root / S / "spec.md"
    spec.write_text(spec.read_text().replace("tips", "coupons"))
    answered(page, "Approve")  # with a change that they have not seen on the page: it is shown first, and nothing is approved
    expect(page.get_by_role("alert").locator("tr.insert .line")).to_have_text("taxes, receipts and coupons")
    expect(asked).to_contain_text("receipts and coupons")
    answered(page, "Approve")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_gate_of_a_session_shows_what_it_is_about_and_documents_are_revised_from_the_page(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    run = p.run("run", "--workflow", "pipeline", REQUEST, "--agent", script(p, *TEAM_THAT_STUMBLES), "--json").json["run"]
    with served(p) as to:
        page = visit(chromium, to.link)
        watched, asked, heading = Watched(page), page.locator(".question .asked"), page.locator(".question > header h3")
        page.keyboard.type("gi", delay=0)
        approves(page, p.root, to.url, run)
        expect(heading).to_have_text("Approve the plan", timeout=LONG * 1000)
        expect(page.get_by_role("tab", name="tasks.yaml")).to_have_attribute("aria-selected", "true")
        expect(page.locator(".papers .paper")).to_contain_text("T-002")
        expect(asked).to_contain_text("T-001 add: add prices")
        answered(page, "Per batch")
        expect(heading).to_have_text("Retries are used up", timeout=LONG * 1000)
        expect(asked).to_contain_text("Repair 1 began with:")
        expect(asked).to_contain_text("Repair 3 began with:")
        expect(asked).to_contain_text("assert 2 == 3")
        answered(page, "Give guidance", "add both numbers")
        expect(heading).to_have_text("A check by hand", timeout=LONG * 1000)
        for words in ("the total is right", "AC-002 the total can be read", "Branch: ", str(p.root.name), "How to run it: python calc.py"):
            expect(asked).to_contain_text(words)
        answered(page, "It passed")
        expect(page.get_by_text("Nothing waits for you")).to_be_visible()
        watched.unhurt(page)
        page.context.close()
