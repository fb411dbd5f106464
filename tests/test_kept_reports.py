"""Reports that are kept: what an event says of its evidence, that an edited report is not believed, and what a report depends on."""

import json
import os
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from detent.app import open_app
from detent.evidence.runners import Command
from detent.evidence.running.installed import fingerprint, packages, version_of
from detent.interfaces.http import looking
from tests.cases import WRONG, project, runs
from tests.project import Project

PRINTED = {"kind", "command", "exit_code", "counts", "tree", "canary", "sandbox"}


def evidence(p: Project) -> Path:
    return p.root / ".git/detent/evidence"


@pytest.mark.slow
def test_a_kept_report_that_was_edited_is_not_believed(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    failed = p.green(WRONG)
    assert failed["status"] == "FAILURE"
    file = evidence(p) / f"{failed['evidence']['tree']}.json"
    kept = json.loads(file.read_text())
    kept["report"] |= {"exit_code": 0, "outcomes": dict.fromkeys(kept["report"]["outcomes"], "passed")}
    forged = json.dumps(kept)
    file.write_text(forged)
    p.submit(
        analysis_decision=f'"{failed["evidence"]["tree"]}":"{sha256(forged.encode()).hexdigest()}"'
    )  # which does not fit, and is written down
    again = p.submit(test_command="pytest", expectation="PASS")
    assert (again["status"], again["evidence"]["counts"]["failed"]) == ("FAILURE", 1), again
    for report in evidence(p).glob("*.json"):
        report.write_text(
            report.read_text().replace('"failed"', '"passed"').replace('"error"', '"passed"').replace("test_start", "test_other")
        )
    before = runs(p)
    assert p.green()["status"] == "SUCCESS"
    assert runs(p) == before + 2, "the tree, and the one before it, since nothing that was kept is left"


def test_the_page_shows_no_report_that_was_edited(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    tree = p.green(WRONG)["evidence"]["tree"]
    with closing((app := open_app(p.root, env=p.env)).journal):
        run = app.door.load(app.chosen(None)).run
        shown = looking.tests(app, run.id, run.seq)
        assert (shown.tree, shown.known, shown.tests[0].outcome) == (tree, True, "failed")
        file = evidence(p) / f"{tree}.json"
        file.write_text(file.read_text().replace('"failed"', '"passed"'))
        assert not looking.tests(app, run.id, run.seq).known


def test_an_event_keeps_its_evidence_and_the_verdict_prints_what_it_always_did(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    verdict = p.green()
    assert set(verdict["evidence"]) == PRINTED
    app = open_app(p.root, env=p.env)
    found = app.door.load(app.chosen(None)).found
    app.journal.close()
    assert found.record and found.evidence and found.evidence.command == "python3 -m pytest"
    name, _, version = found.record.runner.partition(" ")
    assert name == "pytest" and version == pytest.__version__
    assert found.record.ids == ("tests/test_add.py::test_add", "tests/test_start.py::test_start")
    assert 0 <= found.record.seconds < found.record.wall < 60
    file = evidence(p) / f"{found.tree}.json"
    report = json.loads(file.read_text())["report"]
    assert found.record.output == sha256(report["output"].encode()).hexdigest()
    assert found.record.reports[found.tree] == sha256(file.read_bytes()).hexdigest()
    assert len(found.record.reports) == 3, "and those of the tree before it and of the one that the work began from"
    assert (report["tree"], report["version"], report["runner"]) == (found.tree, version, "pytest")


def test_an_event_names_few_tests_of_many_and_those_that_failed_first(tmp_path: Path) -> None:
    many = "import pytest\n\n\n@pytest.mark.parametrize('n', range(50))\ndef test_many(n):\n    assert True\n"
    p = project(tmp_path / "p").planned()
    assert p.red(f"{many}\n\ndef test_add():\n    import calc\n\n    assert calc.add(1, 2) == 3\n")["status"] == "NEEDS_ANALYSIS"
    app = open_app(p.root, env=p.env)
    record = app.door.load(app.chosen(None)).found.record
    app.journal.close()
    assert record and len(record.ids) == 20 and record.ids[0] == "tests/test_add.py::test_add"


# -- what the tests run on -----------------------------------------------------------------------------------------------------------


def environment(root: Path, *installed: str) -> Path:
    """An environment of Python with these packages."""
    site = root / "lib/python3.11/site-packages"
    for name in installed:
        (site / f"{name}.dist-info").mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "pyvenv.cfg").touch()
    (root / "bin/python").touch()
    return site


SHEBANGS = {"plain": "#!{python}\n", "long": '#!/bin/sh\n\'\'\'exec\' "{python}" "$0" "$@"\n', "env": "#!/usr/bin/env python\n"}


@pytest.mark.parametrize("how", SHEBANGS)
def test_a_package_that_is_installed_behind_a_script_counts(tmp_path: Path, how: str) -> None:
    site = environment(tmp_path / "env", "pytest-8.1.0")
    script = tmp_path / "bin/pytest"
    script.parent.mkdir()
    script.write_text(SHEBANGS[how].format(python=tmp_path / "env/bin/python"))
    for program in (script, tmp_path / "env/bin/python"):
        program.chmod(0o755)
    command, env = Command(("pytest",), "pytest"), {"PATH": os.pathsep.join((str(script.parent), str(tmp_path / "env/bin"), os.defpath))}
    here = (command, tmp_path / "p", env, tmp_path / "cache")
    assert packages(*here) == [site] and version_of(*here) == "8.1.0"
    before = fingerprint(*here)
    (site / "left_pad-1.0.dist-info").mkdir()
    assert fingerprint(*here) != before


def test_packages_of_tox_and_of_the_projects_own_environment_count_and_so_does_a_node_runner(tmp_path: Path) -> None:
    sites = [environment(tmp_path / name, "pytest-8.1.0") for name in (".venv", ".tox/py311")]
    tool = tmp_path / "bin/uv"
    tool.parent.mkdir()
    tool.write_bytes(b"\x7fELF")
    for words in (("uv", "run", "pytest"), ("tox",)):
        assert packages(Command(words, "pytest"), tmp_path, {"PATH": str(tool.parent)}, tmp_path / "cache") == sites
    (tmp_path / "node_modules/vitest").mkdir(parents=True)
    (tmp_path / "node_modules/vitest/package.json").write_text('{"version": "3.2.1"}')
    assert version_of(Command(("npx", "vitest"), "vitest"), tmp_path, {"PATH": "/nowhere"}, tmp_path / "cache") == "3.2.1"
    assert version_of(Command(("go", "test"), "go"), tmp_path, {"PATH": "/nowhere"}, tmp_path / "cache") == ""


@pytest.mark.slow
def test_the_value_of_a_variable_that_tests_see_is_part_of_what_a_pass_stands_for(tmp_path: Path) -> None:
    p = project(tmp_path / "p", '[test]\nenv = ["MODE"]\n')
    del p.env["DETENT_TEST_ENV"]
    p.reddened("RED", "GREEN", "REFACTOR").env["MODE"] = "one"
    assert p.green()["status"] == "SUCCESS"
    before = runs(p)
    p.env["MODE"] = "two"
    assert p.submit(test_command="pytest", expectation="PASS")["status"] == "SUCCESS"
    assert runs(p) == before + 1
