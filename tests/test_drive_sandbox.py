"""What keeps a driven agent in: the sandbox is named in every verdict, it is never left out silently, and no key gets past it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.app.run_configs import sandbox_of
from detent.config import Settings
from detent.journal.journal_rows import from_entry
from detent.tools import Toolbox
from detent.workflows.tdd.tdd_table import TDD
from tests.driven import HONEST, PLANS, Json, driven, instead, lent, project, run, scripted
from tests.machine import walls
from tests.project import Project

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-api03-0123456789abcdefABCDEF",
    "GH_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "AWS_ACCESS_KEY_ID": "AKIA0123456789ABCDEF",
    "AWS_SECRET_ACCESS_KEY": "aws+secret/that+looks/like+nothing+else+000",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEXAMPLEsessionTOKEN",
    "MY_DATABASE_PASSWORD": "correct horse battery staple",
}
PYTHON = HONEST.removeprefix("command:").split()[0]
STOP: Json = {"fail": {"sort": "ModelUnavailable"}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield project(tmp_path_factory.mktemp("shared") / "p")


@pytest.fixture
def p(shared: Project) -> Iterator[Project]:
    with lent(shared):
        yield shared


# -- which sandbox -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("configured", "name"),
    [
        pytest.param({}, "bubblewrap", marks=walls),
        ({"DETENT_SANDBOX_LEVEL": "outer"}, "outer"),
        ({"DETENT_SANDBOX_LEVEL": "none"}, "none"),
    ],
)
def test_every_verdict_names_the_sandbox_that_its_tests_ran_in(p: Project, configured: dict[str, str], name: str) -> None:
    with driven(p, PLANS, STOP, **configured) as d:
        d.go()
        evidence = next(e.verdict.evidence for e in d.events if e.on == "planned")
        assert evidence is not None and evidence.sandbox == name


@walls
def test_without_bubblewrap_nothing_is_run_and_the_line_that_installs_it_is_told(p: Project) -> None:
    """The command runs in a world of its own in which the program bwrap is not there."""
    world = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap"]
    argv = [*world, *p.argv("run", "add numbers", "--agent", scripted(p, PLANS), "--json")]
    done = subprocess.run(argv, cwd=p.root, env=p.env, capture_output=True, text=True)
    assert done.returncode == 2, done
    said = json.loads(done.stdout)
    assert said["error"] == "bubblewrap is not installed, and nothing is run without it"
    assert "apt-get install bubblewrap" in said["hint"]
    assert all(r["state"] in ("COMPLETE", "ABORTED") for r in p.run("runs", "--all", "--json").json["runs"])


@pytest.mark.slow
@walls
def test_a_sandbox_that_breaks_while_an_agent_works_stops_the_run_and_nothing_goes_on_without_it(p: Project) -> None:
    call = [{"tool": "Bash", "arguments": {"command": "echo I ran > ran.txt"}}]
    with driven(p, *[{"call": call, "reply": "done"}] * 4) as d:
        real = d.driver()

        def turn_of(run: Any, briefing: Any) -> Any:
            turn = real.turns.turn_of(run, briefing)
            broken = sandbox_of(Settings(), True, p.env, p.root)
            broken.sandbox.program = Path("/usr/bin/false")  # type: ignore[attr-defined]
            shell = broken.shell(turn.workspace, {**turn.env}, 20, lambda: True)
            assert isinstance(turn.toolbox, Toolbox)
            return turn._replace(toolbox=Toolbox(turn.workspace, turn.toolbox.may_write, shell, turn.toolbox.spill))

        try:
            done = d.go(instead(real, turn_of=turn_of))
        finally:
            sandbox_of(Settings(), True, p.env, p.root).sandbox.program = Path("/usr/bin/bwrap")  # type: ignore[attr-defined]
        assert (done["outcome"], d.run.cause) == ("halted", "agent")
        assert "the sandbox broke" in done["error"]
        assert not (Path(d.run.data.setup.workspace) / "ran.txt").exists()


# -- programs that are there outside -----------------------------------------------------------------------------------------


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    """A folder for PATH with a program that is a link to somewhere else."""
    program = tmp_path / "elsewhere" / "frob"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho frobbed\n")
    program.chmod(0o755)
    (tmp_path / "tools" / "bin").mkdir(parents=True)
    (tmp_path / "tools" / "bin" / "frob").symlink_to(program)
    return tmp_path / "tools" / "bin"


@pytest.mark.slow
@walls
def test_a_program_that_is_only_there_outside_is_named_with_the_line_that_shows_it(p: Project, hidden: Path) -> None:
    line = f'[sandbox] mounts = ["{hidden.parent.parent / "elsewhere"}"]'
    path = f"{hidden}:{p.env['PATH']}"
    call = [{"tool": "Bash", "arguments": {"command": "true && frob --now"}}]
    with driven(p, {"call": call, **STOP}, PATH=path) as d:
        d.go()
        answer = Path(d.events[-1].sent.facts["transcript"]).read_text()
        assert "Exit code 127" in answer and json.dumps(line)[1:-1] in answer
        d.person("abort")
    with driven(p, agent="command:frob", PATH=path) as d:
        done = d.go()
        assert done["outcome"] == "halted"
        assert "the agent 'frob' could not be started: No such file" in done["error"] and line in done["error"]
        d.person("abort")
    with driven(p, agent="command:no-such-program-anywhere") as d:
        assert d.go()["error"] == "the agent 'no-such-program-anywhere' could not be started: No such file or directory"


@walls
def test_a_test_program_that_is_only_there_outside_is_named_too(p: Project, hidden: Path) -> None:
    inside = sandbox_of(Settings(), True, {**p.env, "PATH": str(hidden)}, p.root)
    with pytest.raises(OSError, match=r"`frob` is installed at .* but it is not visible inside the sandbox"):
        inside.tests(["frob"], p.root, {"PATH": str(hidden)}, 20, lambda: True, ())
    ran = inside.tests(["sh", "-c", "/bin/true; frob"], p.root, {"PATH": f"{hidden}:/usr/bin:/bin"}, 20, lambda: True, ())
    assert ran.exit_code == 127 and "[sandbox] mounts = " in ran.output
    plain = inside.tests(["sh", "-c", "no-such-program"], p.root, {"PATH": "/usr/bin:/bin"}, 20, lambda: True, ())
    assert plain.exit_code == 127 and "mounts" not in plain.output


@pytest.mark.slow
def test_what_is_mounted_as_the_line_says_is_found(p: Project, hidden: Path) -> None:
    mounts = json.dumps([str(hidden.parent.parent / "elsewhere")])
    call = [{"tool": "Bash", "arguments": {"command": "frob"}}]
    with driven(p, {"call": call, **STOP}, PATH=f"{hidden}:{p.env['PATH']}", DETENT_SANDBOX_MOUNTS=mounts) as d:
        d.go()
        assert "frobbed" in Path(d.events[-1].sent.facts["transcript"]).read_text()


# -- keys --------------------------------------------------------------------------------------------------------------------

LOOKS = """
import glob, json, os, sys
def read(path):
    try:
        return open(path, errors="replace").read()
    except OSError:
        return ""
