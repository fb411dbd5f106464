"""The script of the queue demo: a small shop, its six items, and the turns of their agents. Data only."""

from typing import NamedTuple

CONFIG = "[project]\nname = 'shop'\n\n[queue]\nslots = 3\n\n[agents]\nworker = 'scripted:{again}'\n"
PRICE = "def total(prices):\n    return sum(prices)\n"
ROUNDED = "def total(prices):\n    return round(sum(prices), 2)\n"
SHOWN = 'def total(prices, sign=""):\n    return f"{sign}{sum(prices)}" if sign else sum(prices)\n'
BOTH = 'def total(prices, sign=""):\n    found = round(sum(prices), 2)\n    return f"{sign}{found}" if sign else found\n'
DISCOUNT = "def discount(price, part):\n    return price * (1 - part)\n"
MEMBER = "def member(price):\n    return price * 9 / 10\n"
RECEIPT = "def receipt(prices):\n    return str(prices)\n"


class DemoItem(NamedTuple):
    title: str
    priority: int
    turns: list[dict[str, object]]
    needs: str = ""


def _test(module: str, function: str, holds: str) -> str:
    return f"from {module} import {function}\n\n\ndef test_{function}():\n    assert {holds}\n"


def _turn(title: str, reply: str, write: dict[str, str], wait: float = 1.0) -> dict[str, object]:
    return {"state": "RUNNING", "step": title, "say": [f"working on: {title}"], "wait": wait, "write": write, "reply": reply}


FILES = {"price.py": PRICE, "tests/test_total.py": _test("price", "total", "total([1, 2]) == 3"), ".gitignore": "__pycache__/\n"}
CENTS = {"price.py": ROUNDED, "tests/test_cents.py": _test("price", "total", "total([0.1, 0.2]) == 0.3")}
SIGN = {"price.py": SHOWN, "tests/test_sign.py": _test("price", "total", "total([1, 2], '$') == '$3'")}
OFF = {"discount.py": DISCOUNT, "tests/test_discount.py": _test("discount", "discount", "discount(10, 0.5) == 5")}
MEMBERS = {"member.py": MEMBER, "tests/test_member.py": _test("member", "member", "member(100) == 90")}
PRINTED = {"receipt.py": RECEIPT, "tests/test_receipt.py": _test("receipt", "receipt", "receipt([1]) == '1.00'")}
NO_FILE = "I looked everywhere.\n\nBLOCKED: the file prices.csv is not in the repository"

ITEMS = (
    DemoItem("Take discounts off", 1, [_turn("Take discounts off", "A discount can be taken off.", OFF)]),
    DemoItem("Discounts for members", 2, [_turn("Discounts for members", "Members pay less.", MEMBERS)], "it-1"),
    DemoItem("Round totals to cents", 2, [_turn("Round totals to cents", "Totals are rounded.", CENTS)]),
    DemoItem("Show totals with a sign", 3, [_turn("Show totals with a sign", "A sign can be shown.", SIGN)]),
    DemoItem("Import the old price list", 2, [_turn("Import the old price list", NO_FILE, {})]),
    DemoItem("Print receipts", 2, [_turn("Print receipts", "All tests pass.", PRINTED), _turn("Print receipts", "Now they do.", {})]),
)
# The agent that gets the conflicting item back: it brings the change onto the newest main.
AGAIN = [_turn("Show totals with a sign", "Both are in: rounded, and with a sign.", {**SIGN, "price.py": BOTH})]
