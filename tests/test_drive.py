"""Push mode on a real repository: the loop, its outcomes, its exit codes, and everything that can go wrong with an agent."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.agents import AgentFailed, Reply, Usage
from detent.app import next_step, open_app
from detent.app.driver_lock import driver_of, hand_over, held_for_another, only_driver
from detent.app.live_log import keep_stop
from detent.app.next_step import nobody_drives
from detent.app.push import push
from detent.app.rolling_back import roll_back
from detent.drive.spent import Limits, over, spent_in
from detent.errors import Busy, DetentError
from detent.interfaces.cli import decisions
from detent.interfaces.http import inbox
from detent.interfaces.http.shapes import AnswerAsked
from tests.cases import is_running
from tests.driven import (
    ALONE,
    CYCLE,
    ENDS,
    GREEN,
    GREENS,
    HONEST,
    PLANS,
    RED,
    REDS,
    REFACTORS,
    Driven,
    Json,
    driven,
    driven_on,
    instead,
    later,
    lent,
    lines_until,
    project,
    run,
    running,
    scripted,
    workspaces,
)
from tests.patience import LONG
from tests.project import Project
from tests.repos import sh

FIELDS = [
    "run",
    "workflow",
    "state",
    "outcome",
    "branch",
    "pull_request",
    "commits",
    "cycles",
    "tests",
    "error",
    "usage",
    "seconds",
]  # of the contract
SPENT = {"input_tokens": 900, "output_tokens": 80, "cached_tokens": 20, "usd": 0.25}
WRONG: Json = {"state": "GREEN", "write": {"calc.py": "def add(a, b):\n    return 0\n"}, "reply": "try again"}


def fails(sort: str, **more: str) -> Json:
    return {"fail": {"sort": sort, "message": f"it was {sort}", **more}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """One project for all: a tree that passed once is not run again."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield project(tmp_path_factory.mktemp("shared") / "p")


@pytest.fixture
def p(shared: Project) -> Iterator[Project]:
    with lent(shared):
        yield shared


@pytest.fixture
def new(tmp_path: Path) -> Project:
    return project(tmp_path / "p")


# -- outcomes and exit codes -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_ends_well_is_done_with_exit_0_and_the_result_of_the_contract(new: Project) -> None:
    p = new
    agent = scripted(p, {**PLANS, "usage": SPENT}, REDS, {**GREENS, "usage": SPENT}, *CYCLE[3:])
    ran = run(p, "--agent", agent, "--json")
    assert ran.code == 0, ran
    done = ran.json
    assert list(done) == FIELDS
    assert (done["workflow"], done["state"], done["outcome"], done["cycles"], done["error"]) == ("tdd", "COMPLETE", "done", 1, None)
    assert done["branch"] == "detent/add-numbers"
    assert [(c["phase"], c["subject"]) for c in done["commits"]] == [
        ("PLAN", "plan: adds"), ("RED", "test: adds"), ("GREEN", "feat: adds"), ("REFACTOR", "refactor: no changes needed"),
        ("PLAN", "plan: every test of the list is done"),
    ]  # fmt: skip
    assert [c["hash"] for c in done["commits"]] == p.git("log", "--reverse", "--format=%H", "main..detent/add-numbers").split()
    assert done["tests"] == {"completed": ["adds"], "pending": []}
    assert done["usage"] == {"input_tokens": 1800, "output_tokens": 160, "cached_tokens": 40, "usd": 0.5}
    assert isinstance(done["seconds"], float)
    ticks = p.git("log", "-p", "--format=", "detent/add-numbers", "--", "test-list.md").count("+- [x] adds")
    assert ticks == 1 and "- [x] adds" in p.git("show", "detent/add-numbers:test-list.md")
    assert "- [ ] adds" in p.git("show", "detent/add-numbers^:test-list.md")  # the box is ticked by the next `plan:` commit


