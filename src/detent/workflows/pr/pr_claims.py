"""The claims of a run of `pr`: one commit for all steps of a pull request, and one for the update of the plan."""

from collections.abc import Mapping

from detent.blocks.proved import AnyEvent, Chain, Proved, claim, step_of
from detent.evidence.outcomes.claims import ClaimedStep, Phase
from detent.gates.plan import verified_from
from detent.workflows.pr.pr_data import PrData, current

PHASES: Mapping[str, Phase] = {"green": "green", "refactor": "refactor", "already": "already"}
NEXT_PR = ("merged", "plan-done-here")


def claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    data: PrData = event.run.data
    if event.on in ("branched", "plan-here", "start"):
        chain.steps = _taken_over(event)
    elif event.on in ("red", "verify"):
        chain.red = event
    elif event.on == "success" and chain.red is not None:
        chain.steps.append(_red(chain.red, data.good_tree))
    elif event.on in PHASES:
        chain.steps.append(step_of(event, PHASES[event.on], _described(event), data.good_tree))
    elif event.on == "test-wrong" and chain.steps:
        chain.steps.pop()  # the RED with the wrong test is not claimed; its tree stays reachable
    elif event.on == "scope-reduction":
        chain.steps = _back_to(chain.steps, data.good_tree)
    elif event.on == "squashed":
        return [claim(event, tuple(chain.steps), "", data.last_commit_hash)]
    entry = event.on in ("plan-done", "plan-done-here")
    made = (
        [claim(event, (ClaimedStep("entry", "the finished entry of the plan", event.found.tree, path=data.setup.plan),), "plan")]
        if entry
        else []
    )
    chain.steps = [] if event.on in NEXT_PR else chain.steps
    return made


def _red(event: AnyEvent, tree: str) -> ClaimedStep:
    """The claim of a RED step: one event judged it and has the evidence, a later one accepted it."""
    now, over = current(event.run.data), verified_from(event.run.data.plan)
    seen = event.found.evidence
    about, counts = now[2].description if now else "", seen.counts if seen else None
    return ClaimedStep("verify" if event.on == "verify" else "red", about, tree, seen.command if seen else "", counts, over=over)


def _described(event: AnyEvent) -> str:
    steps = (s for t in event.run.data.plan.tasks for s in t.tdd_steps)
    return next((s.description for s in steps if s.proof == event.run.seq), "")


def _taken_over(event: AnyEvent) -> list[ClaimedStep]:
    """What was there before the first step without proof: adopted changes, or the work of an earlier agent."""
    data: PrData = event.run.data
    adopted = data.setup.adopted and data.setup.adopted == data.good_tree
    left = event.on == "start" and data.plan is not None
    return [ClaimedStep("adopted", "what was there when the run started", data.good_tree)] if adopted or left else []


def _back_to(steps: list[ClaimedStep], tree: str) -> list[ClaimedStep]:
    """The steps up to the newest one with this tree; a scope reduction gave up the rest."""
    last = max((i for i, step in enumerate(steps) if step.tree == tree), default=-1)
    return steps[: last + 1]
