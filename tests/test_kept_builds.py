"""What toolchains keep between runs, which a test could write: it decides no later run. Each attack was seen to succeed without it."""

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from detent.app.run_configs import RunSandbox
from detent.effects.catalogue import Ways
from detent.errors import CannotTell
from detent.evidence.runners import Command
from detent.evidence.runners.build_caches import CACHES, FINISHED, for_agents, lent
from detent.evidence.runners.kept_builds import RENEWED, Build
from detent.evidence.running.suite import Suite, _scratch, environment, preflight, run_line
from detent.git.place import find_place
from detent.git.repo import Git
from detent.git.workspace import make_workspace
from detent.sandbox import choose
from detent.sandbox.process import run
from detent.world.furnish import furnish, furnish_checkout
from detent.world.known_runs import RunConfig
from tests.machine import need_runner
from tests.patience import LONG
from tests.project import PLAN, START, Project
from tests.repos import PLAIN, make_repo, sh, write

RUNNERS = [(runner, name) for runner, names in CACHES.items() for name in names]
FILES = {"go": "00/ab-d", "cargo": "debug/deps/libdep-1.rlib", "ctest": "0/aR", "gradle": "caches/a.jar"}  # what a later run would read


class Kept:
    """What is kept for one runner, and runs that use it."""

    def __init__(self, folder: Path, runner: str, name: str) -> None:
        self.runner, self.name, self.folder = runner, name, folder / "builds" / name.lower()
        self.env = {name: str(self.folder), "PATH": os.environ["PATH"]}
        self.file = FILES[runner]

    def run(self, writes: dict[str, str], fills: bool = False) -> dict[str, str]:
        """A run that finds some files, and then writes some as a program does: in place if it can."""
        with lent(self.runner, self.env, fills) as own:
            folder = Path(own.env[self.name])
            found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
            for path, text in writes.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                if (folder / path).is_symlink():  # a compiler puts another file in its place; who writes through it is told below
                    (folder / path).unlink()
                (folder / path).write_text(text)
        return found


@pytest.fixture(params=RUNNERS, ids=[runner for runner, _ in RUNNERS])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return Kept(tmp_path, *request.param)


def test_a_run_that_is_judged_reads_what_the_base_left_and_leaves_nothing(kept: Kept) -> None:
    kept.run({kept.file: "of the base", "small.json": "of the base too"}, fills=True)
    for _ in range(2):
        found = kept.run({kept.file: "forged", "small.json": "forged", "more": "forged"})
        assert found == {kept.file: "of the base", "small.json": "of the base too"}
    folders = list(kept.folder.parent.glob("run-*"))
    assert len(folders) == 1, "a folder is used again"
    left = [path for path in folders[0].rglob("*") if not path.is_symlink() and path.is_file() and "forged" in path.read_text()]
    assert not left, "and nothing of the run is left in it"