@pytest.mark.slow
def test_events_are_json_lines_as_things_happen_and_the_result_comes_last(p: Project) -> None:
    ran = run(p, "--agent", scripted(p, {**PLANS, "say": ["I plan"]}, fails("ModelUnavailable")), "--events")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 10
    assert list(lines[-1]) == FIELDS and lines[-1]["outcome"] == "halted"
    assert lines[0] | {"run": ""} == {"event": "begin", "run": "", "state": "PLAN", "branch": "detent/add-numbers"}
    assert {"event": "doing", "run": lines[0]["run"], "text": "running the tests"} in lines
    assert [line["event"] for line in lines[1:-1] if line["event"] != "doing"] == [
        "state", "turn", "progress", "progress", "verdict", "state", "turn", "progress", "failed", "verdict", "state"
    ]  # fmt: skip
    told = [line for line in lines if line.get("event") == "verdict"]
    assert [(v["at"], v["status"], v["state"]) for v in told] == [("PLAN", "SUCCESS", "RED"), ("RED", "HALTED", "HALTED")]
    assert any(line.get("text") == "I plan" and line["role"] == "test-list" for line in lines)


def test_trouble_is_one_json_object_too_where_json_or_events_were_asked_for(p: Project) -> None:
    before = p.run("runs", "--all", "--json").out
    for flag in ("--json", "--events"):
        ran = run(p, "--agent", "nobody", flag)
        assert ran.code == 2 and "there is no agent 'nobody'" in ran.json["error"], ran
        assert set(ran.json) == {"error", "hint", "exit_code"}
    assert p.run("runs", "--all", "--json").out == before  # an agent that is not there is found before anything is started


@pytest.mark.slow
def test_when_the_retries_are_spent_it_ends_with_exit_1_and_resume_goes_on_from_there(p: Project) -> None:
    with driven(p, PLANS, REDS, *[WRONG] * 4, *CYCLE[2:]) as d:
        done = d.go()
        assert (done["outcome"], done["state"], d.run.cause) == ("halted", "HALTED", "retries")
        assert "assert 0 == 3" in done["error"]
        assert d.slept == [1.0, 2.0, 4.0]  # the back-off, asked of whoever sleeps
        assert d.moves.count("green") == 4  # one try and three retries
        note = json.loads(p.git("notes", "--ref=tdd-handoffs", "show", done["branch"]))
        assert (note["phase"], note["nextPhase"], note["retryCount"], note["errorDetails"]["type"]) == ("RED", "GREEN", 3, "TestFailure")
    again = p.run("resume", "--json", "--guidance", "add them")
    assert (again.code, again.json["outcome"]) == (0, "done"), again


@pytest.mark.slow
def test_what_a_failed_plan_or_red_wrote_is_taken_back_whole_and_the_next_attempt_passes(p: Project) -> None:
    """The agent cannot write with git: what it cannot bring back itself would fail every attempt after it."""
    strays = {"calc.py": "ONE = 1\n", "extra/new.py": "TWO = 2\n"}
    bad_plan = {**PLANS, "write": {**PLANS["write"], **strays}}
    bad_red = {"state": "RED", "write": {"tests/test_junk.py": RED, **strays}, "delete": ["pytest.ini"], "reply": "and some code"}
    with driven(p, bad_plan, PLANS, bad_red, REDS, fails("ModelUnavailable")) as d:
        d.go()
        assert d.moves == ["start", "planned", "planned", "red", "red", "no-model"]
        assert [e.status for e in d.events[1:5]] == ["FAILURE", "SUCCESS", "FAILURE", "SUCCESS"]
        assert p.git("diff", "--name-only", "main", d.run.data.branch).split() == ["test-list.md", "tests/test_add.py"]
        for failed in (d.events[1], d.events[3]):
            assert p.git("show", f"{failed.found.tree}:extra/new.py") == "TWO = 2"  # nothing is lost
            assert failed.briefing and "The machine undid everything that the previous attempt wrote" in failed.briefing.briefing
        assert f"refs/detent/{d.id}/trees/{d.events[3].found.tree}" in p.git("for-each-ref", "--format=%(refname)")


