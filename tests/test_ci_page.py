"""The page "Add it to CI in two minutes", the GitLab template and the cache: the lines that people copy are taken from the files and run."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import ROOT
from tests.repos import sh
from tests.test_action import ACTION
from tests.test_check import THIRD, Branch
from tests.test_check_reports import read_junit

PAGE = (ROOT / "docs/ci.md").read_text("utf-8")
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "templates/gitlab.yml").read_text("utf-8"))
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def block(after: str, language: str) -> str:
    """The first block of code below a heading of the page."""
    found = re.search(rf"^( *)```{language}\n(.*?)^ *```", PAGE.partition(f"\n## {after}\n")[2], re.MULTILINE | re.DOTALL)
    assert found is not None, f"{after} has no such block"
    return "\n".join(line.removeprefix(found[1]) for line in found[2].splitlines()) + "\n"


@pytest.fixture(scope="module")
def flagged(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    """A clone whose branch is flagged, as CI has it: detached, main only at the remote."""
    folder = tmp_path_factory.mktemp("ci")
    p = Branch(folder / "p")
    p.commit(THIRD)
    sh(folder, "git", "clone", "-q", "-b", "work", str(p.root), "job")
    sh(folder / "job", "git", "switch", "-q", "--detach")
    job = Branch.__new__(Branch)
    job.root, job.env = folder / "job", p.env
    return job


def played(job: Branch, lines: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Lines of a job, as a shell of CI runs them: the first that fails ends it. Installing is a step before the tests."""
    script = "\n".join(line for line in lines if "pip install" not in line)
    return subprocess.run(["sh", "-e"], input=script, cwd=job.root, env={**job.env, **variables}, capture_output=True, text=True)


# -- GitHub ------------------------------------------------------------------------------------------------------------------------


def test_the_workflow_of_the_page_is_whole_and_names_this_version() -> None:
    flow = yaml.safe_load(block("GitHub", "yaml"))
    (job,) = flow["jobs"].values()
    first, *_, last = job["steps"]
    assert flow[True] == "pull_request" and first["with"] == {"fetch-depth": 0} and last == {"uses": f"OWNER/detent@v{VERSION}"}
    assert flow["permissions"] == {"contents": "read", "pull-requests": "write", "security-events": "write"}
    assert set(re.findall(r"detent@v([\d.]+\d)", PAGE)) == {VERSION} == set(re.findall(r"detent[@/]v([\d.]+\d)", json.dumps(GITLAB)))


def test_each_input_and_output_of_the_action_has_its_row() -> None:
    assert set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)) == set(ACTION["inputs"])
    assert all(f"`{name}`" in PAGE for name in ACTION["outputs"])


# -- GitLab ------------------------------------------------------------------------------------------------------------------------


def gitlab(job: Branch, **variables: str) -> subprocess.CompletedProcess[str]:
    """The job of the template on a merge request, with the variables that GitLab sets."""
    of = GITLAB["detent"]
    own = {
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": job.git("rev-parse", "origin/main"),
        "CI_COMMIT_SHA": job.git("rev-parse", "HEAD"),
        "CI": "true",
    }
    return played(job, [*of["before_script"], *of["script"]], **{**of["variables"], **own, **variables})


@pytest.mark.slow
def test_the_job_of_gitlab_says_what_is_flagged_and_leaves_its_reports(flagged: Branch) -> None:
    done = gitlab(flagged)
    assert done.returncode == 10 and "no-proof" in done.stdout and "2 of 5: running the tests" in done.stderr, done
    report = flagged.root / GITLAB["detent"]["artifacts"]["reports"]["junit"]
    assert read_junit(report.read_text()).attrib["failures"] == "1"
    assert (flagged.root / GITLAB["detent"]["artifacts"]["paths"][0]).read_text().startswith("### Detent: flagged")


@pytest.mark.slow
def test_its_variables_decide_what_fails_and_what_is_prepared(flagged: Branch, tmp_path: Path) -> None:
    assert gitlab(flagged, CHECK_OPTIONS="--fail-on failed", CHECK_PREPARE=f"touch {tmp_path}/prepared").returncode == 0
    assert (tmp_path / "prepared").exists()
    assert gitlab(flagged, CHECK_PREPARE="exit 5").returncode == 5, "what cannot be prepared is not checked"
    wrong = gitlab(flagged, CI_MERGE_REQUEST_DIFF_BASE_SHA="f" * 40)
    assert wrong.returncode == 2 and "there is no commit" in wrong.stderr, wrong


def test_what_the_page_includes_is_the_template(flagged: Branch) -> None:
    page = yaml.safe_load(block("GitLab", "yaml"))
    assert page["include"][0]["remote"].endswith("/templates/gitlab.yml") and set(page["detent"]["variables"]) <= set(
        GITLAB["detent"]["variables"]
    )


# -- anywhere else, and before it is pushed ----------------------------------------------------------------------------------------


def test_the_three_lines_for_anywhere_else_work(flagged: Branch) -> None:
    lines = block("Anywhere else", "sh").splitlines()
    assert len(lines) == 3
    done = played(flagged, lines)
    assert done.returncode == 10 and done.stdout.splitlines()[-1].startswith("FLAGGED"), done


def test_the_hook_of_the_page_is_the_one_that_is_published() -> None:
    page, (published,) = yaml.safe_load(block("Before it is pushed", "yaml")), yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert page["repos"][0]["hooks"] == [{"id": published["id"]}] and page["repos"][0]["rev"] == f"v{VERSION}"


# -- results that are kept ---------------------------------------------------------------------------------------------------------


def on_a_new_machine(p: Branch, folder: Path, **env: str) -> bool:
    """Whether the result is known where nothing is left of the machine before but the cache."""
    shutil.rmtree(p.root / ".git" / "detent", ignore_errors=True)
    state = folder / f"state-{len(list(folder.iterdir()))}"
    state.mkdir()
    found = p.run("check", "--json", XDG_STATE_HOME=str(state), **env).json
    assert found["answer"] == "clean"
    return bool(found["known_before"])


@pytest.mark.slow
def test_a_cache_is_believed_only_with_the_key_that_sealed_it(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {"README.md": "words\n"})  # without tests a look takes a moment
    p.commit({"README.md": "other words\n"})
    cache, machines = tmp_path / "cache", tmp_path / "machines"
    machines.mkdir()
    ours = {"DETENT_CHECK_CACHE": str(cache), "DETENT_CHECK_SECRET": "k" * 32}
    assert not on_a_new_machine(p, machines, **ours) and on_a_new_machine(p, machines, **ours)
    assert not on_a_new_machine(p, machines, DETENT_CHECK_CACHE=str(cache)), "without the key a machine believes its own seal only"
    (card,) = cache.glob("card-*.json")
    assert not on_a_new_machine(p, machines, **{**ours, "DETENT_CHECK_SECRET": "l" * 32}), "nor with another one"
    assert not on_a_new_machine(p, machines, **ours) and on_a_new_machine(p, machines, **ours), "what others sealed is written over"
    card.write_text(card.read_text().replace("weak-evidence", "weak_evidence"))
    assert not on_a_new_machine(p, machines, **ours), "what somebody wrote into it is not believed"
    ran = p.run("check", **{**ours, "DETENT_CHECK_SECRET": "short"})
    assert ran.code == 2 and "at least 32" in ran.err and "openssl" in ran.err


def test_the_page_names_the_variables_of_the_cache() -> None:
    assert "DETENT_CHECK_CACHE" in PAGE and "DETENT_CHECK_SECRET" in PAGE
