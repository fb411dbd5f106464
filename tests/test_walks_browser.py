"""The walk of the lead, as docs/walks.md has it, played in a real browser against the real server: a pipeline, flags, the report."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.patience import LONG
from tests.walks import missing, presses, steps
from tests.webbed import Watched, served, visit, worktree
from tests.webbed_world import approving, flagged, slugify


def named(page: Page, name: str) -> Locator:
    """What a person would click: a link, a button or a tab of that name, or else the words themselves."""
    by_role = [page.get_by_role(role, name=name, exact=True) for role in ("button", "tab")]
    found = next((each for each in by_role if each.count()), None)
    return found or page.locator("header nav").get_by_text(name).or_(page.locator(".event, .row .title").filter(has_text=name)).first


@pytest.mark.slow
def test_the_lead_answers_flags_and_a_design_and_reads_the_report(chromium: Browser, tmp_path: Path) -> None:
    p = slugify(tmp_path / "slugify")
    runs = approving(worktree(p, "till")), flagged(worktree(p, "umlauts"))
    (typed,) = steps("The lead")
    assert typed.commands == ("detent serve",)
    with served(p) as to:
        assert missing(typed.seen, [f"Open {to.link}"]) == ""
        page = visit(chromium, to.link)
        watched = Watched(page)
        for on, seen in presses("The lead"):
            named(page, on).click()
            for words in seen:
                expect(page.locator("body"), f"after {on}").to_contain_text(words, timeout=LONG * 1000)
            unhidden(page)
        watched.unhurt(page)
        page.context.close()
    told = [d for run in runs for d in p.run("decisions", "--run", run, "--all", "--json").json["decisions"]]
    answers = {d["decision_id"]: (d["answer"], d["channel"]) for d in told}
    assert answers["UD-REVIEW-STRATEGY"] == ("single-final", "web"), answers


def unhidden(page: Page) -> None:
    """No message lies over a button by which something is answered."""
    for button in page.locator(".question button:visible").all():
        box = button.bounding_box()
        if box:
            at = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
            assert not page.evaluate("([x, y]) => !!document.elementFromPoint(x, y)?.closest('[role=status]')", at), button.inner_text()
