"""The GitHub action, its steps played as a runner plays them: the files and the event that it hands over, a merge ref in a fresh clone, and GitHub
itself as a server on loopback that may refuse."""

import gzip
import json
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from tests.project import ROOT
from tests.repos import sh
from tests.test_check import PROVED, THIRD, Branch

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


class GitHub:
    """As much of GitHub as the action speaks with. A token that only reads is told 403 when it writes."""

    def __init__(self, reads_only: bool = False) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.comments: list[dict[str, Any]] = [{"id": 1, "body": "nice"}]
        github = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(200, github.comments)

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                github.asked.append((self.command, self.path, body))
                if reads_only or self.headers["Authorization"] != "Bearer t0ken":
                    self.answer(403, {"message": "Resource not accessible by integration"})
                    return
                if self.path.endswith("/issues/7/comments"):
                    github.comments.append({"id": 2, "body": body["body"]})
                self.answer(201, {})

            def do_PATCH(self) -> None:
                self.do_POST()

            def answer(self, code: int, value: object) -> None:
                data = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def github() -> Iterator[GitHub]:
    made = GitHub()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def reading() -> Iterator[GitHub]:
    made = GitHub(reads_only=True)
    yield made
    made.server.shutdown()
    made.server.server_close()


class Runner:
    """One job on a pull request: the merge of branch and base, detached, in a clone."""

    def __init__(self, p: Branch, folder: Path) -> None:
        self.base = p.git("rev-parse", "main")
        p.git("switch", "-q", "main")
        sh(folder, "git", "clone", "-q", str(p.root), "job")
        self.root, self.folder = folder / "job", folder
        sh(self.root, "git", "switch", "-q", "--detach", "origin/main")
        sh(self.root, "git", "merge", "-q", "--no-ff", "-m", "Merge into main", "origin/work")
        files = {name: folder / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_EVENT_PATH")}
        for file in files.values():
            file.touch()
        self.env = {
            **p.env,
            **{name: str(file) for name, file in files.items()},
            "RUNNER_TEMP": str(folder),
            "GITHUB_ACTION_PATH": str(ROOT),
        }
        self.env |= {"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_REPOSITORY": "me/mine", "GITHUB_REF": "refs/pull/7/merge"}
        self.env["GITHUB_SHA"] = sh(self.root, "git", "rev-parse", "HEAD")
        self.happens({"pull_request": {"number": 7, "base": {"sha": self.base, "ref": "main"}, "head": {"repo": {"fork": True}}}})

    def happens(self, event: dict[str, Any], name: str = "pull_request") -> None:
        Path(self.env["GITHUB_EVENT_PATH"]).write_text(json.dumps(event))
        self.env["GITHUB_EVENT_NAME"] = name

    def play(self, step: str, **given: str) -> subprocess.CompletedProcess[str]:
        """One step; variables that it has by itself are as the defaults of the inputs say."""
        own = {name: value for name, value in STEPS[step].get("env", {}).items() if "${{" not in value}
        inputs = {name: ACTION["inputs"][_input(value)]["default"] for name, value in STEPS[step].get("env", {}).items() if _input(value)}
        env = {**self.env, **own, **{name: value for name, value in inputs.items() if "${{" not in value}, **given}
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", STEPS[step]["run"]], cwd=self.root, env=env, capture_output=True, text=True
        )

    def check(self, **given: str) -> subprocess.CompletedProcess[str]:
        return self.play("Check", **{"DETENT": f"{sys.executable} -m detent", **given})

    @property
    def summary(self) -> str:
        return Path(self.env["GITHUB_STEP_SUMMARY"]).read_text()

    @property
    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in Path(self.env["GITHUB_OUTPUT"]).read_text().splitlines())


def _input(value: str) -> str:
    return value.removeprefix("${{ inputs.").removesuffix(" }}") if value.startswith("${{ inputs.") else ""


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A job whose change is proved, after its check."""
    folder = tmp_path_factory.mktemp("proved")
    p = Branch(folder / "p")
    p.commit(PROVED)
    job = Runner(p, folder)
    done = job.check()
    assert done.returncode == 0, done
    return job


@pytest.fixture(scope="module")
def flagged(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A job whose change no test needs."""
    folder = tmp_path_factory.mktemp("flagged")
    p = Branch(folder / "p")
    p.commit(THIRD)
    return Runner(p, folder)


# -- the action itself ---------------------------------------------------------------------------------------------------------------


def test_every_input_is_read_and_what_is_not_ours_is_not_used() -> None:
    inputs = {name for name in ACTION["inputs"] for step in STEPS.values() if f"inputs.{name}" in str(step)}
    assert inputs == set(ACTION["inputs"]) >= {"base", "fail-on", "install", "budget"}, "an input that nobody reads"
    assert not [step for step in STEPS.values() if "uses" in step], "an action of others would have to be pinned"
    assert "uv==" in STEPS["Install Detent"]["run"] and "--frozen" in STEPS["Install Detent"]["run"]


def test_only_the_step_that_reports_has_the_token() -> None:
    assert [name for name, step in STEPS.items() if "token" in str(step)] == ["Report"]
    assert STEPS["Report"]["if"].startswith("always()"), "a failed check is told too"


def test_nothing_of_the_event_stands_in_a_command() -> None:
    assert not [step for step in STEPS.values() if "${{" in step["run"]], "a branch may be named like a command"


