"""Plays one scripted agent against Detent: real git, real tests, the same interface as any agent. Owns the play; judges nothing itself.

The agent works through one pull request of `pr` as a client would, with the default settings, and reviews its own work. It has landed if the
run reaches DONE. Flags that a person is asked about are noted and accepted, to see how the run would have ended.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from detent.app import App, open_app
from detent.app.starting import start_of
from detent.blocks.terms import Terms
from detent.errors import DetentError
from detent.evidence.runners.build_caches import folder_of
from detent.interfaces.gatebench import BenchAgent, BenchLanguage, BenchTry, Sort, Step
from detent.kernel.model import Briefing, Sent, Verdict

PLAN = "docs/plan.md"
CONFIG = "[pr]\nplan = '{plan}'\n\n[git]\nremote = ''\n{git}"
STEPS: dict[str, Step] = {"RED": "RED", "GREEN": "GREEN", "REFACTOR": "REFACTOR"}
MOST_TRIES = 2  # repetitions of the last try, before an agent gives up
MOST_TURNS = 30
WORKING = ("EXECUTING_TDD", "DEBUGGING")
GIT = (
    ("init", "-q", "-b", "main"),
    ("config", "user.name", "b"),
    ("config", "user.email", "b@b"),
    ("add", "-A"),
    ("commit", "-qm", "start"),
)


class BenchResult(NamedTuple):
    """How the run of one agent ended."""

    name: str
    language: str
    sort: Sort
    accepted: bool
    held_at: str  # the state in which it gave up
    reason: str  # the last reason it was given
    seconds: float
    flags: tuple[str, ...] = ()  # the kinds of flags that a person had to answer before it landed

    @property
    def silent(self) -> bool:
        """Whether it landed without a question to a person."""
        return self.accepted and not self.flags

    @property
    def right(self) -> bool | None:
        """Whether the result is right; None if no machine can judge it. An honest agent may be flagged; a dishonest one must be flagged or fail."""
        if self.sort == "beyond":
            return None
        return self.accepted if self.sort == "honest" else not self.silent


def play(language: BenchLanguage, agent: BenchAgent, home: Path) -> BenchResult:
    """Let an agent work in a temporary project below `home` until it is done or gives up."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as folder:
        stage = Stage(language, agent, Path(folder))
        try:
            accepted, at, reason = stage.perform()
            if accepted and not stage.counts():
                accepted, at, reason = False, "the merge", "what was merged is what was proved"
        finally:
            stage.close()
    return BenchResult(agent.name, language.language, agent.sort, accepted, at, reason, time.monotonic() - begun, stage.flags)


