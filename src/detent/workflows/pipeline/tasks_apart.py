"""Tasks that run in parallel, each in its own workspace, and their merge into the session, one by one. A merge is built and tested before a ref moves."""

import msgspec

from detent.door import AnyEvent, AnyRun
from detent.evidence.looks.own_gates import gate_fault
from detent.evidence.running.checks import check_all
from detent.git.commits import bring_to, commit_phase, tip_of
from detent.git.land_merge import build_merge
from detent.kernel.model import PROVED, Sent
from detent.workflows.pipeline.session_changes import changed_files, tests_of
from detent.workflows.pipeline.session_folder import root_id
from detent.world.furnish import start_of
from detent.world.work_tree import RepoWorld, outcome

CLEAN = "The work of {id} was merged with that of other tasks, and the merged tree does not pass:\n{fault}"
CONFLICT = "The work of {id} conflicts with what other tasks did in the meantime, in: {files}. The conflicts are marked in the files."


def merge_task(world: RepoWorld, run: AnyRun) -> Sent:
    """Merge a task's work into the session. The merged tree is tested, unless it is the tree that the task proved."""
    git, data, made = world.git, run.data, run.data.merging
    tip = tip_of(git, run.id, data.base)
    if git.tree(tip) == made.start:
        return _merged(world, run, made.tree)
    own = git.commit(made.tree, [start_of(git, run.id, data.base, made.start)], made.task_id, world.clock())
    merge = build_merge(git, tip, own, made.task_id, world.clock())
    if merge.conflict:
        return outcome("merge-conflict", CONFLICT.format(id=made.task_id, files=merge.conflict), tree=merge.tree)
    if fault := _fault(world, run, merge.tree):
        return outcome("merge-red", CLEAN.format(id=made.task_id, fault=fault), tree=merge.tree)
    return _merged(world, run, merge.tree)


def _merged(world: RepoWorld, run: AnyRun, tree: str) -> Sent:
    changed = msgspec.json.encode(changed_files(world, run, tree)).decode()
    return outcome("merged", tree=tree, changed_files=changed, task=run.data.merging.task_id)


def _fault(world: RepoWorld, run: AnyRun, tree: str) -> str:
    """What is wrong with a merged tree: by the whole suite, preflight, or the task's checks."""
    collect, wanted = world.collector(run), world.runs.wanted
    if fault := tests_of(world, run, collect, tree):
        return fault
    missed, output = collect.preflight(tree, world.config_of(run).preflight, wanted)
    if missed:
        return f"{missed}\n{output}"
    if fault := gate_fault(world.gated(run, tree), PROVED):
        return fault
    lines = next((t.acceptance_checks for t in run.data.tasks if t.id == run.data.merging.task_id), ())
    done = check_all(collect, tree, tuple(c.removeprefix("cmd:").strip() for c in lines if c.startswith("cmd:")), wanted)
    return "\n\n".join(f"`{c.command}` fails:\n{c.output}" for c in done if not c.passed)


def commit_merged(world: RepoWorld, event: AnyEvent) -> None:
    """Commit the merged tree on the session's last commit, and check it out in the session's workspace."""
    run, git, facts = event.run, world.git, event.sent.facts
    title = next((t.title for t in run.data.tasks if t.id == facts["task"]), "")
    kept = world.snapshot(run)
    commit_phase(git, run.id, run.seq, facts["tree"], f"{facts['task']}: {' '.join(title.split())}", event.at, run.data.base, root_id(run))
    bring_to(git, facts["tree"], kept)
