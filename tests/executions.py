"""Helpers for tests of executions: a small project with a real bare remote, items, and scripted agents."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from detent.app import App, open_app
from detent.app.project import items_of
from detent.door import AnyEvent, AnyRun
from detent.tracker import Item, NewItem, TrackerChange
from tests.driven import project, scripted
from tests.project import Project, Ran
from tests.repos import sh

Json = dict[str, Any]
CONFIG = "[project]\nname = 'till'\ntech_stack = ['python']\n"
CODE = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
WORKS: Json = {"state": "RUNNING", "write": {"calc.py": CODE, "tests/test_add.py": TEST}, "reply": "Prices are added, and a test shows it."}
FAILS: Json = {"state": "RUNNING", "write": {"calc.py": "def add(a, b):\n    return 0\n", "tests/test_add.py": TEST}, "reply": "done"}
TITLE = "Add prices"
BRANCH = "it-1-add-prices"

# A hook of the remote: before the first push arrives, someone else pushes to the same branch.
OTHERS = """
ref=$1
test -f moved && exit 0
touch moved
tree=$(git rev-parse main^{{tree}})
export GIT_INDEX_FILE=$PWD/scratch GIT_AUTHOR_NAME=o GIT_AUTHOR_EMAIL=o@x GIT_COMMITTER_NAME=o GIT_COMMITTER_EMAIL=o@x
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
blob=$(printf '%s' "{text}" | git hash-object -w --stdin)
git read-tree $tree
git update-index --add --cacheinfo 100644,$blob,{path}
commit=$(git commit-tree $(git write-tree) -p main -m 'someone else was faster')
git update-ref $ref $commit
exit 1
"""


def passing(file: Path) -> Path:
    """A program that always succeeds."""
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\nexit 0\n")
    file.chmod(0o755)
    return file


class Till:
    """A project, its remote, and its items."""

    def __init__(self, folder: Path, config: str = CONFIG, remote: bool = True, files: dict[str, str] | None = None) -> None:
        self.project: Project = project(folder / "p", config, files)
        self.remote = folder / "remote.git"
        if remote:
            sh(folder, "git", "init", "-q", "--bare", "-b", "main", str(self.remote))
            self.git("remote", "add", "origin", str(self.remote))
            self.git("push", "-q", "origin", "main")

    def git(self, *args: str) -> str:
        return self.project.git(*args)

    def there(self, *args: str) -> str:
        """Run git in the remote."""
        return sh(self.remote, "git", *args)

    @contextmanager
    def app(self) -> Iterator[App]:
        with closing((app := open_app(self.project.root, create=True, env=self.project.env)).journal):
            yield app

    def file(self, title: str = TITLE, **fields: Any) -> str:
        with self.app() as app:
            return items_of(app).add(NewItem(title, **fields)).id

    def execute(self, item: str, *entries: Json, args: tuple[str, ...] = (), agent: str = "", **env: str) -> Ran:
        """Run one item by the command line, with an agent that plays these entries."""
        agent = agent or scripted(self.project, *entries)
        return self.project.run("run", "--workflow", "execute", item, "--agent", agent, "--json", *args, **env)

    def change(self, id: str, **fields: Any) -> None:
        with self.app() as app:
            items_of(app).change(id, TrackerChange(**fields))

    def item(self, id: str) -> Item:
        return next(item for item in self.items() if item.id == id)

    def items(self) -> list[Item]:
        with self.app() as app:
            return items_of(app).items()

    def run(self, id: str) -> AnyRun:
        with self.app() as app:
            return app.door.load(id).run

    def events(self, id: str) -> list[AnyEvent]:
        with self.app() as app:
            return list(app.worlds.runs.history(id))

    def owed(self, id: str) -> list[str]:
        with self.app() as app:
            return [owed.effect for owed in app.journal.owed(id)]

    def hook(self, text: str) -> None:
        """Install an update hook in the remote."""
        file = self.remote / "hooks" / "update"
        file.write_text(f"#!/bin/sh\nset -e\n{text}\n")
        file.chmod(0o755)
