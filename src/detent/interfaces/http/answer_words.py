"""Texts of the web page for questions: why a run waits, and what each button does. Words only."""

import shlex
from collections.abc import Mapping

from detent.app.registry import workflow_of
from detent.door import AnyRun
from detent.gates.human import ANSWERS, NEED_WORDS, PersonDecision
from detent.interfaces.http.shapes_inbox import Option
from detent.kernel.model import Sent

STOPPED = "The run stopped and waits for a person. The last output is below."
WHY = {  # cause -> why the run waits, for a person with buttons; the briefing says the same with commands
    "escalation": "The agent is stuck and asks for help. Its next briefing includes what you write.",
    "retries": "The step has no retries left. Nothing is lost; Continue resets them.",
    "errors": "The work could not be judged three times in a row, or the agent's calls were refused again and again. Fix what is named below, then press "
    "Continue.",
    "agent": "The agent ended several times without a usable answer.",
    "subagent_failure": "The agent ended several times without a usable answer.",
    "mandatory_user_decision_missing": "A question was cancelled, or three answers to it could not be understood. Continue asks it again.",
    "context_missing": "A document that the role must read is missing; its path is below. Restore it, then press Continue.",
    "task_aborted": "A task was ended. Continue starts it again.",
    "task_unproved": "A task ended without saying what it proved. Continue starts it again.",
    "tree_moved": "Files changed while the checks ran, so the result does not count. Continue runs them again.",
    "design_unsound": "The documents to approve are not consistent; the reason is below. Fix them, then press Continue: you are asked again.",
    "design_changed": "The design changed again and again after it was approved. Continue asks about it as it is now.",
    "open_ends": "Not everything is proved; what is missing is below. Fix that, then press Continue.",
    "model": "The configured model is not available, and no other one is tried. Fix the configuration, then press Continue.",
    "budget": "A limit is reached. Continue grants the same amount again.",
    "review": "The review says that no pull request may be opened yet. Each issue is filed as an item; once all of them are closed, trying the "
    "execution again opens it.",
    "review rounds": "The review still has findings after the last round. Approve the tree as it is, or let the agent work on them.",
    "plan": "The agent says that no pull request is left, but the plan has an open entry. Continue sends the agent back to the plan.",
    "flags": "The work is finished and proved. Before it lands, look at what was flagged, and accept it or have it fixed.",
    "conflict": "The finished branch could not be landed; the reason is below. Fix it, or merge by hand, then press Continue.",
}
DOES = {  # what the answers to a state's own question do
    "resume": "the run continues where it stopped. What you write goes into the next briefing.",
    "approve": "the work is accepted as it is, with its findings.",
    "another-round": "the agent works on the findings; then the work is reviewed again.",
    "finish": "the run ends as done, and the entry of the plan stays open.",
    "accept": "the branch lands as it is.",
    "fix": "an agent works on it, on the same branch and with your words; then it is checked again.",
    "override": "the pull request is opened anyway.",
    "review": "the branch is reviewed again, as it is now.",
    "replan": "the Planner plans the tasks again, without the missing document.",
    "abort": "the run ends for good. Branch and files stay.",
}
MERGE = (
    "The branch `{branch}` is finished and proved. Nothing merges it by itself here, because of `[git] merge`. Merge it by its pull request{where}, or with "
    "`git merge --no-ff {branch}`; then press Continue. Detent sees whether it is in main."
)
ALONE = "No process drives this run, so it does not move. Nothing is lost. Its last output:"
CONTINUE: tuple[Option, ...] = (Option(value="resume", words="guidance", does=DOES["resume"]),)
TO_STAGE = (
    "the stage that you choose runs again with your words, and so do those after it. Then you are asked again, and shown what changed."
)
CHANGES = "changes-requested"


def options_of(run: AnyRun, asked: PersonDecision | None, open_now: Mapping[str, Sent]) -> tuple[Option, ...]:
    """The options to answer a recorded question, or a state's own question."""
    if asked is None:
        return tuple(
            Option(value=word, words="guidance" if sent.verb == "resume" else "note", does=DOES.get(word, ""))
            for word, sent in open_now.items()
        )
    meanings = {shlex.split(typed)[0].partition(":")[0]: meaning for typed, meaning in workflow_of(run.workflow).means(run, asked).items()}
    changes = any(v.startswith(f"{CHANGES}:") for v in asked.options)
    values = [v for v in asked.options if v in ANSWERS[asked.kind]] or [v for v in asked.options if not changes]
    plain = (Option(value=v, words="note", needed=v in NEED_WORDS, does=meanings.get(v, "")) for v in values)
    does = TO_STAGE if asked.kind == "approval" else meanings.get(CHANGES, "")
    return (*plain, *([Option(value=CHANGES, words="changes", needed=True, does=does)] if changes else []))
