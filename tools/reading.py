"""Counts what reading alone names in honest work: `python tools/reading.py OUT CLONE... [--most N]`. Of the newest commits of each clone that touch
code, merges left out: those with a line that knows the tests, with a safeguard that went, with an example of their tests. Runs nothing of the clone."""

import argparse
import json
import subprocess
from collections import Counter
from pathlib import Path, PurePosixPath

from detent.evidence.changes.edited_files import is_named_as_test
from detent.evidence.probes.removed_lines import removed
from detent.evidence.source.diff import hunks
from detent.evidence.source.file_patterns import is_document
from detent.evidence.source.insource import test_lines
from detent.evidence.static_analysis.examples_in_code import PROGRAM, examples
from detent.evidence.static_analysis.knows_tests import looks_at_tests

LEFT_OUT = frozenset({"bench", "benches", "benchmark", "benchmarks", "example", "examples", "vendor", "node_modules", "dist", "docs"})
LARGEST, MOST_FILES = 2_000_000, 200  # of a commit that is read
Found = dict[str, list[str]]


def git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *words], capture_output=True, check=False).stdout.decode("utf-8", "replace")


def is_code(path: str) -> bool:
    where = PurePosixPath(path)
    return where.suffix in PROGRAM and not is_document(path) and not is_named_as_test(path) and not LEFT_OUT & set(where.parts)


def commits(clone: Path, most: int) -> list[str]:
    """The newest commits that touch code."""
    found = list[str]()
    for part in git(clone, "log", "--no-merges", "--name-only", "--format=%x00%H", "-n", "3000").split("\0")[1:]:
        name, *paths = part.split()
        if len(paths) <= MOST_FILES and any(map(is_code, paths)):
            found.append(name)
    return found[:most]


def read(clone: Path, commit: str) -> Found:
    """The findings of reading one commit, by look."""
    patch = git(clone, "diff", "-U0", "--no-color", "--no-renames", f"{commit}~1", commit).encode()
    if len(patch) > LARGEST:
        return {}
    gone = [each for each in removed(patch, is_code, lambda path: git(clone, "show", f"{commit}:{path}")) if each.what]
    cases = examples(patch, is_code, is_named_as_test)
    return {
        "knows": _knows(clone, commit, patch),
        "lost": [f"{each.path}:{each.line} {each.what}: {each.text[:200]}" for each in gone],
        "examples": [f"{each.place} {each.text[:200]}" for each in cases],
    }


def _knows(clone: Path, commit: str, patch: bytes) -> list[str]:
    """Changed lines that know the tests, without lines that only moved."""
    came, went = dict[str, set[int]](), dict[str, set[int]]()
    for hunk in hunks(patch):
        if is_code(hunk.path):
            came.setdefault(hunk.path, set()).update(range(hunk.at, hunk.at + len(hunk.new)))
            went.setdefault(hunk.path, set()).update(range(hunk.line, hunk.line + len(hunk.removed)))
    seen, moved = list[tuple[str, str]](), Counter[str]()
    for path in came:
        after = git(clone, "show", f"{commit}:{path}")
        lines = after.split("\n")
        hits = looks_at_tests(path, after, came[path] - test_lines(path, after))
        seen += [(what, f"{path}:{line} {what}: {lines[line - 1].strip()[:160]}") for line, what in hits]
        if hits and went[path]:
            moved.update(what for _, what in looks_at_tests(path, git(clone, "show", f"{commit}~1:{path}"), went[path]))
    left = list[str]()
    for what, said in seen:
        moved[what] -= 1
        left += [said] if moved[what] < 0 else []
    return left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=150)
    asked = parser.parse_args()
    every = dict[str, Found]()
    for clone in asked.clones:
        name = clone.parent.name if clone.name in ("repo", ".git") else clone.name
        of = {f"{name} {commit[:10]}": read(clone, commit) for commit in commits(clone, asked.most)}
        every |= of
        asked.out.write_text(json.dumps(every, indent=1))
        counts = {look: sum(bool(found.get(look)) for found in of.values()) for look in ("knows", "lost", "examples")}
        print(name, len(of), *(f"{look} {count}" for look, count in counts.items()), flush=True)


if __name__ == "__main__":
    main()