@pytest.mark.slow
def test_ctrl_c_ends_with_130_leaves_nothing_running_and_resume_goes_on(p: Project) -> None:
    agent = p.root.parent / "agent.py"
    agent.write_text("import time, sys\nprint('here I am', flush=True)\ntime.sleep(600)\n")
    python = HONEST.removeprefix("command:").split()[0]
    with running(p, "run", "it adds", "--agent", f"command:{python} {agent}", "--events") as child:
        lines_until(child, text="here I am")
        inner = [int(pid) for pid in Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()]
        assert inner
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=LONG)
        assert child.returncode == 130, err
        last = json.loads(out.splitlines()[-1])
        assert (last["exit_code"], "detent resume" in last["hint"]) == (130, True)
        assert not any(map(is_running, inner))
    agent.write_text(Path(HONEST.rpartition(" ")[2]).read_text())
    done = p.run("resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "done"), done
    assert [c["subject"] for c in done.json["commits"]][:3] == [
        "plan: adds two numbers",
        "test: adds two numbers",
        "feat: adds two numbers",
    ]


@pytest.mark.slow
def test_a_run_that_a_person_aborts_while_an_agent_works_ends_soon_with_exit_1_and_leaves_no_workspace(p: Project) -> None:
    writes = "import itertools, pathlib, time\nprint('here I am', flush=True)\nfor n in itertools.count():\n    pathlib.Path(f'junk{n}').touch()\n    time.sleep(0.01)\n"
    agent = p.root.parent / "agent.py"
    agent.write_text(writes)
    python = HONEST.removeprefix("command:").split()[0]
    with running(p, "run", "it adds", "--agent", f"command:{python} {agent}", "--events") as child:
        lines_until(child, text="here I am")
        assert p.run("abort", "--reason", "enough").code == 0
        out, err = child.communicate(timeout=LONG)
        assert child.returncode == 1, (out, err)
        assert json.loads(out.splitlines()[-1])["outcome"] == "aborted"
    assert workspaces(p) == []
    assert p.git("status", "--porcelain") == ""


def test_abort_alone_leaves_no_workspace(p: Project) -> None:
    assert run(p, "--agent", scripted(p, fails("ModelUnavailable"))).code == 10
    assert len(workspaces(p)) == 2  # the checkout, and its git dir
    assert p.run("abort").code == 0
    assert workspaces(p) == []


@pytest.mark.slow
def test_what_a_person_says_meanwhile_stands_in_the_next_briefing(p: Project) -> None:
    with driven(p, PLANS, REDS, fails("ModelUnavailable")) as d:
        real = d.driver()

        def ask(briefing: Any, turn: Any) -> Reply:
            if briefing.state == "PLAN":
                d.person("steer", note="use integers only")
            return real.turns.ask(briefing, turn)

        d.go(instead(real, ask=ask))
        told = {s.briefing.state: s.briefing.briefing for s in d.seen if s.kind == "turn"}
        assert "use integers only" not in told["PLAN"] and "- use integers only" in told["RED"]
        assert "use integers only" not in told["GREEN"]  # it was heard


def test_the_second_driver_of_a_run_is_told_busy_and_by_whom(p: Project) -> None:
    with driven(p, PLANS) as d:
        with only_driver(d.app, d.id):
            ran = p.run("resume", "--json")
            assert ran.code == 1 and f"run {d.id} is being driven by process {os.getpid()} since 2" in ran.json["error"], ran
            with pytest.raises(Busy, match=str(os.getpid())):
                push(open_app(p.root, env=p.env), d.id, lambda seen: None)
        lock = p.root / ".git" / "detent" / f"drive-{d.id}.lock"
        assert lock.exists()  # a lock file that is removed could be held by two


def test_a_driver_waits_for_who_holds_the_run_a_moment_and_throws_no_turn_away(p: Project) -> None:
    with driven(p, PLANS, fails("ModelUnavailable")) as d:
        waited: list[float] = []
        claims = [d.app.journal.claim(d.id, d.app.door.holder("settle"))]

        def sleep(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) == 2:
                d.app.journal.release(claims[0])

        d.app.journal.release(claims.pop())
        real = d.driver()

        def ask(briefing: Any, turn: Any) -> Reply:
            if not claims:
                claims.append(d.app.journal.claim(d.id, d.app.door.holder("settle")))
            return real.turns.ask(briefing, turn)

        d.go(instead(real, ask=ask, sleep=sleep))
        assert d.moves == ["start", "planned", "no-model"]
        assert waited == [1.0, 1.0]


# -- replies that do not fit -------------------------------------------------------------------------------------------------


def test_a_reply_that_is_refused_is_told_to_the_next_agent_and_bounded(p: Project) -> None:
    with driven(p, {**PLANS, "again": True, "reply": "all done!"}) as d:
        done = d.go()
        assert (done["outcome"], d.run.cause) == ("halted", "agent")
        assert d.moves == ["start", *["planned", "agent-failed"] * 4]
        assert [e.status for e in d.events if e.on == "planned"] == ["REFUSED"] * 4
        briefings = [s.briefing.briefing for s in d.seen if s.kind == "turn"]
        assert "was not accepted" not in briefings[0]
        assert all("What was handed in was not accepted: reply is missing" in text for text in briefings[1:])
        assert d.run.counts["retries"] == 3  # a turn is an attempt at the phase, whatever came of it


# -- agents that fail --------------------------------------------------------------------------------------------------------


SORTS = ("Timeout", "Network", "Stuck", "Crashed", "Truncated", "Refused", "RateLimit")


@pytest.mark.slow
def test_an_agent_that_fails_is_asked_again_three_times_and_then_the_run_halts(p: Project) -> None:
    with driven(p, *(fails(sort) for sort in SORTS for _ in range(4))) as d:
        for n, sort in enumerate(SORTS):
            done = d.go()
            assert (done["outcome"], d.run.cause, done["error"]) == ("halted", "agent", f"it was {sort}")
            now = d.events[1 + 5 * n :]
            assert [e.on for e in now] == ["agent-failed"] * 4
            assert d.slept == [1.0, 2.0, 4.0] * (n + 1)  # as after work that was judged and failed
            assert [e.sent.facts["trouble"] for e in now] == [sort] * 4
            note = json.loads(p.git("notes", "--ref=tdd-handoffs", "show", "main"))
            assert note["errorDetails"]["type"] == (sort if sort in ("Timeout", "Network", "RateLimit") else "AgentStuck")
            assert (note["retryCount"], note["error"]) == (3, f"it was {sort}")
            d.person("resume")


def test_a_run_whose_agent_failed_to_the_end_exits_with_1_like_one_whose_work_did(p: Project) -> None:
    with driven(p, *[fails("Crashed")] * 4) as d:
        assert d.go()["outcome"] == "halted"
    ran = p.run("run", "--run", d.id, "--json")  # it waits for a person still
    assert (ran.code, ran.json["outcome"], ran.json["error"]) == (1, "halted", "it was Crashed"), ran


@pytest.mark.slow
def test_a_success_between_resets_the_count_of_agents_that_failed(p: Project) -> None:
    with driven(p, *[fails("Crashed")] * 3, PLANS, *[fails("Crashed")] * 3, REDS, fails("ModelUnavailable")) as d:
        d.go()
        assert d.moves == ["start", *["agent-failed"] * 3, "planned", *["agent-failed"] * 3, "red", "no-model"]


@pytest.mark.slow
def test_a_usage_limit_that_names_a_time_parks_the_run_and_burns_no_attempt(p: Project) -> None:
    with driven(p, PLANS, fails("ModelUnavailable")) as d:
        real, until = d.driver(), ""

        def ask(briefing: Any, turn: Any) -> Reply:
            nonlocal until
            if not until:
                until = later(2)
                raise AgentFailed("RateLimit", "come back later", until)
            return real.turns.ask(briefing, turn)

        d.go(instead(real, ask=ask))
        assert d.moves == ["start", "limited", "planned", "no-model"]
        assert d.events[1].run.counts == {} and d.events[1].run.not_before == until
        assert d.events[2].run.not_before == ""
        assert d.events[2].at >= until.removesuffix("Z")
        assert f"parked until {until}" in d.said("wait")


def test_a_parked_run_can_be_aborted_at_once(p: Project) -> None:
    with driven(p, fails("RateLimit", not_before=later(3600))) as d:
        made = instead(d.driver(), sleep=lambda seconds: d.person("abort"))
        assert d.go(made)["outcome"] == "aborted"


def test_a_model_that_is_not_there_stops_the_run_at_once(p: Project) -> None:
    ran = run(p, "--agent", scripted(p, fails("ModelUnavailable")), "--json")
    assert (ran.code, ran.json["outcome"], ran.json["error"]) == (10, "halted", "it was ModelUnavailable")
    assert p.run("status", "--json").json["cause"] == "model"


@pytest.mark.slow
def test_a_run_that_its_agent_halted_goes_on_with_another_one(p: Project) -> None:
    ran = run(p, "--agent", scripted(p, PLANS, fails("ModelUnavailable")), "--json")
    assert (ran.code, ran.json["error"]) == (10, "it was ModelUnavailable")
    other = p.root.parent / "other.json"
    other.write_text(json.dumps(CYCLE[1:3]))
    p.run("resume", "--agent", f"scripted:{other}", "--json")  # ends when the script does; nobody halted it
    other.write_text(json.dumps(CYCLE[3:]))
    again = p.root.parent / "again.json"
    again.write_text(json.dumps(CYCLE[3:]))
    done = p.run("resume", "--agent", f"scripted:{again}", "--json")
    assert (done.code, done.json["outcome"]) == (0, "done"), done
    with driven_on(p, done.json["run"]) as d:
        assert d.moves == ["start", "planned", "no-model", "resume", "red", "green", "steer", "refactor", "complete", "offered"]
        assert [e.sent.facts.get("agent") for e in d.events if e.sent.verb in ("resume", "steer")] == [
            f"scripted:{other}",
            f"scripted:{again}",
        ]
        assert d.run.steers == ()


@pytest.mark.slow
def test_agents_and_limits_count_as_they_stand_when_a_person_resumes_and_nothing_else_does(tmp_path: Path) -> None:
    p = project(tmp_path / "p", ALONE)
    plays, others = scripted(p, *CYCLE), ("test", "implementing", "refactor")
    roles = "".join(f"{role} = '{plays}'\n" for role in ("test-list", *others))
    gone = roles.replace(f"test-list = '{plays}'", "test-list = 'scripted:/nonexistent'")
    config = "[agents]\n{agents}[limits]\nturns = {turns}\n[tdd]\nretries = {retries}\n" + ALONE
    (p.root / "detent.toml").write_text(config.format(agents=roles, turns=1, retries=2))
    p.git("commit", "-qam", "agents")
    ran = run(p, "--json")
    assert (ran.code, p.run("status", "--json").json["cause"]) == (10, "budget"), ran
    (p.root / "detent.toml").write_text(config.format(agents=gone, turns=0, retries=9))
    assert "/nonexistent cannot be read" in p.run("resume", "--json").out
    (p.root / "detent.toml").write_text(config.format(agents=roles, turns=0, retries=9))
    done = p.run("resume", "--json")
    assert (done.code, done.json["outcome"]) == (0, "done"), done
    assert p.run("status", "--json").json["limits"]["retries"] == 2


def test_a_program_that_is_not_there_is_named_before_anything_is_started(p: Project) -> None:
    before = p.run("runs", "--all", "--json").out
    for spec in ("command:nosuchprog --fast", "command:./nosuchprog", f"command:{p.root}/calc.py"):
        ran = run(p, "--agent", spec)
        assert (ran.code, f"there is no program '{spec.split()[0].removeprefix('command:')}'" in ran.err) == (2, True), ran
    assert p.run("runs", "--all", "--json").out == before


def test_an_agent_that_ran_out_of_its_budget_halts_the_run_and_resume_grants_it_again(p: Project) -> None:
    with driven(p, fails("Budget"), PLANS, fails("ModelUnavailable")) as d:
        assert d.go()["outcome"] == "halted" and d.run.cause == "budget"
        d.person("resume")
        d.go()
        assert d.moves == ["start", "over-budget", "resume", "planned", "no-model"]


def test_a_person_who_plays_the_agent_and_stops_ends_the_command_and_not_the_run(p: Project) -> None:
    def stops(briefing: object, turn: object) -> Reply:
        raise AgentFailed("Stopped", "the person ended the turn")

    with driven(p) as d:
        with pytest.raises(KeyboardInterrupt):
            d.go(instead(d.driver(), ask=stops))
        assert d.moves == ["start"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "spent", "said"),
    [
        ({"DETENT_LIMITS_TOKENS": "1000"}, Usage(900, 80, 20), "1000 of 1000 tokens"),
        ({"DETENT_LIMITS_USD": "0.5"}, Usage(usd=0.5), "0.5 of 0.5 usd"),
        ({"DETENT_LIMITS_TURNS": "1"}, Usage(), "1 of 1 turns"),
        ({"DETENT_LIMITS_MINUTES": "1"}, Usage(), "of 60 seconds"),
    ],
)
def test_a_budget_is_looked_at_before_each_call_and_resume_grants_it_again(
    p: Project, limit: dict[str, str], spent: Usage, said: str
) -> None:
    seconds = 61.0 if "DETENT_LIMITS_MINUTES" in limit else 0.0
    with driven(p, PLANS, REDS, GREENS, **limit) as d:
        real, asked = d.driver(), list[str]()

        def ask(briefing: Any, turn: Any) -> Reply:
            asked.append(briefing.state)
            return real.turns.ask(briefing, turn)._replace(usage=spent)

        made = instead(real, ask=ask) if not seconds else instead(real, ask=ask, history=lambda run: _slower(d, seconds))
        done = d.go(made)
        assert (done["outcome"], d.run.cause) == ("halted", "budget")
        assert said in done["error"]
        assert asked == ["PLAN"]  # the second call was never made
        d.person("resume")
        d.go(made)
        assert asked == ["PLAN", "RED"]


