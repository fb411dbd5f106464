"""Why tests cannot run in a clean checkout: untracked files, and submodules or Git LFS files that were not fetched. Knows reports and files;
`changes/install_lines` finds what is not installed."""

import re
from collections.abc import Iterable, Iterator

from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector
from detent.git.checkout import missing
from detent.git.snapshot import BORROWED

WORD = re.compile(r"[\w@+./-]{2,200}")
MODULES = (".js", ".mjs", ".cjs", ".json", "/index.js")
MOST_WORDS = 300
MOST_SHOWN = 3


def not_fetched(collector: Collector, tree: str) -> list[str]:
    """What a tree refers to and was not fetched: one sentence each, with the command."""
    git, site = collector.git, collector.site
    with site.checkout(git, tree) as folder:
        return list(missing(git, site.around.get(tree, tree), site.whole(folder)))[:MOST_SHOWN]


def messages_in(reports: Iterable[TestReport], tests: Iterable[str]) -> list[str]:
    """The messages of these tests in these reports."""
    wanted = tuple(tests)
    return [report.messages.get(test, "") for report in reports for test in wanted]


def left_behind(collector: Collector, tree: str, texts: Iterable[str]) -> list[str]:
    """Files that failing tests or their runner mention and that exist in the person's checkout, but not in the tree."""
    root = collector.root / collector.site.folder
    words = [word for text in texts for word in WORD.findall(text)]
    found = dict.fromkeys(path for word in words[:MOST_WORDS] for path in _paths(word))
    there = [path for path in found if not set(path.split("/")) & set(BORROWED) and (root / path).is_file()]
    return [path for path in there if collector.git.read(tree, path) is None][:MOST_SHOWN]


def _paths(word: str) -> Iterator[str]:
    """The paths that a word may stand for: the end of a path, or a module of JavaScript or Python."""
    parts = [part for part in word.strip("./").split("/") if part not in ("", ".", "..")]
    ends = ["/".join(parts[at:]) for at in range(len(parts))]
    yield from ends
    yield from (f"{end}{ending}" for end in ends[-2:] for ending in MODULES)  # endings that JavaScript imports omit
    if len(parts) == 1 and all(part.isidentifier() for part in parts[0].split(".")):
        module = parts[0].replace(".", "/")
        yield from (f"{module}.py", f"src/{module}.py", f"{module}/__init__.py")


def hint_for(paths: list[str]) -> str:
    """How to make files available that are not in git."""
    shown = ", ".join(f'"{path}"' for path in paths)
    return f"{paths[0]} is in your checkout but not in git: create it with --install CMD, or copy it with [workspace] copy = [{shown}]"
