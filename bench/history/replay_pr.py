"""Replays one commit through `pr`: tests first, then the rest, then review, squash, plan and merge, each in one attempt, with an agent's own calls."""

import json
import re
from collections.abc import Callable
from typing import Any

from bench.history import Commit, Phase, Replayed
from bench.history.caller import TAKEN, Caller
from bench.history.checkout import Checkout
from bench.history.runners import selection

PLAN, TURNS = "docs/Plan_Doc/Active_Plan.md", 12
SETTINGS = "[test]\ncommand = {command}\ntimeout = 600\n\n[git]\nmain = 'main'\nremote = ''\n"
WORKING = ("EXECUTING_TDD", "DEBUGGING")
Fields = dict[str, Any]


def replay(commit: Commit, caller: Caller) -> Replayed:
    return Agent(commit, caller).work()


def lay_base(commit: Commit, checkout: Checkout, title: str) -> str:
    """Make `main` the commit's parent plus what a user of Detent has: settings, and a plan of one entry."""
    checkout.fresh()
    checkout.git("symbolic-ref", "HEAD", "refs/heads/main")
    checkout.git("update-ref", "refs/heads/main", commit.parent)
    checkout.lay(checkout.git("rev-parse", f"{commit.parent}^{{tree}}"))
    files = {"detent.toml": SETTINGS.format(command=json.dumps(checkout.project.command)), PLAN: f"# Plan\n\n- {title}\n"}
    for path, text in files.items():
        (checkout.root / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout.root / path).write_text(text, "utf-8")
    checkout.git("add", "-f", "--", *files)
    checkout.git("commit", "-qm", "settings and plan")
    return checkout.git("rev-parse", "HEAD")


class Agent:
    """The agent that does what the commit's author did, step by step."""

    def __init__(self, commit: Commit, caller: Caller) -> None:
        self.commit, self.caller, self.checkout = commit, caller, caller.checkout
        self.title = re.sub(r"[^\w .,:()/#'+-]", "", commit.title).strip()[:90] or commit.hash[:10]
        self.phases: list[Phase] = []
        self.base = lay_base(commit, self.checkout, self.title)
        self.code = [path for path in self.checkout.changed(commit.parent, commit.hash) if path not in commit.tests]
        there = set(self.checkout.git("ls-tree", "-rz", "--name-only", commit.hash, "--", *commit.tests).split("\0"))
        self.tested = selection(self.checkout.project.command, [path for path in commit.tests if path in there], self.checkout.root)

    def work(self) -> Replayed:
        """Work until the commit is merged, a step is refused, or a person is asked."""
        briefing = self._say("start", "start", "--baseline")  # failures before the change are accepted, as a user would
        for _ in range(TURNS):
            if self.phases[-1].status not in TAKEN or briefing.get("actor") == "human":
                break
            if any(phase.name == "mark" for phase in self.phases) and briefing.get("state") in ("INITIALIZING", "DONE"):
                return self._result()
            name, act = self._next(briefing)
            if not act or any(phase.name == name for phase in self.phases):
                break
            self._say(name, "submit-work", "-", fields={"summary": f"{name} of {self.commit.hash[:10]}", **act()})
            if self.phases[-1].status in TAKEN:
                briefing = self._say("merge" if name == "mark" else f"after {name}", "get-task")
        asked = self._asked() if self.phases[-1].status in TAKEN else ()
        return self._result(asked, stopped=not asked)

    def _say(self, name: str, *args: str, fields: Fields | None = None) -> Fields:
        phase, answer = self.caller.call(name, *args, fields=fields)
        self.phases.append(phase)
        return answer

    def _next(self, briefing: Fields) -> tuple[str, Callable[[], Fields] | None]:
        state, step = briefing.get("state", ""), (briefing.get("step") or {}).get("type", "")
        if state in WORKING:
            return step, {"RED": self._red, "GREEN": self._green}.get(step)
        known: dict[str, tuple[str, Callable[[], Fields]]] = {
            "INITIALIZING": ("plan", self._plan),
            "NEEDS_ANALYSIS": ("analysis", lambda: {"analysis_decision": "SUCCESS"}),
            "CODE_REVIEW": ("review", lambda: {"findings": []}),
            "AWAITING_FINALIZATION": ("squash", self._squash),
            "FINALIZE_COMPLETE": ("mark", self._mark),
        }
        return known.get(state, (state, None))

    # -- what the agent does at each step ------------------------------------------------------------------------------------

    def _plan(self) -> Fields:
        steps = [{"type": kind, "description": f"{kind}: {self.title}", "status": "TODO"} for kind in ("RED", "GREEN")]
        task = {"taskName": self.title, "status": "TODO", "tdd_steps": steps}
        head = {"masterPlanPath": PLAN, "prTitle": self.title, "summary": self.title, "verificationPlan": "the tests of the commit"}
        (self.checkout.root / "ACTIVE_PR.json").write_text(json.dumps({**head, "tasks": [task]}), "utf-8")
        return {}

    def _red(self) -> Fields:
        self._lay(self.commit.tests)
        return {"test_command": self.tested, "expectation": "FAIL"}

    def _green(self) -> Fields:
        self._lay(self.code)
        return {"test_command": self.tested, "expectation": "PASS"}

    def _squash(self) -> Fields:
        self.checkout.git("reset", "-q", "--soft", self.base)
        self.checkout.git("commit", "-qm", self.title)
        return {"commit_hash": self.checkout.git("rev-parse", "HEAD")}

    def _mark(self) -> Fields:
        plan, short = self.checkout.root / PLAN, self.checkout.git("rev-parse", "--short=10", "HEAD")
        plan.write_text(plan.read_text("utf-8").replace(f"- {self.title}\n", f"- {self.title} [DONE] {short}\n"), "utf-8")
        return {}

    def _lay(self, paths: "tuple[str, ...] | list[str]") -> None:
        """Write these files as the commit has them, without touching the index, as an agent would."""
        literal = {"GIT_LITERAL_PATHSPECS": "1"}
        if paths:
            self.checkout.git("restore", f"--source={self.commit.hash}", "--worktree", "--", *paths, env=literal)

    # -- the end -------------------------------------------------------------------------------------------------------------

    def _asked(self) -> tuple[str, ...]:
        """The questions that a person is asked, if the run waits for one."""
        _, answer = self.caller.call("asked", "decisions")
        return tuple(json.dumps(each, sort_keys=True) for each in answer.get("decisions", ()))

    def _result(self, asked: tuple[str, ...] = (), stopped: bool = False) -> Replayed:
        last = self.phases[-1]
        cause = (last.reasons or (f"the run stands in {last.state}",))[0] if stopped else ""
        at = last.name if stopped else ""
        return Replayed(self.commit.hash, self.commit.title, tuple(self.phases), self.commit.cpu, at, cause, asked)