def _slower(d: Driven, seconds: float) -> list[Any]:
    """The history, with turns that took longer."""
    import msgspec

    def slow(event: Any) -> Any:
        facts = event.sent.facts
        sent = msgspec.structs.replace(event.sent, facts={**facts, "seconds": str(seconds)}) if "usage" in facts else event.sent
        return msgspec.structs.replace(event, sent=sent)

    return [slow(event) for event in d.events]


@pytest.mark.slow
def test_the_budget_that_is_left_is_what_a_turn_gets(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f"{ALONE}[limits]\ntokens = 2000\nusd = 2.0\nturns = 9\nminutes = 5\n")
    with driven(p, {**PLANS, "usage": SPENT}, REDS) as d:
        real, budgets = d.driver(), list[Any]()

        def ask(briefing: Any, turn: Any) -> Reply:
            budgets.append(turn.budget)
            if len(budgets) == 2:
                raise AgentFailed("ModelUnavailable", "enough")
            return real.turns.ask(briefing, turn)

        d.go(instead(real, ask=ask))
        assert budgets[0][:2] == (2000, 2.0) and budgets[0].turns == 9
        assert (budgets[1].tokens, budgets[1].usd, budgets[1].turns) == (1000, 1.75, 8)
        assert 290 < budgets[1].seconds <= 300


