"""`detent init --client`: what is written for each client, beside what is there, and taken back exactly."""

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from detent.interfaces.register import PARTS
from detent.interfaces.register.act import DetentCall, call_of
from tests.project import Project

CLIENTS = tuple(PARTS)
MINE: dict[str, dict[str, str]] = {  # what a project may have already, in its own form
    "nothing": {},
    "empty": {
        ".mcp.json": "{}",
        ".claude/settings.json": "",
        ".codex/config.toml": "",
        ".codex/hooks.json": "{}\n",
        ".gemini/settings.json": "{}",
        ".qwen/settings.json": "",
        ".github/mcp.json": "{}\n",
        "opencode.json": "{}",
        ".cursor/mcp.json": "{}",
        ".cursor/hooks.json": "",
    },
    "others": {
        ".mcp.json": '{"mcpServers": {"x": {"command": "x"}}, "unknown": [1, 2.50, null]}',
        ".claude/settings.json": '{\n\t"model": "é",\n\t"hooks": {\n\t\t"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n\t}\n}\n',
        ".codex/config.toml": '# mine\nmodel = "x"  # keep\n\n[mcp_servers.x]\ncommand = "x"',
        ".codex/hooks.json": '{"hooks": {"PreToolUse": []}, "z": 1, "a": 2}',
        ".gemini/settings.json": '{"hooks": {"BeforeTool": [{"matcher": "x", "hooks": []}]}, "mcpServers": {"x": {}}}',
        ".qwen/settings.json": '{"$version": 3, "hooks": {}}',
        ".github/mcp.json": '{"mcpServers": {"x": {"type": "local"}}}',
        "opencode.json": '{\n\t"$schema": "https://opencode.ai/config.json",\n\t"mcp": {}\n}',
        ".cursor/mcp.json": '{"mcpServers": {}}',
        ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "say done"}]}}',
    },
    "windows": {".claude/settings.json": '{\r\n    "a": 1\r\n}\r\n', ".codex/config.toml": "a = 1\r\n"},
}


