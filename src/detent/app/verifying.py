"""`verify`: prove a range of commits again, from the repository alone. Claims say what to look at; trees and tests decide what it is.

The test command and all settings come from the commit that the range starts from, never from a claim.
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
from detent.app.verify_steps import Judged, ReplaySetup, bare_of, judged, new_without_red, not_looked_at
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

Watch = Callable[[int, int, str], None]  # how much is done, of how much, and what it was
PROMISES = ("feat", "fix")  # a commit that says so brings something that a test can need
ORDER: tuple[Sort, ...] = ("failed", "could-not-verify", "not-verifiable")


class ReplayResult(NamedTuple):
    """What came of a replay. Without anything broken, every claim holds again."""

    span: CommitSpan
    links: tuple[Link, ...]
    broken: tuple[BrokenCheck, ...]
    known: tuple[str, ...]  # failures that were there before the range and are accepted by its claims
    without_red: tuple[str, ...]  # new or changed tests that no RED step shows failing
    code_without_red: tuple[BrokenCheck, ...]  # what changed without a RED, and no test fails for either: code, and files of any kind
    flags: tuple[Flag, ...]  # what a person should look at over the whole range
    command: str
    sandbox: str
    trees: int  # on how many trees the whole suite was run
    seconds: float
    found: tuple[str, ...] = ()  # of each step: what it is by its trees
    beside: tuple[str, ...] = ()  # changed files that nothing here looked at

    @property
    def answer(self) -> str:
        """One word. What fails outweighs what cannot be told, and that what nobody claims."""
        return next((sort for sort in ORDER if any(b.sort == sort for b in self.broken)), "verified")


def verify(start: Path, text: str, jobs: int, env: Mapping[str, str], watch: Watch, require_red: bool = False) -> ReplayResult:
    """Prove a range again in the repository that a folder is in. `require_red`: code that nothing proves is a failure."""
    preload()  # whatever is needed later is loaded before the first test runs
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
    """Run the tests of every tree, then let the gates of every step judge what was seen."""
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
        collector.store = Path(store)  # nothing that was kept before is read
        collector.began = git.tree(base)
        before = judges_now(collector)
        ground = ReplaySetup(git, CleanRuns(collector), settings, base, frozenset(), stop)
        ground.runs.run_all(trees, jobs, stop, lambda tree: seen(f"tests of {tree[:12]}"))
        known = claimed & ground.bad_at(git.tree(base))
        ground = ground._replace(baseline=known)
        with ThreadPoolExecutor(1) as beside:  # the range as a whole is looked at while its steps are judged
            look = partial(_flags, ground, collector, proof, jobs, require_red or settings.evidence.mutation == "require")
            flags = beside.submit(look).result if jobs > 1 else look
            proof = _weighed(ground, proof, judged(ground, proof.links, jobs, seen), jobs, require_red, flags)
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
    """What broke; and if nothing did, what no RED speaks for, and what is flagged of the range as a whole."""
    broken = [step.broken for step in steps if step.broken] or _ends_green(ground, proof)
    mutation = ground.settings.evidence.mutation
    asked = require_red or mutation == "require"
    bare = () if broken or (mutation == "off" and not asked) else bare_of(ground, steps, jobs)
    flags = () if broken or all(step.found in ("red", "tests") for step in steps) else seen()
    wrong = (*broken, *(bare if asked else ()), *_failing(proof.span, flags, asked))
    return proof._replace(
        broken=wrong,
        code_without_red=bare,
        flags=tuple(flag for flag in flags if flag.level != "fail"),
        without_red=new_without_red(ground, steps),
        found=tuple(step.found for step in steps),
        beside=not_looked_at(ground, proof.span, steps, [*wrong, *bare, *flags]),
    )


def _touched(span: CommitSpan, said: str) -> list[BrokenCheck]:
    """What judged must not have been written while tests ran."""
    return [BrokenCheck("failed", span.tip, "", "toolchain", said)] if said else []


def _ends_green(ground: ReplaySetup, proof: ReplayResult) -> list[BrokenCheck]:
    """A range does not end between RED and GREEN; one commit by itself may be a RED."""
    bad = ground.bad_at(proof.span.commits[-1].tree) - ground.baseline if len(proof.span.commits) > 1 else frozenset()
    return (
        [BrokenCheck("failed", proof.span.tip, "", "ends_green", f"{min(bad)} fails where the range ends: its RED has no GREEN")]
        if bad
        else []
    )


def _flags(ground: ReplaySetup, collector: Collector, proof: ReplayResult, jobs: int, asked: bool) -> tuple[Flag, ...]:
    """What is flagged of the whole range, as where a branch lands; what takes many test runs is tried only where a RED is required."""
    settings = ground.settings.flat() | ({} if asked else {f"flags.{kind}": "allow" for kind in OF_PROBES})
    base, tip, seconds = ground.git.tree(ground.base), proof.span.commits[-1].tree, float(ground.settings.evidence.seconds)
    card = look_over(BranchSpan(base, tip, collector, settings, ground.wanted, seconds, jobs, commit=ground.base, known=ground.baseline))
    wrong = [Flag("branch", sentence, level="fail") for sentence in card.failed]
    told = [Flag("weak-evidence", f"the range as a whole could not be looked at: {card.unclear}", level="note")] if card.unclear else []
    return (*wrong, *told, *(flag for each in card.flags if (flag := weighed(each, lambda name: settings.get(name, ""))) is not None))


def _failing(span: CommitSpan, flags: tuple[Flag, ...], asked: bool) -> tuple[BrokenCheck, ...]:
    """The flags that fail a range: by their level; and where a RED is required, a feature or a fix that no test needs."""
    promised = any(commit.subject.startswith(PROMISES) for commit in span.commits)
    bad = (flag for flag in flags if flag.level == "fail" or (asked and promised and flag.kind == "no-proof"))
    return tuple(BrokenCheck("failed", span.tip, "", flag.kind, flag.sentence) for flag in bad)


def suite_at(git: Git, base: str, env: Mapping[str, str]) -> tuple[Suite, Settings]:
    """The suite of a commit whose tests can be told apart. A file that lies in the checkout is not asked."""
    settings = committed_settings(git, base, env)
    path, home = env.get("PATH", os.defpath), git.place.root
    with clean_checkout(git, git.tree(base)) as folder:
        borrow(home, folder)
        command = find_command(Folder(folder, path), settings.test.command, settings.test.report)
        patterns = patterns_at(command, Folder(folder, path), settings.test.files)
    if command is None or not command.runner:
        said = f"`{command.text}` says only whether all passed" if command else "no test framework is recognised there"
        raise CannotTell(f"the tests of {base[:12]} cannot be told apart: {said}")
    inside = sandbox_of(settings, False, env, home)
    timeout = float(settings.test.timeout or settings.bash.timeout)
    return Suite(command, timeout, path, tuple(settings.test.env), inside.tests, inside.sandbox, patterns), settings