@pytest.mark.slow
def test_going_back_gives_no_budget_again_and_a_person_who_resumes_does(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f"{ALONE}[limits]\ntokens = 2000\n")
    with driven(p, {**PLANS, "usage": SPENT}, fails("ModelUnavailable")) as d:
        d.go()
        assert d.run.cause == "model"
        fresh = roll_back(d.app, d.id, "2", "terminal")
        with driven(p, known=fresh) as again:
            asked = list[Any]()
            real = again.driver()

            def ask(briefing: Any, turn: Any) -> Reply:
                asked.append(turn.budget.tokens)
                raise AgentFailed("ModelUnavailable", "enough")

            again.go(instead(real, ask=ask))
            again.person("resume")
            again.go(instead(real, ask=ask))
    assert asked == [1000, 2000], "what the run that was left had used stays used"


# -- what is recorded --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_cost_that_is_shown_has_the_turn_that_goes_on_in_it(p: Project) -> None:
    with driven(p, {**PLANS, "usage": SPENT}, {**REDS, "usage": SPENT, "say": ["last words"]}, fails("ModelUnavailable")) as d:
        d.go()
        assert [s.spent.usage.usd for s in d.seen if s.kind == "progress" and s.progress and s.progress.kind == "usage"] == [0.25, 0.5, 0.5]


