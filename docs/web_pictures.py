"""Takes the pictures of the web page: every view, light, dark and on a phone, of a repository that it makes for that.

Run from the project's root, with chromium installed: .venv/bin/python docs/web_pictures.py
"""

import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
PICTURES = ROOT / "docs" / "pictures"

from playwright.sync_api import Page  # noqa: E402

from tests.model_server import ModelServer  # noqa: E402
from tests.webbed import Served, browser, served, web_project  # noqa: E402
from tests.webbed_world import Model, whole  # noqa: E402

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "has_touch": True},
}


def views(to: Served) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Each view: its address, what must be there, and what is clicked."""
    found = to.get("/api/runs")["runs"]
    runs = {f"{r['workflow']} {r['group']}": r["run"] for r in found}
    done, work = runs["tdd ended"], runs["tdd working"]
    failed = next(e["seq"] for e in to.get(f"/api/runs/{work}/events")["events"] if (e["on"], e["status"]) == ("green", "FAILURE"))
    turn = next(t["attempt"] for t in to.get(f"/api/runs/{work}/transcripts")["transcripts"] if t["state"] == "RED" and not t["open"])
    session = next(r["run"] for r in found if r["title"].startswith("A till that adds"))
    flagged = next(r["run"] for r in found if r["title"].startswith("Umlauts"))
    return {
        "board": ("/", ".standing span:not(:empty)", ()),
        "run": (f"/runs/{work}", ".log .line", ()),
        "timeline": (f"/runs/{work}/timeline/{failed}", ".test.failed", ()),
        "changes": (f"/runs/{done}/changes", ".file", ()),
        "output": (f"/runs/{work}/output", ".log .line", ()),
        "turns": (f"/runs/{work}/turns/{turn}", ".tool", ()),
        "pipeline": (f"/runs/{session}", ".cards", ()),
        "proof": (f"/runs/{flagged}", ".proofcard", ()),
        "inbox": ("/inbox", ".event", (".event:has-text('Approve the design')",)),
        "criteria": ("/inbox", ".event", (".event:has-text('Approve the design')", "#paper-acceptance_json")),
        "security": ("/inbox", ".event", (".event:has-text('security')",)),
        "help": ("/inbox", ".event", (".event:has-text('asks for help')",)),
        "flags": ("/inbox", ".event", (".event:has-text('before it lands')",)),
        "queue": ("/queue/execute-it-2-1", ".line", ()),
        "report": ("/report", ".lands li", ()),
        "new": ("/", ".row", ("button:has-text('New run')",)),
    }


def take(page: Page, to: Served, shown: dict[str, tuple[str, str, tuple[str, ...]]], look: str) -> None:
    for name, (path, there, clicks) in shown.items():
        page.goto(to.url.rstrip("/") + path)
        page.wait_for_selector(there)
        for click in clicks:
            page.click(click)
        page.wait_for_timeout(900)
        page.screenshot(path=PICTURES / f"web-{name}-{look}.png")


def pictures(to: Served, shown: dict[str, tuple[str, str, tuple[str, ...]]]) -> None:
    with browser() as opened:
        for look, how in LOOKS.items():
            context = opened.new_context(**how)
            context.add_init_script(f"sessionStorage.setItem('detent-token', '{to.token}')")
            take(context.new_page(), to, shown, look)
            context.close()


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="detent-pictures-") as folder, ModelServer(Model()) as server:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        with served(web_project(Path(folder) / "new" / "slugify")) as to:
            pictures(to, {"first": ("/", ".empty", ()), "queue-empty": ("/queue", ".empty", ())})
        p, working = whole(Path(folder), server)
        try:
            with served(p) as to:
                pictures(to, views(to))
        finally:
            for child in working:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


if __name__ == "__main__":
    main()
