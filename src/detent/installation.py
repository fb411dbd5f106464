"""How this Detent was installed, so that a hint can name the command that works here. Reads paths and metadata; starts nothing.

`DISTRIBUTION` is the name under which Detent is published, as pyproject.toml has it: `detent` on PyPI belongs to another project.
"""

import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

DISTRIBUTION = "detent-gate"
EXTRAS = {  # which extra brings a package that only some commands need
    "anthropic": "anthropic",
    "dbos": "queue",
    "openai": "openai",
    "psycopg": "queue",
    "sqlalchemy": "queue",
    "starlette": "web",
    "uvicorn": "web",
}


class InstallWay(NamedTuple):
    """One way to be installed: what it is called, how a package is added beside Detent, and how all of it goes."""

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
    """How this Detent was installed, by where it lies."""
    return way_of(Path(sys.prefix), Path(__file__).resolve(), _installer())


def way_of(prefix: Path, source: Path, installer: str) -> InstallWay:
    """The same of any prefix, source file and installer's name."""
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
    """The command that installs packages beside this Detent, as a person can type it."""
    named = " ".join(shlex.quote(each) for each in what)
    return way().add.format(what=named, python=sys.executable)


def extra(name: str) -> str:
    """The command that adds what one of Detent's extras asks for. The packages are named, not Detent: an index may have another of its name."""
    return adding(*(requires_of(name) or (f"{DISTRIBUTION}[{name}]",)))


def requires_of(name: str) -> tuple[str, ...]:
    """The packages of an extra, as the metadata of the installed Detent says."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        said = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return ()
    rows = (row.partition(";") for row in said)
    return tuple(what.strip() for what, _, marker in rows if re.search(rf"extra == ['\"]{name}['\"]", marker))


def came_from() -> str:
    """Where this Detent was installed from, as an installer takes it again: a repository at a commit, or a file. Empty if an index gave it."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        said = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return ""
    vcs = said.get("vcs_info", {})
    return f"git+{said['url']}@{vcs['commit_id']}" if vcs else str(said.get("url", ""))


def removing() -> str:
    """The command, or the sentence, by which Detent itself goes."""
    return way().remove.format(python=sys.executable)


def _installer() -> str:
    """The word that the installer left in the metadata; empty if it left none."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return (distribution(DISTRIBUTION).read_text("INSTALLER") or "").strip()
    except PackageNotFoundError:
        return ""
