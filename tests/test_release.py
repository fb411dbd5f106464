"""A release: what is looked at before a tag, and the files by which CI tests and publishes."""

import importlib.util
import re
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from detent.evidence.runners import WHERE

ROOT = Path(__file__).parent.parent
WORKFLOWS = ROOT / ".github" / "workflows"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools" / "release.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RELEASE = loaded()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project as far as a release looks at it."""
    for path, text in {
        "pyproject.toml": '[project]\nname = "detent-gate"\nversion = "1.2.3"\n',
        "src/detent/__init__.py": '__version__ = "1.2.3"\n',
        "src/detent/installation.py": 'DISTRIBUTION = "detent-gate"\n',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.3\n\n- something\n\n## 1.2.2\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_this_repository_has_one_version_and_one_name() -> None:
    assert re.fullmatch(r"\S+ \d+\.\d+\.\d+\S*", RELEASE.version())
    assert "entries under" in RELEASE.changelog()


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("src/detent/__init__.py", '__version__ = "1.2.4"\n', "pyproject.toml says 1.2.3"),
        ("src/detent/__init__.py", "", "sets no __version__"),
        ("src/detent/installation.py", 'DISTRIBUTION = "other"\n', "names the distribution detent-gate"),
    ],
)
def test_versions_and_names_that_differ_are_no_release(project: Path, path: str, text: str, said: str) -> None:
    assert RELEASE.version(project) == "detent-gate 1.2.3"
    (project / path).write_text(text)
    with pytest.raises(RELEASE.Wrong, match=said):
        RELEASE.version(project)


@pytest.mark.parametrize(
    ("text", "said"), [("# Changelog\n\n## 1.2.2\n\n- x\n", "no section for 1.2.3"), ("# C\n\n## 1.2.3\n\n## 1.2.2\n- x\n", "says nothing")]
)
def test_a_version_that_the_changelog_does_not_know_is_no_release(project: Path, text: str, said: str) -> None:
    assert RELEASE.changelog(project) == "1 entries under '1.2.3'"
    (project / "CHANGELOG.md").write_text(text)
    with pytest.raises(RELEASE.Wrong, match=said):
        RELEASE.changelog(project)


METADATA = "Provides-Extra: all\nDescription-Content-Type: text/markdown\n"


@pytest.mark.parametrize(
    ("leave", "add", "said"),
    [
        ("", "", ""),
        ("detent/sandbox/start.sh", "", "lacks detent/sandbox/start.sh"),
        ("", "detent/__pycache__/x.pyc", "has detent/__pycache__"),
        ("", "tests/test_a.py", "has tests/"),
    ],
)
def test_a_wheel_is_opened_and_looked_at(tmp_path: Path, leave: str, add: str, said: str) -> None:
    file = tmp_path / "detent_gate-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as held:
        for name in [*RELEASE.IN_WHEEL, *([add] if add else [])]:
            if name != leave:
                held.writestr(name, "")
        held.writestr("detent_gate-1.2.3.dist-info/METADATA", METADATA)
    if not said:
        assert RELEASE.wheel([file]).startswith(file.name)
        return
    with pytest.raises(RELEASE.Wrong, match=re.escape(said)):
        RELEASE.wheel([file])


def test_a_source_distribution_that_cannot_be_tested_from_is_none(tmp_path: Path) -> None:
    file = tmp_path / "detent-1.2.3.tar.gz"
    with tarfile.open(file, "w:gz") as held:
        held.add(ROOT / "LICENSE", "detent-1.2.3/LICENSE")
    with pytest.raises(RELEASE.Wrong, match="lacks pyproject"):
        RELEASE.source([file])


# -- what CI runs --------------------------------------------------------------------------------------------------------------


def test_the_matrix_has_every_python_that_the_package_names_and_the_oldest_git() -> None:
    ci = yaml.safe_load((WORKFLOWS / "ci.yml").read_text("utf-8"))
    named = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert ci["jobs"]["python"]["strategy"]["matrix"]["python"] == named == ["3.11", "3.12", "3.13", "3.14"]
    assert "git is 2.30" in (WORKFLOWS / "ci.yml").read_text("utf-8") and "container" in ci["jobs"]["old-git"]
    assert ci["jobs"]["plain-user"]["steps"][-1]["env"] == {"DETENT_TEST_WITHOUT": "linux"}
    assert ci["jobs"]["macos"]["runs-on"] == "macos-latest"
    assert ci["permissions"] == {"contents": "read"}


def test_publishing_needs_no_token_and_only_the_job_that_publishes_may() -> None:
    text = (WORKFLOWS / "release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"} and "permissions" not in jobs["build"]
    assert jobs["publish"]["needs"] == "build" and "secrets." not in text and "password" not in text
    assert any("./x release --dry-run" in str(step.get("run")) for step in jobs["build"]["steps"])


def test_the_image_runs_as_a_plain_user_with_a_sandbox_in_it() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    assert "bubblewrap" in text and "git" in text and "[all]" in text
    assert text.rindex("USER detent") > text.rindex("RUN "), "nothing is run as root in the end"
    user = re.search(r"useradd .*--uid (\d+)", text)
    assert user and f"--userns keep-id:uid={user[1]},gid={user[1]} " in text, "without root, the checkout is that user's"
    line = re.search(r"podman run .*?(--security-opt \S+ --security-opt \S+)", text)
    assert line and line[1] in (ROOT / "docs" / "sandbox.md").read_text("utf-8"), "the line is the one that the docs have seen working"


def test_a_wheel_is_asked_for_the_reporter_of_a_runner_that_is_there() -> None:
    assert "node" in WHERE and all((ROOT / "src" / name).is_file() or name.startswith("detent/examples/") for name in RELEASE.IN_WHEEL)
