"""Replays several clones at once, each in a process of its own that cannot affect the others; all end with this one."""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from bench.history import Commit, Replayed
from bench.history.report import Findings
from bench.history.twins import Fate
from detent.errors import DetentError

OURS = ("clones", "jobs", "json", "kinds")


def at_once(given: argparse.Namespace) -> list[Findings]:
    """The findings of each clone, in the given order."""
    running: list[subprocess.Popen[str]] = []
    with ThreadPoolExecutor(given.jobs) as pool:
        try:
            texts = list(pool.map(lambda clone: _call(clone, given, running), given.clones))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.terminate()
            raise
    if missing := [clone for clone, text in zip(given.clones, texts, strict=True) if not text]:
        raise DetentError(
            f"{missing[0]} could not be replayed (above)", "the results of the others are kept: fix it and run the same command again"
        )
    return [findings_of(json.loads(text)["clones"][0]) for text in texts]


def _call(clone: Path, given: argparse.Namespace, running: list[subprocess.Popen[str]]) -> str:
    words = {name: value for name, value in vars(given).items() if name not in OURS and value}
    options = [f"--{name}" if value is True else f"--{name}={value}" for name, value in words.items()]
    argv = [sys.executable, "-m", "bench", "history", str(clone), "--json", *options]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    running.append(process)
    text, _ = process.communicate()
    return text if process.returncode == 0 else ""


def findings_of(said: dict[str, object]) -> Findings:
    """Read one clone's findings from JSON."""
    commits, replays = msgspec.convert(said["commits"], list[Commit]), msgspec.convert(said["replays"], list[Replayed])
    return Findings(str(said["clone"]), str(said["tip"]), commits, replays, msgspec.convert(said["twins"], list[Fate]))
