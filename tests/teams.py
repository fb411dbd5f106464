"""Scripted agents for the random walks: honest, lazy, wrong and lying ones, and a person who answers. They act on the world in memory."""

import json
import random
from typing import Any

from detent.fakes import MemoryWorld
from detent.kernel.model import Briefing, Sent

STYLES = ("honest", "lazy", "wrong", "lying")


def plan_text(title: str, tasks: list[dict[str, Any]]) -> str:
    head = {"masterPlanPath": "PLAN.md", "prTitle": title, "summary": "s", "verificationPlan": "v"}
    return json.dumps({**head, "tasks": tasks})


def task(name: str, *types: str, **other: Any) -> dict[str, Any]:
    steps = [{"type": t, "description": f"{t} of {name}", "status": "TODO"} for t in types]
    return {"taskName": name, "status": "TODO", "tdd_steps": steps, **other}


class PrTeam:
    """An agent that works on `pr` in the world in memory, in a style given for each turn."""

    def __init__(self, world: MemoryWorld, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.words = 0

    def act(self, briefing: Briefing, style: str) -> Sent:
        """Do the work of one turn, or not, and return the submit."""
        if style == "lying":
            return self._lie(briefing)
        if style == "wrong":
            self._spoil()
        if style == "honest" and briefing.state in ("AWAITING_FINALIZATION", "FINALIZE_COMPLETE", "CODE_REVIEW"):
            self._repair()
        return getattr(self, f"_{briefing.state.lower()}", self._nothing)(briefing, style)

    def _nothing(self, briefing: Briefing, style: str) -> Sent:
        return Sent("submit", summary="done")

    def _initializing(self, briefing: Briefing, style: str) -> Sent:
        open_titles = [line[2:] for line in self.world.files["PLAN.md"].splitlines() if line.startswith("- ") and "[DONE]" not in line]
        if not open_titles:
            return Sent("submit", summary="nothing left", no_pr_left=True)
        if style != "lazy":
            tasks = [task(f"task {i}", "RED", "GREEN", "REFACTOR") for i in range(self.rng.randint(1, 2))]
            self.world.files["ACTIVE_PR.json"] = plan_text(open_titles[0], tasks)
        return Sent("submit", summary="planned")

    def _executing_tdd(self, briefing: Briefing, style: str) -> Sent:
        step = briefing.step
        assert step is not None
        if style == "honest":
            self._repair()
            if step.type == "RED":
                self.words += 1
                self.world.files[f"tests/t{self.words}"] = f"case: word{self.words}"
            if step.type == "GREEN":
                wanted = {line.partition(": ")[2] for p, t in self.world.files.items() if p.startswith("tests/") for line in t.splitlines()}
                self.world.files["src/code"] = "\n".join(sorted(wanted))
        return Sent("submit", summary=step.type, test_command="run-tests", expectation="FAIL" if step.type == "RED" else "PASS")

    _debugging = _executing_tdd

    def _needs_analysis(self, briefing: Briefing, style: str) -> Sent:
        return Sent("submit", summary="looked", analysis_decision="FAILURE" if style == "wrong" or self.rng.random() < 0.1 else "SUCCESS")

    def _replanning(self, briefing: Briefing, style: str) -> Sent:
        raw = json.loads(self.world.files["ACTIVE_PR.json"])
        at = next((i for i, t in enumerate(raw["tasks"]) if t["taskName"] == self.failed_task), None)
        if at is None:
            return Sent("submit", summary="it is written already")
        red = self.failed_red
        fresh = [task(f"{self.failed_task}.{n}", "RED", "GREEN") for n in "ab"]
        fresh[0]["breakdownHistory"] = {"originalTaskName": self.failed_task, "justification": "too broad"}
        fresh[-1]["tdd_steps"][0]["description"] = red
        raw["tasks"][at : at + 1] = fresh
        self.world.files["ACTIVE_PR.json"] = json.dumps(raw)
        return Sent("submit", summary="smaller")

    def _code_review(self, briefing: Briefing, style: str) -> Sent:
        finding = {
            "file_path": "src/code",
            "line_number": 1,
            "category": "style",
            "severity": "MINOR",
            "description": f"untidy {self.rng.random()}",
        }
        return Sent("submit", summary="reviewed", findings="[]" if style != "wrong" else json.dumps([finding]))

    def _awaiting_finalization(self, briefing: Briefing, style: str) -> Sent:
        if style != "lazy":
            title = json.loads(self.world.files["ACTIVE_PR.json"])["prTitle"]
            return Sent("submit", summary="squashed", commit_hash=self.world.squash(title))
        return Sent("submit", summary="squashed")

    def _finalize_complete(self, briefing: Briefing, style: str) -> Sent:
        if style != "lazy":
            title = json.loads(self.world.files["ACTIVE_PR.json"])["prTitle"]
            self.world.files["PLAN.md"] = self.world.files["PLAN.md"].replace(
                f"- {title}\n", f"- {title} [DONE] {self.world.head()[:10]}\n"
            )
        return Sent("submit", summary="marked")

    def _spoil(self) -> None:
        """Make a wrong change: weaken, skip or delete a test, break the code, or touch the runner's configuration."""
        tests = [p for p in self.world.files if p.startswith("tests/")]
        choice = self.rng.randrange(5)
        if choice == 0 and tests:
            del self.world.files[self.rng.choice(tests)]
        elif choice == 1 and tests:
            path = self.rng.choice(tests)
            self.world.files[path] = f"skip {self.world.files[path]}"
        elif choice == 2:
            self.world.files.pop("src/code", None)
        elif choice == 3:
            self.world.files["runner.cfg"] = "collect nothing"
        else:
            self.world.files["src/junk"] = "lint!"

    def _repair(self) -> None:
        """Restore what a wrong turn spoiled."""
        good = self.world.trees.get(self.good_tree(), {})
        for path in [p for p in self.world.files if p.startswith(("tests/", "src/")) or p == "runner.cfg"]:
            del self.world.files[path]
        self.world.files.update({p: t for p, t in good.items() if p != "PLAN.md"})

    def good_tree(self) -> str:
        raise NotImplementedError

    failed_task = ""
    failed_red = ""

    def _lie(self, briefing: Briefing) -> Sent:
        """A false submit: people's words, the machine's own words, forged fields, calls out of turn."""
        rng = self.rng
        lies = [
            Sent("submit", summary="all tests pass", test_command="true", expectation="PASS"),
            Sent("submit", summary="all green", test_command="run-tests", expectation=rng.choice(["PASS", "FAIL"])),
            Sent("submit", summary="approved", findings="[]"),
            Sent("submit", summary="x", findings=rng.choice(["", "nonsense", "{}", "[{}]"])),
            Sent("submit", summary="x", analysis_decision="SUCCESS"),
            Sent("submit", summary="nothing left", no_pr_left=True),
            Sent("submit", summary="x", test_command="run-tests", expectation="FAIL", reply="ALREADY_SATISFIED"),
            Sent("outcome", outcome=rng.choice(["merged", "approved", "branched", "none-left", "squashed"])),
            Sent("answer", value=rng.choice(["approve", "finish", "another-round"])),
            Sent("resume"), Sent("abort"), Sent("due"), Sent("child", outcome="COMPLETED", child="x"),
            Sent("scope-reduction"), Sent("escalate", report="help"), Sent("made-up"),
        ]  # fmt: skip
        return rng.choice(lies)
