"""Calls `detent` in a checkout as an agent would and reads the answers of a workflow or of `check`. Judges nothing."""

import hashlib
import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import meter
from bench.history import Flag, Phase
from bench.history.checkout import Checkout

TAKEN = ("SUCCESS", "NEEDS_ANALYSIS")
ANSWERS = {"clean": "SUCCESS", "flagged": "SUCCESS", "failed": "FAILURE", "could-not-verify": "ERROR"}  # answers of `check` as a status
PATIENCE = 1800.0


class Caller:
    """One installation of Detent, used in one checkout."""

    def __init__(self, checkout: Checkout, program: Path) -> None:
        self.checkout, self.program = checkout, program

    def call(self, name: str, *args: str, fields: dict[str, Any] | None = None) -> tuple[Phase, dict[str, Any]]:
        """Make one call; the answer as a phase and as raw JSON."""
        argv = [str(self.program), *args, "--json"]
        env = {**self.checkout.env, "XDG_CACHE_HOME": str(self.checkout.folder / "cache")}  # builds are trusted by one state's seal
        got = meter.run(argv, self.checkout.root, env, json.dumps(fields) if fields is not None else "", PATIENCE)
        try:
            answer = json.loads(got.out)
        except ValueError:
            answer = {"error": (got.err or got.out).strip()[-1000:] or "no answer", "exit_code": got.code}
        if got.code == 3 or not isinstance(answer, dict):
            answer = {"error": f"a bug: {got.err.strip()[-1000:]}"}
        status, reasons, flags = told(answer)
        state, runs = str(answer.get("state", "")), int(answer.get("test_runs", 0))
        return Phase(name, status, reasons, flags, round(got.seconds, 3), round(got.cpu, 3), state, runs), answer


def told(answer: dict[str, Any]) -> tuple[str, tuple[str, ...], tuple[Flag, ...]]:
    """The status, sentences and flags of any answer. In a verdict without `flags`, remarks beside SUCCESS count as flags."""
    if "error" in answer:
        return "ERROR", (str(answer["error"]),), ()
    if "answer" in answer:
        said = (*answer.get("failed", ()), *filter(None, (answer.get("unclear"),)))
        return ANSWERS.get(answer["answer"], "ERROR"), tuple(map(str, said)), tuple(map(_flag, answer.get("flags", ())))
    status = str(answer.get("status", "SUCCESS"))  # a briefing has none
    reasons = tuple(map(str, answer.get("reasons", ())))
    if "flags" in answer:
        return status, reasons, tuple(map(_flag, answer["flags"]))
    remarks = reasons if status == "SUCCESS" else ()
    return status, reasons, tuple(Flag("remark", each) for each in remarks)


def _flag(given: dict[str, Any]) -> Flag:
    policy = given.get("policy") or given.get("action") or given.get("level") or ""
    sentence = given.get("sentence") or given.get("says") or ""
    return Flag(str(given.get("kind", "")), str(sentence), str(given.get("place", "")), str(policy))


def version_of(program: Path) -> str:
    """A fingerprint of the judging code, since results of different versions must not mix."""
    first = program.read_bytes().split(b"\n", 1)[0].decode("utf-8", "replace")
    python = shlex.split(first[2:]) if first.startswith("#!") else []
    asked = [*python, "-c", "import detent; print(detent.__file__)"]
    try:
        found = subprocess.run(asked, capture_output=True, text=True, cwd="/") if python else None
    except OSError:
        found = None
    files: Sequence[Path] = [program]
    if found and found.returncode == 0:
        files = sorted(each for each in Path(found.stdout.strip()).parent.rglob("*") if each.suffix in (".py", ".md", ".sh"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
