"""The throw-away repository of a demo: a folder made into one, with one commit."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

STEPS = (
    ("init", "-q", "-b", "main"),
    ("config", "user.name", "Demo"),
    ("config", "user.email", "demo@localhost"),
    ("add", "-A"),
    ("commit", "-qm", "start"),
)


def make_repo(folder: Path, env: Mapping[str, str]) -> None:
    for args in STEPS:
        subprocess.run(["git", *args], cwd=folder, env=dict(env), check=True, capture_output=True)
