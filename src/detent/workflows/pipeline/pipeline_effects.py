"""The jobs and effects of `pipeline` and `task` on a real repository: documents, one commit per task, dispatches, checks, report, landing."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from detent.door import AnyEvent, AnyRun
from detent.errors import CannotTell
from detent.evidence.looks.own_gates import gate_fault
from detent.evidence.running.checks import CommandEnded, check_all
from detent.gates.documents import TASKS
from detent.git.commits import back_to_tip, bring_to, commit_phase, marker, set_index, switch, tip_of
from detent.git.repo import ZERO
from detent.kernel.model import PROVED, Sent
from detent.kernel.table import Table
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.project_look import laid_texts
from detent.workflows.pipeline.session import CommandProof
from detent.workflows.pipeline.session_changes import changed_files, instructions_changed, task_diff, tests_of, touched
from detent.workflows.pipeline.session_files import STATUS, published
from detent.workflows.pipeline.session_folder import (
    alone,
    bring_back,
    is_editable,
    keep_documents,
    kept_documents,
    lay_instructions,
    read_document,
    root_id,
    show,
    take_back,
    write_document,
)
from detent.workflows.pipeline.session_report import REPORT, costs, report_of
from detent.workflows.pipeline.task_data import DIFFS, JUDGING, ROLES, context_files, diff_file, is_prepared
from detent.workflows.pipeline.task_table import TASK
from detent.workflows.pipeline.tasks_apart import commit_merged, merge_task
from detent.world.before_landing import held_up
from detent.world.landing import bring_in
from detent.world.publish_claims import settle_claims
from detent.world.work_tree import Effects, Jobs, RepoWorld, is_parallel_task, keep_snapshot, leave, outcome, stays_inside

TABLES: Mapping[str, Table[Any]] = {"pipeline": PIPELINE, "task": TASK}
HISTORY = "approve-design-history.jsonl"
OURS = (STATUS, TASKS, HISTORY, REPORT, "instructions/**", f"{DIFFS}**")  # the machine writes these again, whatever they contain

# -- effects -----------------------------------------------------------------------------------------------------------------


def _publish(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    with alone(world, run):
        bring_back(world, run)
        if (own := _own_documents(event)) is not None:
            take_back(world, run, own)
        for path, text in published(world.runs.family(root_id(run)), world.runs.when, event.at).items():
            write_document(world.place.root, path, text)
        keep_documents(world, run)
        show(world, run)


def _own_documents(event: AnyEvent) -> tuple[str, ...] | None:
    """Patterns of the documents that the acting role or the machine may write; None if no role was acting."""
    state = TABLES[event.run.workflow].states.get(event.was)
    if state is None or state.actor != "agent":
        return None
    written = (*OURS, *(w.removeprefix("$session/") for w in state.writes if w.startswith("$session/")))
    return tuple(f"{event.run.data.session}/{name}" for name in written)


def _history(world: RepoWorld, event: AnyEvent) -> None:
    """Write one line for every requested change, from the journal."""
    lines = [json.dumps(_line(e), ensure_ascii=False) for e in world.runs.history(event.run.id) if "append_design_history" in e.owes]
    write_document(world.place.root, f"{event.run.data.session}/{HISTORY}", "".join(f"{line}\n" for line in lines))


def _line(event: AnyEvent) -> dict[str, str | int]:
    sent = event.sent
    about: dict[str, str | int] = {
        "event": event.run.seq,
        "at": event.at,
        "decision_id": sent.decision,
        "answer": sent.value or _revised(event),
        "to": sent.to or "spec",
    }
    return {**about, "note": sent.note, "channel": sent.channel, "by": sent.facts.get("who", "")}


def _revised(event: AnyEvent) -> str:
    """What a person edited, or "revise" if they asked for a stage to run again."""
    names = [path.removeprefix(f"{event.run.data.session}/") for path in event.sent.documents]
    return f"edited: {', '.join(sorted(names))}" if names else "revise"


def _lay(world: RepoWorld, event: AnyEvent) -> None:
    """Write a person's edits into the session's folder, and update the copy in their checkout."""
    with alone(world, event.run):
        bring_back(world, event.run)
        for path, text in event.sent.documents.items():
            write_document(world.place.root, path, text)
        keep_documents(world, event.run)
        show(world, event.run)


def _drop(world: RepoWorld, event: AnyEvent) -> None:
    good = event.run.data.good_tree
    if good and (kept := world.snapshot(event.run)) != good:
        bring_to(world.git, good, kept)


def _commit(world: RepoWorld, event: AnyEvent, message: str) -> None:
    """Commit the judged tree on top of the session's last commit; nothing to commit is fine."""
    run, git = event.run, world.git
    root, base = root_id(run), run.data.base
    if not git.resolve(marker(run.id, run.seq, "phase")) and git.tree(tip := tip_of(git, root, base)) == event.found.tree:
        back_to_tip(git, root, run.seq, base)
        set_index(git, tip)
        return
    commit_phase(git, run.id, run.seq, event.found.tree, message, event.at, base, root)


