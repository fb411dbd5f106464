"""The site: every page has its place, every link and anchor leads somewhere, every command can be typed, and nothing is loaded from elsewhere."""

import fnmatch
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
import yaml

from detent.config.sources import load
from detent.errors import DetentError
from detent.interfaces.cli.group import detent
from tests.machine import need

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
SHELL = ("&&", "||", "|", ";", ">", "<")
OTHER_TOML = ("clients/codex.md", "extending.md")  # files of other programs
NAMED_ELSEWHERE = ["/decisions/0*.md", "/requirements/*.md"]  # not in the navigation; a page of it lists them


class Loader(yaml.SafeLoader):
    """YAML in which a call of Python is only text."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: "")
SITE: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader)


@cache
def text_of(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def words_of(page: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", text_of(page))


def named(nav: Any) -> Iterator[str]:
    """Every page of the navigation."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from named(part)


@cache
def anchors(page: str) -> list[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head) for head in re.findall(r"^#{1,6} (.+)$", words_of(page), re.MULTILINE)]
    return [re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads]


def wrong(page: str, link: str) -> str:
    """What is wrong with a link of a page; empty if nothing is."""
    path, _, anchor = link.partition("#")
    target = (DOCS / page).parent / path if path else DOCS / page
    if not target.is_file():
        return "there is no such file"
    other = os.path.relpath(target, DOCS)
    if not anchor or not other.endswith(".md"):
        return ""
    return {0: "there is no such heading", 1: ""}.get(anchors(other).count(anchor), "two headings have this name")


# --- places ---------------------------------------------------------------------------------------------------------


def test_the_four_parts_name_every_page_once() -> None:
    pages = list(named(SITE["nav"]))
    assert [name for part in SITE["nav"] for name in part] == ["Start", "Guides", "Reference", "Ideas"]
    assert SITE["not_in_nav"].split() == NAMED_ELSEWHERE
    wanted = [page for page in PAGES if not any(fnmatch.fnmatch(f"/{page}", rule) for rule in NAMED_ELSEWHERE)]
    assert sorted(pages) == wanted, "each page of docs/ stands in the nav of mkdocs.yml, once"


@pytest.mark.parametrize(("folder", "index"), [("decisions", "decisions/README.md"), ("requirements", "requirements.md")])
def test_a_page_outside_of_the_navigation_is_listed_by_one_inside(folder: str, index: str) -> None:
    listed = {os.path.normpath(os.path.join(os.path.dirname(index), link)) for link in LINK.findall(text_of(index))}
    assert [page for page in PAGES if page.startswith(f"{folder}/") and page != index and page not in listed] == []


def test_every_link_and_every_anchor_leads_somewhere() -> None:
    found = [(page, link) for page in PAGES for link in LINK.findall(CODE.sub("", words_of(page))) if "://" not in link]
    assert len(found) > 300
    assert [f"{page}: {link}: {fault}" for page, link in found if (fault := wrong(page, link))] == []


def test_pages_read_the_same_on_the_site_as_on_github() -> None:
    """MkDocs wants four spaces below a list's item, and an empty line above a list."""
    bad = list[str]()
    for page in PAGES:
        lines = ["", *FENCE.sub(lambda block: f"{block[1]}``", text_of(page)).splitlines()]
        for above, line in pairwise(lines):
            begins = re.match(r"([-*]|1\.) \S", line) and above.strip() and not re.match(r"\s|#|[-*] |\d+\. ", above)
            if begins or (re.match(r" {1,3}\S", line) and not above.strip()) or re.match(r" {1,3}([-*]|\d+\.) ", line):
                bad.append(f"{page}: {line[:60]}")
    assert bad == []


# --- commands -------------------------------------------------------------------------------------------------------


class Typed(NamedTuple):
    """A call as a page has it; `whole` if it can be typed just so."""

    page: str
    line: str
    whole: bool


def calls() -> Iterator[Typed]:
    """Every call of detent in the pages and the README: in blocks for a shell, in other blocks, in a line of text."""
    for page in [*PAGES, "../README.md"]:
        for _, language, block in FENCE.findall(text_of(page)):
            for line in block.replace("\\\n", " ").splitlines() if language in ("", "sh", "text") else []:
                plain = line.strip().removeprefix("$ ")
                if plain.startswith("detent ") and not plain.startswith("detent check: "):
                    yield Typed(page, plain if language == "sh" else re.split(r" {2,}| → ", plain)[0], language == "sh")
        for code in CODE.findall(words_of(page)):
            if code.startswith("detent "):
                yield Typed(page, re.sub(r"[][|\\]", " ", code), False)


def fault(call: Typed) -> str:
    """Why this call could not be typed; empty if it could."""
    try:
        words = shlex.split(call.line, comments=True)
    except ValueError as e:
        return str(e)
    parts = [list[str]()]
    for word in words:
        if word.rstrip(";") != word or word in SHELL:
            parts.append([])
        else:
            parts[-1].append(word)
    return next((said for part in parts if part[:1] == ["detent"] and (said := misread(part[1:], call.whole))), "")


