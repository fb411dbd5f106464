"""Small holes, each with its kin: what a link shows, what git runs and does not look at, keys in other encodings, clients that leave, endless refusals."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.evidence.source.secret_keys import keys_added
from detent.git.snapshot import hidden_changes, take
from detent.interfaces import patience
from detent.kernel.decide import MOST_ALIKE, MOST_REFUSED
from detent.sandbox.visible import toolchains
from tests.project import Project
from tests.repos import git_at, make_repo, sh, write
from tests.webbed import Served, served

# -- what a link on the PATH shows -----------------------------------------------------------------------------------------------


def shown(home: Path, link: str, target: str) -> tuple[Path, ...]:
    """What programs see, where a folder of the PATH has a link to a program below the home."""
    (home / link).parent.mkdir(parents=True, exist_ok=True)
    (home / target).parent.mkdir(parents=True, exist_ok=True)
    (home / target).write_text("#!/bin/sh\n")
    (home / target).chmod(0o755)
    (home / link).symlink_to(home / target)
    return toolchains({"HOME": str(home), "PATH": str((home / link).parent)})


@pytest.mark.parametrize("target", ["payroll/bin/tool", "work/payroll/bin/tool", "payroll/sbin/tool", "payroll/scripts/tool"])
def test_a_link_to_a_program_of_a_project_shows_that_program_alone(tmp_path: Path, target: str) -> None:
    write(tmp_path, {"payroll/lib/salaries.csv": "1", "payroll/src/a.py": "", "work/payroll/share/x": "", "payroll/data/x": ""})
    found = shown(tmp_path, "bin/tool", target)
    assert tmp_path / target in found
    hidden = [p for p in tmp_path.rglob("*") if "payroll" in p.parts and p != tmp_path / target and p.is_file()]
    assert hidden and not [p for p in hidden if any(p.is_relative_to(place) for place in found)]


@pytest.mark.parametrize(
    ("target", "beside"),
    [
        ("venvs/x/bin/tool", ("venvs/x/pyvenv.cfg", "venvs/x/lib/python3.11/a.py", "venvs/x/bin/python")),
        ("sdk/go/bin/go", ("sdk/go/pkg/tool/compile", "sdk/go/src/fmt/print.go", "sdk/go/VERSION")),
        ("opt/node/bin/node", ("opt/node/lib/node_modules/npm/index.js", "opt/node/include/node/node.h")),
        (".tool/bin/tool", (".tool/lib/a.so",)),
        ("app/node_modules/x/bin/x.js", ("app/node_modules/y/index.js",)),
    ],
)
def test_a_link_into_a_toolchain_shows_what_it_cannot_do_without(tmp_path: Path, target: str, beside: tuple[str, ...]) -> None:
    write(tmp_path, {**dict.fromkeys(beside, ""), f"{Path(target).parts[0]}/secret.txt": "x"})
    found = shown(tmp_path, "bin/tool", target)
    for path in (target, *beside):
        assert any((tmp_path / path).is_relative_to(place) for place in found), path
    assert not any((tmp_path / Path(target).parts[0] / "secret.txt").is_relative_to(place) for place in found)


# -- what git runs for the person and not for us ---------------------------------------------------------------------------------


def planted(home: Path, how: str) -> None:
    """A filter for every file, where git looks for a person's own settings."""
    ran = f'[filter "x"]\n\tclean = "touch {home}/ran; cat"\n\tsmudge = "touch {home}/ran; cat"\n\tprocess = "touch {home}/ran"\n'
    files = {
        "xdg": {".config/git/config": ran, ".config/git/attributes": "* filter=x\n"},
        "home": {".gitconfig": f"{ran}[core]\n\tattributesFile = {home}/attributes\n", "attributes": "* filter=x\n"},
        "included": {".gitconfig": f"[include]\n\tpath = {home}/more\n[core]\n\tattributesFile = {home}/attributes\n", "more": ran, "attributes": "* filter=x\n"},
        "textconv": {".gitconfig": f'[diff "x"]\n\ttextconv = "touch {home}/ran; cat"\n\tcommand = "touch {home}/ran"\n', ".config/git/attributes": "* diff=x\n"},
        "lfs in name only": {".gitconfig": ran.replace('"x"', '"lfs"'), ".config/git/attributes": "* filter=lfs\n"},
    }  # fmt: skip
    write(home, files[how])


@pytest.mark.parametrize("how", ["xdg", "home", "included", "textconv", "lfs in name only"])
def test_filters_of_the_home_run_in_no_call_of_ours(tmp_path: Path, how: str) -> None:
    home = tmp_path / "home"
    root = make_repo(tmp_path / "p", {"a.txt": "a\n"})
    planted(home, how)
    (root / "a.txt").write_text("b\n")
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    subprocess.run(["git", "add", "-A"] if how != "textconv" else ["git", "diff"], cwd=root, env=env, check=False, capture_output=True)
    assert (home / "ran").exists(), "the person's own git runs it"
    (home / "ran").unlink()
    (root / "a.txt").write_text("c\n")
    git = type(git_at(root))(git_at(root).place, env)
    snap = take(git, "r1")
    git.patch(git.tree("HEAD"), snap.tree)
    git.run("read-tree", "-u", "--reset", "HEAD")
    assert not (home / "ran").exists()


