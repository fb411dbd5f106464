"""The baseline of a run: tests and preflight on the commit that it starts from. What fails there is never blamed on a step."""

from typing import TYPE_CHECKING

import msgspec

from detent.app import App
from detent.app.gate_steps import red_at_start
from detent.blocks.common import Ground
from detent.blocks.terms import Terms
from detent.errors import CannotTell, DetentError, RedStart
from detent.evidence.changes.install_lines import install_hint_at
from detent.evidence.report import TestReport
from detent.evidence.runners import Command
from detent.evidence.running.suite import preflight
from detent.kernel.decide import spoken, with_line
from detent.kernel.model import Sent

if TYPE_CHECKING:
    from detent.door import AnyRun
    from detent.evidence.running.collect import Collector

INSIDE = (
    ". They ran in the sandbox, where most of your home is hidden: if they pass outside it, name what they need in [sandbox] mounts "
    'or [test] env, or set [sandbox] pull = "none"'
)
CLEAN = "they run in a clean checkout: name files that git does not have in [workspace] copy, or make them with [workspace] setup"
FIX_IT = "fix it first: every step is judged by running the tests"


def accepted(app: App, run: "AnyRun", tree: str, terms: Terms, owes_green: bool = False) -> Ground:
    """The setup with the baseline. A red start raises RedStart, unless a person accepts it or failing tests are what the run is to fix."""
    collector: Collector = app.world.collector(run)
    setup: Ground = run.data.setup
    bad: tuple[str, ...] = ()
    if _tells_tests_apart(setup):
        bad = tuple(sorted(suite_at(collector, tree).bad))
    gates = red_at_start(app.world.gated(run, tree, ""))
    red = (*red_preflight(collector, tree, setup.preflight), *(gate.known_as for gate in gates if gate.then == "fail"))
    owed = owes_green and bool(bad) and not terms.baseline
    if ((bad and not owed) or red) and not terms.baseline:
        inside = setup.agent == "" and collector.suite.sandbox.name not in ("none", "outer")
        raise RedStart((*bad, *red), INSIDE if inside else "")
    known = tuple(dict.fromkeys((*red, *(gate.known_as for gate in gates))))  # a gate that only flags does not stop the start
    return msgspec.structs.replace(
        setup, baseline=() if owed else bad, owes_green=owed, red_preflight=known, reports=dict(collector.digests)
    )


def with_accepted_baseline(run: "AnyRun", sent: Sent) -> "AnyRun":
    """The run with a record of who accepted a red baseline; it is shown again when the branch lands."""
    setup: Ground = run.data.setup
    known = (*setup.baseline, *setup.red_preflight)
    if not known or sent.by != "human":
        return run
    noted = msgspec.structs.replace(sent, note=f"{known[0]}" + (f" and {len(known) - 1} more" if len(known) > 1 else ""))
    return msgspec.structs.replace(run, said=with_line(run.said, spoken(noted)))


def _tells_tests_apart(setup: Ground) -> bool:
    return bool(setup.command) and bool(msgspec.json.decode(setup.command, type=Command).runner)


def suite_at(collector: "Collector", tree: str) -> TestReport:
    """The project's tests at a tree, before the run begins. A known pass is not run again, if the collector is warm."""
    collector.began = tree  # a tree that only people wrote
    collector.say("running the tests before the run begins")
    try:
        report = (collector.passed(tree) if collector.warm else None) or collector.clean(tree, lambda: True)
    except CannotTell as e:
        hint = install_hint_at(collector, tree, str(e))
        raise DetentError(f"the tests cannot be run here: {e}", hint or FIX_IT) from e
    if report.fault:
        output = report.output[-600:].strip() or "run them by hand and look"
        raise DetentError(f"the tests cannot be run here: {report.fault}", f"{output}\n{CLEAN}")
    return report


def red_preflight(collector: "Collector", tree: str, commands: tuple[str, ...]) -> tuple[str, ...]:
    """The preflight commands that fail at a tree. One whose program is missing is skipped; `doctor` reports it."""
    if not commands:
        return ()
    found = []
    with collector.checkout(tree) as folder:
        for command in commands:
            try:
                wrong, _ = preflight((command,), collector.suite, collector.home, folder, collector.away(folder), lambda: True)
            except CannotTell:
                continue
            found += [command] if wrong else []
    return tuple(found)