def test_a_limit_in_minutes_counts_the_tests_of_a_turn_too(p: Project) -> None:
    with driven(p, PLANS, fails("ModelUnavailable")) as d:
        d.go()
        planned = d.events[1]
    begun = datetime.fromisoformat(planned.sent.facts["since"])
    assert datetime.fromisoformat(planned.at) > begun
    later = replace(planned, at=(begun + timedelta(seconds=90)).isoformat())
    assert spent_in([later]).seconds == 90.0
    assert over(Limits(minutes=1.5), spent_in([later])) == "90 of 90 seconds"
    assert spent_in([replace(later, sent=replace(later.sent, facts={**later.sent.facts, "seconds": "120"}))]).seconds == 120.0


def test_usage_and_transcript_of_every_turn_are_recorded_and_history_shows_them(p: Project) -> None:
    assert run(p, "--agent", scripted(p, {**PLANS, "usage": SPENT}, fails("ModelUnavailable"))).code == 10
    start, planned, halted = p.run("history", "--json").json["events"]
    assert (start["usage"], start["transcript"]) == (None, None)
    assert planned["usage"] == {**SPENT, "written_tokens": 0}
    kinds = [json.loads(line)["kind"] for line in Path(planned["transcript"]).read_text().splitlines()]
    assert kinds == ["asked", "entry", "reply"]
    assert json.loads(Path(halted["transcript"]).read_text().splitlines()[-1])["kind"] == "failed"
    assert Path(halted["transcript"]) != Path(planned["transcript"])
    assert oct(Path(halted["transcript"]).stat().st_mode)[-3:] == "600"