def tree(root: Path) -> dict[str, bytes | None]:
    """Every file and folder of the project."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in root.rglob("*") if ".git" not in path.parts
    }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "p")
    project.run("init")  # detent.toml is not what these tests are about
    return project


def init(project: Project, *words: str) -> dict[str, Any]:
    ran = project.run("init", "--json", *words)
    assert ran.code == 0, ran
    return ran.json


@pytest.mark.sample(2)
@pytest.mark.parametrize("mine", MINE)
@pytest.mark.parametrize("client", CLIENTS)
def test_registering_keeps_what_is_there_can_be_repeated_and_is_undone_byte_for_byte(project: Project, client: str, mine: str) -> None:
    for name, text in MINE[mine].items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_bytes(text.encode())
    before = tree(project.root)
    first = init(project, "--client", client)["clients"][0]
    after = tree(project.root)
    changed = {name for name in after if before.get(name) != after[name] and after[name] is not None}
    assert first["changed"] and changed == {part.path for part in PARTS[client](["detent"])} == set(first["diffs"])
    assert all(f"+++ {name}\n" in diff for name, diff in first["diffs"].items())
    assert init(project, "--client", client)["clients"][0]["changed"] is False and tree(project.root) == after
    taken = init(project, "--client", client, "--remove")["clients"][0]
    assert taken["changed"] and tree(project.root) == before
    assert init(project, "--client", client, "--remove")["clients"][0]["changed"] is False and tree(project.root) == before


def test_what_others_wrote_stands_beside_ours(project: Project) -> None:
    project.write(MINE["others"])
    init(project, "--client", "claude", "--client", "codex")
    servers = json.loads((project.root / ".mcp.json").read_text())
    assert servers["mcpServers"] == {
        "x": {"command": "x"},
        "detent": {"type": "stdio", "command": "detent", "args": ["mcp"], "alwaysLoad": True},
    }
    assert list(servers) == ["mcpServers", "unknown"] and servers["unknown"] == [1, 2.5, None]
    settings = json.loads((project.root / ".claude/settings.json").read_text())
    assert settings["model"] == "é" and [len(settings["hooks"][name]) for name in ("Stop", "PreToolUse", "SessionStart")] == [2, 1, 1]
    assert '\n\t"model"' in (project.root / ".claude/settings.json").read_text(), "the indentation is kept"
    text = (project.root / ".codex/config.toml").read_text()
    assert text.startswith(MINE["others"][".codex/config.toml"]) and set(tomllib.loads(text)["mcp_servers"]) == {"x", "detent"}


def test_what_changed_meanwhile_stays_and_only_ours_is_taken_out(project: Project) -> None:
    init(project, "--client", "claude", "--client", "codex")
    settings = project.root / ".claude/settings.json"
    value = json.loads(settings.read_text())
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say done"}]})
    settings.write_text(json.dumps(value))
    config = project.root / ".codex/config.toml"
    config.write_text('model = "x"\n' + config.read_text())
    init(project, "--remove", "--client", "claude", "--client", "codex")
    assert json.loads(settings.read_text()) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}
    assert config.read_text() == 'model = "x"\n'
    assert not (project.root / ".mcp.json").exists() and not (project.root / ".codex/hooks.json").exists()


def test_remove_without_a_name_takes_everything_back(project: Project) -> None:
    init(project, "--client", "claude", "--client", "codex")
    ran = project.run("init", "--remove")
    assert ran.code == 0 and "detent.toml was removed" in ran.out and "Detent was removed from codex." in ran.out
    assert not {".mcp.json", ".claude", ".codex", "detent.toml"} & set(tree(project.root))


def test_a_server_that_a_person_set_is_kept(project: Project) -> None:
    project.write(
        {".mcp.json": '{"mcpServers": {"detent": {"command": "mine"}}}', ".codex/config.toml": '[mcp_servers.detent]\ncommand = "mine"\n'}
    )
    init(project, "--client", "claude", "--client", "codex")
    assert "mine" in (project.root / ".mcp.json").read_text() and "mine" in (project.root / ".codex/config.toml").read_text()
    init(project, "--client", "claude", "--client", "codex", "--remove")
    assert "mine" in (project.root / ".mcp.json").read_text() and "mine" in (project.root / ".codex/config.toml").read_text()


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (".mcp.json", "{ // a comment\n}", ".mcp.json is not plain JSON"),
        (".mcp.json", '{"a": 1, "a": 2}', "a key appears twice"),
        (".mcp.json", "[]", "its outermost value is not of the form"),
        (".claude/settings.json", '{"hooks": []}', "hooks is not of the form"),
        (".codex/config.toml", "mcp_servers = {}\n", "Detent cannot safely add to"),
        (".codex/config.toml", "= 1\n", ".codex/config.toml is not TOML"),
    ],
)
def test_a_file_in_an_unknown_form_is_named_and_nothing_is_changed(project: Project, name: str, text: str, sentence: str) -> None:
    project.write({name: text})
    before = tree(project.root)
    ran = project.run("init", "--client", "codex" if "codex" in name else "claude")
    assert ran.code == 2 and sentence in ran.err, ran
    assert tree(project.root) == before


def test_a_link_is_not_written_through(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    (project.root / ".mcp.json").symlink_to(tmp_path / "elsewhere.json")
    ran = project.run("init", "--client", "claude")
    assert ran.code == 2 and ".mcp.json is a symbolic link" in ran.err
    assert (tmp_path / "elsewhere.json").read_text() == "{}"


def without_detent() -> str:
    return os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not (Path(p) / "detent").exists())


@pytest.mark.slow
def test_a_path_of_this_machine_stands_only_in_files_that_git_does_not_know_and_is_kept_out_of_it(project: Project) -> None:
    project.write({".claude/settings.json": "{}\n"})
    project.git("add", ".claude")
    exclude = project.root / ".git" / "info" / "exclude"
    before = exclude.read_bytes() if exclude.exists() else b""
    ran = project.run("init", "--client", "claude", PATH=without_detent())
    assert ran.code == 0 and "name this machine's copy and are kept out of git (.git/info/exclude)" in ran.out, ran
    own = str(Path(sys.executable).parent / "detent")
    assert json.loads((project.root / ".mcp.json").read_text())["mcpServers"]["detent"]["command"] == own
    assert own not in (project.root / ".claude/settings.json").read_text(), "it is shared, so it calls the plain name"
    assert ".mcp.json" not in project.git("status", "--porcelain", "--untracked-files=all")
    assert project.run("init", "--client", "claude", "--remove", PATH=without_detent()).code == 0
    assert exclude.read_bytes() == before and not (project.root / ".mcp.json").exists()


@pytest.mark.slow
def test_where_detent_is_on_path_files_can_be_shared_and_older_calls_are_replaced(project: Project) -> None:
    project.run("init", "--client", "claude", PATH=without_detent())
    ran = project.run("init", "--client", "claude")
    assert "They call `detent`, so they hold on every machine that has it on PATH. Commit them." in ran.out
    hooks = json.loads((project.root / ".claude/settings.json").read_text())["hooks"]
    assert [group["hooks"][0]["command"] for name in hooks for group in hooks[name]] == ["detent hook claude"] * 3
    assert json.loads((project.root / ".mcp.json").read_text())["mcpServers"]["detent"]["command"] == "detent"
    assert "?? .mcp.json" in project.git("status", "--porcelain", "--untracked-files=all")


def test_through_uvx_where_uv_runs_it_from_its_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "uvx").write_text("#!/bin/sh\n")
    (tmp_path / "uvx").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert call_of().local
    monkeypatch.setattr(sys, "prefix", "/home/x/.cache/uv/archive-v0/abc")
    assert call_of().words[0] == "uvx"


@pytest.mark.parametrize(
    ("record", "words", "local"),
    [
        ("", ["uvx", "detent-gate"], False),
        ('{"url": "file:///srv/d.whl", "archive_info": {}}', ["uvx", "--from", "file:///srv/d.whl", "detent"], True),
        (
            '{"url": "https://h.example/d", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            ["uvx", "--from", "git+https://h.example/d@abc", "detent"],
            False,
        ),
    ],
)
def test_uvx_is_told_where_detent_came_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: str, words: list[str], local: bool
) -> None:
    info = tmp_path / "detent_gate-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: detent-gate\nVersion: 0.1.0\n")
    if record:
        (info / "direct_url.json").write_text(record)
    (tmp_path / "uvx").write_text("#!/bin/sh\n")
    (tmp_path / "uvx").chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", "/home/x/.cache/uv/archive-v0/abc")
    assert call_of() == DetentCall(words, local)


def test_without_a_name_every_client_that_is_installed_is_registered(project: Project, tmp_path: Path) -> None:
    for name in ("gemini", "cursor-agent"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    beside = str(Path(sys.executable).parent)
    path = os.pathsep.join((str(tmp_path), beside, "/usr/bin", "/bin"))
    ran = project.run("init", "--client", "--json", PATH=path)
    assert [each["client"] for each in ran.json["clients"]] == ["gemini", "cursor"], ran
    assert [each["client"] for each in project.run("init", "--remove", "--client", "--json", PATH=path).json["clients"]] == [
        "cursor",
        "gemini",
    ]
    none = project.run("init", "--client", PATH=os.pathsep.join((beside, "/usr/bin", "/bin")))
    assert none.code == 2 and "no client that Detent knows is installed here" in none.err and "opencode" in none.err


def test_a_plugin_that_somebody_else_wrote_is_left_alone(project: Project) -> None:
    project.write({".opencode/plugins/detent.js": "// mine\n"})
    ran = project.run("init", "--client", "opencode")
    assert ran.code == 2 and ".opencode/plugins/detent.js is there already" in ran.err
    assert not (project.root / "opencode.json").exists()


def test_people_are_shown_the_diff_and_what_to_do_next(project: Project) -> None:
    said = project.run("init", "--client", "codex").out
    assert "Detent was registered with codex.\n--- /dev/null\n+++ .codex/config.toml\n" in said
    assert "+[mcp_servers.detent]\n" in said and "/hooks" in said
    assert "codex: nothing to change." in project.run("init", "--client", "codex").out
    assert project.run("init", "--client", "emacs").code == 2
