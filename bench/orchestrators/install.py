"""Installs an orchestrator at an exact version into a folder of its own, outside the project."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from detent.errors import DetentError

SECONDS = 900


class Package(NamedTuple):
    """What to install, and from where."""

    name: str
    version: str
    source: Literal["npm", "pypi"]


def commands(package: Package, folder: Path) -> tuple[Sequence[str], ...]:
    """The command lines that install a package into a folder."""
    if package.source == "npm":
        quiet = ("--no-audit", "--no-fund", "--no-save", "--loglevel=error")
        return (("npm", "install", "--prefix", str(folder), *quiet, f"{package.name}@{package.version}"),)
    pip = (str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    return ((sys.executable, "-m", "venv", str(folder)), (*pip, f"{package.name}=={package.version}"))


def install(package: Package, folder: Path) -> None:
    """Install a package unless the folder has it; a DetentError says what is missing."""
    done = folder / ".installed"
    if done.exists() and done.read_text("utf-8") == f"{package.name} {package.version}":
        return
    if package.source == "npm" and not shutil.which("npm"):
        raise DetentError(f"{package.name} is not run: npm is not installed", "install Node.js, which brings npm")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for argv in commands(package, folder):
        run(package, argv)
    done.write_text(f"{package.name} {package.version}", "utf-8")


def run(package: Package, argv: Sequence[str]) -> None:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise DetentError(f"{package.name} {package.version} was not installed within {SECONDS} seconds", "look at the network") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        said = f": {last[0][:200]}" if last else ""
        raise DetentError(
            f"{package.name} {package.version} could not be installed{said}",
            f"this needs the {package.source} registry; look at the network",
        )
