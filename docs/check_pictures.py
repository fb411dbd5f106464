"""Takes the pictures of `detent check`: the card as a terminal shows it, and the step summary as GitHub does. Of a repository that it makes for
that.

Run from the project's root, with chromium installed: .venv/bin/python docs/check_pictures.py
"""

import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
PICTURES = ROOT / "docs" / "pictures"

from markdown_it import MarkdownIt  # noqa: E402
from playwright.sync_api import Page  # noqa: E402

from tests.people import at_a_terminal  # noqa: E402
from tests.project import INI  # noqa: E402
from tests.test_check import Branch  # noqa: E402
from tests.webbed import browser  # noqa: E402

CART = "def total(prices):\n    return sum(prices)\n\n\ndef vat(net):\n    return net * 19 // 100\n"
TESTS = (
    "from cart import total, vat\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\ndef test_vat():\n    assert vat(100) == 19\n"
)
BASE = {"pytest.ini": INI, ".gitignore": "__pycache__/\n", "cart.py": CART, "tests/test_cart.py": TESTS}
MORE = "\n\ndef discount(prices, percent):\n    return total(prices) * (100 - percent) // 100\n\n\ndef shipping(weight):\n    return 5 if weight < 20 else 9\n"
CHANGE = {
    "cart.py": CART.replace("19", "20") + MORE,
    "tests/test_cart.py": TESTS.replace("19", "20"),
    "tests/test_discount.py": "import cart\n\n\ndef test_discount():\n    assert cart.discount([60, 40], 10) == 90\n\n\n"
    "def test_nothing_costs_nothing():\n    assert cart.total([]) == 0\n",
}
TERMINAL = """<body style="margin:0;background:#0d1117"><div id="it" style="display:inline-block;padding:18px 22px;background:#0d1117;color:#e6edf3">
<pre style="margin:0;font:14px/1.45 'DejaVu Sans Mono',monospace">{}</pre></div>"""
SUMMARY = """<body style="margin:0"><style>table{{border-collapse:collapse}}td,th{{border:1px solid #d1d9e0;padding:6px 13px}}thead{{display:none}}
code{{background:#eff1f3;padding:2px 5px;border-radius:5px;font:12px 'DejaVu Sans Mono',monospace}}pre{{background:#f6f8fa;padding:12px}}pre code{{padding:0}}
</style><div id="it" style="width:860px;padding:12px 28px;font:15px/1.5 'DejaVu Sans',sans-serif;color:#1f2328;background:white">{}</div>"""


def shown(p: Branch, *args: str) -> str:
    """A call and what it says, in a terminal."""
    said = at_a_terminal([*args], p.root, p.env).stdout.replace("\r", "")
    return TERMINAL.format(escape(f"$ detent {' '.join(args)}\n{said.rstrip()}"))


def take(page: Page, name: str, html: str) -> None:
    page.set_content(html)
    page.locator("#it").screenshot(path=PICTURES / f"{name}.png")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="detent-pictures-") as folder, browser() as opened:
        p = Branch(Path(folder) / "shop", BASE)
        p.env["DETENT_EVIDENCE_MUTATION"] = "warn"
        p.commit(CHANGE, "Discounts")
        p.run("check")
        page = opened.new_page(device_scale_factor=2)
        take(page, "check-card", shown(p, "check"))
        text = p.run("check", "--markdown").out
        take(page, "check-summary", SUMMARY.format(MarkdownIt("commonmark", {"html": True}).enable("table").render(text)))


if __name__ == "__main__":
    main()
