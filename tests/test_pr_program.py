"""`git.pr_command`: the program that opens a pull request is started once, also where whoever started it was killed, and on another machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.driven import scripted
from tests.executions import CONFIG, TITLE, WORKS, Till
from tests.forge_server import served
from tests.patience import until
from tests.postgres import Server
from tests.test_execute_ways import READY
from tests.test_forge_pulls import CARED, GREEN, RED, AtForge
from tests.test_queue_machines import Machine
from tests.trackers import FORGES

RUN, URL = "execute-it-1-1", "https://forge.example/pulls/7"
OPENS = """#!{python}
import json, os, pathlib, signal, sys, time, urllib.request
folder = pathlib.Path({folder!r})
with (folder / "opened").open("a") as file:
    file.write("x\\n")
if {api!r}:
    words = json.dumps({{"title": "by a program", "head": {branch!r}, "base": "main", "body": "-"}}).encode()
    ask = urllib.request.Request({api!r}, words, {{"Authorization": "Bearer token-a", "Content-Type": "application/json"}})
    urllib.request.urlopen(ask).read()
if not (folder / "calm").exists():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
print({url!r})
"""


def program(folder: Path, api: str = "", branch: str = "") -> Path:
    """A program that opens a pull request, and takes whoever started it along before it has said so."""
    file = folder / "open-pr"
    file.write_text(OPENS.format(python=sys.executable, folder=str(folder), api=api, branch=branch, url=URL))
    file.chmod(0o755)
    return file


def opens(folder: Path) -> str:
    return f"[git]\nmerge = 'pull-request'\npr_command = '{folder}/open-pr'\n"


def opened(folder: Path) -> int:
    return len((folder / "opened").read_text().splitlines())


def killed(till: Till, run: str) -> None:
    done = subprocess.run(till.project.argv("run", "--run", run, "--park", "--json"), cwd=till.project.root, env=till.project.env)
    assert done.returncode == -9


@pytest.mark.slow
@pytest.mark.parametrize(("words", "times", "url"), [(("--guidance", f"it is {URL}."), 1, URL), ((), 2, URL)])
def test_what_was_cut_off_as_it_opened_a_pull_request_is_asked_of_a_person(
    tmp_path: Path, words: tuple[str, ...], times: int, url: str
) -> None:
    till = Till(tmp_path, f"{CONFIG}{opens(tmp_path)}")
    program(tmp_path)
    assert till.project.run("queue", "add", till.file(), "--agent", scripted(till.project, WORKS, READY)).code == 0
    killed(till, RUN)
    (tmp_path / "calm").touch()
    ran = till.project.run("run", "--run", RUN, "--park", "--json")
    assert (ran.code, ran.json["state"], opened(tmp_path)) == (10, "HALTED", 1), ran
    assert "git.pr_command was started for it-1-add-prices and cut off" in ran.json["error"]
    assert f"detent resume --run {RUN} --guidance URL" in ran.json["error"]
    done = till.project.run("resume", "--run", RUN, *words, "--json")
    assert (done.json["state"], done.json["pull_request"], opened(tmp_path)) == ("COMPLETED", url, times), done


@pytest.mark.slow
def test_a_program_that_says_itself_that_it_failed_is_started_again(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}{opens(tmp_path)}")
    file = tmp_path / "open-pr"
    file.write_text(f"#!/bin/sh\necho x >> {tmp_path}/opened\ntest $(wc -l < {tmp_path}/opened) = 2 && echo {URL}\n")
    file.chmod(0o755)
    ran = till.execute(till.file(), WORKS, READY)
    assert (ran.json["state"], ran.json["pull_request"], opened(tmp_path)) == ("COMPLETED", URL, 2), ran


@pytest.mark.slow
def test_a_forge_is_asked_what_a_program_that_was_cut_off_had_done(tmp_path: Path) -> None:
    till = AtForge("github", tmp_path, f"pr_command = '{tmp_path}/open-pr'\n")
    with served(till.forge):
        till.serve()
        till.forge.put(TITLE)
        program(tmp_path, f"{till.forge.url}/repos/{FORGES['github'][1]}/pulls", "issue-1-add-prices")
        assert till.project.run("queue", "add", "1", "--agent", scripted(till.project, WORKS, READY)).code == 0
        killed(till, "execute-1-1")
        (tmp_path / "calm").touch()
        ran = till.project.run("run", "--run", "execute-1-1", "--park", "--json")
        assert (ran.json["state"], ran.json["pull_request"]) == ("COMPLETED", till.pull["url"]), ran
        assert opened(tmp_path) == 1 and "### Detent: clean" in till.pull["body"], "and it has the text that it should have"


@pytest.mark.slow
def test_a_newer_commit_of_the_branch_starts_the_program_no_second_time(tmp_path: Path) -> None:
    till = AtForge("github", tmp_path, f"pr_command = '{tmp_path}/open-pr'\nwait_for_ci = true\n")
    with served(till.forge):
        till.serve()
        till.forge.put(TITLE)
        (tmp_path / "calm").touch()
        program(tmp_path, f"{till.forge.url}/repos/{FORGES['github'][1]}/pulls", "issue-1-add-prices")
        till.forge.checks["lint"] = RED["github"]

        def mended(method: str, path: str) -> None:
            if method == "PATCH" and "/pulls/" in path:
                till.forge.checks["lint"] = GREEN["github"]

        till.forge.meanwhile = mended
        ran = till.execute("1", WORKS, READY, CARED, READY)
        assert (ran.json["state"], opened(tmp_path), len(till.forge.pulls)) == ("COMPLETED", 1, 1), ran
        assert "2 commits" in till.pull["body"], "the text is that of the newest commit"


@pytest.mark.slow
def test_another_machine_does_not_start_the_program_again(tmp_path: Path, postgres_server: Server) -> None:
    till, url = Till(tmp_path, f"{CONFIG}{opens(tmp_path)}"), postgres_server.database()
    lost, other = Machine(till, tmp_path / "lost", url), Machine(till, tmp_path / "other", url)
    program(tmp_path)
    script = scripted(till.project, WORKS, READY)
    item = lost.json("items", "add", TITLE)["id"]
    lost.json("queue", "add", item, "--agent", script)
    worker = lost.work()
    until((tmp_path / "opened").exists, "the pull request is being opened")
    worker.kill()
    worker.wait()
    (tmp_path / "lost").rename(tmp_path / "gone")
    (tmp_path / "calm").touch()
    worked = other.project.run("work", "--once", "--json")
    assert (worked.code, worked.json["blocked"], opened(tmp_path)) == (10, 1, 1), (worked, other.project.run("queue", "logs", item))
    assert "was started for it-1-add-prices and cut off" in other.project.run("queue", "show", item).out
