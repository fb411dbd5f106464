"""A repository with a run in every state, for tests and pictures of the web page: done, waiting for an approval, stuck, flagged, at work."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.model_server import ModelServer, Reply, call, say, text, tool
from tests.patience import LONG
from tests.project import Project
from tests.sessions import CODES, JUDGES, PLAN, TEAM, Json, plays, reply, session_of
from tests.sessions import REQUEST as SESSION_REQUEST
from tests.webbed import script, web_project, worktree

EXAMPLE = Path(__file__).parent.parent / "examples" / "python-slugify"
CONFIG = "[git]\nremote = ''\n[debug]\ninstrument = 1\nreduce_scope = 1\nescalate = 1\n[limits]\nusd = 5.0\nturns = 60\n"
SHOP, WORRY = "A shop that adds prices", "Prices come from outside, and nothing looks at them. Is that meant?"
REQUEST = "A till that adds prices and takes discounts off"
S = session_of("a till that adds prices and takes discounts off")
SPEC = """# A till that adds prices

## Goals
A shop wants to add up a basket. Prices are whole cents; a discount never makes a price negative.

## Acceptance criteria
- **AC-001** prices are added
- **AC-002** a discount is taken off, and a price stays at least 0

## Out of scope
Taxes, currencies, and printing a receipt.

## Definition of done
All tests pass, and the README shows how to use it.
"""
ARCHITECTURE = """# Overview
One module, `calc`, of pure functions. No state and no I/O, so that every rule can be tested by itself.

# Modules
| module | owns | must not know |
|---|---|---|
| `calc` | adding prices, taking discounts off | how prices are shown |

# Risks
- Rounding: there is none, since prices are whole cents.
- A discount above the price: refused with a `ValueError`.
"""
CRITERIA = json.dumps({
    "acceptance_criteria": [
        {"id": "AC-001", "description": "prices are added", "verify": ["cmd: pytest -q tests/test_add.py"]},
        {"id": "AC-002", "description": "a discount is taken off", "verify": ["cmd: pytest -q tests/test_subtract.py"]},
    ]
}, indent=2)  # fmt: skip
REPORT = """# I cannot make `test_add` pass

The test asks for `add(1, 2) == 3`. I tried:

1. returning the sum: the machine says that another test fails then
2. changing the order of the arguments

The last error is `assert 10 == 3`. I think that `conftest.py` replaces `add`. **What should win: the test, or the fixture?**
"""
BETWEEN, TRAILING = "a dot between two digits is kept", "a trailing dot is dropped"
TEST = """from slugify import slugify


def test_a_dot_between_two_digits_is_kept() -> None:
    assert slugify("Python 3.14 is out.") == "python-3.14-is-out"
