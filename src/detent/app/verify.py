"""`verify`: prove a range of commits again, from the repository alone. Claims say what to look at; the tests are run, and decide.

The test command and all settings come from the commit that the range starts from, never from a claim.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from detent.app.cell import cell_of
from detent.app.fit import patterns_at
from detent.app.verify_span import Broken, Link, Sort, Span, links_of, span_of
from detent.config import Settings, load
from detent.errors import CannotTell, DetentError
from detent.evidence.apart import Apart
from detent.evidence.bite import Marks
from detent.evidence.collect import Collector
from detent.evidence.eyes import RepoLook, Scene
from detent.evidence.look import Look
from detent.evidence.runners import Command, Folder, find_command
from detent.evidence.suite import Suite
from detent.gates.judge import name_of
from detent.gates.plan import ActivePr, PlanData, Step, Task
from detent.gates.replay import DOUBTS, RULES
from detent.git import fingerprint
from detent.git.checkout import clean_checkout
from detent.git.place import find_place
from detent.git.repo import Git, GitError
from detent.git.workspace import borrow
from detent.kernel.model import Data, Run, Sent

Watch = Callable[[int, int, str], None]  # how much is done, of how much, and what it was
NO_RED = "no RED shows a test failing for it, and no test fails when it answers something else"
ALREADY = "it was closed as satisfied already, so no test was seen failing for it"
ORDER: tuple[Sort, ...] = ("failed", "could-not-verify", "not-verifiable")


class Proof(NamedTuple):
    """What came of a replay. Without anything broken, every claim holds again."""

    span: Span
    links: tuple[Link, ...]
    broken: tuple[Broken, ...]
    known: tuple[str, ...]  # failures that were there before the range and are accepted by its claims
    without_red: tuple[str, ...]  # new or changed tests that no RED step shows failing
    code_without_red: tuple[Broken, ...]  # changed code that came without a RED, and that no test fails for either
    command: str
    sandbox: str
    trees: int  # on how many trees the whole suite was run
    seconds: float

    @property
    def answer(self) -> str:
        """One word. What fails outweighs what cannot be told, and that what nobody claims."""
        return next((sort for sort in ORDER if any(b.sort == sort for b in self.broken)), "verified")


class Ground(NamedTuple):
    """With what it is replayed."""

    git: Git
    apart: Apart
    settings: Settings
    base: str
    baseline: frozenset[str]
    stop: threading.Event


def verify(start: Path, text: str, jobs: int, env: Mapping[str, str], watch: Watch, require_red: bool = False) -> Proof:
    """Prove a range again in the repository that a folder is in. `require_red`: code that nothing proves is a failure."""
    begun, place = time.monotonic(), find_place(start)
    fingerprint.check(place)
    git = Git(place, env)
    if git.call("rev-parse", "--is-shallow-repository").text == "true":
        raise DetentError(
            "this clone is shallow, so commits and trees are missing", "fetch all of it: git fetch --unshallow (in CI: depth 0)"
        )
    span = span_of(git, text, load(lambda path: _read(git, "HEAD", path), env).git.main)
    links, broken, claimed = links_of(git, span)
    proof = Proof(span, tuple(links), tuple(broken), (), (), (), "", "none", 0, 0.0)
    if not broken:
        proof = _replayed(git, proof, claimed, jobs, env, watch, require_red)
    return proof._replace(seconds=time.monotonic() - begun)


def _read(git: Git, rev: str, path: str) -> str | None:
    data = git.read(rev, path)
    return data.decode("utf-8", "replace") if data is not None else None


def _suite(git: Git, base: str, env: Mapping[str, str]) -> tuple[Suite, Settings]:
    """How the tests are run: as the commit that the range starts from says. A file that lies in the checkout is not asked."""
    settings = load(lambda path: _read(git, base, path), env)
    path, home = env.get("PATH", os.defpath), git.place.root
    with clean_checkout(git, git.tree(base)) as folder:
        borrow(home, folder)
        command: Command | None = find_command(Folder(folder, path), settings.test.command)
        patterns = patterns_at(command, Folder(folder, path), settings.test.files)
    if command is None or not command.runner:
        said = f"`{command.text}` says only whether all passed" if command else "no test framework is recognised there"
        raise CannotTell(f"the tests of {base[:12]} cannot be told apart: {said}")
    cell = cell_of(settings, False, env, home)
    timeout = float(settings.test.timeout or settings.bash.timeout)
    return Suite(command, timeout, path, tuple(settings.test.env), cell.tests, cell.sandbox.name, patterns), settings


def _replayed(git: Git, proof: Proof, claimed: frozenset[str], jobs: int, env: Mapping[str, str], watch: Watch, require_red: bool) -> Proof:
    """Run the tests of every tree, then let the gates of every step judge what was seen."""
    base = proof.span.base
    try:
        suite, settings = _suite(git, base, env)
    except (CannotTell, GitError) as e:
        return proof._replace(broken=(Broken("could-not-verify", base, "", "tests", str(e)),))
    trees = list(dict.fromkeys((git.tree(base), *(t for link in proof.links for t in (link.start, link.step.over, link.step.tree) if t))))
    total, done, stop = len(trees) + len(proof.links), list[str](), threading.Event()

    def seen(what: str) -> None:
        done.append(what)
        watch(len(done), total, what)

    with tempfile.TemporaryDirectory(prefix="detent-verify-") as store:
        collector = Collector(git, suite, "verify", env)
        collector.store = Path(store)  # nothing that was kept before is read
        ground = Ground(git, Apart(collector), settings, base, frozenset(), stop)
        ground.apart.run_all(trees, jobs, stop, lambda tree: seen(f"tests of {tree[:12]}"))
        known = claimed & _bad_at(ground.apart, git.tree(base))
        ground = ground._replace(baseline=known)
        broken = _judged(ground, proof.links, jobs, seen) or _ends_green(ground.apart, proof, known)
        free = _without_red(ground, proof.links)
        asked = require_red or settings.evidence.mutation == "require"
        bare = () if broken or (settings.evidence.mutation == "off" and not asked) else _code_without_red(ground, proof.links, jobs)
    return proof._replace(
        broken=(*broken, *bare) if asked else tuple(broken),
        code_without_red=bare,
        known=tuple(sorted(known)),
        without_red=free,
        command=suite.base.text if suite.base else "",
        sandbox=suite.sandbox,
        trees=len(trees),
    )


def _bad_at(apart: Apart, tree: str) -> frozenset[str]:
    """What fails at the base already. Only that can be a known failure, whatever a claim says."""
    report = apart.known(tree)
    return report.bad if report else frozenset()


def _without_red(ground: Ground, links: tuple[Link, ...]) -> tuple[str, ...]:
    """New tests that came with a step that is no RED, and tests that work changed: nobody saw them failing before the code was there."""
    free = [link for link in links if link.phase in ("already", "refactor", "work")]
    pairs = [(ground.apart.known(link.start), ground.apart.known(link.step.tree)) for link in free]
    new = {test for before, now in pairs if before and now for test in now.ids - before.ids}
    looks = (RepoLook(_scene(ground, links, n)) for n, link in enumerate(links) if link.phase == "work")
    return tuple(sorted(new.union(*({each.place for each in look.rewritten()} for look in looks))))


def _code_without_red(ground: Ground, links: tuple[Link, ...], jobs: int) -> tuple[Broken, ...]:
    """Changed code of steps before which no test failed (refactorings, work as a whole, and what is only called a GREEN), for which no test
    fails now either; and what else such a step leaves in doubt."""

    def bare(n: int) -> list[Broken]:
        link = links[n]
        if link.phase == "already":
            return [Broken("failed", link.commit.hash, link.name, "already", ALREADY)]
        was_red = link.phase != "work" and _bad_at(ground.apart, link.start) - ground.baseline
        if was_red or link.phase not in ("refactor", "green", "work"):
            return []
        look = RepoLook(_scene(ground, links, n))
        said = [("code_without_red", f"{place}: {NO_RED}") for place in look.untested()]
        return [Broken("failed", link.commit.hash, link.name, *each) for each in (*said, *_doubts(look, link.phase))]

    with ThreadPoolExecutor(jobs) as pool:
        return tuple(each for found in pool.map(bare, range(len(links))) for each in found)


def _doubts(look: Look[Any], phase: str) -> Iterator[tuple[str, str]]:
    """What the gates say that refute no claim of this phase, each with its name. What cannot be told stays in doubt."""
    for gate in DOUBTS.get(phase, ()):
        try:
            said = gate(look)
        except CannotTell as e:
            said = str(e)
        if isinstance(said, str) and said:
            yield name_of(gate), said


def _ends_green(apart: Apart, proof: Proof, known: frozenset[str]) -> list[Broken]:
    """A range does not end between RED and GREEN; one commit by itself may be a RED."""
    report = apart.known(proof.span.commits[-1].tree)
    bad = report.bad - known if report and len(proof.span.commits) > 1 else frozenset()
    return (
        [Broken("failed", proof.span.tip, "", "ends_green", f"{min(bad)} fails where the range ends: its RED has no GREEN")] if bad else []
    )


def _judged(ground: Ground, links: tuple[Link, ...], jobs: int, seen: Callable[[str], None]) -> list[Broken]:
    found = []
    with ThreadPoolExecutor(jobs) as pool:
        waits = [pool.submit(_step, ground, links, n) for n in range(len(links))]
        try:
            for link, each in zip(links, waits, strict=True):
                found.append(each.result())
                seen(link.name)
        except BaseException:
            ground.stop.set()  # what runs is ended
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [b for b in found if b is not None]


def _step(ground: Ground, links: tuple[Link, ...], n: int) -> Broken | None:
    """What breaks first of one step, judged by the gates of its phase."""
    link = links[n]
    check = "tests"
    try:
        look: Look[Any] = RepoLook(_scene(ground, links, n))
        for gate in RULES[link.phase]:
            check = name_of(gate)
            said = gate(look)
            if isinstance(said, str) and said:
                sort: Sort = "not-verifiable" if link.phase == "adopted" else "failed"
                return Broken(sort, link.commit.hash, link.name, check, said)
    except (CannotTell, GitError, OSError) as e:
        return Broken("could-not-verify", link.commit.hash, link.name, check, str(e))
    return None


def _scene(ground: Ground, links: tuple[Link, ...], n: int) -> Scene:
    link, git = links[n], ground.git
    before = _read(git, link.start, link.step.path) if link.step.path else ""
    return Scene(
        git=git,
        collect=ground.apart,
        run=Run("verify", link.workflow, "", 0, _about(link)),
        sent=Sent("submit", by="system", value=link.step.path or link.step.over, note=before or "", reply="\n".join(link.step.tests)),
        tree=link.step.tree,
        marks=Marks(
            link.step.over if link.phase == "red" and link.step.over else link.start, _reds(links, n), ground.base, ground.baseline
        ),
        settings=ground.settings.flat(),
        preflight=tuple(ground.settings.preflight.commands or ()),
        published=lambda name: None,
        tampered=lambda: (),
        left_out=(),
        wanted=lambda: not ground.stop.is_set(),
        quick=False,
    )


def _about(link: Link) -> Data:
    """What a step is known to be about: the pull request whose title is the subject of the commit."""
    if link.workflow != "pr":
        return Data()
    step = Step("RED", link.step.about)
    return PlanData(plan=ActivePr("", link.commit.subject, "", "", (Task("", (step,)),)))


def _reds(links: tuple[Link, ...], n: int) -> tuple[str, ...]:
    """The trees before the code: of this pull request, or of every cycle before. What a changed test must still fail on."""
    mine = (link for link in links[:n] if link.phase == "red" and (link.workflow == "tdd" or link.commit.hash == links[n].commit.hash))
    return tuple(link.step.tree for link in mine)
