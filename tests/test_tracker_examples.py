"""Trackers that a package brings: the example for Jira and Linear passes the suite of all trackers, against servers on loopback."""

import base64
import importlib
import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.app.opened import now
from detent.errors import DetentError
from detent.extensions import TRACKERS
from detent.forge import ForgeError
from detent.tracker import Means, Tracker, TrackerChange, TrackerResult
from tests.beside import Beside
from tests.driven import scripted
from tests.executions import WORKS
from tests.forge_server import Said, served
from tests.project import ROOT
from tests.test_trackers import (
    test_a_change_changes_what_it_names_and_nothing_else,
    test_a_claim_is_for_one_alone_and_can_be_repeated_by_them,
    test_an_item_can_be_edited_and_reopened,
    test_an_item_is_there_as_it_was_filed,
    test_an_item_that_is_not_there_is_an_error,
    test_it_persists_when_it_is_told_to,
    test_items_wait_for_each_other_and_never_in_a_circle,
    test_many_items_are_listed_whole,
    test_of_many_that_claim_at_once_one_gets_it,
    test_there_is_one_item_of_a_key,
)
from tests.tracker_services import Jira, Linear

__all__ = [
    "test_a_change_changes_what_it_names_and_nothing_else",
    "test_a_claim_is_for_one_alone_and_can_be_repeated_by_them",
    "test_an_item_can_be_edited_and_reopened",
    "test_an_item_is_there_as_it_was_filed",
    "test_an_item_that_is_not_there_is_an_error",
    "test_it_persists_when_it_is_told_to",
    "test_items_wait_for_each_other_and_never_in_a_circle",
    "test_many_items_are_listed_whole",
    "test_of_many_that_claim_at_once_one_gets_it",
    "test_there_is_one_item_of_a_key",
]
EXAMPLE = ROOT / "examples" / "trackers"
PAGE = (ROOT / "docs" / "trackers.md").read_text()
POINTS: dict[str, dict[str, str]] = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
SERVICES: dict[str, type[Jira] | type[Linear]] = {"jira": Jira, "linear": Linear}


def env_of(kind: str, url: str, token: str = "token-a") -> dict[str, str]:
    if kind == "jira":
        return {"JIRA_URL": url, "JIRA_PROJECT": "SHOP", "JIRA_TOKEN": token}
    return {"LINEAR_URL": url, "LINEAR_TEAM": "SHOP", "LINEAR_API_KEY": token}


def tracker_at(kind: str, folder: Path, env: dict[str, str], query: str = "") -> Tracker:
    """A tracker of the example as Detent makes it."""
    if str(EXAMPLE) not in sys.path:
        sys.path.append(str(EXAMPLE))
    made: Any = importlib.import_module(f"detent_trackers.{kind}")
    tracker: Tracker = made.make(
        Means(folder, folder / "store", now, lambda name: "", lambda argv, more: TrackerResult(0, "", ""), env, query=query)
    )
    return tracker


@pytest.fixture(params=sorted(SERVICES))
def service(request: pytest.FixtureRequest) -> Iterator[Jira | Linear]:
    made = SERVICES[request.param]()
    made.most = 7  # entries of a page
    with served(made):
        yield made


@pytest.fixture
def kind(service: Jira | Linear) -> str:
    return type(service).__name__.lower()


@pytest.fixture
def tracker(service: Jira | Linear, kind: str, tmp_path: Path) -> Tracker:
    return tracker_at(kind, tmp_path, env_of(kind, service.url))


def test_what_blocks_an_issue_there_is_waited_for(service: Jira | Linear, tracker: Tracker) -> None:
    first = service.put("first")
    links = [
        {"type": {"name": "Blocks"}, "inwardIssue": {"key": f"SHOP-{first}"}},
        {"type": {"name": "Relates"}, "inwardIssue": {"key": "SHOP-9"}},
    ]
    other = service.put("second", issuelinks=links) if isinstance(service, Jira) else service.put("second", blockers=[first])
    assert tracker.items(str(other))[0].depends_on == (str(first),)


def test_what_is_done_is_closed_there_since_no_merge_closes_it(service: Jira | Linear, tracker: Tracker) -> None:
    number = service.put("sums")
    assert tracker.change(str(number), TrackerChange("closed", by_merge=True)).status == "closed"
    row = service.issues[number]
    assert row["status"]["name"] == "Done" if isinstance(service, Jira) else row["state"]["type"] == "completed"


def test_a_claim_of_somebody_outside_is_none(service: Jira | Linear, kind: str, tracker: Tracker, tmp_path: Path) -> None:
    id = str(service.put("sums"))
    stranger = tracker_at(kind, tmp_path, env_of(kind, service.url, "token-x"))
    assert not stranger.claim(id, "detent/x") and tracker.claim(id, "detent/a")