seen = [dict(os.environ), [read(f) for f in glob.glob("/proc/*/environ")], read(os.path.expanduser("~/.netrc"))]
"""


def everything_written(p: Project) -> bytes:
    """The journal, the transcripts and what tools spilled, byte by byte, and all that git holds of the run."""
    script = "find .git/detent -type f -exec cat {} +; git cat-file --batch-all-objects --batch --unordered"
    return subprocess.run(["sh", "-ec", script], cwd=p.root, capture_output=True, check=True).stdout


def leaks(p: Project, *more: str) -> set[str]:
    found = everything_written(p) + "\n".join(more).encode()
    return {name for name, value in KEYS.items() if value.encode() in found}


def test_no_key_of_the_outer_environment_reaches_agents_tools_tests_transcripts_or_journal(p: Project) -> None:
    agent = p.root.parent / "agent.py"
    test = f"{LOOKS}\n\ndef test_env():\n    assert json.dumps(seen) == ''\n"
    writes = f"open('test-list.md', 'w').write('- [ ] adds\\n')\nopen('tests/test_env.py', 'w').write({test!r})\n"
    named = '{"currentTest": {"description": "adds", "testFile": "tests/test_env.py", "implFile": "calc.py"}}'
    agent.write_text(f"{LOOKS}\n{writes}print(json.dumps(seen), file=sys.stderr)\nprint(json.dumps(seen))\nprint({named!r})\n")
    ran = run(p, "--agent", f"command:{PYTHON} {agent}", "--events", DETENT_TDD_RETRIES="0", **KEYS)
    assert ran.code == 1, ran  # a plan that adds a failing test is a failure, and its output is kept
    assert "DETENT_ROLE" in ran.out and "test_env" in everything_written(p).decode("utf-8", "replace")
    assert leaks(p, ran.out, ran.err) == set()


@walls
def test_no_key_reaches_a_bash_call(p: Project) -> None:
    call = [{"tool": "Bash", "arguments": {"command": "env; cat /proc/*/environ; cat ~/.netrc ~/.aws/credentials"}}]
    ran = run(p, "--agent", scripted(p, {"call": call, **STOP}), "--events", **KEYS)
    assert ran.code == 10 and "DETENT_STATE=PLAN" in everything_written(p).decode("utf-8", "replace")
    assert leaks(p, ran.out, ran.err) == set()


@pytest.mark.slow
def test_what_an_unisolated_agent_digs_up_is_taken_out_of_what_is_written_down(p: Project) -> None:
    agent = p.root.parent / "digs.py"
    digs = "import os, sys\nkept = open(f'/proc/{os.getppid()}/environ').read().split('\\0')\n"
    says = f"found = 'found ' + ' '.join(v for v in kept if v.partition('=')[0] in {sorted(KEYS)!r})\n"
    agent.write_text(digs + says + "print(found, file=sys.stderr)\nprint(found)\n")
    ran = run(p, "--agent", f"command:{sys.executable} {agent}", "--events", DETENT_SANDBOX_LEVEL="none", **KEYS)
    assert ran.code == 1 and "[redacted]" in ran.out, ran
    assert leaks(p, ran.out, ran.err) == set()


@pytest.mark.slow
def test_the_scan_for_keys_can_find_one(p: Project) -> None:
    with driven(p, {"reply": f"I found {KEYS['MY_DATABASE_PASSWORD']}"}, STOP) as d:  # which nobody named as a secret to this process
        d.go()
        entry = d.app.journal.at(d.id, 2)
        assert entry is not None and "correct horse" in from_entry(TDD, entry).sent.summary
        assert leaks(p) == {"MY_DATABASE_PASSWORD"}
    for file in (p.root / ".git" / "detent").glob("transcripts/*/*.jsonl"):
        file.unlink()
