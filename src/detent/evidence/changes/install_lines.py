"""The command that installs a package which a project declares, by the tool that the project uses. Reads manifests literally; runs nothing.

The lists of a project are looked at in order, the narrowest first: a group or an extra before everything that is needed.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from detent.evidence.changes.dependencies import (
    IMPORTED_AS,
    MOST,
    REQUIREMENTS,
    names_of,
    of_nox,
    of_package_json,
    packages_in,
    plain,
    read_ini,
    requirement_rows,
)
from detent.evidence.runners.adapter import Files
from detent.evidence.runners.javascript.node_package import installing


class Installer(NamedTuple):
    """How a tool installs a group of dependencies, an extra, and what the project needs anyway."""

    group: str
    extra: str
    needed: str


PIP = Installer("pip install --group {}", "pip install -e '.[{}]'", "pip install -e .")
BY_LOCK = {
    "uv.lock": Installer("uv sync --group {}", "uv sync --extra {}", "uv sync"),
    "poetry.lock": Installer("poetry install --with {}", "poetry install --extras {}", "poetry install"),
    "pdm.lock": Installer("pdm install -G {}", "pdm install -G {}", "pdm install"),
}
TYPED = re.compile(r"[\w@ ./'\[\]-]+")  # what people are told to type: nothing that a shell would run beside it
OFFER = tuple[Iterable[str], str]  # packages, and the command that installs them; {}: the package


def install_line(files: Files, module: str) -> str:
    """The command that installs the package of a module; empty where the project does not declare it."""
    top = plain(module.split("/")[0].split(".")[0])
    wanted = {top, plain(module), *(name for name, imported in IMPORTED_AS.items() if imported == top)}
    offers = (offer for read in (_pyproject, _setup_cfg, _lists, _pipfile, _sessions, _node) for offer in read(files))
    for packages, line in offers:
        found = next((name for name in packages if plain(name) in wanted), "")
        if found and TYPED.fullmatch(line := line.replace("{}", found)):
            return line
    return ""


def _table(within: object, *keys: str) -> dict[str, object]:
    """A table of a table; empty where the project has something else there."""
    for key in keys:
        within = within.get(key) if isinstance(within, dict) else None
    return within if isinstance(within, dict) else {}


def _toml(files: Files, name: str) -> dict[str, object]:
    try:
        return tomllib.loads(files.read(name) or "")
    except tomllib.TOMLDecodeError:
        return {}


def _pyproject(files: Files) -> Iterator[OFFER]:
    table = _toml(files, "pyproject.toml")
    way = next((way for lock, way in BY_LOCK.items() if files.read(lock) is not None), PIP)
    poetry, pdm, uv, hatch = (_table(table, "tool", name) for name in ("poetry", "pdm", "uv", "hatch"))
    yield from _each(_table(table, "dependency-groups"), way.group)
    yield from _each(_table(table, "project", "optional-dependencies"), way.extra)
    yield from ((_table(poetry, "group", name, "dependencies"), f"poetry install --with {name}") for name in _table(poetry, "group"))
    yield from _each(_table(poetry, "extras"), BY_LOCK["poetry.lock"].extra)
    yield from ((_table(poetry, key), "poetry install") for key in ("dev-dependencies", "dependencies"))
    yield from _each(_table(pdm, "dev-dependencies"), BY_LOCK["pdm.lock"].group)
    yield packages_in(uv.get("dev-dependencies")), "uv sync"
    for name in _table(hatch, "envs"):
        environment = _table(hatch, "envs", name)
        yield from ((packages_in(environment.get(key)), f"hatch env create {name}") for key in ("dependencies", "extra-dependencies"))
    yield packages_in(_table(table, "project").get("dependencies")), way.needed


def _each(groups: dict[str, object], line: str) -> Iterator[OFFER]:
    return ((packages_in(names), line.format(group)) for group, names in groups.items())


def _setup_cfg(files: Files) -> Iterator[OFFER]:
    for section, key, value in read_ini(files, "setup.cfg"):
        if section == "options.extras_require":
            yield requirement_rows(value), PIP.extra.format(key)
        elif key == "install_requires":
            yield requirement_rows(value), PIP.needed
        elif key == "tests_require":
            yield requirement_rows(value), "pip install {}"


def _lists(files: Files) -> Iterator[OFFER]:
    paths = [path for path in files.paths() if REQUIREMENTS.fullmatch(path)][:MOST]
    return ((names_of((files.read(path) or "").splitlines()), f"pip install -r {path}") for path in paths)


def _pipfile(files: Files) -> Iterator[OFFER]:
    table = _toml(files, "Pipfile")
    yield _table(table, "dev-packages"), "pipenv install --dev"
    yield _table(table, "packages"), "pipenv install"


def _sessions(files: Files) -> Iterator[OFFER]:
    """What tox and nox install into environments of their own, for the tests; here the package alone."""
    for section, key, value in read_ini(files, "tox.ini"):
        if key == "deps" and section.startswith("testenv"):
            yield requirement_rows(value), "pip install {}"
    environments = _table(_toml(files, "tox.toml"), "env")
    for each in (_table(_toml(files, "tox.toml"), "env_run_base"), *(_table(environments, name) for name in environments)):
        yield packages_in(each.get("deps")), "pip install {}"
    yield of_nox(files), "pip install {}"


def _node(files: Files) -> Iterator[OFFER]:
    yield of_package_json(files), installing(files.read)
