"""Whole sessions on a real repository, with a scripted team: from a request to a branch in main, through every gate."""

from pathlib import Path

import pytest

from tests.driven import scripted
from tests.project import Project
from tests.sessions import REQUEST, TEAM, till


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p")


def test_a_full_session_leads_from_a_request_to_main_with_a_commit_for_every_task(p: Project) -> None:
    ran = p.run(
        "run", REQUEST, "--workflow", "pipeline", "--agent", scripted(p, *TEAM), "--yes-to", "approve-design,review-strategy=per-batch", "--json"
    )  # fmt: skip
    assert ran.code == 0, ran
    done = ran.json
    assert (done["workflow"], done["state"], done["outcome"], done["error"]) == ("pipeline", "DONE", "done", None)
