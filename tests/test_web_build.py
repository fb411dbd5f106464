"""The page that is handed out is the one that is in `web/`: its build is committed, current, small, and carries nothing it must not."""

import gzip
import hashlib
import json
import re
import subprocess
from pathlib import Path

from tests.machine import need

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "detent" / "interfaces" / "http" / "static"
LARGEST_FIRST_VIEW = 200_000  # bytes transferred


def sources() -> str:
    """The sum of every source file, as web/build.mjs makes it."""
    names = [str(f.relative_to(WEB)) for f in (WEB / "src").rglob("*") if f.is_file()]
    total = hashlib.sha256()
    for name in sorted([*names, "build.mjs", "package.json", "package-lock.json"]):
        total.update(f"{name}\0".encode() + (WEB / name).read_bytes() + b"\0")
    return total.hexdigest()


def test_the_build_was_made_from_the_sources_as_they_are() -> None:
    assert json.loads((STATIC / "built.json").read_text())["sources"] == sources(), "the page is not current: run ./x web"


def test_building_it_again_gives_the_same_files(tmp_path: Path) -> None:
    need("node", "web")
    subprocess.run(["node", "build.mjs", str(tmp_path / "static")], cwd=WEB, check=True, capture_output=True)
    made = {f.name: f.read_bytes() for f in (tmp_path / "static").iterdir()}
    assert made == {f.name: f.read_bytes() for f in STATIC.iterdir()}, "the page is not current: run ./x web"


def test_the_first_view_is_small() -> None:
    index = (STATIC / "index.html").read_text()
    named = re.findall(r"/static/([^\"]+)", index)
    script = next(n for n in named if n.endswith(".js"))
    chunks = re.findall(r"from\"\./([^\"]+)\"", (STATIC / script).read_text())
    first = {"index.html", *named, *chunks}
    assert sum(len(gzip.compress((STATIC / n).read_bytes())) for n in first) < LARGEST_FIRST_VIEW / 2


def test_nothing_in_the_page_makes_html_of_text_or_asks_another_server() -> None:
    text = "".join(f.read_text() for f in (WEB / "src").iterdir() if f.suffix in (".js", ".jsx"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|\beval\(|new Function", text)
    assert not re.search(r"https?://(?!www\.w3\.org/)", text), "nothing is fetched from elsewhere"


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in (WEB / "package-lock.json").read_text()