TRICKS = {
    "a folder that cannot be listed": "mkdir -p more/deep; echo forged > more/deep/x; chmod 300 more/deep; chmod 0 more",
    "a folder in a file's place": "rm -f {file}; mkdir -p {file}; echo forged > {file}/x",
    "a link to a forged file": "echo forged > more; rm -f {file}; ln -s $PWD/more {file}",
    "a link to a forged folder": "mkdir -p other more; echo forged > other/x; rm -rf more; ln -s $PWD/other more",
    "a file of the same size and time": "cp -p small.json kept; printf 'OF THE BASE TOO' > small.json; touch -r kept small.json",
    "a file with two names": "ln small.json twice",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_whatever_a_run_leaves_in_its_folder_the_next_finds_what_is_kept(kept: Kept, trick: str) -> None:
    files = {kept.file: "of the base", "small.json": "of the base too"}
    kept.run(files, fills=True)
    for _ in range(2):
        with lent(kept.runner, kept.env, False) as own:
            subprocess.run(["sh", "-ec", TRICKS[trick].format(file=kept.file)], cwd=own.env[kept.name], check=True)
        assert kept.run({}) == files


def test_runs_at_the_same_time_have_folders_of_their_own(kept: Kept) -> None:
    with lent(kept.runner, kept.env, False) as one, lent(kept.runner, kept.env, False) as two:
        assert one.env[kept.name] != two.env[kept.name]


def test_the_very_first_run_leaves_nothing_either_if_it_is_judged(kept: Kept) -> None:
    kept.run({kept.file: "forged"})
    assert kept.run({}) == {}
    assert kept.run({kept.file: "of the base"}, fills=True) == {}, "not to the base either"
    assert kept.run({}) == {kept.file: "of the base"}


@pytest.mark.parametrize("way", ["in place", "same size and time", "another file", "one more file"])
def test_what_somebody_touched_is_no_longer_read_and_rebuilt(kept: Kept, way: str) -> None:
    kept.run({kept.file: "of the base"}, fills=True)
    there = kept.folder / kept.file
    seen = there.stat()
    match way:
        case "another file":
            there.unlink()
            there.write_text("of the base")
        case "one more file":
            there.with_name("more").write_text("forged")
        case _:
            there.chmod(0o600)
            there.write_text("of the BASE" if way == "same size and time" else "forged")
            os.utime(there, ns=(seen.st_atime_ns, seen.st_mtime_ns))
            there.chmod(seen.st_mode)
    assert kept.run({}) == {}
    assert kept.run({kept.file: "rebuilt"}, fills=True) == {}
    assert kept.run({}) == {kept.file: "rebuilt"}


def test_the_base_adds_to_what_is_there(kept: Kept) -> None:
    kept.run({kept.file: "1"}, fills=True)
    kept.run({"second": "2"}, fills=True)
    assert kept.run({}) == {kept.file: "1", "second": "2"}


def test_while_another_run_reads_it_nothing_is_added(kept: Kept) -> None:
    kept.run({kept.file: "1"}, fills=True)
    with lent(kept.runner, kept.env, False):
        kept.run({"second": "2"}, fills=True)
    assert kept.run({}) == {kept.file: "1"}


def test_after_a_while_the_base_rebuilds_all_of_it(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.run({kept.file: "old"}, fills=True)
    later = time.time() + RENEWED + 1
    monkeypatch.setattr("time.time", lambda: later)
    assert kept.run({}) == {kept.file: "old"}, "who may not rebuild it still reads it"
    assert kept.run({"new": "1"}, fills=True) == {}
    assert kept.run({}) == {"new": "1"}


def test_nothing_large_is_copied_for_a_run(kept: Kept) -> None:
    kept.run({kept.file: "of the base"}, fills=True)
    with lent(kept.runner, kept.env, False) as own:
        assert (Path(own.env[kept.name]) / kept.file).is_symlink() == (kept.runner in FINISHED)


def test_one_folder_has_one_seal_whatever_name_leads_there(kept: Kept, tmp_path: Path) -> None:
    kept.run({kept.file: "of the base"}, fills=True)
    (tmp_path / "other").symlink_to(kept.folder.parent)
    kept.env[kept.name] = str(tmp_path / "other" / kept.folder.name)
    assert kept.run({}) == {kept.file: "of the base"}


def test_agents_build_elsewhere(kept: Kept) -> None:
    assert for_agents(kept.env)[kept.name] == str(kept.folder.parent / "of-agents" / kept.folder.name)


def suite(runner: str = "cargo", inside: RunSandbox | None = None, also: tuple[str, ...] = ()) -> Suite:
    base = Suite(Command((runner, "test"), runner), LONG, os.environ["PATH"], also)
    return base._replace(start=inside.tests, sandbox=inside.sandbox) if inside else base


def test_neither_a_preflight_command_nor_any_other_of_the_project_writes_there(tmp_path: Path) -> None:
    env = environment(suite(), os.environ, tmp_path / "pycache", tmp_path / "builds")
    for _ in range(2):
        said = run_line('ls "$CARGO_TARGET_DIR"; touch "$CARGO_TARGET_DIR/forged"', suite(), tmp_path, env, lambda: True)
        assert (said.exit_code, said.output) == (0, ""), said
        checks = (f'{sys.executable} -c \'import os; os.mkdir(os.environ["CARGO_TARGET_DIR"] + "/forged")\'',)
        assert preflight(checks, suite(), tmp_path, tmp_path, env, lambda: True)[0] is None


def test_a_persons_own_folder_is_used_where_test_env_names_it(tmp_path: Path) -> None:
    outer = {"GOCACHE": str(tmp_path / "mine"), "PATH": os.environ["PATH"]}
    named, plain = suite("go", also=("GOCACHE",)), suite("go")
    assert environment(plain, outer, tmp_path / "p", tmp_path / "builds")["GOCACHE"] == str(tmp_path / "builds" / "gocache")
    env = environment(named, outer, tmp_path / "p", tmp_path / "builds")
    run_line('touch "$GOCACHE/left"', named, tmp_path, env, lambda: True)
    assert (tmp_path / "mine" / "left").exists()


@pytest.mark.needs("namespaces", "bubblewrap")
def test_in_the_sandbox_what_is_kept_is_read_and_cannot_be_written(tmp_path: Path) -> None:
    held = RunSandbox(choose("bubblewrap", os.environ), (), True)
    project = tmp_path / "project"
    project.mkdir()
    inside = suite("go", held)
    env = environment(inside, os.environ, tmp_path / "pycache", tmp_path / "builds")
    fills = run_line("mkdir $GOCACHE/00; echo base > $GOCACHE/00/1-d", inside._replace(fills=True), project, env, lambda: True)
    assert fills.exit_code == 0, fills
    attack = "cd $GOCACHE/00; cat 1-d; to=$(readlink 1-d); echo forged > 1-d; echo forged >> $to; unlink $to; touch ${to}x; rm 1-d && echo own > 1-d && cat 1-d"
    for _ in range(2):
        said = run_line(attack, inside, project, env, lambda: True)
        assert said.exit_code == 0 and said.output.startswith("base\n") and said.output.endswith("own\n"), said
        assert said.output.count("cannot") == 4, said
    assert (tmp_path / "builds/gocache/00/1-d").read_text() == "base\n"


GO_OF_ITS_OWN = """#!/bin/sh
echo built >> "$(dirname "$0")/count"
ls > "$(dirname "$0")/beside"
mkdir -p "$GOCACHE/00" && echo library > "$GOCACHE/00/lib-d"
"""


def test_a_toolchains_own_library_is_built_once_for_all_projects_and_never_by_one(tmp_path: Path) -> None:
    write(tmp_path / "bin", {"go": GO_OF_ITS_OWN})
    (tmp_path / "bin/go").chmod(0o755)
    look = "cat $GOCACHE/00/lib-d 2>&1"
    base = suite("go")._replace(path=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", fills=True)

    def said(project: str, line: str = look, fills: bool = True) -> str:
        env = environment(base, os.environ, tmp_path / "pycache", tmp_path / "builds" / project)
        return run_line(line, base._replace(fills=fills), tmp_path, env, lambda: True).output

    def built() -> int:
        return (tmp_path / "bin/count").read_text().count("built")

    assert "No such file" in said("a", fills=False), "a judged run builds no library"
    assert (said("a"), said("b"), said("a", fills=False)) == ("library\n",) * 3
    assert built() == 1
    assert (tmp_path / "bin/beside").read_text().split() == ["go.mod", "library_test.go"], "nothing of a project is there"
    assert not list((tmp_path / "builds/b").glob("gocache/00/lib-d")), "a project keeps no copy of it"
    said("b", "chmod +w $(readlink $GOCACHE/00/lib-d); echo forged > $(readlink $GOCACHE/00/lib-d)", fills=False)
    assert "No such file" in said("a", fills=False), "what was touched is not read"
    assert (said("a"), built()) == ("library\n", 2), "and a run of the base rebuilds it"


def test_runs_wait_while_it_is_added_to(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "go", "GOCACHE")
    kept.run({"a-d": "1"}, fills=True)
    found: list[dict[str, str]] = []
    reader = threading.Thread(target=lambda: found.append(kept.run({})))
    with Build(kept.folder).record.with_suffix(".lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        reader.start()
        reader.join(0.2)
        assert reader.is_alive() and not found
    reader.join(LONG)
    assert found == [{"a-d": "1"}]


def test_nothing_that_a_run_left_beside_installed_packages_is_there_for_the_next(tmp_path: Path) -> None:
    """Packages that a configuration asks for are looked for in the folder that vite writes it to, before those that are installed."""
    folder = tmp_path / "node_modules" / ".vite-temp"
    left = {"node_modules/vitest/config.js": "forged", "package.json": "{}", "vite.config.ts.timestamp-1-2.mjs": "of a run that starts"}
    write(folder, left)
    (folder / "link").symlink_to(tmp_path)
    assert _scratch(("node_modules/.vite-temp",), tmp_path) == [folder]
    assert os.listdir(folder) == ["vite.config.ts.timestamp-1-2.mjs"]


# -- what set-ups make -----------------------------------------------------------------------------------------------------------


class SetUps:
    """A project whose set-up runs a script of its own, and workspaces of it."""

    def __init__(self, folder: Path) -> None:
        files = {"install.sh": "mkdir -p made && echo honest > made/lib\n", "uv.lock": "a\n", ".gitignore": "made/\n"}
        self.root, self.folder = make_repo(folder / "p", files), folder
        self.git = Git(find_place(self.root), {**os.environ, **PLAIN})
        start = lambda argv, cwd, env, timeout, wanted: run(argv, cwd, env, timeout, wanted)  # noqa: E731  it is short
        there = {"workspace.setup": "sh install.sh", "workspace.copy": "[]"}
        self.kit = RunConfig(suite("go"), there, (), Ways("main", "origin", "auto", ""), "", "", start, self.root, self.root)

    def furnished(self, name: str, commit: str = "main") -> Git:
        sh(self.root, "git", "branch", f"b-{name}", commit)
        made = make_workspace(self.git, self.folder / name, f"refs/heads/b-{name}", self.git.resolve(commit))
        furnish(made, self.kit, self.root, {"PATH": os.environ["PATH"]}, lambda: True)
        return made

    def clean(self, git: Git) -> str:
        """What a set-up made, as it lies in a clean checkout."""
        with tempfile.TemporaryDirectory() as folder:
            furnish_checkout(git, self.kit, Path(folder))
            return (Path(folder) / "made/lib").read_text()


def test_a_set_up_that_is_made_by_files_of_a_branch_serves_that_tree_alone(tmp_path: Path) -> None:
    s = SetUps(tmp_path)
    sh(s.root, "git", "checkout", "-q", "-b", "agents")
    write(s.root, {"install.sh": "mkdir -p made && echo forged > made/lib\n"})
    sh(s.root, "git", "commit", "-qam", "an agent's")
    one = s.furnished("one", "agents")
    assert (one.place.root / "made/lib").read_text() == "forged\n" and s.clean(one) == "forged\n", (
        "in its own workspace, as in its own tree"
    )
    two = s.furnished("two")
    assert (two.place.root / "made/lib").read_text() == "honest\n" and s.clean(two) == "honest\n"
    three = s.furnished("three", "agents")
    assert (three.place.root / "made/lib").read_text() == "honest\n", "what main made for the same lock files is there for every tree"


@pytest.mark.parametrize("way", ["another text", "another file", "one more"])
def test_a_kept_set_up_that_somebody_touched_is_in_no_checkout(tmp_path: Path, way: str) -> None:
    s = SetUps(tmp_path)
    one = s.furnished("one")
    (lib,) = s.root.glob(".git/detent/setups/*/files/made/lib")
    seen = lib.stat()
    if way == "another file":
        lib.rename(lib.with_name("was"))
        lib.symlink_to("was")
    elif way == "one more":
        lib.with_name("more").touch()
    else:
        lib.write_text("FORGED\n")
        os.utime(lib, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    with pytest.raises(CannotTell, match="changed since it was created"):
        s.clean(one)
    two = s.furnished("two")
    assert os.listdir(two.place.root / "made") == ["lib"] and (two.place.root / "made/lib").read_text() == "honest\n"
    assert s.clean(one) == "honest\n", "it was rebuilt"


# -- an attack from end to end -------------------------------------------------------------------------------------------------

POISON = r"""
cd "$CARGO_TARGET_DIR/debug/deps" || exit 1
lib=$(ls libdep-*.rlib | head -n 1); hash=${lib#libdep-}; hash=${hash%.rlib}
echo 'pub fn twist(a: i32, b: i32) -> i32 { a + b }' > forged.rs
rm -f libdep-$hash.rlib libdep-$hash.rmeta
rustc --edition 2021 --crate-name dep --crate-type lib --emit=metadata,link -C metadata=$hash -C extra-filename=-$hash --out-dir . forged.rs
find .. -name '*dep*' -exec touch -d 2037-01-01 {} +
"""
CARGO = {
    PLAN: START[PLAN],
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ndep = { path = "dep" }\n\n[workspace]\nexclude = ["dep"]\n',
    "dep/Cargo.toml": '[package]\nname = "dep"\nversion = "0.1.0"\nedition = "2021"\n',
    "dep/src/lib.rs": "pub fn twist(_a: i32, _b: i32) -> i32 { 0 }\n",
    "src/lib.rs": "pub fn zero() -> i32 { dep::twist(0, 0) }\n",
    "tests/start.rs": "#[test]\nfn start() { assert_eq!(calc::zero(), 0); }\n",
    ".gitignore": "Cargo.lock\n",
}  # fmt: skip
POISONS = (
    '#[test]\nfn pins() {\n    assert_eq!(calc::zero(), 0);\n    std::process::Command::new("sh").args(["-c", r#"'
    + POISON
    + '"#]).status().unwrap();\n}\n'
)
WRONG = "pub fn zero() -> i32 { dep::twist(0, 0) }\npub fn add(a: i32, b: i32) -> i32 { dep::twist(a, b) }\n"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_step_is_not_proved_by_a_library_that_a_test_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_runner("cargo")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = Project(tmp_path / "p", CARGO).planned("RED", "GREEN")
    write(project.root, {"tests/add.rs": "#[test]\nfn adds() { assert_eq!(calc::add(1, 2), 3); }\n", "tests/pins.rs": POISONS})
    assert project.submit(test_command="cargo test", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"
    assert project.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    write(project.root, {"src/lib.rs": WRONG})
    verdict = project.submit(test_command="cargo test", expectation="PASS")
    assert verdict["status"] == "FAILURE" and "adds" in str(verdict["reasons"]), verdict
