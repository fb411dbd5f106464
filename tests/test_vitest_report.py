"""What vitest's reporter of ours writes about errors that belong to no test."""

import json
import subprocess
from pathlib import Path

import pytest

from detent.evidence import runners

REPORTER = Path(runners.__file__).parent / "reporters" / "vitest.mjs"
PLAY = """
const { default: Report } = await import(process.argv[2]);
const report = new Report();
report.vitest = { version: '4.1.10', projects: [] };
const passed = { type: 'module', moduleId: `${process.cwd()}/a.test.ts`, errors: () => [], children: [], state: () => 'passed' };
await report.onTestRunEnd([passed], [{ name: 'Error', message: process.argv[3] }]);
"""


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("words", "file"),
    [("[vitest-pool]: Failed to start forks worker for test files {}/b.test.ts.", "b.test.ts"), ("a promise was rejected", "a.test.ts")],
)
def test_a_file_whose_process_did_not_start_is_named_and_no_other(tmp_path: Path, words: str, file: str) -> None:
    (tmp_path / "play.mjs").write_text(PLAY)
    out = tmp_path / "report"
    line = ["node", "play.mjs", REPORTER.as_uri(), words.format(tmp_path), f"--outputFile={out}"]
    subprocess.run(line, cwd=tmp_path, check=True)
    lines = [json.loads(each) for each in out.read_text().splitlines() if each.startswith("{")]
    assert [each["file"] for each in lines if each.get("outcome") == "error"] == [file], lines
