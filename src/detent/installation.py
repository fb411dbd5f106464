"""Finds out how Detent was installed, so that hints can name a command that works here. Reads paths and metadata; starts nothing.

`DISTRIBUTION` is its name on PyPI, as in pyproject.toml; `detent` there belongs to another project.
"""

import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

DISTRIBUTION = "detent-gate"
EXTRAS = {  # package that only some commands need -> extra that brings it
    "anthropic": "anthropic",
    "dbos": "queue",
    "openai": "openai",
    "psycopg": "queue",
    "sqlalchemy": "queue",
    "starlette": "web",
    "uvicorn": "web",
}


class InstallWay(NamedTuple):
    """An installer: its name, and the commands that add packages beside Detent and remove Detent."""

    name: str
    add: str  # {what}: packages, or Detent with an extra
    remove: str


CHECKOUT = InstallWay("a checkout, by ./x setup", "./x setup (in Detent's checkout; it installs everything)", "remove the checkout")
UVX = InstallWay("uvx", "add to the call of uvx: --with {what}", "nothing stays behind but uv's cache: uv cache clean " + DISTRIBUTION)
UV_TOOL = InstallWay("uv tool", "uv pip install --python {python} {what}", f"uv tool uninstall {DISTRIBUTION}")
PIPX = InstallWay("pipx", "pipx inject " + DISTRIBUTION + " {what}", f"pipx uninstall {DISTRIBUTION}")
UV_PIP = InstallWay("uv pip", "uv pip install --python {python} {what}", f"uv pip uninstall --python {{python}} {DISTRIBUTION}")
PIP = InstallWay("pip", "{python} -m pip install {what}", f"{{python}} -m pip uninstall {DISTRIBUTION}")


def way() -> InstallWay:
    """How this Detent was installed, by its path."""
    return way_of(Path(sys.prefix), Path(__file__).resolve(), _installer())


def way_of(prefix: Path, source: Path, installer: str) -> InstallWay:
    """How a Detent with this prefix, source file and installer's name was installed."""
    parts = prefix.parts
    if source.parent.parent.name == "src" and (source.parents[2] / "x").is_file():
        return CHECKOUT
    if "pipx" in parts and "venvs" in parts:
        return PIPX
    if "uv" in parts and "tools" in parts:
        return UV_TOOL
    if any(part.startswith("archive-v") for part in parts) or ("uv" in parts and "environments-v2" in parts):
        return UVX
    return UV_PIP if installer == "uv" else PIP


def adding(*what: str) -> str:
    """The command that installs packages beside this Detent."""
    named = " ".join(shlex.quote(each) for each in what)
    return way().add.format(what=named, python=sys.executable)


def extra(name: str) -> str:
    """The command that installs an extra. It names the packages instead of Detent, whose name an index may give to another project."""
    return adding(*(requires_of(name) or (f"{DISTRIBUTION}[{name}]",)))


def requires_of(name: str) -> tuple[str, ...]:
    """The packages of an extra, from the metadata of this installation."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return ()
    rows = (row.partition(";") for row in requirements)
    return tuple(what.strip() for what, _, marker in rows if re.search(rf"extra == ['\"]{name}['\"]", marker))


def install_source() -> str:
    """The source of this installation, for an installer: a repository at a commit, or a file. Empty if it came from an index."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        record = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return ""
    vcs = record.get("vcs_info", {})
    return f"git+{record['url']}@{vcs['commit_id']}" if vcs else str(record.get("url", ""))


def removing() -> str:
    """The command, or a sentence, for uninstalling Detent."""
    return way().remove.format(python=sys.executable)


def _installer() -> str:
    """The name of the installer in the metadata, or ""."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return (distribution(DISTRIBUTION).read_text("INSTALLER") or "").strip()
    except PackageNotFoundError:
        return ""