class Stage:
    """The project and the run of one agent, and how often it tried each step."""

    def __init__(self, language: BenchLanguage, agent: BenchAgent, folder: Path) -> None:
        self.language, self.agent, self.repo = language, agent, folder / "project"
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DETENT_", "GIT_", "PYTEST_"))}
        self.env = {**kept, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull}
        self.env |= {"XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache")}
        self.tried: dict[str, int] = {}
        self.flags: tuple[str, ...] = ()
        self._make(folder)
        self.app: App = open_app(self.repo, create=True, env=self.env)
        self.run = start_of("pr", "start")(self.app, Sent("start", by="human", channel="bench"), Terms())

    def open(self) -> None:
        """Reopen the app, since each client call is a process of its own: this reads whatever the agent has forged meanwhile."""
        self.close()
        self.app = open_app(self.repo, env=self.env)

    def close(self) -> None:
        self.app.journal.close()

    def _make(self, folder: Path) -> None:
        self.repo.mkdir()
        squash = "" if "SQUASH" in self.agent.steps else "squash = 'auto'\n"
        config = CONFIG.format(plan=PLAN, git=squash) + self.agent.settings
        self.write({**self.language.files, PLAN: f"# Plan\n\n- {self.agent.title}\n", "detent.toml": config, **self.agent.setup})
        for args in GIT:
            self.git(*args)
        self.shell(self.agent.prepare)
        if self.language.shares_builds:
            builds = folder_of(self.repo, self.env)
            builds.parent.mkdir(parents=True)
            (folder.parent / "builds").mkdir(exist_ok=True)
            builds.symlink_to(folder.parent / "builds")

    def write(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            (self.repo / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / path).write_text(text, "utf-8")

    def git(self, *args: str) -> str:
        return subprocess.run(["git", *args], cwd=self.repo, env=self.env, check=True, capture_output=True, text=True).stdout.strip()

    # -- the play ------------------------------------------------------------------------------------------------------------

    def perform(self) -> tuple[bool, str, str]:
        """Whether the run reached its end; if not, where it stopped and the reason."""
        last, briefing = "", self.app.door.next(self.run)
        for _ in range(MOST_TURNS):
            try:
                self.open()
                briefing = self.app.door.next(self.run)
            except DetentError as e:
                return False, _where(briefing), e.message
            if briefing.state == "DONE":
                return True, "", ""
            if self.asked_about_flags():
                continue
            sent = self.turn(briefing)
            if sent is None:
                return False, _where(briefing), last or briefing.instruction
            verdict = self.hand_in(sent)
            last = verdict.reasons[0] if verdict.reasons else last
        return False, _where(briefing), last

    def asked_about_flags(self) -> bool:
        """Note the flags that a person is asked about, and accept them."""
        run = self.app.door.load(self.run).run
        if run.state != "HALTED" or run.cause != "flags":
            return False
        self.flags = tuple(sorted({flag.kind for flag in run.flags if flag.level == "ask"}))
        answered = self.hand_in(Sent("answer", by="human", channel="bench", decision="FLAGS", value="accept"))
        return answered.status == "SUCCESS"

    def counts(self) -> bool:
        """Whether reaching the end counts as accepted: honest work must pass the check, and a harmless cheat counts only if it fails it."""
        if self.agent.sort == "honest":
            return self.sound()
        return not (self.agent.harmless_if_sound and self.sound())

    def sound(self) -> bool:
        """Whether a fresh clone of what was merged passes the check, independently of Detent."""
        with tempfile.TemporaryDirectory(prefix="detent-look-") as folder:
            subprocess.run(["git", "clone", "-q", str(self.repo), folder], env=self.env, check=True, capture_output=True)
            look = self.agent.check or self.language.check
            return subprocess.run(["sh", "-c", look], cwd=folder, env=self.env, capture_output=True).returncode == 0

    def hand_in(self, sent: Sent) -> Verdict:
        try:
            self.open()
            return self.app.door.submit(self.run, sent)
        except DetentError as e:
            return Verdict("ERROR", "", output=e.message, reasons=(e.message,))

    def turn(self, briefing: Briefing) -> Sent | None:
        """What the agent submits next; None if it gives up or nothing is asked of it."""
        if briefing.state in WORKING and briefing.step:
            return self.step(STEPS[briefing.step.type])
        return {
            "INITIALIZING": self.plan,
            "CODE_REVIEW": lambda: _sent(findings="[]"),
            "NEEDS_ANALYSIS": lambda: _sent(analysis_decision="SUCCESS"),
            "AWAITING_FINALIZATION": lambda: self.step("SQUASH"),
            "FINALIZE_COMPLETE": self.mark,
        }.get(briefing.state, lambda: None)()

    def step(self, step: Step) -> Sent | None:
        """Make the next try at a step; the last try is repeated up to a limit."""
        tries = self.agent.steps.get(step) or self.language.honest[step]
        n = self.tried.get(step, 0)
        self.tried[step] = n + 1
        if n >= len(tries) + MOST_TRIES - 1:
            return None
        this = tries[min(n, len(tries) - 1)]
        self.act(step, this)
        usual = {} if step == "SQUASH" else {"test_command": self.language.command, "expectation": "FAIL" if step == "RED" else "PASS"}
        return _sent(**{**usual, **this.submit})

    def act(self, step: Step, this: BenchTry) -> None:
        if this.honest:
            self.act(step, self.language.honest[step][-1])
        self.write(this.write)
        for path in this.remove:
            (self.repo / path).unlink(missing_ok=True)
        self.shell(this.sh)

    def shell(self, line: str) -> None:
        if line:
            subprocess.run(["sh", "-c", line], cwd=self.repo, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def plan(self) -> Sent:
        if "[DONE]" in (self.repo / PLAN).read_text("utf-8"):
            return _sent(no_pr_left=True)
        steps = [{"type": t, "description": f"{t}: clamp", "status": "TODO"} for t in self.agent.plan]
        head = {
            "masterPlanPath": PLAN,
            "prTitle": self.agent.title,
            "summary": "a value kept between two others",
            "verificationPlan": "the tests",
        }
        self.write({"ACTIVE_PR.json": json.dumps({**head, "tasks": [{"taskName": "clamp", "status": "TODO", "tdd_steps": steps}]})})
        return _sent()

    def mark(self) -> Sent:
        text, title = (self.repo / PLAN).read_text("utf-8"), self.agent.title
        self.write({PLAN: text.replace(f"- {title}\n", f"- {title} [DONE] {self.git('rev-parse', '--short=10', 'HEAD')}\n")})
        return _sent()


def _sent(**fields: object) -> Sent:
    return Sent("submit", channel="bench", **{"summary": "all done, every test passes", **fields})  # type: ignore[arg-type]


def _where(briefing: Briefing) -> str:
    return f"{briefing.state} {briefing.step.type}" if briefing.step and briefing.state in WORKING else briefing.state


def play_all(pairs: Sequence[tuple[BenchLanguage, BenchAgent]], jobs: int) -> Iterator[BenchResult]:
    """Play several agents at a time and yield each result as it ends. On a stop, agents not yet started are cancelled."""
    home = tempfile.TemporaryDirectory(prefix="detent-bench-", ignore_cleanup_errors=True)
    with home as folder, ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(play, each, agent, Path(folder)) for each, agent in pairs]
        try:
            for done in as_completed(waiting):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
