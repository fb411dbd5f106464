"""Clones whose evidence is tampered with: changing claims, sealing them again, and rebuilding a branch as a careful forger would."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from detent.app.verifying import ReplayResult, verify
from detent.evidence.outcomes.claims import REF, Claim, parse_claim, seal, written
from tests.project import Project
from tests.repos import IDENTITY, PLAIN, sh

NOTES = f"refs/notes/{REF}"
EDITED = "the claim was edited, or belongs to another commit"
Edit = Callable[[dict[str, Any]], object]


class Clone:
    """A fresh clone of a repository, by default with its evidence."""

    def __init__(self, origin: Path, folder: Path, branch: str, env: Mapping[str, str], evidence: bool = True) -> None:
        self.root, self.env = folder, dict(env)
        sh(folder.parent, "git", "clone", "-q", "--no-local", "-b", branch, str(origin), str(folder))
        if evidence:
            self.git("fetch", "-q", "origin", f"{NOTES}:{NOTES}")

    def git(self, *args: str, stdin: str | None = None, **env: str) -> str:
        whole = {**os.environ, **IDENTITY, **PLAIN, **env}
        done = subprocess.run(["git", *args], cwd=self.root, env=whole, input=stdin, capture_output=True, text=True)
        assert done.returncode == 0, (args, done.stderr)
        return done.stdout.strip()

    def verify(self, span: str = "", require_red: bool = False, **env: str) -> ReplayResult:
        return verify(self.root, span, 2, {**self.env, **env}, lambda done, total, what: None, require_red)

    def commits(self, base: str = "origin/main") -> list[str]:
        return self.git("rev-list", "--reverse", f"{base}..HEAD").split()

    def note(self, commit: str) -> str:
        return self.git("notes", f"--ref={NOTES}", "show", commit) + "\n"

    def claim(self, commit: str) -> Claim:
        claim, wrong = parse_claim(self.note(commit), commit)
        assert claim is not None, wrong
        return claim

    def put(self, commit: str, text: str) -> None:
        """Write a note by hand."""
        self.git("notes", f"--ref={NOTES}", "add", "-f", "-F", "-", commit, stdin=text)

    def edit(self, commit: str, edit: Edit, sealed: bool, onto: str = "") -> None:
        """Change the claim on a commit; `sealed`: with a digest that fits the change."""
        raw = msgspec.json.decode(self.note(commit))
        edit(raw)
        text = msgspec.json.format(msgspec.json.encode(raw), indent=2).decode() + "\n"
        forged = msgspec.json.decode(text, type=Claim) if sealed else None
        self.put(onto or commit, written(seal(forged, onto or commit)) if forged else text)

    def tree(self, of: str, files: Mapping[str, str | None]) -> str:
        """A tree with some files replaced; None removes one."""
        index = {"GIT_INDEX_FILE": str(self.root.parent / f"{self.root.name}.index")}
        self.git("read-tree", of, **index)
        for path, text in files.items():
            if text is None:
                self.git("update-index", "--force-remove", path, **index)
            else:
                blob = self.git("hash-object", "-w", "--stdin", stdin=text)
                self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", **index)
        return self.git("write-tree", **index)

    def forge(self, first: int, files: Mapping[str, str | None]) -> list[str]:
        """Put files into a commit and all after it, rewriting claims and history so that everything is consistent."""
        old = self.commits()
        new = old[:first]
        for commit in old[first:]:
            tree = self.tree(commit, files)
            parent = new[-1] if new else self.git("rev-parse", f"{commit}^")
            subject = self.git("log", "-1", "--format=%s", commit)
            new.append(self.git("commit-tree", tree, "-p", parent, "-m", subject))
            self.edit(commit, lambda raw, tree=tree: raw["steps"][-1].update(tree=tree), sealed=True, onto=new[-1])  # type: ignore[misc]
        self.git("reset", "-q", "--hard", new[-1])
        return new


class Made:
    """A repository in which a run has ended, and clones of it."""

    def __init__(self, p: Project, branch: str, folder: Path, origin: Path | None = None) -> None:
        self.project, self.branch, self.folder, self.origin = p, branch, folder, origin or p.root
        self.count = 0

    def clone(self, evidence: bool = True, branch: str = "") -> Clone:
        self.count += 1
        return Clone(self.origin, self.folder / f"c{self.count}", branch or self.branch, self.project.env, evidence)

    def cli(self, clone: Clone) -> Project:
        p = Project(clone.root, made=True)
        p.env = self.project.env
        return p


def only(proof: ReplayResult, sort: str, commit: str, check: str, says: str) -> None:
    """Assert that exactly one thing is broken, and which."""
    assert proof.answer == sort, proof.broken
    assert [(b.sort, b.commit, b.check) for b in proof.broken] == [(sort, commit, check)], proof.broken
    assert says in proof.broken[0].says, proof.broken[0].says


def amended(clone: Clone) -> str:
    clone.git("commit", "-q", "--amend", "-m", "feat: something else")
    return "HEAD"


def step(**fields: object) -> Edit:
    """An edit of a claim's first step."""
    return lambda raw: raw["steps"][0].update(fields)


def claimed(root: Path) -> list[tuple[str, str, list[str]]]:
    """Every claim of a repository: its commit's subject, its tree and its steps; not the commit's hash, which depends on the time."""
    found = []
    for line in (sh(root, "git", "notes", f"--ref={NOTES}", "list") if sh(root, "git", "for-each-ref", NOTES) else "").splitlines():
        blob, commit = line.split()
        claim, wrong = parse_claim(sh(root, "git", "cat-file", "blob", blob) + "\n", commit)
        assert claim is not None, wrong
        subject, tree = sh(root, "git", "log", "-1", "--format=%s%n%T", commit).splitlines()
        found.append((subject, tree, [f"{step.phase} {step.tree}" for step in claim.steps]))
    return sorted(found)