def test_what_people_set_for_themselves_and_runs_nothing_holds(tmp_path: Path) -> None:
    home = tmp_path / "home"
    root = make_repo(tmp_path / "p", {"a.txt": "a\n"})
    sh(root, "git", "config", "--unset", "user.name")
    write(home, {
        ".gitconfig": f"[user]\n\tname = Jo\n[core]\n\tautocrlf = input\n\texcludesFile = {home}/ignored\n[include]\n\tpath = more\n",
        "more": "[user]\n\tsigningkey = x\n\temail = jo@included\n", "ignored": "*.log\n",
    })  # fmt: skip
    git = type(git_at(root))(git_at(root).place, {"HOME": str(home), "PATH": os.environ["PATH"]})
    assert git.identity()["GIT_AUTHOR_NAME"] == "Jo", "also by settings that are included"
    write(root, {"b.txt": "x\r\n", "c.log": ""})
    tree = take(git, "r1").tree
    assert git.read(tree, "b.txt") == b"x\n" and git.read(tree, "c.log") is None


# -- files that git is told not to look at ---------------------------------------------------------------------------------------


def assumed(root: Path) -> None:
    sh(root, "git", "update-index", "--assume-unchanged", "t.py")


def skipped(root: Path) -> None:
    sh(root, "git", "update-index", "--skip-worktree", "t.py")


def both(root: Path) -> None:
    assumed(root)
    skipped(root)


def by_setting(root: Path) -> None:
    """Git's own setting marks whatever it writes to the index."""
    sh(root, "git", "config", "core.ignoreStat", "true")
    sh(root, "git", "update-index", "--force-remove", "t.py")
    sh(root, "git", "update-index", "--add", "t.py")


@pytest.mark.parametrize("hide", [assumed, skipped, both, by_setting])
def test_a_weakened_test_is_seen_whatever_the_index_says_of_it(tmp_path: Path, hide: Callable[[Path], None]) -> None:
    root = make_repo(tmp_path / "p", {"t.py": "assert add(1, 2) == 3\n", "other.py": ""})
    hide(root)
    (root / "t.py").write_text("assert True\n")
    assert sh(root, "git", "status", "--porcelain") == "", "git itself sees nothing"
    git = git_at(root)
    assert git.read(take(git, "r1").tree, "t.py") == b"assert True\n"
    assert hidden_changes(git) == ["t.py"]


def test_a_sparse_checkout_loses_nothing(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"in/a.py": "a\n", "out/b.py": "b\n"})
    sh(root, "git", "sparse-checkout", "set", "in")
    assert not (root / "out").exists()
    git = git_at(root)
    assert take(git, "r1").tree == git.tree("HEAD") and hidden_changes(git) == []


def test_a_run_does_not_start_over_a_change_that_git_was_told_not_to_look_at(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    sh(p.root, "git", "update-index", "--assume-unchanged", "calc.py")
    p.write({"calc.py": "x = 1\n"})
    ran = p.run("start")
    assert ran.code == 2 and "calc.py is changed, but git is set to ignore its changes" in ran.err, ran


# -- keys in other encodings -----------------------------------------------------------------------------------------------------

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_a_key_is_found_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    root = make_repo(tmp_path / "p", {"a.txt": "a\n"})
    (root / "b.txt").write_bytes(f"first\ntoken = {KEY}\nlast\n".encode(encoding))
    git = git_at(root)
    found = keys_added(git.patch(git.tree("HEAD"), take(git, "r1").tree)[1], {})
    assert found == ("b.txt:2: a GitHub token",)


def test_a_key_is_found_in_the_name_of_a_file(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"a.txt": "a\n"})
    (root / "notes").mkdir()
    (root / "notes" / f"{KEY}.txt").touch()
    (root / "b.txt").write_text("diff --git a/x b/y\nnew file mode 100644\n")
    git = git_at(root)
    found = keys_added(git.patch(git.tree("HEAD"), take(git, "r1").tree)[1], {})
    assert found == (f"notes/{KEY}.txt: a GitHub token in its name",)


OF_SERVICES = {
    "a Hugging Face token": "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3h",
    "a SendGrid key": "SG." + "aB3dE6gH9jK2mN5pQ8sT1v." + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6kL9nP2q",
    "a DigitalOcean token": "dop_v1_" + "0a1b2c3d4e5f6071" * 4,
    "an OpenRouter key": "sk-or-v1-" + "0a1b2c3d4e5f6071" * 4,
    "a Groq key": "gsk_" + "aB3dE6gH9jK2m" * 4,
    "an xAI key": "xai-" + "aB3dE6gH9jK2mN5p" * 5,
    "an Azure storage key": "AccountKey=" + ("aB3dE6gH9jK2mN5p" * 6)[:86] + "==",
}


