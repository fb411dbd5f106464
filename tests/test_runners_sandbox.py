"""The runners inside bubblewrap, as a run that the machine drives has them: a workspace whose packages are borrowed and cannot be written."""

import os
from pathlib import Path

import msgspec
import pytest

from detent.app.run_configs import sandbox_of
from detent.config import Settings
from detent.evidence.running.suite import SandboxName, Suite, environment, run_suite
from detent.git.workspace import borrow
from tests.dialects import FURTHER, PACKAGES
from tests.machine import need, need_runner
from tests.patience import LONG
from tests.repos import write

SANDBOXED = msgspec.structs.replace(Settings(), sandbox=msgspec.structs.replace(Settings().sandbox, level="bubblewrap"))
QUICK = ("mocha", "unittest")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in FURTHER])
def test_a_runner_works_in_a_workspace_with_borrowed_packages(tmp_path: Path, name: str) -> None:
    need("bubblewrap", "namespaces")
    need_runner(name)
    each, home, workspace = FURTHER[name], PACKAGES.parent, tmp_path / "workspace"
    write(workspace, each.files)
    borrow(home, workspace)
    suite = Suite(
        each.base, LONG, os.environ["PATH"], start=sandbox_of(SANDBOXED, True, os.environ, home).tests, sandbox=SandboxName("bubblewrap")
    )
    seen = run_suite(suite, (), home, workspace, environment(suite, os.environ, tmp_path / "pycache"), lambda: True)
    assert seen.outcomes == {each.stays: "passed", each.adds: "failed"}