@pytest.mark.slow
def test_each_turn_is_a_fresh_agent_with_its_own_role_and_prompt(p: Project) -> None:
    with driven(p, *CYCLE) as d:
        real, turns = d.driver(), list[Any]()

        def ask(briefing: Any, turn: Any) -> Reply:
            turns.append((briefing.role, turn))
            return real.turns.ask(briefing, turn)

        assert d.go(instead(real, ask=ask))["outcome"] == "done"
        assert [role for role, _ in turns] == ["test-list", "test", "implementing", "refactor", "test-list"]
        systems = {role: turn.system for role, turn in turns}
        assert len(set(systems.values())) == 4
        assert len({turn.transcript for _, turn in turns}) == 5
        assert all(turn.env["DETENT_ROLE"] == role and turn.env["DETENT_RUN"] == d.id for role, turn in turns)
        red, green = turns[1][1].toolbox, turns[2][1].toolbox
        assert red.may_write("calc.py") and red.may_write("tests/test_add.py") is None  # what may be written is decided by the state
        assert green.may_write("calc.py") is None and "frozen" in green.may_write("tests/test_add.py")
        assert "protected" in green.may_write(".git/config")


@pytest.mark.parametrize("key", ["checkpoint", "squash"])
def test_commits_by_the_agent_cannot_be_had_where_it_has_no_git(tmp_path: Path, key: str) -> None:
    p = project(tmp_path / "p", f'[git]\nremote = ""\n{key} = "agent"\n')
    ran = run(p, "--agent", scripted(p, PLANS), "--json")
    assert ran.code == 2 and f'[git] {key} = "agent" does not work here' in ran.json["error"], ran