@pytest.mark.parametrize("kind", OF_SERVICES)
def test_keys_of_more_services_are_known(kind: str) -> None:
    patch = f"diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+key = {OF_SERVICES[kind]}\n"
    assert keys_added(patch.encode(), {}) == (f"b:1: {kind}",)


@pytest.mark.parametrize(
    "text", [KEY[:9] + "\u200b" + KEY[9:], KEY[:9] + "\u00ad" + KEY[9:], "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in KEY)]
)
def test_a_key_is_found_behind_characters_that_nobody_sees_or_that_look_alike(text: str) -> None:
    assert keys_added(f"diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+{text}\n".encode(), {}) == ("b:1: a GitHub token",)


def test_other_text_in_these_encodings_is_no_key() -> None:
    for text in ("Grüße an alle", "日本語のテキスト", "a plain line"):
        for encoding in ("utf-8", "utf-16-le", "utf-32-be"):
            assert keys_added(b"+++ b/b\n@@ -0,0 +1 @@\n+" + text.encode(encoding) + b"\n", {}) == ()


# -- clients that leave or say nothing -------------------------------------------------------------------------------------------


@pytest.fixture
def to(tmp_path: Path) -> Iterator[Served]:
    with served(Project(tmp_path / "p")) as server:
        yield server


def head(to: Served, length: int = 100) -> bytes:
    return (
        f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{to.port}\r\nAuthorization: Bearer {to.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.sample(2)
@pytest.mark.parametrize("said", ["half a body", "no body", "half a head", "chunks"])
def test_a_client_that_leaves_in_the_middle_leaves_no_word_in_the_log(to: Served, said: str) -> None:
    chunked = head(to).replace(b"Content-Length: 100", b"Transfer-Encoding: chunked")
    data = {"half a body": head(to) + b'{"req', "no body": head(to), "half a head": head(to)[:60], "chunks": chunked + b'5\r\n{"req\r\n'}[
        said
    ]
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", to.port)) as client:
            client.sendall(data)
    assert to.ask("/api/runs")[0] == 200
    to.child.terminate()
    assert to.child.stderr is not None and to.child.stderr.read() == ""


@pytest.mark.parametrize("said", ["nothing", "half a head", "half a second head"])
def test_a_connection_that_says_no_whole_request_is_closed_in_time(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    import uvicorn

    async def app(scope: object, receive: object, send: Callable[..., object]) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})  # type: ignore[misc]
        await send({"type": "http.response.body", "body": b""})  # type: ignore[misc]

    monkeypatch.setattr(patience, "HEAD", 0.3)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", http=patience.Patient, timeout_keep_alive=600))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        with socket.create_connection(listening.getsockname(), timeout=30) as client:
            if said == "half a second head":
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert client.recv(4096).startswith(b"HTTP/1.1 204")
            if said != "nothing":
                client.sendall(b"GET / HTTP/1.1\r\nHo")
            assert client.recv(4096) == b"", "closed, and nothing said"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


# -- the same refusal without end ------------------------------------------------------------------------------------------------


def refused(p: Project, **fields: str) -> dict[str, object]:
    return p.submit(**fields)


@pytest.mark.slow
def test_an_agent_that_is_refused_for_one_reason_again_and_again_waits_for_a_person(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    p.task()
    verdicts = [refused(p) for _ in range(MOST_ALIKE)]
    assert [v["status"] for v in verdicts] == ["REFUSED"] * (MOST_ALIKE - 1) + ["HALTED"]
    last = verdicts[-1]
    assert f"refused {MOST_ALIKE} times in a row for the same reason, so the run waits for a person" in str(last["reasons"]), last
    assert p.run("get-task").code == 10
    before = p.run("status", "--json").json["events"]
    for _ in range(MOST_ALIKE + 5):
        assert refused(p)["status"] == "REFUSED"
    assert p.run("status", "--json").json["events"] == before + MOST_ALIKE, "no row repeats without a bound"
    done = p.in_person("resume", "--json")
    assert done.json["status"] == "SUCCESS", done
    assert refused(p)["status"] == "REFUSED", "and it begins anew"


def test_refusals_for_changing_reasons_have_an_end_too() -> None:
    from detent.app.registry import workflow_of
    from detent.kernel.decide import decide
    from detent.kernel.model import Found, Run, Sent
    from detent.workflows.pr.pr_data import PrData

    table = workflow_of("pr").table
    run: Run[PrData] = Run("r", "pr", "INITIALIZING", 1, PrData(), limits=dict(table.limits))
    for n in range(MOST_REFUSED):
        decision = decide(table, run, Sent("submit"), None, Found(refused=(f"reason {n % 7}",)))
        run = decision.run  # type: ignore[assignment]
        assert decision.status == ("HALTED" if n == MOST_REFUSED - 1 else "REFUSED")
    assert run.state == "HALTED" and run.back == "INITIALIZING" and run.refusals == (0, 0)
