"""The documents of a finished session on its branch, where the project wants them kept in git: one commit, below docs/sessions/."""

from detent.door import AnyEvent
from detent.git.commits import marker, set_index, tip_of
from detent.git.repo import ZERO
from detent.workflows.pipeline.session_folder import is_editable, kept_documents, read_document, write_document
from detent.workflows.pipeline.session_report import REPORT
from detent.world.work_tree import RepoWorld

SETTING, FOLDER = "pipeline.keep_documents", "docs/sessions"


def keep_on_branch(world: RepoWorld, event: AnyEvent) -> None:
    """Commit documents and report over the session's last commit, once for each event."""
    run, git = event.run, world.git
    mark, base = marker(run.id, run.seq, "documents"), run.data.base
    if world.config_of(run).settings.get(SETTING) != "true" or git.resolve(mark):
        return
    name = run.data.session.rpartition("/")[2]
    for path in kept_documents(git, run):
        if (is_editable(path, run) or path.endswith(f"/{REPORT}")) and (text := read_document(world.place.root, path)) is not None:
            write_document(world.place.root, f"{FOLDER}/{name}/{path.removeprefix(f'{run.data.session}/')}", text)
    tip, index = tip_of(git, run.id, base), world.place.git_dir / "detent" / f"kept.{run.id}"
    index.parent.mkdir(exist_ok=True)
    git.run("read-tree", tip, index=index)
    git.run("add", "-f", "-A", "--", f"{FOLDER}/{name}", index=index)
    tree = git.run("write-tree", index=index).text
    index.unlink(missing_ok=True)
    done = git.commit(tree, [tip], f"docs: the documents of session {name}", event.at)
    own, branch = f"refs/detent/{run.id}/tip", run.data.branch
    git.update([(branch, done, git.resolve(branch) or ZERO), (own, done, git.resolve(own) or ZERO), (mark, done, ZERO)])
    set_index(git, done)