def misread(words: list[str], whole: bool) -> str:
    """What click would say to these words."""
    command: click.Command = detent
    context = click.Context(command, info_name="detent")
    while isinstance(command, click.Group):
        while words[:1] == ["-C"]:
            words = words[2:]
        if not words or words[0].startswith("-") or words[0].isupper() or words[0] == "…":
            break
        inner = command.get_command(context, words[0])
        if inner is None:
            return f"there is no command {words[0]}"
        command, context, words = inner, click.Context(inner, context, info_name=words[0]), words[1:]
    try:
        _, rest, _ = command.make_parser(context).parse_args([word for word in words if word != "…"])
    except click.UsageError as e:
        return "" if not whole and "requires an argument" in e.format_message() else e.format_message()
    return f"too many words: {rest}" if whole and rest and not isinstance(command, click.Group) else ""


def test_every_command_and_every_option_in_the_pages_exists() -> None:
    found = list(calls())
    assert sum(call.whole for call in found) > 60 and len(found) > 300
    assert [f"{call.page}: {call.line}: {said}" for call in found if (said := fault(call))] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("detent chekc", "no command chekc"), ("detent check --no-such", "--no-such"), ("detent queue ad it-1", "no command ad"),
        ("detent status one two", "too many words"), ("git fetch && detent land --forc", "--forc"), ("detent -C x work --slots 2 --onc", "--onc"),
        ("detent run \"a thing", "quotation"), ("detent check --staged > card.txt", ""), ('detent items add "a" -d "b"  # words', ""),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_typed_is_found(line: str, says: str) -> None:
    said = fault(Typed("", line, True))
    assert (says in said) if says else said == ""


def settings_shown() -> Iterator[tuple[str, str]]:
    """Every setting that a page shows, as a file of settings: in a block, or as `[section] key = value` in a line of text."""
    for page in PAGES:
        yield from (
            (page, block)
            for _, language, block in FENCE.findall(text_of(page))
            if language == "toml" and page not in OTHER_TOML and not block.startswith("[project")
        )
        for code in CODE.findall(words_of(page)):
            if found := re.fullmatch(r"(\[[a-z]+\]) ([a-z_-]+ = (?:\"[^\"…]*\"|[\d.]+|[a-z]+|\[[^…]*\]))", code):
                reviewer = '[review]\nagent = "claude"\n' if found[1] != "[review]" else ""  # some settings need one
                yield page, f"{found[1]}\n{found[2]}\n{reviewer}"


def unread(text: str) -> str:
    """Why these settings are refused; empty if they are not."""
    try:
        load({"detent.toml": text}.get, {})
    except DetentError as e:
        return e.message
    return ""


def test_every_setting_that_is_shown_is_taken() -> None:
    found = list(settings_shown())
    assert len(found) > 40 and unread("[queue]\nslot = 2\n") and unread("[git]\nmerge = 'never'\n")
    assert [f"{page}: {said}" for page, text in found if (said := unread(text))] == []


def test_what_troubleshooting_quotes_is_what_detent_says() -> None:
    source = "\n".join(re.sub(r'"\s*\n\s*f?"', "", file.read_text("utf-8")) for file in (ROOT / "src/detent").rglob("*.py"))
    source += "\n".join(file.read_text("utf-8") for file in (ROOT / "src/detent").rglob("*.md"))
    cells = [line.split(" | ")[0] for line in text_of("troubleshooting.md").splitlines() if line.startswith("| `")]
    quoted = [part.strip() for cell in cells for code in CODE.findall(cell) for part in code.split("…")]
    assert len(quoted) > 40
    assert [part for part in quoted if part not in source] == []


# --- pictures and the build ------------------------------------------------------------------------------------------


def drawings() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("drawings", DOCS / "drawings.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn: dict[str, str] = module.pictures()
    return drawn


def test_the_diagrams_are_current() -> None:
    for file, drawn in drawings().items():
        assert (DOCS / "pictures" / file).read_text("utf-8") == drawn, f"{file} is not current: run .venv/bin/python docs/drawings.py"
        assert f"pictures/{file}" in text_of("how-it-works.md")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "built"
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_built_strictly_and_loads_nothing_from_elsewhere(site: Path) -> None:
    assert {page.removesuffix(".md") for page in PAGES if not page.endswith("README.md")} <= {
        file.relative_to(site).as_posix().removesuffix(".html") for file in site.rglob("*.html")
    }
    loads = re.compile(r"<(?:script|img|iframe|source|video|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
    for file in site.rglob("*.html"):
        text = file.read_text("utf-8")
        assert loads.findall(text) == [] and 'class="mermaid"' not in text, file
    for file in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = file.read_text("utf-8")
        assert not re.search(r"(?:url\(|@import |href=)[\"']?https?://", text), file
    assert len(list((site / "pictures").glob("workflow-*.svg"))) == 5 and not list(site.rglob("*.py"))
    assert (site / "files/templates/gitlab.yml.txt").read_bytes() == (ROOT / "templates/gitlab.yml").read_bytes()


@pytest.mark.slow
def test_the_search_finds_a_page_from_a_folder_and_a_phone_shows_no_page_wider_than_itself(site: Path) -> None:
    need("chromium")
    from tests.webbed import browser

    with browser() as opened:
        page = opened.new_context(viewport={"width": 390, "height": 844}, offline=True).new_page()
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.locator("label[for=__search]").first.click()
        page.locator(".md-search__input").press_sequentially("canary")
        page.locator(".md-search-result__item a").first.wait_for()
        for name in ("index", "troubleshooting", "benchmarks", "workflows/pipeline", "requirements/pr"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == 390, name
        assert [url for url in asked if url.startswith(("http:", "https:"))] == []
