"""A whole session of five tasks as a person leads it who has nothing but the page: questions, an edited specification, a plan that is sent back, another scope in
the middle, a way back, a check by hand, and the release. What is on the screen says what to press."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.patience import LONG
from tests.sessions import LED, REQUEST, SPEC, SUMS
from tests.webbed import Watched, script, served, visit, web_project

Json = dict[str, Any]
MINUTES = 5 * 60_000
ROLES: tuple[Literal["button", "link", "tab"], ...] = ("button", "link", "tab")


class Person:
    """Somebody who reads the page and presses what it offers. Each thing that they do names what they look for on the screen."""

    def __init__(self, page: Page, pictures: str = "") -> None:
        self.page, self.pictures, self.taken = page, pictures, 0
        self.asked, self.heading = page.locator(".question .asked"), page.locator(".question > header h3")

    def presses(self, name: str, within: Locator | None = None) -> None:
        here = within or self.page
        button, link, tab = (here.get_by_role(role, name=name, exact=role != "tab") for role in ROLES)
        expect(button.or_(link).or_(tab).first).to_be_visible(timeout=MINUTES)
        next(each for each in (button, link, tab) if each.count()).first.click()

    def writes(self, field: str, text: str) -> None:
        self.page.locator(f"[name={field}]").fill(text)

    def sees(self, *words: str, within: Locator | None = None) -> None:
        for each in words:
            expect(within or self.page.locator("body")).to_contain_text(each, timeout=MINUTES)
        self.pictured()

    def is_asked(self, title: str, *words: str) -> None:
        """The inbox has a question of this title, which says all of this; and what each answer does."""
        self.presses_nav("Inbox")
        another = self.page.get_by_role(
            "button", name="To the next question"
        )  # on a busy machine a run may be without a process for a moment, which is asked about
        expect(self.heading.filter(has_text=title).or_(another).first).to_be_visible(timeout=MINUTES)
        if another.count():
            another.click()
        expect(self.heading).to_have_text(title, timeout=MINUTES)
        self.sees(*words, within=self.asked)
        expect(self.page.locator(".does")).to_contain_text("What each answer does")

    def answers(self, button: str, words: str = "") -> None:
        self.writes("words", words)
        self.presses(button)

    def presses_nav(self, name: str) -> None:
        self.page.locator("header nav").get_by_text(name).click()

    def opens_the_run(self) -> None:
        """By the way that everybody finds: the board, and its first row."""
        self.presses_nav("Board")
        self.page.get_by_role("list", name="Runs").get_by_role("link", name=REQUEST).first.click()
        expect(self.page.locator(".head h1")).to_have_text(REQUEST)

    def scrolls_to(self, event: Locator) -> Locator:
        """Down the timeline, until an event comes into view."""
        listed = self.page.get_by_role("list", name="Events")
        expect(listed).to_be_visible()
        for _ in range(100):
            if event.count():
                break
            listed.hover()
            self.page.mouse.wheel(0, 200)
            self.page.wait_for_timeout(50)
        return event.first

    @contextmanager
    def dialog(self, button: str) -> Iterator[Locator]:
        self.presses(button)
        shown = self.page.get_by_role("dialog")
        expect(shown).to_be_visible()
        yield shown
        expect(shown).to_have_count(0, timeout=LONG * 1000)

    def pictured(self) -> None:
        """A picture of the screen, for whoever wants to see what it was like: PICTURES=FOLDER."""
        if self.pictures:
            self.taken += 1
            self.page.screenshot(path=f"{self.pictures}/{self.taken:02}.png")


def started(person: Person, agent: str) -> None:
    with person.dialog("New run") as dialog:
        dialog.get_by_text("From a request to a release, with you at the gates.").click()
        person.writes("request", REQUEST)
        dialog.locator("[name=agent]").select_option(label="Another one…")
        person.writes("other", agent)
        person.presses("Start", dialog)
    expect(person.page.locator(".head h1")).to_have_text(REQUEST, timeout=MINUTES)


def edited_specification(person: Person) -> None:
    person.is_asked("Questions about the request", "Are prices whole cents?")
    person.answers("Answer", "yes, whole cents")
    person.is_asked("Approve the design", "prices are added", "manual: print a receipt and read it")
    with person.dialog("Revise") as dialog:
        dialog.get_by_label("What is to change").select_option(label="spec.md")
        person.writes("revision", SPEC.replace("prices are added", "prices are added, in whole cents"))
        person.presses("Show what it changes", dialog)
        expect(dialog.locator("tr.insert .line")).to_have_text("prices are added, in whole cents")
        person.pictured()
        person.presses("Apply the change", dialog)
    person.is_asked("Approve the design", "prices are added, in whole cents")
    person.answers("Approve")


def sent_back_plan(person: Person) -> None:
    person.is_asked("Approve the plan", "T-004", "Recommended")
    person.answers("Request changes", "taxes are missing")
    person.sees("What was asked for", "taxes are missing", "T-005", within=person.asked)
    person.answers("Per batch")


def another_scope(person: Person) -> None:
    """In the middle of the work: no taxes after all, but prices that are scaled. What is done stays done."""
    person.is_asked("A question", "Which currency are prices in?")
    person.opens_the_run()
    with person.dialog("Revise") as dialog:
        dialog.get_by_label("What is to change").select_option(label="tasks.yaml")
        person.writes("revision", dialog.locator("[name=revision]").input_value().replace("tax", "scale"))
        person.presses("Show what it changes", dialog)
        person.sees("T-005", "the review strategy is asked again", within=dialog.locator(".planned"))
        person.presses("Apply the change", dialog)
    person.is_asked("Approve the plan", "T-001 add [completed]", "T-005 scale")
    person.answers("Per batch")
    person.is_asked("A question", "Which currency are prices in?")
    person.answers("Answer", "euro")


def went_back(person: Person) -> None:
    """To where the fourth task was done: what came later is done again."""
    person.is_asked("A check by hand", "print a receipt and read it", "AC-002 a receipt is readable")
    person.opens_the_run()
    person.presses("Timeline")
    person.scrolls_to(person.page.locator(".event").filter(has_text="task completed").filter(has_text="T-004")).click()
    person.pictured()
    with person.dialog("Go back to here") as dialog:
        person.sees("What came later stays reachable", within=dialog)
        person.presses("Go back", dialog)
    expect(person.page).not_to_have_url(re.compile("timeline"), timeout=MINUTES)
    person.sees("4 of 5")


def checked_by_hand(person: Person) -> None:
    person.is_asked("A check by hand", "print a receipt and read it", "How to run it: python calc.py")
    expect(person.page.get_by_role("button", name="It failed")).to_be_disabled()  # until it is said what was seen
    person.answers("It failed", "the total is cut off")
    person.sees("What you saw last time", "the total is cut off", within=person.asked)
    person.answers("It passed")


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_person_leads_a_session_from_request_to_release_on_the_page(chromium: Browser, tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    with served(p) as to:
        page = visit(chromium, to.link)
        watched, person = Watched(page), Person(page, os.environ.get("PICTURES", ""))
        started(person, script(p, *LED))
        edited_specification(person)
        sent_back_plan(person)
        another_scope(person)
        went_back(person)
        checked_by_hand(person)
        person.opens_the_run()
        person.sees("the branch is merged into main")
        person.presses("Read the report")
        person.sees("changed spec.md", "taxes are missing", "changed tasks.yaml", "went back", "the total is cut off")
        watched.unhurt(page)
        page.context.close()
    assert sorted(name for name in p.git("ls-tree", "--name-only", "main").split() if name[:-3] in SUMS) == sorted(f"{n}.py" for n in SUMS)
