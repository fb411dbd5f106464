"""What only people say: refused in a shell that belongs to an agent, wanted from a terminal while one works, and shown again at landing."""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from detent.app.speaker import agent_above, agent_behind, agent_variable, process_at, why_detached
from detent.blocks.open_flags import briefing_flags, list_remarks
from detent.kernel.decide import spoken
from detent.kernel.model import Sent
from tests.patience import until
from tests.project import Project
from tests.webbed import served

WORDS = (
    ("steer", "pytest.ini may be changed"),
    ("answer", "FLAGS", "accept"),
    ("resume", "--guidance", "go on"),
    ("rollback", "1"),
    ("abort",),
    ("doctor", "--accept"),
)


def pulled(folder: Path) -> Project:
    """A run in pull mode that is open."""
    p = Project(folder)
    assert p.task()["workflow"] == "pr"
    return p


def events(p: Project) -> int:
    return len(p.run("history", "--json").json["events"])


# -- a shell that belongs to an agent --------------------------------------------------------------------------------------------

MARKED = {
    "CLAUDECODE": "1", "CODEX_SANDBOX": "seatbelt", "CODEX_THREAD_ID": "x", "GEMINI_CLI": "1", "OPENCODE": "1", "QWEN_CODE": "1",
    "CURSOR_AGENT": "1", "COPILOT_CLI": "1", "GOOSE_TERMINAL": "1", "AGENT": "amp", "DETENT_RUN": "pr-1",
}  # fmt: skip


@pytest.mark.parametrize("name", MARKED)
def test_every_clients_mark_is_known(name: str) -> None:
    assert agent_variable({"HOME": "/h", name: MARKED[name]}) == name