"""
WORDS = '    words = re.findall(r"[a-z0-9]+", plain(title).lower())'
SPENT = {"input_tokens": 18400, "output_tokens": 2100, "cached_tokens": 9000, "usd": 0.1475}


def named(test: str) -> Json:
    return {"currentTest": {"description": test, "testFile": "tests/test_dots.py", "implFile": "slugify/__init__.py"}}


def paid(*entries: Json) -> list[Json]:
    return [{"usage": SPENT, **e} for e in entries]


def approving(p: Project) -> str:
    """A session that waits for the approval of its design; its id."""
    intake = plays("INTAKE", write={f"{S}/spec.md": SPEC, f"{S}/acceptance.json": CRITERIA})
    design = plays("DESIGN", write={f"{S}/architecture.md": ARCHITECTURE})
    plan = {**PLAN, "write": {k.replace(k.rpartition("/")[0], S): v for k, v in PLAN["write"].items()}}
    agent = script(p, *paid(intake, design, plan, *CODES, *JUDGES))
    return str(p.run("run", "--workflow", "pipeline", REQUEST, "--agent", agent, "--json").json["run"])


def stuck(p: Project) -> str:
    """A run of `pr` whose agent asked for help; its id."""
    p.debugging(1)
    told = p.run("escalate-for-external-help", "--report", "-", "--json", stdin=REPORT)
    assert told.json["status"] == "HALTED", told
    return str(p.run("runs", "--json").json["runs"][0]["run"])


UMLAUTS = "Umlauts are spelled out in addresses, as German readers expect it"
SPELLED = """def plain(text: str) -> str:
    \"\"\"Letters without their marks: é becomes e, ö becomes oe. What has no plain form is left out.\"\"\"
    for letter, spelled in {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa"}.items():
        text = text.replace(letter, spelled).replace(letter.upper(), spelled.capitalize())
"""
FIXTURE = 'import pytest\n\n\n@pytest.fixture\ndef german() -> str:\n    return "Ökonomie für Anfänger"\n'


def flagged(p: Project) -> str:
    """A run with flags to look at: it rewrote an older expectation and added a conftest.py; its id."""
    old, code = "tests/test_slugify.py", "slugify/__init__.py"
    test = (p.root / old).read_text().replace('plain("Ångström") == "Angstrom"', 'plain("Ångström") == "Aangstroem"')
    head = (p.root / code).read_text()
    begins = head.index("def plain")
    wrong = head[begins:].index('    """')
    spelled = head[:begins] + SPELLED + head[begins:][wrong:].partition("\n")[2]
    named = {"currentTest": {"description": "umlauts are spelled out", "testFile": old, "implFile": code}}
    turns = (
        {"state": "PLAN", "write": {"test-list.md": "- [ ] umlauts are spelled out\n"}, "reply": named},
        {"state": "RED", "write": {old: test, "tests/conftest.py": FIXTURE}, "reply": "the test is written"},
        {"state": "GREEN", "write": {code: spelled}, "reply": "the code is written"},
        {"state": "REFACTOR", "reply": "nothing to do"},
        {"state": "PLAN", "reply": {"currentTest": None}},
    )
    ran = p.run("run", UMLAUTS, "--agent", script(p, *paid(*turns)), "--json")
    assert ran.json["state"] == "HALTED", ran
    return str(ran.json["run"])


class Model:
    """A scripted model that keeps dots between digits: it reads, writes a test, fails once, succeeds, and then takes its time."""

    def __call__(self, body: Json, number: int) -> Reply:
        said, folder = (
            body["messages"][0]["content"][0]["text"],
            re.findall(r"workspace is the folder `(.*?)`", body["system"][0]["text"])[0],
        )
        state = re.findall(r"# (\w+):", said)[0].upper() + (" again" if "- [x] " in said or TRAILING in said.partition("## ")[0] else "")
        state += " wrong" if state == "GREEN" and "The last attempt failed" not in said else ""
        done = [message["role"] for message in body["messages"]].count("assistant")
        says: Reply = self.turns(state, folder)[done]
        return says

    def turns(self, state: str, folder: str) -> list[Reply]:
        def edit(old: str, new: str) -> Reply:
            return call(tool("Edit", {"file_path": f"{folder}/slugify/__init__.py", "old_string": old, "new_string": new}))

        read = call(tool("Read", {"file_path": f"{folder}/slugify/__init__.py"}), words="First I look at how words are found.")
        return {
            "PLAN": [
                read,
                call(tool("Write", {"file_path": f"{folder}/test-list.md", "content": f"- [ ] {BETWEEN}\n- [ ] {TRAILING}\n"})),
                say(f"Two small tests, the simpler one first.\n{json.dumps(named(BETWEEN))}"),
            ],
            "RED": [
                call(tool("Grep", {"pattern": "def test_", "path": f"{folder}/tests"}), words="Which tests are there already?"),
                call(
                    tool("Write", {"file_path": f"{folder}/tests/test_dots.py", "content": TEST}),
                    words="A version number is the case that people miss most.",
                ),
                say("The test says what is wanted: `3.14` stays `3.14`. It fails, since dots part words today."),
            ],
            "GREEN wrong": [
                read,
                edit(WORDS, '    words = re.findall(r"[a-z0-9.]+", plain(title).lower())'),
                say("A dot belongs to a word now."),
            ],
            "GREEN": [
                edit(WORDS, WORDS.replace('"[a', '"[0-9]+(?:\\.[0-9]+)+|[a')),
                call(
                    tool("Bash", {"command": "python -m pytest -q"}),
                    words="All dots were kept, also the last one. Only those between digits may be.",
                ),
                say("A dot is kept where digits stand on both sides; every other one still parts words."),
            ],
            "REFACTOR": [say("The expression says it in one line; there is nothing to make simpler.")],
            "PLAN again": [say(json.dumps(named(TRAILING)))],
            "RED again": [
                call(tool("Bash", {"command": "python -m pytest -q"}), words="The second test: a sentence ends with a dot."),
                Reply(blocks=(text("I write tests/test_trailing.py\n"),), then="hang"),
            ],
        }[state]


def at_work(p: Project, server: ModelServer) -> "subprocess.Popen[str]":
    """Start a run with a model; it is at work on its second test when this returns."""
    argv = p.argv("run", "Keep dots between digits, so that version numbers stay readable", "--agent", "anthropic", "--events")
    child = subprocess.Popen(
        argv,
        cwd=p.root,
        env={**p.env, **server.outer},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        if "second test" in json.loads(line).get("text", ""):
            return child
    raise AssertionError("the agent did not begin")


def worried(p: Project) -> str:
    """A session in which the Security role asks a person; its id."""
    finding = {
        "severity": "high",
        "category": "input",
        "file": "calc.py",
        "description": "A price is taken as it comes: a negative one, or text, is added too.",
        "recommended_fix": "Refuse what is no whole number of cents, with a test for each case.",
    }
    asks = plays("SECURITY", again=False, reply=reply("Security", "NEEDS_DECISION", findings=[finding], summary=WORRY))
    agent = script(p, *paid(*(elsewhere(e, SHOP) for e in (*TEAM[:5], asks, *TEAM[5:]))))
    yes = ("--yes-to", "approve-design", "--yes-to", "review-strategy")
    return str(p.run("run", "--workflow", "pipeline", SHOP, "--agent", agent, *yes, "--json").json["run"])


def elsewhere(entry: Json, request: str) -> Json:
    """An entry of the team for the session of another request."""
    return {
        **entry,
        "write": {name.replace(session_of(SESSION_REQUEST), session_of(request.lower())): t for name, t in entry.get("write", {}).items()},
    }


def slugify(folder: Path) -> Project:
    """The example as a repository of its own, with the run of its feature done."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    agent = folder.parent / "agent.yaml"
    (folder / "agent.yaml").replace(agent)
    files = {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file() and f.name != "detent.toml"}
    made = web_project(folder, {**files, "docs/Plan_Doc/Active_Plan.md": "# Plan\n\n- feat: add numbers\n"}, CONFIG)
    request = (folder / "feature.md").read_text()
    ran = made.run("run", request, "--agent", f"scripted:{agent}", "--yes-to", "flags=no-proof", "--json")  # one behaviour existed already
    assert ran.json["outcome"] == "done", ran
    return made


WORKER = """import time
print("reading the item", "writing a test for it", "\\x1b[32m12 passed\\x1b[0m in 0.08s", sep="\\n", flush=True)
time.sleep(600)
"""
TOTAL = {
    "total.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_total.py": "from total import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
}
ITEMS = (
    ("Show the total of a basket", ()),
    ("Print a receipt", ()),
    ("Round prices to cents", ("it-2",)),
    ("Sort the receipt by price", ()),
)


def queued(p: Project) -> "subprocess.Popen[str]":
    """Items, executions of some, and a worker; its first executions are at work when this returns."""
    worker = p.root.parent / "worker.py"
    worker.write_text(WORKER)
    for title, needs in ITEMS:
        words = [word for need in needs for word in ("--dep", need)]
        assert p.run("items", "add", title, "-d", "Totals show fractions of a cent.", *words).code == 0
    total = script(p, *paid({"state": "RUNNING", "write": TOTAL, "reply": "The total is shown, and a test says so."}), name="total")
    for agent, items in ((total, ("it-1",)), (f"command:{sys.executable} {worker}", ("it-2", "it-3"))):
        assert p.run("queue", "add", *items, "--agent", agent).code == 0
    child = subprocess.Popen(
        p.argv("work", "--slots", "2"),
        cwd=p.root,
        env=p.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + LONG
    while [e["state"] for e in p.run("queue", "list", "--all", "--json").json["executions"] if e["item"] == "it-1"] != ["done"]:
        assert time.monotonic() < until, p.run("queue", "list", "--all")
        time.sleep(0.5)
    return child


def whole(folder: Path, server: ModelServer) -> tuple[Project, list["subprocess.Popen[str]"]]:
    """The repository with all these runs, and the processes of those at work. `server` must play a Model."""
    p = slugify(folder / "slugify")
    worried(worktree(p, "shop"))
    approving(worktree(p, "till"))
    stuck(worktree(p, "numbers"))
    flagged(worktree(p, "umlauts"))
    return p, [at_work(worktree(p, "dots"), server), queued(p)]