def test_a_limit_is_waited_for_and_a_refusal_is_no_empty_list(service: Jira | Linear, kind: str, tracker: Tracker, tmp_path: Path) -> None:
    with pytest.raises(ForgeError, match="does not accept the token"):
        tracker_at(kind, tmp_path, env_of(kind, service.url, "nobody")).items()
    service.faults.append(Said(429, {}, {"Retry-After": "90"}))
    with pytest.raises(ForgeError, match="accepts no more requests until") as told:
        tracker.items()
    assert told.value.until


def test_what_is_not_set_is_named(kind: str, tmp_path: Path) -> None:
    for name, env in ((name, env_of(kind, "http://127.0.0.1:1")) for name in env_of(kind, "") if name != "LINEAR_URL"):
        with pytest.raises(DetentError, match=f"^{name} is not set$"):
            tracker_at(kind, tmp_path, {**env, name: ""})


def test_a_token_of_the_cloud_is_sent_with_its_address(tmp_path: Path) -> None:
    tracker: Any = tracker_at("jira", tmp_path, {**env_of("jira", "http://127.0.0.1:1"), "JIRA_EMAIL": "ann@example.org"})
    assert tracker.board.api._says == f"Basic {base64.b64encode(b'ann@example.org:token-a').decode()}"


def test_a_query_narrows_what_is_an_item(tmp_path: Path) -> None:
    with served(service := Jira()):
        tracker = tracker_at("jira", tmp_path, env_of("jira", service.url), "component=web")
        number = service.put("sums", component="web")
        service.put("other", component="app")
        assert [item.id for item in tracker.items()] == [str(number)]


# -- installed -------------------------------------------------------------------------------------------------------------------


def beside(tmp_path: Path, points: dict[str, dict[str, str]] | None = None) -> Beside:
    files = {
        "calc.py": "",
        "tests/test_old.py": "def test_old():\n    pass\n",
        "detent.toml": "[tracker]\nkind = 'jira'\n[git]\nremote = ''\n",
    }
    p = Beside(tmp_path, files)
    p.install("detent-trackers", points or POINTS)
    shutil.copytree(EXAMPLE / "detent_trackers", p.site / "detent_trackers", ignore=shutil.ignore_patterns("__pycache__"))
    return p


@pytest.mark.slow
def test_an_issue_is_taken_from_jira_to_a_branch_and_closed_there_with_its_proof(tmp_path: Path) -> None:
    p = beside(tmp_path)
    with served(service := Jira()):
        p.env |= {**env_of("jira", service.url), "DETENT_SANDBOX_LEVEL": "none", "XDG_STATE_HOME": str(tmp_path / "state")}
        number = service.put("Add prices")
        assert json.loads(p.run("items", "list", "--json").out)["items"][0]["title"] == "Add prices"
        ran = p.run("run", "--workflow", "execute", str(number), "--agent", scripted(p, WORKS), "--json")
        assert (ran.json["state"], ran.json["branch"]) == ("COMPLETED", "1-add-prices"), ran
        assert service.issues[number]["status"]["name"] == "Done"
        assert any("### Detent: clean" in row["body"] for row in service.comments.values())
        assert "tracker jira, tracker linear" in p.run("doctor").out.replace("\n", " ")


def test_a_tracker_that_nobody_brings_or_that_is_none_is_named(tmp_path: Path) -> None:
    p = beside(tmp_path, {"detent.trackers": {"jira": "detent_trackers.jira:NEEDED"}})
    assert "not a function that makes a tracker" in p.run("items", "list").err
    p.write({"detent.toml": "[tracker]\nkind = 'jiira'\n"})
    p.git("commit", "-qam", "another")
    said = p.run("items", "list").err
    assert '"jiira"; expected one of "builtin", "beads", "github", "gitlab", "jira"' in said and 'did you mean "jira"?' in said, said


def test_the_page_names_the_example_and_shows_it_as_it_is() -> None:
    files = sorted(path for path in EXAMPLE.rglob("*") if path.suffix in (".py", ".toml") and path.name != "__init__.py")
    assert [path.name for path in files if path.relative_to(ROOT).as_posix() not in PAGE] == []
    blocks = [part.partition("\n")[2] for part in PAGE.split("```")[1::2] if part.startswith(("python", "toml\n[project"))]
    whole = "\n".join(path.read_text() for path in files)
    assert blocks and [block for block in blocks if block not in whole] == []
    assert TRACKERS.name in PAGE