@pytest.mark.parametrize(
    "env",
    [
        {"CODEX_HOME": "/h/.codex", "CODEX_API_KEY": "x"},
        {"GEMINI_API_KEY": "x", "GEMINI_MODEL": "y"},
        {"OPENCODE_CONFIG": "x", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        {"COPILOT_MODEL": "x", "COPILOT_OFFLINE": "true", "CURSOR_TRACE_ID": "x", "CURSOR_API_KEY": "x"},
        {"CLAUDECODE": "0", "AGENT": "jenkins", "SSH_AGENT_PID": "1", "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_MAX_RETRIES": "3"},
    ],
)
def test_what_people_set_for_their_clients_is_no_mark(env: dict[str, str]) -> None:
    assert agent_variable(env) == ""


@pytest.mark.sample(1)
@pytest.mark.needs("terminals")
@pytest.mark.parametrize("words", WORDS, ids=lambda w: w[0])
def test_a_terminal_does_not_help_in_a_shell_that_belongs_to_an_agent(tmp_path: Path, words: tuple[str, ...]) -> None:
    p = pulled(tmp_path / "p")
    before = events(p)
    for mark in ("CLAUDECODE", "CODEX_SANDBOX"):
        script = f"import os, pty, sys; os.environ['{mark}'] = '1'; sys.exit(os.waitstatus_to_exitcode(pty.spawn({p.argv(*words)!r})))"
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=p.root, env=p.env, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        said = " ".join(done.stdout.split())  # at a terminal, lines are folded
        assert done.returncode == 2 and f"this shell belongs to an agent ({mark} is set)" in said, done
        assert "in a terminal of your own or on the page" in said
    assert events(p) == before


def client(folder: Path, name: str = "claude") -> str:
    """A program that looks like a client: a shell under its name."""
    folder.mkdir(exist_ok=True)
    return str(shutil.copy(Path("/bin/sh"), folder / name))


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["claude", "codex", "goose", "opencode"])
@pytest.mark.parametrize("how", ["plain", "env -i", pytest.param("script", marks=pytest.mark.needs("terminals"))])
def test_a_process_below_a_client_is_an_agents_however_clean_its_environment(tmp_path: Path, name: str, how: str) -> None:
    p = pulled(tmp_path / "p")
    said = f"{sys.executable} -m detent steer 'pytest.ini may be changed'"
    env = f"env -i HOME={os.environ['HOME']} PATH={p.env['PATH']} PYTHONPATH={p.env['PYTHONPATH']} XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}"
    line = {"plain": said, "env -i": f"{env} {said}", "script": f'script -qec "{env} {said}" /dev/null'}[how]
    argv = [client(tmp_path / "bin", name), "-c", f"{line}; exit $?"]
    done = subprocess.run(argv, cwd=p.root, env=p.env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and f"it runs below {name}" in " ".join((done.stdout + done.stderr).split()), done
    assert events(p) == 1


def test_a_client_that_runs_as_a_script_is_known_by_its_package_and_the_variables_above_count(tmp_path: Path) -> None:
    proc = tmp_path / "proc"

    def process(pid: int, parent: int, comm: str, words: list[str], environ: str = "") -> None:
        folder = proc / str(pid)
        folder.mkdir(parents=True)
        (folder / "stat").write_text(f"{pid} (a) b) S {parent} 1 1")
        (folder / "comm").write_text(f"{comm}\n")
        (folder / "cmdline").write_text("\0".join(words) + "\0")
        (folder / "environ").write_text(environ)

    process(10, 1, "node", ["node", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"])
    process(11, 10, "bash", ["bash", "-lc", "true"])
    process(20, 1, "zsh", ["-zsh"], "HOME=/h\0")
    process(21, 20, "python3", ["python3", "/srv/codex/notes.py", "claude"])
    process(30, 1, "sh", ["sh"], "OPENCODE=1\0")
    process(31, 30, "sh", ["sh", "-c", "detent"])
    process(40, 1, "python3", ["python3", "/h/.local/bin/aider", "--yes"])
    assert agent_above({}, 11, proc) == "it runs below gemini"
    assert agent_above({}, 21, proc) == "", "a folder or a word of that name is no client"
    assert agent_above({}, 31, proc) == "OPENCODE is set in the process above it"
    assert agent_above({}, 40, proc) == "it runs below aider"
    assert agent_above({}, 99, proc) == ""


FORKS = """import os, pty, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
time.sleep(0.5)
pty.spawn(["sh", "-c", "{line}"])
"""
LOOSE = {  # ways to leave a client behind, with a terminal
    "setsid and script": 'setsid -f script -qec "{line}" /dev/null < /dev/null > /dev/null 2>&1',
    "a subshell and script": '(script -qec "{line}" /dev/null < /dev/null > /dev/null 2>&1 &)',
    "a program that forks twice": """{python} -c 'import os, pty
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
import time
while os.getppid() not in (0, 1):
    time.sleep(0.05)
    if open(f"/proc/{{os.getppid()}}/comm").read().strip() in ("systemd", "init"):
        break
pty.spawn(["sh", "-c", "{line}"])' < /dev/null > /dev/null 2>&1""",
    "a program in a file": "{python} {folder}/forks.py < /dev/null > /dev/null 2>&1",
    "a program that came by its input": "{python} < {folder}/forks.py > /dev/null 2>&1",
    "a shell script": "setsid -f sh {folder}/x.sh < /dev/null > /dev/null 2>&1",
    "a launcher above": 'setsid -f timeout 60 script -qec "{line}" /dev/null < /dev/null > /dev/null 2>&1',
    "a Makefile": "setsid -f make -s -f {folder}/Makefile < /dev/null > /dev/null 2>&1",
    "an alias of git": "setsid -f git -c alias.x='!sh {folder}/x.sh' x < /dev/null > /dev/null 2>&1",
}


@pytest.mark.sample(1)
@pytest.mark.needs("terminals", "proc")
@pytest.mark.parametrize("how", LOOSE)
def test_a_program_that_was_cut_loose_is_no_person_though_it_has_a_terminal(tmp_path: Path, how: str) -> None:
    p, told = pulled(tmp_path / "p"), tmp_path / "told"
    env = f"env -i HOME={os.environ['HOME']} PATH={p.env['PATH']} PYTHONPATH={p.env['PYTHONPATH']} XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}"
    said = f"cd {p.root}; sleep 1; {env} {sys.executable} -m detent steer fine; echo $? > {told}.now; mv {told}.now {told}"
    (file := tmp_path / "said.sh").write_text(said)
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)  # a test before may have made this process one that takes in whoever is cut loose (a subreaper)
    line = f"sh {file}"
    (tmp_path / "forks.py").write_text(FORKS.format(line=line))
    (tmp_path / "x.sh").write_text(f'script -qec "{line}" /dev/null\n')
    (tmp_path / "Makefile").write_text(f'all:\n\tscript -qec "{line}" /dev/null\n')
    subprocess.run(["sh", "-c", LOOSE[how].format(line=line, python=sys.executable, folder=tmp_path)], env=p.env, check=True)
    until(told.exists)
    assert told.read_text() == "2\n" and events(p) == 1


def test_shells_of_people_are_not_taken_for_cut_loose(tmp_path: Path) -> None:
    proc = tmp_path / "proc"

    def process(pid: int, parent: int, *words: str, comm: str = "") -> None:
        (proc / str(pid)).mkdir(parents=True)
        (proc / str(pid) / "stat").write_text(f"{pid} (a) S {parent} 1 1")
        (proc / str(pid) / "comm").write_text(f"{comm or words[0].rpartition('/')[2]}\n")
        (proc / str(pid) / "cmdline").write_text("\0".join(words) + "\0")
        (proc / str(pid) / "environ").write_text("")

    process(1, 0, "/sbin/init", comm="systemd")
    process(9, 1, "/usr/lib/systemd/systemd", "--user")
    process(10, 9, "/usr/libexec/gnome-terminal-server")
    process(11, 10, "-bash")
    process(12, 11, "detent", "answer")  # a terminal on a desktop
    process(20, 1, "sshd: ann")
    process(21, 20, "bash", "-c", "detent answer")
    process(22, 21, "detent", "answer")  # one line over ssh
    process(30, 1, "bash")
    process(31, 30, "detent", "answer")  # the shell of a container that has an init
    process(40, 1, "tmux: server")
    process(41, 40, "-zsh")
    process(42, 41, "script", "session.log")
    process(43, 42, "zsh", "-i")
    process(44, 43, "detent", "answer")  # a person who keeps what they see
    process(50, 1, "python3", "/usr/bin/terminator")
    process(51, 50, "/bin/bash")
    process(52, 51, "detent", "answer")
    process(60, 0, "bash")
    process(61, 60, "detent", "answer")  # docker exec
    process(55, 1, "python3", "-m", "terminal_of_ones_own")
    process(56, 55, "python3", "-c", "a line")
    process(57, 56, "detent", "answer")  # a program made the line, and somebody may have started that program
    process(70, 1, "script", "-qec", "detent answer", "/dev/null")
    process(71, 70, "sh", "-c", "detent answer")
    process(72, 71, "detent", "answer")
    process(80, 9, "expect", "-f", "answer.exp")
    process(81, 80, "detent", "answer")
    process(90, 1, "sh", "/home/ann/.vscode-server/bin/code-server")
    process(91, 90, "/home/ann/.vscode-server/node", "/home/ann/.vscode-server/out/server-main.js")
    process(92, 91, "/bin/bash", "--init-file", "/home/ann/.vscode-server/init.sh")
    process(93, 92, "detent", "answer")  # an editor on another machine
    process(100, 1, "sh", "/entrypoint.sh")
    process(101, 100, "bash")
    process(102, 101, "detent", "answer")  # a container with an init and a script of its own
    process(110, 1, "npm run answer")
    process(111, 110, "sh", "-c", "script -qec 'detent answer' /dev/null")
    process(112, 111, "detent", "answer")
    process(119, 1, "atd")
    process(120, 119, "sh")
    process(121, 120, "script", "-qec", "detent answer", "/dev/null")
    process(122, 121, "detent", "answer")  # at a time when nobody sits there
    process(130, 1, "/usr/bin/node", "helper.js")
    process(131, 130, "sh", "-c", "detent answer")
    process(132, 131, "detent", "answer")
    pids = (12, 22, 31, 44, 52, 57, 61, 72, 81, 93, 102, 112, 122, 132)
    assert [pid for pid in pids if why_detached(pid, proc)] == [72, 81, 112, 122, 132]


def test_answers_beforehand_and_the_page_are_not_an_agents_either(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    for words in (
        ("start", "--baseline"),
        ("run", "--workflow", "tdd", "x", "--yes-to", "flags=unnoticed"),
        ("serve", "--port", "0", "--no-open"),
    ):
        done = p.alone(*words, CLAUDECODE="1")
        assert done.returncode == 2 and "this shell belongs to an agent" in done.stderr, (words, done)
    assert p.alone("start", CLAUDECODE="1").returncode == 0, "to start a run is for anyone"


# -- no terminal -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_while_an_agent_works_by_itself_a_program_without_a_terminal_does_not_speak_for_a_person(tmp_path: Path) -> None:
    p = pulled(tmp_path / "p")
    for words in WORDS:
        done = p.alone(*words)
        assert done.returncode == 2 and "there is no terminal here" in done.stderr and 'require = "anywhere"' in done.stderr, (words, done)
    assert events(p) == 1
    said = p.in_person("steer", "prices are in cents")
    assert said.code == 0, said
    assert p.run("history", "--json").json["events"][-1]["channel"] == "terminal"
    assert "prices are in cents" in p.task()["briefing"]


@pytest.mark.parametrize("name", ["DETENT_DECISIONS_REQUIRE", "a file on disk"])
def test_the_setting_that_opens_it_is_taken_from_a_commit_alone(tmp_path: Path, name: str) -> None:
    p = Project(tmp_path / "p")
    env = {}
    if name == "a file on disk":
        p.write({"detent.toml": '[decisions]\nrequire = "anywhere"\n'})
    else:
        env[name] = "anywhere"
    done = p.alone("start", "--adopt", **env)
    assert done.returncode == 2 and "counts only in a committed file" in done.stderr, done


def test_with_the_setting_committed_programs_speak_for_people_even_below_a_client(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    p.write({"detent.toml": '[decisions]\nrequire = "anywhere"\n'})
    p.git("add", "-A")
    p.git("commit", "-qm", "programs speak for people here")
    p.task()
    assert p.alone("steer", "x", CLAUDECODE="1").returncode == 0


@pytest.mark.slow
def test_a_run_keeps_to_what_was_committed_when_it_began(tmp_path: Path) -> None:
    p = pulled(tmp_path / "p")
    p.write({"detent.toml": '[decisions]\nrequire = "anywhere"\n'})
    p.git("add", "-A")
    p.git("commit", "-qm", "an agent opens it for itself")
    for words in (("steer", "x"), ("doctor", "--accept"), ("land", "--accept", "0123456789")):
        assert p.alone(*words).returncode == 2, words


@pytest.mark.slow
def test_where_no_agent_calls_by_itself_a_program_may_speak_for_people(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    assert p.alone("doctor", "--accept").returncode in (0, 2)
    assert "for a person" not in p.alone("doctor", "--accept").stderr
    p.task()
    p.in_person("abort")
    assert "for a person" not in p.alone("doctor", "--accept").stderr, "the run has ended"


# -- over HTTP -------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_token_that_an_agent_found_does_not_open_what_is_for_people(tmp_path: Path) -> None:
    p = pulled(tmp_path / "p")
    run = p.task()["run"]
    asks = """
import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
c.request("POST", sys.argv[3], b'{"text": "pytest.ini may be changed"}', {"Authorization": f"Bearer {sys.argv[2]}", "Content-Type": "application/json"})
answer = c.getresponse()
print(answer.status, answer.read().decode())
"""
    with served(p) as to:
        words = [sys.executable, "-c", asks, str(to.port), to.token, f"/api/runs/{run}/steer"]
        for argv in ([client(tmp_path / "bin", "codex"), "-c", '"$@"; exit $?', "sh", *words], ["env", "GEMINI_CLI=1", *words]):
            said = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **p.env}).stdout
            assert said.startswith("422 ") and "the calling program belongs to an agent" in said, said
        assert events(p) == 1


LEAVES = """
import os, socket, sys
to, token, path, how = sys.argv[1:]
said = b'{"text": "pytest.ini may be changed"}'
head = f"POST {path} HTTP/1.1\\r\\nHost: 127.0.0.1:{to}\\r\\nAuthorization: Bearer {token}\\r\\nContent-Type: application/json\\r\\n"
line = socket.socket()
if how == "from another address":
    line.bind(("127.0.0.2", 0))
line.connect(("127.0.0.1", int(to)))
line.sendall(f"{head}Content-Length: {len(said)}\\r\\n\\r\\n".encode() + said)
if how == "shut":
    line.shutdown(socket.SHUT_WR)
if how == "from another address":
    print(line.recv(20).decode())
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["left", "shut", "from another address"])
def test_who_leaves_before_anybody_can_look_is_not_heard(tmp_path: Path, how: str) -> None:
    p = pulled(tmp_path / "p")
    run = p.task()["run"]
    with served(p) as to:
        words = [sys.executable, "-c", LEAVES, str(to.port), to.token, f"/api/runs/{run}/steer", how]
        argv = [client(tmp_path / "bin", "codex"), "-c", '"$@"; exit $?', "sh", *words]
        subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **p.env}, check=True)
        assert to.get("/api/runs"), "what came before is at work"
    assert events(p) == 1, "and has ended with the server"


def test_who_leaves_while_all_processes_are_looked_at_is_not_taken_for_another_user() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        port = client.getsockname()[1]
        assert process_at(port, list) == 0, "nobody whom we may look at has it"

        def leaving() -> list[int]:
            client.close()
            return []

        assert process_at(port, leaving) is None


def test_the_process_at_the_other_end_of_a_connection_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert process_at(client.getsockname()[1]) == os.getpid()
    assert process_at(1) is None


# -- in a dialog of a client ----------------------------------------------------------------------------------------------------

DIALOGS = {  # what stands above the server, the nearest first: its words and its environment; and whether a person is heard
    "a client": ([(["claude"], "")], True),
    "a client that marks its own process": ([(["/usr/lib/codex/codex", "mcp"], "CODEX_MANAGED_BY_NPM=1\0")], True),
    "a client by way of a launcher": ([(["uv", "tool", "run", "detent"], ""), (["sh", "-c", "uvx detent mcp"], ""), (["goose"], "")], True),
    "a client by way of npx": ([(["node", "/usr/bin/npx", "x"], ""), (["npm exec x"], ""), (["claude"], "")], True),
    "a client that nobody knows": ([(["/opt/editor/editor", "--host"], ""), (["-zsh"], "")], True),
    "a program in a marked shell": ([(["python3", "me.py"], ""), (["bash"], "CLAUDECODE=1\0"), (["claude"], "")], False),
    "a program in a shell without a mark": ([(["python3", "me.py"], ""), (["bash"], ""), (["aider"], "")], False),
    "a shell that is marked": ([(["bash", "me.sh"], "GEMINI_CLI=1\0")], False),
    "a program below a driven client": ([(["node", "me.mjs"], ""), (["sh"], ""), (["node", "/n/@google/gemini-cli/gemini.js"], "")], False),
}


@pytest.mark.parametrize("name", DIALOGS)
def test_only_a_client_itself_shows_a_person_a_dialog(tmp_path: Path, name: str) -> None:
    above, heard = DIALOGS[name]
    for at, (words, environ) in enumerate(above, 10):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / "stat").write_text(f"{at} (x) S {at + 1} 1 1")
        (folder / "comm").write_text("x\n")
        (folder / "cmdline").write_text("\0".join(words) + "\0")
        (folder / "environ").write_text(environ)
    assert (agent_behind(10, tmp_path) == "") is heard, agent_behind(10, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("over", ["pipes", "http"])
def test_a_program_that_an_agent_started_does_not_answer_as_a_client_would(tmp_path: Path, over: str) -> None:
    p = pulled(tmp_path / "p")
    run = p.task()["run"]
    asks = """
import socket, sys
from pathlib import Path
from detent.app import open_app
from detent.app.people import must_be_a_persons_dialog
from detent.errors import DetentError
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as line:
    try:
        must_be_a_persons_dialog(open_app(Path.cwd()), line.getsockname()[1] if sys.argv[2] == "http" else None, sys.argv[1])
    except DetentError as e:
        print(e)
"""
    started = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {asks!r}, '{run}', '{over}'])"  # as a client starts its server
    )
    env = f"env -i HOME={os.environ['HOME']} PATH={p.env['PATH']} PYTHONPATH={p.env['PYTHONPATH']} XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}"
    line = f'{env} {sys.executable} -c "$1"; exit $?'
    argv = [client(tmp_path / "bin"), "-c", line, "sh", started]
    said = subprocess.run(argv, cwd=p.root, env=p.env, capture_output=True, text=True)
    assert "not a person's client" in said.stdout and "runs below claude" in said.stdout, said


# -- shown again -----------------------------------------------------------------------------------------------------------------


def test_what_people_said_stands_where_the_branch_lands_with_its_channel() -> None:
    said = [
        spoken(Sent("answer", by="human", channel="web", decision="FLAGS", value="accept", note="seen\n it", facts={"who": "jo"})),
        spoken(Sent("steer", by="human", channel="no terminal", note="x" * 500)),
        spoken(Sent("resume", by="human", channel="policy")),
    ]
    assert said[0] == "jo (web) answered FLAGS with accept: seen it"
    assert said[1].startswith("a person (no terminal) told the agent: xxx") and said[1].endswith("…")
    assert said[2] == "a person (policy) released the run"
    text = list_remarks(tuple(said))
    assert all(f"- {line}" in text for line in said) and "If you did not say one of these" in text
    assert list_remarks(()) == ""
    assert briefing_flags is not None


def test_a_word_to_the_agent_is_kept_in_the_run_that_lands(tmp_path: Path) -> None:
    p = pulled(tmp_path / "p")
    p.run("steer", "pytest.ini may be changed")
    p.run("steer", "and conftest.py")
    shown = json.loads(p.alone("status", "--json").stdout)
    assert [line.partition(") ")[2] for line in shown["said"]] == [
        "told the agent: pytest.ini may be changed",
        "told the agent: and conftest.py",
    ]
    assert all("(terminal)" in line for line in shown["said"])
