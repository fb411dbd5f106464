"""The script of the pipeline demo: the web service it begins from, what each role writes and hands in, and the person's answers. Data only."""

import json
from collections.abc import Mapping
from typing import NamedTuple

REQUEST = "a page /hello that greets a visitor by name"

FILES = {
    "service.py": '''"""A small web service: one WSGI application, one function per page."""

PAGES = {}


def application(environ, start_response):
    page = PAGES.get(environ.get("PATH_INFO", "/"))
    status, body = page(environ) if page else ("404 Not Found", "there is no such page")
    start_response(status, [("Content-Type", "text/html; charset=utf-8")])
    return [body.encode()]
''',
    "tests/test_service.py": """from service import application


def get(path, query=""):
    said = []
    body = application({"PATH_INFO": path, "QUERY_STRING": query}, lambda status, headers: said.append(status))
    return said[0], b"".join(body).decode()


def test_a_page_that_is_not_there():
    assert get("/nowhere")[0] == "404 Not Found"
""",
    "release.py": '''"""Checks that the package is complete: every page of the service is named in its release notes."""
import service
import tomllib

named = tomllib.load(open("pyproject.toml", "rb"))["tool"]["service"]["pages"]
missing = sorted(set(service.PAGES) - set(named))
raise SystemExit(f"pyproject.toml does not name: {', '.join(missing)}" if missing else 0)
''',
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n\n[tool.service]\npages = []\n",
    "README.md": "# A small web service\n",
    ".gitignore": "__pycache__/\n",
    "detent.toml": "[git]\nremote = ''\n\n[evidence]\nmutation = 'off'\n",
}

SPEC = """# Goals
A page /hello greets a visitor by name.{more}
# Acceptance criteria
- AC-001 the greeting has the name
- AC-002 the package is complete
# Definition of done
All tests pass, and the package is complete.
"""
ARCHITECTURE = (
    "# Overview\nOne WSGI application.\n# Modules\nservice: a table of pages, one function each.\n# Risks\nThe name comes from outside.\n"
)
BARE = """

def hello(environ):
    name = parse_qs(environ.get("QUERY_STRING", "")).get("name", ["visitor"])[0]
    return "200 OK", f"<p>Hello, {name}!</p>"


PAGES["/hello"] = hello
"""
SAFE = BARE.replace("{name}!", "{escape(name)}!")
TESTS = """from test_service import get


def test_hello_greets_by_name():
    assert get("/hello", "name=Ada") == ("200 OK", "<p>Hello, Ada!</p>")


def test_hello_without_a_name():
    assert get("/hello")[1] == "<p>Hello, visitor!</p>"
"""
SAFE_TESTS = (
    TESTS
    + """

def test_hello_shows_markup_as_text():
    assert "<script>" not in get("/hello", "name=<script>")[1]
"""
)


def _service(page: str, *imports: str) -> str:
    head, _, rest = FILES["service.py"].partition("\n\n")
    return head + "\n" + "".join(f"\n{line}" for line in imports) + "\n\n" + rest.rstrip() + "\n" + page


def _reply(status: str = "OK", summary: str = "done", notes: tuple[str, ...] = (), **more: object) -> dict[str, object]:
    gates = {"meets_definition_of_done": True, "needs_review": True, "needs_tests": False, "security_concerns": []}
    return {"status": status, "summary": summary, "artifacts": {"files": [], "notes": list(notes)}, "gates": gates, **more}


def _plays(state: str, reply: Mapping[str, object], write: Mapping[str, str] | None = None, again: bool = False) -> dict[str, object]:
    return {"state": state, "reply": reply, "write": dict(write or {}), "again": again}


CRITERIA = {
    "acceptance_criteria": [
        {"id": "AC-001", "description": "the greeting has the name", "verify": ["cmd: pytest -q tests/test_hello.py"]},
        {"id": "AC-002", "description": "the package is complete", "verify": ["cmd: python release.py"]},
    ]
}
TASK = {
    "id": "T-001",
    "title": "the page /hello",
    "goal": "/hello greets by name",
    "depends_on": [],
    "acceptance_checks": ["cmd: pytest -q tests/test_hello.py"],
    "risk_flags": ["input"],
    "done_when": ["its tests pass"],
}
TASKS = {"project": {"name": "service", "definition_of_done": ["all tests pass"]}, "tasks": [TASK]}
FINDING = {
    "severity": "medium",
    "category": "injection",
    "file": "service.py",
    "description": "the name is put into the page as it came: markup in it is run by the visitor's browser",
    "recommended_fix": "escape it",
}


def team(session: str) -> list[dict[str, object]]:
    """All turns of the team, for the scripted agent."""
    return [*_planning(session), *_building(), *_releasing()]


def _planning(session: str) -> list[dict[str, object]]:
    spec = {f"{session}/acceptance.json": json.dumps(CRITERIA)}
    return [
        _plays("INTAKE", _reply(summary="specified"), {**spec, f"{session}/spec.md": SPEC.format(more="")}),
        _plays(
            "INTAKE",
            _reply(summary="specified: without a name, the visitor is greeted as visitor"),
            {**spec, f"{session}/spec.md": SPEC.format(more=" Without a name, it says visitor.")},
        ),
        _plays("DESIGN", _reply(summary="designed"), {f"{session}/architecture.md": ARCHITECTURE}, again=True),
        _plays("PLAN", _reply(summary="one task"), {f"{session}/tasks.yaml": json.dumps(TASKS)}),
    ]


def _building() -> list[dict[str, object]]:
    return [
        _plays(
            "CODE",
            _reply(summary="the page is there"),
            {"service.py": _service(BARE, "from urllib.parse import parse_qs"), "tests/test_hello.py": TESTS},
        ),
        _plays("REVIEW", _reply(summary="reads well", review_comments=[]), again=True),
        _plays("QA", _reply(summary="tested", test_results={}, coverage_gaps=[]), again=True),
        _plays("SECURITY", _reply("NEEDS_DECISION", "one finding that needs a decision", findings=[FINDING])),
        _plays(
            "FIX_SECURITY",
            _reply(summary="the name is escaped"),
            {
                "service.py": _service(SAFE, "from html import escape", "from urllib.parse import parse_qs"),
                "tests/test_hello.py": SAFE_TESTS,
            },
        ),
        _plays("SECURITY", _reply(summary="no findings", findings=[]), again=True),
    ]


def _releasing() -> list[dict[str, object]]:
    return [
        _plays("INTEGRATE", _reply(summary="nothing to do for the build")),
        _plays(
            "FIX_BUILD",
            _reply(summary="the page is named in pyproject.toml"),
            {"pyproject.toml": FILES["pyproject.toml"].replace("pages = []", 'pages = ["/hello"]')},
        ),
        _plays(
            "RELEASE",
            _reply(summary="README names the page", notes=("run it: python -m wsgiref.simple_server", "test it: pytest")),
            {"README.md": "# A small web service\n\n`/hello?name=Ada` greets Ada.\n"},
        ),
        _plays("RELEASE_FILES", _reply(summary="nothing more to release")),
    ]


class DemoAnswer(NamedTuple):
    """An answer of the scripted person."""

    value: str
    note: str = ""
    to: str = ""


ANSWERS = (  # one after another, as the questions come
    DemoAnswer("changes-requested: say what happens without a name", to="spec"),
    DemoAnswer("approved"),
    DemoAnswer("per-batch"),
    DemoAnswer("fix", "markup must never run"),
)
