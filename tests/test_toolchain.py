"""The installed test runner: edited, added to or redirected while a run is at work, it does not judge any more."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest

from detent.evidence.runners import Command
from detent.evidence.running.toolchain import changed, listing, take
from tests.project import GREEN, INI, START, Project

WRONG = "def add(a, b):\n    return 0\n"
FORCED = """
import _pytest.python
_was = _pytest.python.Function.runtest
def _quiet(self):
    try:
        _was(self)
    except AssertionError:
        if self.name != "test_add":
            raise
_pytest.python.Function.runtest = _quiet
"""

PUTS_RIGHT = """
import importlib.util, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "calc":
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(name)
            was = spec.loader.exec_module
            def load(module):
                was(module)
                module.add = lambda a, b: a + b
            spec.loader.exec_module = load
            return spec
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with an environment of its own, in which pytest is installed."""
    files = {
        **START,
        "pytest.ini": INI,
        ".gitignore": "__pycache__/\n.venv/\n",
        "pyproject.toml": "[project]\nname = 'calc'\nversion = '1'\n",
    }
    p = Project(tmp_path / "p", files)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(p.root / ".venv")], check=True)
    site = site_of(p)
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        of = distribution(name)
        for top in {
            str(file).split("/")[0] for file in of.files or () if not str(file).startswith("..") and "__pycache__" not in str(file)
        }:
            source = Path(str(of.locate_file(top)))
            shutil.copytree(source, site / top) if source.is_dir() else shutil.copy2(source, site / top)
    (site / "_first.pth").write_text("import _first\n")  # as virtualenv and editable installations have it
    (site / "_first.py").write_text("")
    script = p.root / ".venv/bin/pytest"
    script.write_text(f"#!{p.root}/.venv/bin/python\nimport pytest\nraise SystemExit(pytest.main())\n")
    script.chmod(0o755)
    p.env["PATH"] = f"{p.root / '.venv' / 'bin'}:{p.env['PATH']}"
    p.env["DETENT_TEST_ENV"] = "[]"
    return p


def site_of(p: Project) -> Path:
    return next((p.root / ".venv").glob("lib/python*/site-packages"))


def edited(p: Project) -> Path:
    file = site_of(p) / "_pytest" / "python.py"
    file.write_text(file.read_text() + FORCED.replace("import _pytest.python\n", "").replace("_pytest.python.", ""))
    return file


def sitecustomize(p: Project) -> Path:
    file = site_of(p) / "sitecustomize.py"
    file.write_text("import sys\nsys.argv\n")
    return file


def path_file(p: Project) -> Path:
    file = site_of(p) / "zz.pth"
    file.write_text("import sys\n")
    return file


def plugin(p: Project) -> Path:
    (site_of(p) / "kind.py").write_text(FORCED)
    info = site_of(p) / "kind-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kind\nVersion: 1.0\n")
    (info / "RECORD").write_text("kind.py,,\n")
    (info / "entry_points.txt").write_text("[pytest11]\nkind = kind\n")
    return site_of(p) / "kind.py"


def beside(p: Project) -> Path:
    file = site_of(p) / "_pytest" / "helper.py"
    file.write_text("")
    return file


def loaded_by_a_path_file(p: Project) -> Path:
    file = site_of(p) / "_first.py"
    file.write_text(PUTS_RIGHT)
    return file


def what_pytest_needs(p: Project) -> Path:
    file = site_of(p) / "pygments" / "__init__.py"
    file.write_text(file.read_text() + PUTS_RIGHT)
    return file


def in_place(p: Project) -> None:
    """The project is installed in place, and its folder has files that git ignores."""
    (site_of(p) / "__editable__.calc.pth").write_text(f"{p.root}\n")
    (p.root / ".git/info/exclude").write_text("more*\nsitecustomize*\n*.egg-info\n")


def sitecustomize_beside_the_code(p: Project) -> Path:
    (p.root / "sitecustomize.py").write_text(PUTS_RIGHT)
    return p.root / "sitecustomize.py"


def package_that_starts_beside_the_code(p: Project) -> Path:
    (p.root / "sitecustomize").mkdir()
    (p.root / "sitecustomize" / "__init__.py").write_text(PUTS_RIGHT)
    return p.root / "sitecustomize" / "__init__.py"


def plugin_beside_the_code(p: Project) -> Path:
    (p.root / "more.py").write_text(PUTS_RIGHT)
    (info := p.root / "more.egg-info").mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pytest11]\nmore = more\n")
    return info / "entry_points.txt"


BESIDE_THE_CODE = (sitecustomize_beside_the_code, package_that_starts_beside_the_code, plugin_beside_the_code)
ATTACKS: dict[str, Callable[[Project], Path]] = {
    "pytest itself edited": edited,
    "a new plugin": plugin,
    "a start-up module": sitecustomize,
    "a path file": path_file,
    "a file beside pytest's": beside,
    "a module that a path file loads": loaded_by_a_path_file,
    "a package that pytest needs": what_pytest_needs,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_runner_that_changed_does_not_judge(project: Project, name: str) -> None:
    p = project.reddened()
    path = ATTACKS[name](p)
    verdict = p.green(WRONG)
    assert verdict["status"] == "FAILURE" and "changed since the run began" in verdict["output"] + str(verdict), verdict
    assert str(path.name) in str(verdict) and "detent doctor --accept" in str(verdict)


@pytest.mark.sample(1)
@pytest.mark.parametrize("attack", BESIDE_THE_CODE, ids=lambda attack: attack.__name__)
def test_what_starts_from_a_folder_that_is_installed_in_place_is_part_of_the_runner(
    project: Project, attack: Callable[[Project], Path]
) -> None:
    in_place(project)
    p = project.reddened()
    path = attack(p)
    verdict = p.green(WRONG)
    assert verdict["status"] == "FAILURE" and "changed since the run began" in str(verdict) and path.name in str(verdict), verdict


@pytest.mark.slow
def test_without_the_look_an_edited_runner_lets_wrong_code_pass(project: Project) -> None:
    project.env["DETENT_FLAGS_TOOLCHAIN"] = "allow"
    p = project.reddened()
    edited(p)
    assert p.green(WRONG)["status"] == "SUCCESS", "the attack is a real one"


@pytest.mark.slow
def test_what_honest_work_does_to_its_environment_is_no_matter(project: Project) -> None:
    p = project.reddened()
    (site_of(p) / "click.py").write_text("x = 1\n")
    info = site_of(p) / "click-1.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("click.py,,\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nclick = click:main\n")
    subprocess.run([str(p.root / ".venv/bin/python"), "-c", "import pytest, click"], check=True, env={})  # writes bytecode
    (site_of(p) / "_pytest" / "python.py").touch()
    assert p.green()["status"] == "SUCCESS"


@pytest.mark.slow
def test_what_a_person_accepts_is_taken(project: Project) -> None:
    p = project.reddened()
    plugin(p).write_text("")
    refused = p.green()
    assert refused["status"] == "FAILURE" and "kind.py and 1 more changed" in str(refused)
    p.run("doctor", "--accept")
    assert p.green(GREEN + "\n")["status"] == "SUCCESS"


@pytest.mark.slow
def test_a_new_lock_file_makes_it_a_question(project: Project) -> None:
    p = project.reddened()
    plugin(p)
    (site_of(p) / "kind.py").write_text("")
    p.write({"uv.lock": "version = 1\n"})
    verdict = p.green()
    assert verdict["status"] == "SUCCESS", verdict
    assert [(f["kind"], f["level"]) for f in verdict["flags"] if f["kind"] == "toolchain"] == [("toolchain", "ask")], verdict


# -- other languages -------------------------------------------------------------------------------------------------------------


def laid(root: Path) -> Path:
    for name, needs in (("vitest", {"tinypool": "1", "tinyspy": "1"}), ("tinypool", {}), ("lodash", {})):
        folder = root / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": name, "dependencies": needs}))
        (folder / "index.js").write_text("exports.x = 1\n")
    (root / "node_modules" / ".bin").mkdir()
    (root / "node_modules" / ".bin" / "vitest").symlink_to("../vitest/index.js")
    apart = root / "node_modules/.pnpm/tinyspy@1/node_modules/tinyspy"  # as pnpm lays out what only others need
    apart.mkdir(parents=True)
    (apart / "index.js").write_text("exports.x = 1\n")
    (root / "node_modules/.pnpm/vitest@1/node_modules").mkdir(parents=True)
    shutil.move(root / "node_modules/vitest", root / "node_modules/.pnpm/vitest@1/node_modules/vitest")
    (root / "node_modules/vitest").symlink_to(".pnpm/vitest@1/node_modules/vitest")
    (root / "node_modules/.pnpm/vitest@1/node_modules/tinyspy").symlink_to("../../tinyspy@1/node_modules/tinyspy")
    for name in ("ts-jest", "@acme/transform", "happy-dom", "chai"):
        folder = root / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "index.js").write_text("exports.x = 1\n")
    (root / "vitest.config.ts").write_text(
        "import acme from '@acme/transform/vite'\nexport default { test: { environment: 'happy-dom' } }\n"
    )
    (root / "package.json").write_text('{"jest": {"transform": {"ts$": "ts-jest"}}, "dependencies": {"lodash": "1"}}')
    gem = root / "vendor/bundle/ruby/3.2.0/gems/rspec-core-3.13.0/lib"
    gem.mkdir(parents=True)
    (gem / "rspec.rb").write_text("x = 1\n")
    return root


def relinked(root: Path) -> None:
    link = root / "node_modules/.bin/vitest"
    link.unlink()
    link.symlink_to("../lodash/index.js")


TOUCHED: dict[str, tuple[Callable[[Path], object], int]] = {
    "the runner": (
        lambda root: (root / "node_modules/vitest/index.js").write_text("process.exit(0)\n"),
        2,
    ),  # and the link that leads to it
    "what the runner needs": (lambda root: (root / "node_modules/tinypool/index.js").write_text("process.exit(0)\n"), 1),
    "what only the runner finds": (lambda root: (root / "node_modules/.pnpm/tinyspy@1/node_modules/tinyspy/index.js").write_text("0\n"), 1),
    "a link of a program": (relinked, 1),
    "a file more": (lambda root: (root / "node_modules/vitest/more.js").write_text(""), 1),
    "a gem": (lambda root: (root / "vendor/bundle/ruby/3.2.0/gems/rspec-core-3.13.0/lib/rspec.rb").write_text("exit 0\n"), 1),
    "a transform that the configuration names": (lambda root: (root / "node_modules/@acme/transform/index.js").write_text("0\n"), 1),
    "a transform in the package.json": (lambda root: (root / "node_modules/ts-jest/index.js").write_text("0\n"), 1),
    "the environment of tests": (lambda root: (root / "node_modules/happy-dom/index.js").write_text("0\n"), 1),
    "what says whether an answer is right": (lambda root: (root / "node_modules/chai/index.js").write_text("0\n"), 1),
    "another package": (lambda root: (root / "node_modules/lodash/index.js").write_text("exports.x = 2\n"), 0),
    "a cache": (lambda root: (root / "node_modules/.vite").mkdir(), 0),
}


@pytest.mark.parametrize("name", TOUCHED)
def test_packages_of_other_runners_are_looked_at_too(tmp_path: Path, name: str) -> None:
    root, command = laid(tmp_path / "p"), Command(("npx", "vitest", "run"), "vitest")
    digest = take(listing(command, root, {}, tmp_path / "cache"), tmp_path)
    assert changed(digest, listing(command, root, {}, tmp_path / "cache"), tmp_path) == ()
    touch, count = TOUCHED[name]
    touch(root)
    assert len(changed(digest, listing(command, root, {}, tmp_path / "cache"), tmp_path) or ()) == count
    assert changed("0" * 64, {}, tmp_path) is None, "a record that is gone is known to be"


def test_gems_that_belong_to_no_project_and_the_toolchain_of_go_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    gems, go = tmp_path / "home/.local/share/gem/ruby/3.3.0/gems", tmp_path / "sdk/go"
    touched = (
        gems / "rspec-expectations-3.13.0/lib/eq.rb",
        gems / "minitest-5.1/lib/minitest.rb",
        go / "src/testing/testing.go",
        go / "bin/go",
    )
    for file in (*touched, gems / "rack-3.0/lib/rack.rb", go / "src/fmt/print.go"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n")
        file.chmod(0o755)
    for runner, count in (("rspec", 2), ("go", 2)):
        command, env = Command((runner,), runner), {"PATH": str(go / "bin")}
        for file in touched:
            file.write_text("x = 1\n")
        digest = take(listing(command, tmp_path, env, tmp_path / "cache"), tmp_path)
        for file in (*touched, gems / "rack-3.0/lib/rack.rb", go / "src/fmt/print.go"):
            file.write_text("x = 22\n")
        found = changed(digest, listing(command, tmp_path, env, tmp_path / "cache"), tmp_path)
        assert found is not None and len(found) == count and set(found) <= set(map(str, touched))
