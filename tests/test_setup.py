"""The set-up: what is installed is what the lock says, and the one check counts lines. Knows the project's own files only."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests import covered

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK: dict[str, Any] = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))


def names(wanted: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~; ]", each, maxsplit=1)[0].lower() for each in wanted}


def spelled_out(wanted: list[str], extras: dict[str, list[str]]) -> list[str]:
    """What is wanted, with the project's own extras as what they stand for: the lock lists them so."""
    own = {each: re.fullmatch(r"detent-gate\[(.+)\]", each) for each in wanted}
    inner = [name.strip() for found in own.values() if found for name in found[1].split(",")]
    return [each for each, found in own.items() if not found] + [more for name in inner for more in spelled_out(extras[name], extras)]


def test_everything_the_project_names_is_in_the_lock_at_one_version() -> None:
    locked = {package["name"]: package for package in LOCK["package"]}
    own = locked["detent-gate"]
    assert {each["name"] for each in own["dependencies"]} == names(PROJECT["project"]["dependencies"])
    groups: dict[str, list[str]] = PROJECT["dependency-groups"]
    assert set(own["dev-dependencies"]) == set(groups) == set(PROJECT["tool"]["uv"]["default-groups"]), "all of them are installed"
    for group, wanted in groups.items():
        assert {each["name"] for each in own["dev-dependencies"][group]} == names(wanted), group
    extras: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
    assert set(own["optional-dependencies"]) == set(extras)
    for extra, wanted in extras.items():
        assert {each["name"] for each in own["optional-dependencies"][extra]} == names(spelled_out(wanted, extras)), extra
    assert len(locked) == len(LOCK["package"]), "a package stands in the lock twice"


def test_the_extra_for_everything_names_every_other_extra() -> None:
    extras: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
    assert set(spelled_out(extras["all"], extras)) == {each for name, wanted in extras.items() if name != "all" for each in wanted}


def test_what_is_locked_comes_from_the_public_index_with_its_hash() -> None:
    for package in LOCK["package"]:
        if package["name"] == "detent-gate":
            continue
        assert package["source"] == {"registry": "https://pypi.org/simple"}, package["name"]
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        assert files and all(file["hash"].startswith("sha256:") for file in files), package["name"]
        assert all(file["url"].startswith("https://files.pythonhosted.org/") for file in files), package["name"]


def test_the_check_installs_by_the_lock_and_fails_below_its_share_of_lines() -> None:
    script = (ROOT / "x").read_text("utf-8")
    assert "sync --frozen" in script
    assert re.search(r'exec "\$venv/bin/mypy" --strict', script)
    assert re.search(r'wait "\$beside" \|\| \{ cat "\$said" >&2 && failed "the type checker', script)
    assert re.search(r'step "tests" pytest -p tests.covered ', script)
    assert covered.LEAST >= 80
    assert (covered.SOURCE / "errors.py").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(("lines", "branches", "ends"), [(0, 0, 0), (101, 0, 1), (0, 51, 1)])
def test_a_run_that_reaches_too_few_lines_or_branches_fails_and_names_them(tmp_path: Path, lines: int, branches: int, ends: int) -> None:
    source = {"detent_like/__init__.py": "", "detent_like/half.py": "def ran(yes):\n    if yes:\n        return 1\n    return 2\n"}
    test = {"test_half.py": "from detent_like import half\n\n\ndef test_ran():\n    assert half.ran(True) == 1\n"}
    plugin = (
        f"import tests.covered as covered\ncovered.SOURCE = covered.Path({str(tmp_path / 'detent_like')!r})\n"
        f"covered.LEAST = {lines}\ncovered.CORE = {{'half.py': {branches}}}\n"
    )
    more = "from tests.covered import pytest_load_initial_conftests\n"
    for path, text in {**source, **test, "count_it.py": plugin + more}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "1",
        "-p",
        "count_it",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    env.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == ends, done.stdout + done.stderr
    assert re.search(r"half.py +75%  4\n", done.stdout), done.stdout
    assert "Lines of the source that tests run: 75.00 %" in done.stdout
    assert "Branches: half.py 50.00 %" in done.stdout
