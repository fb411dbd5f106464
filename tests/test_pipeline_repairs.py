"""A session that does not go well at first: a red build, a finding of Security, one review for all tasks. It is mended, and every change is looked at again."""

import json
from pathlib import Path

import pytest

from tests.sessions import (
    CRITERION,
    DESIGN,
    INTAKE,
    TEAM,
    S,
    acceptance_text,
    plays,
    reply,
    session,
    till,
)

WANTS_VERSION = {"id": "AC-002", "description": "the version is told", "verify": ["cmd: test -s VERSION", "manual: the number is right"]}
FINDING = {"severity": "medium", "category": "input", "file": "calc.py", "description": "prices are trusted"}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_red_build_and_a_finding_of_security_are_mended_or_decided_and_nothing_is_left_unreviewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    p = till(tmp_path / "p")
    intake = {**INTAKE, "write": {**INTAKE["write"], f"{S}/acceptance.json": acceptance_text(CRITERION, WANTS_VERSION)}}
    worried = plays("SECURITY", again=False, reply=reply("Security", "NEEDS_DECISION", findings=[FINDING]))
    mends = plays("FIX_BUILD", write={"VERSION": "1\n"})
    policies = {"approve-design": "approved", "review-strategy": "single-final", "notes": "accept"}
    with session(p, intake, DESIGN, worried, mends, *TEAM, policies=policies) as s:
        done = s.go()
        assert (done["state"], done["outcome"]) == ("ASK_USER", "waiting"), done  # a policy answers nothing about security
        asked = s.acting.data.decisions[-1]
        assert s.acting.data.task_id == "meta" and asked.security and "prices are trusted" in asked.question
        assert [state for state, of in s.turns() if of in ("T-001", "T-002")] == ["CODE", "CODE"]  # one review for all
        assert s.subjects() == ["T-001: add", "T-002: subtract"]
        assert s.answer(asked.decision_id, "accept").status == "REFUSED", "about security, it needs a word on why"
        assert s.answer(asked.decision_id, "accept", note="prices come from our own list").status == "SUCCESS"
        done = s.go()
        assert (done["state"], s.run.cause) == ("ASK_USER", "manual_check"), done
        assert s.answer(s.run.data.decisions[-1].decision_id, "passed").status == "SUCCESS"
        assert s.go()["state"] == "DONE"
        states = [state for state, _ in s.turns()]
        assert states.count("FIX_BUILD") == 1 and states.index("FIX_BUILD") < states.index("RELEASE")
        reviews = [at for at, state in enumerate(states) if state == "REVIEW"]
        assert len(reviews) == 3 and reviews[1] > states.index("FIX_BUILD") and reviews[2] > states.index("RELEASE")
        assert s.subjects() == [
            "T-001: add", "T-002: subtract", "integrate: the tasks as one build", "release: documentation and release files"
        ]  # fmt: skip
    report = (p.root / S / "report.md").read_text()
    assert "prices are trusted" in report and "confirmed by a person" in report and "by hand: 1" in report
    issues = json.loads((p.root / S / "status.json").read_text())["known_issues"]
    assert [i["task_id"] for i in issues] == ["meta"]
