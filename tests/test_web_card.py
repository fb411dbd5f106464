"""The proof card of a run's branch on the page, in a real browser: what is proved, what to look at with both versions beside, and how it is answered."""

from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Locator, expect

from detent.evidence.outcomes.card import Card, Change, Checked, keep_card, kept_card
from detent.kernel.model import Flag
from tests.driven import ALONE
from tests.project import START
from tests.test_flags_landing import flagged_tdd
from tests.webbed import Watched, served, visit, web_project

pytestmark = pytest.mark.timeout(900)
MANY = tuple(f"tests/test_many.py::test_number_{n}" for n in range(230))
HOSTILE = Flag(
    "shadow", "<img src=x onerror=alert(1)> \u202e takes the place of a module", "a<b>.py", before="x" * 30_000, after="</script>\n"
)


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def stands_beside(flag: Locator) -> bool:
    text, hunk = flag.locator("> div").nth(0).bounding_box(), flag.locator("> div").nth(1).bounding_box()
    return text is not None and hunk is not None and hunk["x"] >= text["x"] + text["width"]


@pytest.mark.slow
def test_the_card_stands_on_the_run_and_its_flags_are_accepted_from_there(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", config=f"{ALONE}[sandbox]\nlevel = 'none'\n")
    run = flagged_tdd(p).json["run"]
    with served(p) as to:
        card = to.get(f"/api/runs/{run}/card")["card"]
        assert (card["answer"], card["proved"], card["accepted"], card["moved_on"]) == (
            "flagged",
            ["tests/test_add.py::test_add"],
            False,
            False,
        )
        assert to.ask("/api/runs/nobody/card")[0] == 404
        page = visit(chromium, to.link)
        errors = Watched(page)
        page.goto(f"{to.url}runs/{run}")
        shown = page.locator(".proofcard")
        expect(shown.locator(".chip").first).to_have_text("Flagged")
        expect(shown).to_contain_text("1 test fails without this change and passes with it")
        shown.get_by_text("1 test fails").click()
        expect(shown.locator(".names code")).to_have_text("tests/test_add.py::test_add")
        flag = shown.locator(".flagged > li")
        expect(flag).to_contain_text("judged-by")
        expect(flag.locator("tr.insert").filter(has_text="def one():")).to_be_visible()
        assert stands_beside(flag), "both versions stand beside the words"
        assert page.locator(".card", has_text="Now").locator(".flags").count() == 0, "and are not told twice"
        page.get_by_role("link", name="Answer").first.click()
        asked = page.locator(".question .flagged > li")
        expect(asked.locator("tr.insert").filter(has_text="def one():")).to_be_visible()
        expect(page.locator(".question .proofcard")).to_contain_text("1 test fails without this change and passes with it")
        assert stands_beside(asked), "in the inbox too"
        expect(page.locator(".question .asked")).not_to_contain_text("judged-by")
        page.get_by_role("button", name="Accept", exact=True).click()
        expect(page.get_by_text("Your answer is recorded")).to_be_visible()
        page.goto(f"{to.url}runs/{run}")
        expect(shown.locator("h4 .chip")).to_have_text("accepted")
        errors.unhurt(page)


@pytest.mark.slow
def test_every_answer_is_shown_and_nothing_in_it_is_more_than_text_on_a_phone_too(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", START)
    p.planned()
    run = p.task()["run"]
    common, change = p.root / ".git", Change("main…feat/a", "c" * 40, "b" * 40, "t" * 40, (), "", ("a.py",))
    plain = Card(change.before, change.after, kept=1, seconds=75, suites=3)
    cards = {
        "Clean": msgspec.structs.replace(plain, proved=MANY, pins=MANY[:2]),
        "Failed": msgspec.structs.replace(plain, failed=("test_x is gone",), known=MANY[:1]),
        "Could not verify": msgspec.structs.replace(plain, unclear="the base does not build"),
        "Flagged": msgspec.structs.replace(
            plain, flags=(HOSTILE, Flag("unnoticed", "no test fails when a.py:3 returns something else", "a.py:3"))
        ),
    }
    with served(p) as to:
        assert to.get(f"/api/runs/{run}/card") == {"card": None}
        page = visit(chromium, to.link, viewport={"width": 390, "height": 844}, has_touch=True)
        errors = Watched(page)
        page.goto(f"{to.url}runs/{run}")
        expect(page.locator(".cards")).to_be_visible()
        assert page.locator(".proofcard").count() == 0, "no look was taken yet"
        for word, card in cards.items():
            keep_card(common, run, found := Checked(change, card, "pytest", "none (not here)"))
            assert kept_card(common, run) == found
            page.reload()
            expect(page.locator(".proofcard .chip").first).to_have_text(word)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, f"{word}: the page is {wide} wide"
            if word == "Clean":
                page.locator(".proofcard summary").first.click()
                expect(page.get_by_role("button", name="Show 100 more tests")).to_be_visible()
                expect(page.locator(".proofcard")).to_contain_text("30 names are not listed here")
        expect(page.locator(".proofcard")).to_contain_text("Unnoticed")
        expect(page.locator(".proofcard .flagged")).to_contain_text("<img src=x onerror=alert(1)>")
        assert page.locator(".proofcard img").count() == 0
        assert len(to.get(f"/api/runs/{run}/card")["card"]["flags"][0]["before"]) == 20_000
        errors.unhurt(page)
