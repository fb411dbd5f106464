"""The documents of a session on its branch, where the project wants them kept in git: below docs/sessions/, as part of what is released."""

from detent.door import AnyRun
from detent.workflows.pipeline.session_folder import is_editable, kept_documents, read_document, write_document
from detent.world.work_tree import RepoWorld

SETTING, FOLDER = "pipeline.keep_documents", "docs/sessions"


def lay_kept(world: RepoWorld, run: AnyRun) -> None:
    """Lay the documents into the tree before the release is written: they are reviewed, checked and committed with it."""
    if run.state != "RELEASE" or world.config_of(run).settings.get(SETTING) != "true":
        return
    name = run.data.session.rpartition("/")[2]
    for path in kept_documents(world.git, run):
        if is_editable(path, run) and (text := read_document(world.place.root, path)) is not None:
            write_document(world.place.root, f"{FOLDER}/{name}/{path.removeprefix(f'{run.data.session}/')}", text)
