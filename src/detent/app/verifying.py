"""`verify`: proves a range of commits again from the repository alone. Claims say what to check; trees and tests decide.

The test command and all settings come from the base of the range, never from a claim.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from detent.app.commit_settings import committed_settings, main_at
from detent.app.fit import patterns_at
from detent.app.judges import judges_now, written_meanwhile
from detent.app.preload import preload
from detent.app.run_configs import sandbox_of
from detent.app.verify_span import BrokenCheck, CommitSpan, Link, Sort, links_of, span_of
from detent.app.verify_steps import Judged, ReplaySetup, bare_of, beside_reds, judge_steps, new_without_red, not_looked_at
from detent.config import Settings
from detent.errors import CannotTell, DetentError
from detent.evidence.looks.branch_look import OF_PROBES, BranchSpan, look_over
from detent.evidence.runners import Folder, find_command
from detent.evidence.running.clean_runs import CleanRuns
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.gates.judge import weighed
from detent.git import fingerprint
from detent.git.checkout import clean_checkout
from detent.git.place import find_place
from detent.git.repo import Git, GitError
from detent.git.workspace import borrow
from detent.kernel.model import Flag

Watch = Callable[[int, int, str], None]  # steps done, steps in all, the name of the last one
PROMISES = ("feat", "fix")  # subjects of commits that promise something a test can prove
ORDER: tuple[Sort, ...] = ("failed", "could-not-verify", "not-verifiable")


class ReplayResult(NamedTuple):
    """The result of a replay. If nothing is broken, every claim holds again."""

    span: CommitSpan
    links: tuple[Link, ...]
    broken: tuple[BrokenCheck, ...]
    known: tuple[str, ...]  # failures at the base that the claims accept
    without_red: tuple[str, ...]  # new or changed tests that no RED step shows failing
    code_without_red: tuple[BrokenCheck, ...]  # changes of code or other files that no RED covers and no test notices
    flags: tuple[Flag, ...]  # what a person should look at over the whole range
    command: str
    sandbox: str
    trees: int  # the number of trees that the whole suite was run on
    seconds: float
    found: tuple[str, ...] = ()  # for each step, what it is by its trees
    beside: tuple[str, ...] = ()  # changed files that were not examined

    @property
    def answer(self) -> str:
        """The result in one word: the worst sort of what broke (by ORDER), or "verified"."""
        return next((sort for sort in ORDER if any(b.sort == sort for b in self.broken)), "verified")


def verify(start: Path, text: str, jobs: int, env: Mapping[str, str], watch: Watch, require_red: bool = False) -> ReplayResult:
    """Prove a range again, in the repository that a folder is in. `require_red`: code that nothing proves is a failure."""
    preload()  # load all code before the first test can write to it
    begun, place = time.monotonic(), find_place(start)
    fingerprint.check(place)
    git = Git(place, env)
    if git.call("rev-parse", "--is-shallow-repository").text == "true":
        raise DetentError(
            "this clone is shallow, so commits and trees are missing", "fetch all of it: git fetch --unshallow (in CI: depth 0)"
        )
    span = span_of(git, text, main_at(git, env))
    links, broken, claimed = links_of(git, span)
    proof = ReplayResult(span, tuple(links), tuple(broken), (), (), (), (), "", "none", 0, 0.0)
    if not broken:
        proof = _replayed(git, proof, claimed, jobs, env, watch, require_red)
    return proof._replace(seconds=time.monotonic() - begun)


def _replayed(
    git: Git, proof: ReplayResult, claimed: frozenset[str], jobs: int, env: Mapping[str, str], watch: Watch, require_red: bool
) -> ReplayResult:
    """Run the tests of every tree, then judge every step by its gates."""
    base = proof.span.base
    try:
        suite, settings = suite_at(git, base, env)
    except (CannotTell, GitError) as e:
        return proof._replace(broken=(BrokenCheck("could-not-verify", base, "", "tests", str(e)),))
    trees = list(dict.fromkeys((git.tree(base), *(t for link in proof.links for t in (link.start, link.step.over, link.step.tree) if t))))
    total, done, stop = len(trees) + len(proof.links), list[str](), threading.Event()

    def seen(what: str) -> None:
        done.append(what)
        watch(len(done), total, what)

    with tempfile.TemporaryDirectory(prefix="detent-verify-") as store:
        collector = Collector(git, suite, "verify", env)
        collector.store = Path(store)  # no earlier result is believed
        collector.began = git.tree(base)
        before = judges_now(collector)
        ground = ReplaySetup(git, CleanRuns(collector), settings, base, frozenset(), stop)
        ground.runs.run_all(trees, jobs, stop, lambda tree: seen(f"tests of {tree[:12]}"))
        known = claimed & ground.bad_at(git.tree(base))
        ground = ground._replace(baseline=known)
        with ThreadPoolExecutor(1) as beside:  # judges the range as a whole, beside its steps
            look = partial(_flags, ground, collector, proof, jobs, require_red or settings.evidence.mutation == "require")
            flags = beside.submit(look).result if jobs > 1 else look
            proof = _weighed(ground, proof, judge_steps(ground, proof.links, jobs, seen), jobs, require_red, flags)
        broken = (*proof.broken, *_touched(proof.span, written_meanwhile(before, judges_now(collector))))
    because = getattr(suite.sandbox, "because", "")
    return proof._replace(
        broken=broken,
        known=tuple(sorted(known)),
        command=suite.base.text if suite.base else "",
        sandbox=suite.sandbox.name + (f" ({because})" if because else ""),
        trees=len(trees),
    )


def _weighed(
    ground: ReplaySetup, proof: ReplayResult, steps: list[Judged], jobs: int, require_red: bool, seen: Callable[[], tuple[Flag, ...]]
) -> ReplayResult:
    """The result with what broke; and if nothing did, what no RED covers, and the flags of the range as a whole."""
    broken = [step.broken for step in steps if step.broken] or _ends_green(ground, proof)
    mutation = ground.settings.evidence.mutation
    asked = require_red or mutation == "require"
    bare = () if broken or (mutation == "off" and not asked) else bare_of(ground, steps, jobs)
    flags = () if broken or all(step.found in ("red", "tests") for step in steps) else seen()
    flags += beside_reds(steps, jobs) if asked and not broken else ()
    wrong = (*broken, *(bare if asked else ()), *_failing(proof.span, flags, asked))
    return proof._replace(
        broken=wrong,
        code_without_red=bare,
        flags=tuple(flag for flag in flags if flag.level != "fail"),
        without_red=new_without_red(ground, steps),
        found=tuple(step.found for step in steps),
        beside=not_looked_at(ground, proof.span, steps, [*wrong, *bare, *flags]),
    )


def _touched(span: CommitSpan, sentence: str) -> list[BrokenCheck]:
    """The check that the judging files were not written while tests ran."""
    return [BrokenCheck("failed", span.tip, "", "toolchain", sentence)] if sentence else []


def _ends_green(ground: ReplaySetup, proof: ReplayResult) -> list[BrokenCheck]:
    """The check that a range does not end between RED and GREEN; a single commit may be a RED."""
    bad = ground.bad_at(proof.span.commits[-1].tree) - ground.baseline if len(proof.span.commits) > 1 else frozenset()
    return (
        [BrokenCheck("failed", proof.span.tip, "", "ends_green", f"{min(bad)} fails where the range ends: its RED has no GREEN")]
        if bad
        else []
    )


def _flags(ground: ReplaySetup, collector: Collector, proof: ReplayResult, jobs: int, asked: bool) -> tuple[Flag, ...]:
    """The flags of the whole range, as when a branch lands; probes, which need many test runs, only where a RED is required."""
    settings = ground.settings.flat() | ({} if asked else {f"flags.{kind}": "allow" for kind in OF_PROBES})
    base, tip, seconds = ground.git.tree(ground.base), proof.span.commits[-1].tree, float(ground.settings.evidence.seconds)
    card = look_over(BranchSpan(base, tip, collector, settings, ground.wanted, seconds, jobs, commit=ground.base, known=ground.baseline))
    wrong = [Flag("branch", sentence, level="fail") for sentence in card.failed]
    unclear = [Flag("weak-evidence", f"the range as a whole could not be looked at: {card.unclear}", level="note")] if card.unclear else []
    return (*wrong, *unclear, *(flag for each in card.flags if (flag := weighed(each, lambda name: settings.get(name, ""))) is not None))


def _failing(span: CommitSpan, flags: tuple[Flag, ...], asked: bool) -> tuple[BrokenCheck, ...]:
    """The flags that fail a range: those of level fail, and where a RED is required, no-proof for a feature or a fix."""
    promised = any(commit.subject.startswith(PROMISES) for commit in span.commits)
    bad = (flag for flag in flags if flag.level == "fail" or (asked and promised and flag.kind == "no-proof"))
    return tuple(BrokenCheck("failed", span.tip, "", flag.kind, flag.sentence) for flag in bad)


def suite_at(git: Git, base: str, env: Mapping[str, str]) -> tuple[Suite, Settings]:
    """The test suite and settings of a commit, from its own files only. CannotTell without a runner that reports single tests."""
    settings = committed_settings(git, base, env)
    path, home = env.get("PATH", os.defpath), git.place.root
    with clean_checkout(git, git.tree(base)) as folder:
        borrow(home, folder)
        command = find_command(Folder(folder, path), settings.test.command, settings.test.report)
        patterns = patterns_at(command, Folder(folder, path), settings.test.files)
    if command is None or not command.runner:
        reason = f"`{command.text}` says only whether all passed" if command else "no test framework is recognised there"
        raise CannotTell(f"the tests of {base[:12]} cannot be told apart: {reason}")
    inside = sandbox_of(settings, False, env, home)
    timeout = float(settings.test.timeout or settings.bash.timeout)
    return Suite(command, timeout, path, tuple(settings.test.env), inside.tests, inside.sandbox, patterns), settings
