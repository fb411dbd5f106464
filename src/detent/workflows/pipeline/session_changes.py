"""What a session changed at a tree: the files since its start, and the result of the whole test suite. Knows no documents."""

import msgspec

from detent.door import AnyRun
from detent.errors import CannotTell, Disturbed
from detent.evidence.runners import RUNNERS
from detent.evidence.running.canary import TAMPERED
from detent.evidence.running.collect import Collector
from detent.evidence.source.file_patterns import is_document
from detent.gates.documents import ChangedFile
from detent.gates.tree import is_instruction
from detent.git.commits import tip_of
from detent.workflows.pipeline.session_folder import root_id
from detent.workflows.pipeline.task_data import META
from detent.world.work_tree import RepoWorld

LONGEST_DIFF = 400_000
LETTERS = {"A": "added", "D": "deleted", "R": "renamed"}


def changed_files(world: RepoWorld, run: AnyRun, tree: str, since: str = "") -> list[ChangedFile]:
    """Every file that differs from the session's start or from another tree, whichever role changed it."""
    words = iter(world.git.run("diff-tree", "-r", "-z", "-M", "--name-status", since or world.git.tree(run.data.base), tree).items)
    found = []
    for letter in words:
        old = next(words) if letter[0] in "RC" else ""
        how = LETTERS.get(letter[0], "modified" if letter[0] != "C" else "added")
        found.append(msgspec.convert({"path": next(words), "change_type": how, "old_path": old if letter[0] == "R" else ""}, ChangedFile))
    return found


def task_diff(world: RepoWorld, run: AnyRun, tree: str) -> str:
    """The diff of a task; for the final review, of the whole session. A very long one is cut with a notice."""
    git, data = world.git, run.data
    whole = git.tree(data.base)
    since = whole if data.task_id == META else getattr(data, "start_tree", "") or git.tree(tip_of(git, root_id(run), data.base))
    text = git.run("diff", "--no-color", "--no-ext-diff", "-M", since, tree).raw.decode("utf-8", "replace")
    return text if len(text) <= LONGEST_DIFF else f"{text[:LONGEST_DIFF]}\n[…] the diff is longer; read the changed files themselves\n"


def touched(world: RepoWorld, run: AnyRun, tree: str) -> str:
    """Which kinds of files a task has changed so far: docs, tests, code."""
    git, data, base = world.git, run.data, world.config_of(run).suite.base
    since = getattr(data, "start_tree", "") or git.tree(tip_of(git, root_id(run), data.base))
    is_test = RUNNERS[base.runner].is_test if base and base.runner in RUNNERS else lambda path: False
    paths = (file.path for file in changed_files(world, run, tree, since))
    return " ".join(sorted({"docs" if is_document(path) else "tests" if is_test(path) else "code" for path in paths}))


def instructions_changed(world: RepoWorld, changed: list[ChangedFile], tree: str) -> str:
    """The agent instructions that the session changed, one line each: path and blob."""
    paths = sorted({path for file in changed for path in (file.path, file.old_path) if path and is_instruction(path)})
    return "\n".join(f"{path} {world.git.resolve(f'{tree}:{path}') or 'removed'}" for path in paths)


def tests_of(world: RepoWorld, run: AnyRun, collect: Collector, tree: str) -> str:
    """What is wrong with a tree according to the whole suite. A suite that cannot run counts against the session only if it ran before."""
    try:
        report = collect.passed(tree) or collect.clean(tree, world.runs.wanted)
    except Disturbed:
        raise
    except CannotTell as e:
        collect.clean(world.git.tree(run.data.base), world.runs.wanted)
        return f"the tests cannot be run on this tree: {e}"
    before = collect.known(world.git.tree(run.data.base)) if report.canary == "broken" else None
    tampered = f"{TAMPERED}: {report.canary_said}" if before is not None and before.canary == "held" else ""
    bad = report.bad - frozenset(run.data.setup.baseline)
    fault = report.fault or tampered or (f"{min(bad)} fails ({len(bad)} in all)" if bad else "" if report.ids else "no test was collected")
    return f"{fault}\n{report.output}" if fault else ""
