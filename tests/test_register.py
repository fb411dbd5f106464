"""`detent init --client`: what is written for each client, beside what is there, and taken back exactly."""

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from detent.interfaces.register import PARTS
from tests.project import Project

CLIENTS = tuple(PARTS)
MINE: dict[str, dict[str, str]] = {  # what a project may have already, in its own form
    "nothing": {},
    "empty": {".mcp.json": "{}", ".claude/settings.json": "", ".codex/config.toml": "", ".codex/hooks.json": "{}\n"},
    "others": {
        ".mcp.json": '{"mcpServers": {"x": {"command": "x"}}, "unknown": [1, 2.50, null]}',
        ".claude/settings.json": '{\n\t"model": "é",\n\t"hooks": {\n\t\t"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n\t}\n}\n',
        ".codex/config.toml": '# mine\nmodel = "x"  # keep\n\n[mcp_servers.x]\ncommand = "x"',
        ".codex/hooks.json": '{"hooks": {"PreToolUse": []}, "z": 1, "a": 2}',
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


@pytest.mark.parametrize("mine", MINE)
@pytest.mark.parametrize("client", CLIENTS)
def test_registering_keeps_what_is_there_can_be_repeated_and_is_undone_byte_for_byte(project: Project, client: str, mine: str) -> None:
    for name, text in MINE[mine].items():
        (project.root / name).parent.mkdir(exist_ok=True)
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
    assert ran.code == 0 and "detent.toml was removed" in ran.out and "Detent was taken out of codex." in ran.out
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
        (".mcp.json", '{"a": 1, "a": 2}', "a key stands there twice"),
        (".mcp.json", "[]", "its outermost value is not of the form"),
        (".claude/settings.json", '{"hooks": []}', "hooks is not of the form"),
        (".codex/config.toml", "mcp_servers = {}\n", "cannot be added to safely"),
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


def test_the_program_is_named_plainly_where_that_finds_it_and_by_its_path_elsewhere(project: Project) -> None:
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not (Path(p) / "detent").exists())
    ran = project.run("init", "--client", "claude", PATH=path)
    assert ran.code == 0, ran
    server = json.loads((project.root / ".mcp.json").read_text())["mcpServers"]["detent"]
    assert server["command"] == str(Path(sys.executable).parent / "detent")
    init(project, "--client", "claude")
    hooks = json.loads((project.root / ".claude/settings.json").read_text())["hooks"]
    assert [group["hooks"][0]["command"] for name in hooks for group in hooks[name]] == ["detent hook claude"] * 3, (
        "an older call of ours is replaced"
    )


def test_people_are_shown_the_diff_and_what_to_do_next(project: Project) -> None:
    said = project.run("init", "--client", "codex").out
    assert "Detent was registered with codex.\n--- /dev/null\n+++ .codex/config.toml\n" in said
    assert "+[mcp_servers.detent]\n" in said and "/hooks" in said
    assert "codex: nothing to change." in project.run("init", "--client", "codex").out
    assert project.run("init", "--client", "emacs").code == 2