@pytest.mark.slow
def test_roles_can_have_agents_of_their_own(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_text(json.dumps([PLANS, REDS, *CYCLE[3:]]))
    other.write_text(json.dumps([{**GREENS, "reply": "by the other one"}]))
    roles = "".join(f'{role} = "scripted:{one}"\n' for role in ("test-list", "test", "refactor"))
    p = project(tmp_path / "p", f'{ALONE}[agents]\n{roles}implementing = "scripted:{other}"\n')
    assert run(p, "--json").code == 0
    assert [e["summary"] for e in p.run("history", "--json").json["events"] if e["on"] == "green"] == ["by the other one"]


@pytest.mark.slow
def test_commits_that_an_agent_makes_become_part_of_the_one_of_its_phase(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f'{ALONE}[sandbox]\nlevel = "none"\n')
    with driven(p, PLANS, REDS, *CYCLE[3:]) as d:
        real = d.driver()

        def ask(briefing: Any, turn: Any) -> Reply:
            if briefing.state != "GREEN":
                return real.turns.ask(briefing, turn)
            for n, text in enumerate(("def add(a, b):\n    return 3\n", GREEN)):
                (turn.workspace / "calc.py").write_text(text)
                sh(turn.workspace, "git", "commit", "-qam", f"mine {n}")
            return Reply("committed it myself")

        done = d.go(instead(real, ask=ask))
        assert done["outcome"] == "done", done
        assert p.git("log", "--reverse", "--format=%s", "main..detent/add-numbers").splitlines() == [c["subject"] for c in done["commits"]]
        assert [c["subject"] for c in done["commits"]].count("feat: adds") == 1
        kept = p.git("for-each-ref", "--format=%(refname)", f"refs/detent/{d.id}/agent/")
        assert p.git("log", "-2", "--format=%s", kept) == "mine 1\nmine 0"  # and nothing of it is lost


@pytest.mark.slow
def test_what_tests_need_that_git_ignores_is_there_in_the_clean_checkout_too(tmp_path: Path) -> None:
    config = f"{ALONE}[workspace]\ncopy = ['secret.env']\nsetup = 'mkdir -p made/bin && echo $PWD > made/bin/where'\n"
    p = project(tmp_path / "p", config, {".gitignore": "__pycache__/\nsecret.env\nmade/\n", "requirements.txt": "a==1\n"})
    p.write({"secret.env": "mine\n"})
    needs = "    assert open('secret.env').read() == 'mine\\n'\n    import os\n\n    assert open('made/bin/where').read().strip() == os.getcwd()\n"
    ran = run(p, "--agent", scripted(p, PLANS, {**REDS, "write": {"tests/test_add.py": RED + needs}}, GREENS, REFACTORS, ENDS), "--json")
    assert (ran.code, ran.json["state"]) == (0, "COMPLETE"), ran


# -- a driver that is gone ---------------------------------------------------------------------------------------------------


STARTS = """
import sys
from pathlib import Path
from detent.app import open_app
from detent.app.driver_lock import only_driver
with only_driver(open_app(Path(sys.argv[1])), sys.argv[2]):
    print("drives", flush=True)
    assert sys.stdin.read() == "", "what it starts does not inherit the lock"
    import time
    time.sleep(100)
"""


def test_a_process_that_starts_drives_a_run_from_before_it_exists(p: Project) -> None:
    with driven(p, PLANS) as d:
        d.app.door.next(d.id)
        head = d.app.journal.heads(d.id)[0]
        with held_for_another(d.app, d.id) as lock:
            assert lock is not None and nobody_drives(d.app, head) == ""
            with held_for_another(d.app, d.id) as second:
                assert second is None, "only one process drives"
            child = subprocess.Popen(
                [sys.executable, "-c", STARTS, str(p.root), d.id], env=p.env, stdin=lock, stdout=subprocess.PIPE, text=True
            )
            hand_over(lock, child.pid)
        with child:
            assert driver_of(d.app, d.id).startswith(f"{child.pid} since "), "before it has done anything"
            assert child.stdout is not None and child.stdout.readline() == "drives\n"
            assert nobody_drives(d.app, head) == "" and driver_of(d.app, d.id).startswith(f"{child.pid} since ")
            child.kill()
        assert nobody_drives(d.app, head) == next_step.ENDED


def test_a_lock_that_was_held_for_nobody_is_free_again(p: Project) -> None:
    with driven(p, PLANS) as d:
        with held_for_another(d.app, d.id):
            pass
        with only_driver(d.app, d.id):
            assert driver_of(d.app, d.id).startswith(f"{os.getpid()} since ")


def test_a_run_that_no_process_drives_waits_for_somebody_to_continue_it(p: Project) -> None:
    with driven(p, PLANS) as d:
        d.app.door.next(d.id)
        head = d.app.journal.heads(d.id)[0]
        assert nobody_drives(d.app, head) == "", "no process has driven it yet"
        with only_driver(d.app, d.id):
            assert nobody_drives(d.app, head) == ""
        assert nobody_drives(d.app, head) == next_step.ENDED
        (line,) = decisions._undriven(d.app, d.id)
        assert " ".join(line.split()) == f"{d.id} is stopped. The process that drove it has ended. Continue: detent resume"
        (row,) = inbox.open_questions(d.app, head)
        assert (row.kind, row.question) == ("undriven", next_step.ENDED)
        asked = inbox.show_decision(d.app, row.id)
        assert [o.value for o in asked.options] == ["resume"] and "No process drives this run" in asked.text
        said = AnswerAsked(shown=asked.shown, value="resume", note="use integers")
        assert inbox.answer_of(d.app, row.id, said) == (d.id, "drive", {"guidance": "use integers"})
        keep_stop(d.app, d.id, DetentError("the key is missing", "set it"))
        assert nobody_drives(d.app, head) == "the key is missing (set it)"
        with only_driver(d.app, d.id):
            assert nobody_drives(d.app, head) == "" and not inbox.open_questions(d.app, head)
