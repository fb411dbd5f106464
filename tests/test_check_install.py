"""`detent check --install`: what a command installs for base and change, once for the same lock files, and never into the person's own checkout."""

from pathlib import Path

import pytest

from tests.test_check import Branch

pytestmark = pytest.mark.needs("node")
HEAD = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { price } from './code.js';\n"
BASE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
    "package-lock.json": "1\n",
    "packages/five-1.js": "export const five = 4;\n",
    "packages/five-2.js": "export const five = 5;\n",
    "install.sh": "echo fetching\nmkdir -p node_modules/five\ncp packages/five-$(cat package-lock.json).js node_modules/five/index.js\n"
    """echo '{"name": "five", "type": "module", "main": "index.js"}' > node_modules/five/package.json\n""",
    ".gitignore": "node_modules/\nbuilt.js\n",
    "code.js": "import { five } from 'five';\nexport const price = (n) => n * five;\n",
    "code.test.js": f"{HEAD}test('none', () => {{ assert.equal(price(0), 0); }});\n",
}
PROVED = {
    "code.js": "import { five } from 'five';\nexport const price = (n) => Math.max(n, 0) * five;\n",
    "least.test.js": f"{HEAD}test('least', () => {{ assert.equal(price(-1), 0); }});\n",
}
INSTALL = ("--install", "sh install.sh")


def kept(p: Branch) -> int:
    """How many times something was installed."""
    return len([*(p.root / ".git" / "detent" / "setups").iterdir()])


@pytest.mark.slow
def test_what_is_installed_serves_both_sides_and_is_installed_once(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", BASE)
    p.commit(PROVED)
    ran = p.run("check", *INSTALL)
    assert ran.code == 0 and "least.test.js:4 least" in ran.out, ran
    assert "installed  sh install.sh (" in ran.out and "network" in ran.out and kept(p) == 1
    assert p.run("check", *INSTALL, "--json").json["known_before"]
    assert not (p.root / "node_modules").exists() and p.git("status", "--porcelain") == ""


def test_a_changed_lock_file_is_installed_for_the_change_and_told(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", BASE)
    p.commit({"package-lock.json": "2\n", "five.test.js": f"{HEAD}test('five', () => {{ assert.equal(price(1), 5); }});\n"})
    found = p.run("check", *INSTALL, "--json").json
    assert found["proved"] == ["five.test.js::five"] and kept(p) == 2, found
    (told,) = [flag for flag in found["flags"] if flag["place"] == "package-lock.json"]
    assert told["level"] == "note" and "installed by --install" in told["says"]
    assert found["answer"] == "clean", found


@pytest.mark.slow
def test_without_it_the_tests_run_with_what_is_there_and_the_lock_file_is_told_too(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", BASE)
    p.commit({"package-lock.json": "2\n"})
    (p.root / "node_modules" / "five").mkdir(parents=True)
    (p.root / "node_modules" / "five" / "index.js").write_text("exports.five = 5;\n")
    before = sorted((p.root / "node_modules").rglob("*"))
    ran = p.run("check", "--json")
    (told,) = [flag for flag in ran.json["flags"] if flag["place"] == "package-lock.json" and flag["kind"] == "weak-evidence"]
    assert ran.code == 0 and "ran with what is installed here" in told["says"], ran
    assert p.run("check", *INSTALL).code == 0
    assert sorted((p.root / "node_modules").rglob("*")) == before


@pytest.mark.parametrize("side", ["base", "change"])
def test_a_command_that_fails_cannot_be_verified_and_its_last_lines_are_told(tmp_path: Path, side: str) -> None:
    broken = {"install.sh": "for n in $(seq 50); do echo line $n; done\necho no such package >&2\nexit 3\n", "package-lock.json": "3\n"}
    p = Branch(tmp_path / "p", {**BASE, **(broken if side == "base" else {})})
    p.commit({**PROVED, **broken})
    ran = p.run("check", *INSTALL)
    assert ran.code == 4 and f"for the {side}: --install `sh install.sh` failed with exit code 3" in ran.out, ran
    assert "where nothing is installed yet" in ran.out, "what people often leave out"
    assert "line 50" in ran.out and "no such package" in ran.out and "line 30" not in ran.out
    assert ran.out.splitlines()[-1].startswith("COULD NOT VERIFY")


@pytest.mark.slow
def test_what_is_built_of_the_sources_is_built_for_each_side(tmp_path: Path) -> None:
    code = "import { built } from './built.js';\nexport const price = (n) => n + built;\n"
    p = Branch(
        tmp_path / "p", {**BASE, "source.txt": "1", "code.js": code, "code.test.js": f"{HEAD}test('none', () => {{ price(0); }});\n"}
    )
    p.commit({"source.txt": "2", "two.test.js": f"{HEAD}test('two', () => {{ assert.equal(price(0), 2); }});\n"})
    found = p.run("check", "--install", 'echo "export const built = $(cat source.txt);" > built.js', "--json").json
    assert found["proved"] == ["two.test.js::two"], found