# -- the check -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_proved_pull_request_is_green_and_its_card_stands_in_the_summary(proved: Runner) -> None:
    assert proved.summary.startswith("### Detent: clean") and proved.outputs["answer"] == "clean"
    assert json.loads(Path(proved.outputs["sarif"]).read_text())["version"] == "2.1.0"


@pytest.mark.slow
def test_a_flagged_one_is_annotated_and_red_unless_only_failures_are_to_be(flagged: Runner) -> None:
    done = flagged.check()
    assert done.returncode == 10 and "::warning file=calc.py" in done.stdout, done
    assert '"no-proof"' in Path(flagged.outputs["sarif"]).read_text() and flagged.outputs["answer"] == "flagged"
    assert flagged.check(FAIL_ON="failed").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "name"),
    [
        ({"before": "0" * 40}, "push"),
        ({"merge_group": {"base_sha": "BASE"}}, "merge_group"),
        ({"before": "BASE"}, "push"),
        ({}, "workflow_dispatch"),
    ],
    ids=["the first push of a branch", "a merge queue", "a push", "by hand"],
)
def test_each_event_names_its_base(proved: Runner, event: dict[str, Any], name: str) -> None:
    before = (proved.root.parent / "github_event_path").read_text(), proved.env["GITHUB_EVENT_NAME"]
    proved.happens(json.loads(json.dumps(event).replace("BASE", proved.base)), name)
    done = proved.check()
    proved.happens(json.loads(before[0]), before[1])
    assert done.returncode == 0 and "checked before" in done.stdout, done


@pytest.mark.slow
def test_a_base_that_is_named_counts_more_than_the_event(proved: Runner) -> None:
    done = proved.check(BASE="nowhere")
    assert done.returncode == 2 and "there is no commit 'nowhere' here" in done.stderr, done


def test_the_code_of_a_pull_request_never_runs_with_secrets(proved: Runner) -> None:
    done = proved.check(GITHUB_EVENT_NAME="pull_request_target")
    assert done.returncode == 2 and "use pull_request" in done.stdout, done


def test_a_shallow_clone_is_told_what_to_fetch(proved: Runner, tmp_path: Path) -> None:
    sh(tmp_path, "git", "clone", "-q", "--depth", "1", f"file://{proved.root}", "shallow")
    done = subprocess.run(
        [sys.executable, "-m", "detent", "check", f"{proved.base}..HEAD"],
        cwd=tmp_path / "shallow",
        env=proved.env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "fetch" in done.stderr, done


def test_inputs_become_options_whatever_stands_in_them(proved: Runner, tmp_path: Path) -> None:
    said = tmp_path / "said"
    (tmp_path / "detent").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{said}\nexit 2\n')
    (tmp_path / "detent").chmod(0o755)
    given = {"BASE": "a b", "FAIL_ON": "failed", "INSTALL": "pip install x && touch 'y'", "BUDGET": "5"}
    assert proved.check(DETENT=str(tmp_path / "detent"), **given).returncode == 2
    options = ["--budget", "5", "--install", given["INSTALL"], "--github", "--fail-on", "failed"]
    assert said.read_text().splitlines() == ["check", "a b..HEAD", *options]


# -- telling it ----------------------------------------------------------------------------------------------------------------------


def test_the_card_is_one_comment_that_is_updated_and_sarif_goes_to_code_scanning(proved: Runner, github: GitHub) -> None:
    for _ in range(2):
        done = proved.play("Report", TOKEN="t0ken", GITHUB_API_URL=github.url)
        assert done.returncode == 0 and "the comment was written" in done.stdout and "SARIF was written" in done.stdout, done
    assert [(method, path) for method, path, _ in github.asked] == [
        ("POST", "/repos/me/mine/issues/7/comments"),
        ("POST", "/repos/me/mine/code-scanning/sarifs"),
        ("PATCH", "/repos/me/mine/issues/comments/2"),
        ("POST", "/repos/me/mine/code-scanning/sarifs"),
    ]
    assert "### Detent: clean" in github.comments[1]["body"]
    sent = github.asked[1][2]
    assert (sent["ref"], sent["commit_sha"]) == ("refs/pull/7/merge", proved.env["GITHUB_SHA"])
    assert json.loads(gzip.decompress(b64decode(sent["sarif"])))["version"] == "2.1.0"


def test_the_token_of_a_fork_only_reads_and_that_fails_nothing(proved: Runner, reading: GitHub) -> None:
    done = proved.play("Report", TOKEN="t0ken", GITHUB_API_URL=reading.url)
    assert done.returncode == 0 and "the comment was not written: GitHub says 403" in done.stdout, done
    assert "`pull-requests: write`" in done.stdout and "`security-events: write`" in done.stdout


def test_a_github_that_cannot_be_reached_fails_nothing(proved: Runner) -> None:
    done = proved.play("Report", TOKEN="t0ken", GITHUB_API_URL="http://127.0.0.1:9")
    assert done.returncode == 0 and "was not written" in done.stdout, done


@pytest.mark.slow
def test_the_action_installs_detent_itself(proved: Runner) -> None:
    into = proved.folder / "detent"
    done = proved.play("Install Detent", UV_PROJECT_ENVIRONMENT=str(into))
    assert done.returncode == 0 and (into / "bin" / "detent").exists(), done
    shutil.rmtree(proved.root / ".git" / "detent")
    done = proved.check(DETENT="", PYTHONPATH="")
    assert done.returncode == 0 and "checked before" not in done.stdout, "it looks for itself, with nothing but what it needs installed"