def _commit_task(world: RepoWorld, event: AnyEvent) -> None:
    if is_parallel_task(event.run):
        return  # the session merges this tree and commits it
    data = event.run.data
    title = data.task.title if data.task else data.goal
    _commit(world, event, f"{data.task_id}: {' '.join(title.split())}")


def _commit_build(world: RepoWorld, event: AnyEvent) -> None:
    _commit(world, event, event.run.data.commit_subject or "integrate: the tasks as one build")


def _reset(world: RepoWorld, event: AnyEvent) -> None:
    run, git = event.run, world.git
    kept, root = world.snapshot(run), root_id(run)
    if is_parallel_task(run):
        return  # its workspace is removed with it
    back_to_tip(git, root, run.seq, run.data.base)
    bring_to(git, git.tree(tip_of(git, root, run.data.base)), kept)


def _undo(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    if run.data.setup.agent and run.data.good_tree and (kept := world.snapshot(run)) != run.data.good_tree:
        bring_to(world.git, run.data.good_tree, kept)


def _report(world: RepoWorld, event: AnyEvent) -> None:
    runs = world.runs
    events = [e for run in runs.family(event.run.id) for e in runs.history(run.id)]
    before = [e for old, seq in runs.earlier(event.run.id) for e in _until(world, old, seq)]
    text = report_of(event.run, events, _commits(world, event.run), before, costs(runs.spent(event.run.id)))
    with alone(world, event.run):
        write_document(world.place.root, f"{event.run.data.session}/{REPORT}", text)
        keep_documents(world, event.run)
        show(world, event.run)


def _until(world: RepoWorld, old: str, seq: int) -> list[AnyEvent]:
    """The events of a run up to one event, and those of the tasks that had joined by then."""
    events = [e for e in world.runs.history(old) if e.run.seq <= seq]
    return events + [e for child in (events[-1].run.joined if events else ()) for e in world.runs.history(f"{old}.{child}")]


def _commits(world: RepoWorld, run: AnyRun) -> tuple[str, ...]:
    tip = tip_of(world.git, run.id, run.data.base)
    return tuple(world.git.run("log", "--reverse", "--format=%h %s", f"{run.data.base}..{tip}", "--").text.splitlines())


EFFECTS: Effects = {
    "publish": _publish,
    "append_design_history": _history,
    "lay_documents": _lay,
    "drop_unproved": _drop,
    "commit_task": _commit_task,
    "commit_judged_tree": _commit_build,
    "commit_merged": commit_merged,
    "reset_to_good": _reset,
    "undo_strays": _undo,
    "write_report": _report,
    "snapshot": keep_snapshot,
    "leave_workspace": leave,
    "publish_claims": settle_claims,
}

# -- jobs --------------------------------------------------------------------------------------------------------------------


def _prepare(world: RepoWorld, run: AnyRun) -> Sent | None:
    """Prepare a role's dispatch: branch, documents, instructions, diff, and a check that its context exists. None if the newest event already did it."""
    if is_prepared(run):
        return None
    _on_its_branch(world, run)
    bring_back(world, run)
    instructions = lay_instructions(world, run)
    for name, text in laid_texts(world, run).items():
        write_document(world.place.root, f"{run.data.session}/instructions/{name}", text)
        instructions = (*instructions, f"{run.data.session}/instructions/{name}")
    role, root = ROLES[run.state], world.place.root
    lay_kept_documents(world, run)
    tree = world.snapshot(run)
    if run.workflow == "task" and role in JUDGING:
        write_document(root, diff_file(run.data.session, run.data.task_id), task_diff(world, run, tree))
    missing = [path for path in context_files(run.data, role) if not (stays_inside(root, path) and (root / path).is_file())]
    if missing:
        return outcome("context-missing", f"{missing[0]} is missing, but {role} must read it ({len(missing)} missing in all)")
    changed = changed_files(world, run, tree)
    facts = {"instructions": "\n".join(instructions), "changed_files": msgspec.json.encode(changed).decode()}
    if run.workflow == "task":
        facts |= {"touched": touched(world, run, tree), "instructions_changed": instructions_changed(world, changed, tree)}
    return outcome("prepared", tree=world.git.tree(run.data.base), **facts)


def _on_its_branch(world: RepoWorld, run: AnyRun) -> None:
    """Switch a person's checkout to the session's branch, once; if they leave it later, that is theirs to undo."""
    git, data = world.git, run.data
    if data.setup.workspace or git.branch() == data.branch:
        return
    mark, name = marker(root_id(run), 1, "branch"), data.branch.removeprefix("refs/heads/")
    if git.resolve(mark):
        raise CannotTell(f"the session works on {name}, but this checkout is on another branch; switch back: git switch {name}")
    if not git.resolve(data.branch):
        git.update([(data.branch, data.base, ZERO)])
    switch(git, data.branch, git.tree("HEAD"))
    git.update([(mark, data.base, ZERO)])


def _checks(world: RepoWorld, run: AnyRun) -> Sent:
    """Run tests, preflight, every check of every task and every acceptance command on the current tree."""
    tree, config, collect = world.snapshot(run), world.config_of(run), world.collector(run)
    wrong = [tests_of(world, run, collect, tree)]
    missed, output = collect.preflight(tree, config.preflight, world.runs.wanted)
    wrong += [f"{missed}\n{output}" if missed else "", gate_fault(world.gated(run, tree), PROVED)]
    data = run.data
    lines = (*(c for t in data.tasks for c in t.acceptance_checks), *(v for c in data.criteria for v in c.verify))
    done = check_all(collect, tree, tuple(c.removeprefix("cmd:").strip() for c in lines if c.startswith("cmd:")), world.runs.wanted)
    wrong += [f"`{c.command}` fails:\n{c.output}" for c in done if not c.passed]
    faults = [text for text in wrong if text]
    proofs = msgspec.json.encode([_proof(c, tree) for c in done]).decode()
    return outcome("red" if faults else "green", "\n\n".join(faults), tree=tree, checks=proofs)


def _proof(done: CommandEnded, tree: str) -> CommandProof:
    return CommandProof(
        f"cmd: {done.command}", tree, "passed" if done.passed else "failed", done.seconds, "" if done.passed else done.output[-600:]
    )


def _land(world: RepoWorld, run: AnyRun) -> Sent | None:
    if (stop := held_up(world, run)) is not None:
        return stop
    landed = bring_in(world, run)
    name = {"merged": "landed"}.get(landed.outcome, landed.outcome)
    return outcome(name, landed.output, branch=run.data.branch, main=landed.main) if name else None


JOBS: Jobs = {"prepare_dispatch": _prepare, "run_checks": _checks, "land": _land, "merge_task": merge_task}


SETTING, FOLDER = "pipeline.keep_documents", "docs/sessions"


def lay_kept_documents(world: RepoWorld, run: AnyRun) -> None:
    """Copy the session's documents into the tree before the release is written, so that they are reviewed, checked and committed with it."""
    if run.state != "RELEASE" or world.config_of(run).settings.get(SETTING) != "true":
        return
    name = run.data.session.rpartition("/")[2]
    for path in kept_documents(world.git, run):
        if is_editable(path, run) and (text := read_document(world.place.root, path)) is not None:
            write_document(world.place.root, f"{FOLDER}/{name}/{path.removeprefix(f'{run.data.session}/')}", text)
