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

from tests.webbed import Served, browser, served  # noqa: E402
from tests.webbed_world import whole  # noqa: E402

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "has_touch": True},
}


def views(to: Served) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Each view: its address, what must be there, and what is clicked."""
    runs = {f"{r['workflow']} {r['group']}": r["run"] for r in to.get("/api/runs")["runs"]}
    done, work = runs["tdd ended"], runs["tdd working"]
    red = max(e["seq"] for e in to.get(f"/api/runs/{done}/events")["events"] if e["status"] == "FAILURE")
    return {
        "board": ("/", ".row", ()),
        "run": (f"/runs/{work}", ".log .line", ()),
        "timeline": (f"/runs/{done}", ".cards", ("#tab-timeline", f".event[data-seq='{red}']")),
        "changes": (f"/runs/{done}", ".cards", ("#tab-changes",)),
        "turns": (f"/runs/{done}", ".cards", ("#tab-turns",)),
        "inbox": ("/inbox", ".event", (".event:has-text('Approve the design')",)),
        "help": ("/inbox", ".event", (".event:has-text('asks for help')",)),
        "queue": ("/queue", ".event", (".event[data-id='execute-it-2-1']",)),
    }


def take(page: Page, to: Served, look: str) -> None:
    for name, (path, there, clicks) in views(to).items():
        page.goto(to.url.rstrip("/") + path)
        page.wait_for_selector(there)
        for click in clicks:
            page.click(click)
        page.wait_for_timeout(900)
        page.screenshot(path=PICTURES / f"web-{name}-{look}.png")


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="detent-pictures-") as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        p, working = whole(Path(folder))
        try:
            with served(p) as to, browser() as opened:
                for look, how in LOOKS.items():
                    context = opened.new_context(**how)
                    context.add_init_script(f"sessionStorage.setItem('detent-token', '{to.token}')")
                    take(context.new_page(), to, look)
                    context.close()
        finally:
            for child in working:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


if __name__ == "__main__":
    main()
