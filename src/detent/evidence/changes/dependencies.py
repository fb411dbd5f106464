"""Which packages a project says that it depends on, read literally from its manifests: nothing is resolved, imported or run.

Owns the names; whether a missing module is one of them is asked by `reasons`.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch

from detent.evidence.runners.adapter import Files
from detent.evidence.runners.javascript.node_package import installing

MOST = 50  # lists of requirements that are read
REQUIREMENTS = re.compile(r"(?:requirements?/[\w.-]+|[\w.-]*requirements?[\w.-]*)\.(?:txt|in)")
NAME = re.compile(r"\s*(@?[A-Za-z0-9][\w./-]*)")
LOCKS = (
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "uv.lock", "poetry.lock", "pdm.lock",
    "Pipfile.lock", "requirements*.txt", "Cargo.lock", "go.sum", "Gemfile.lock", "composer.lock",
)  # fmt: skip
IMPORTED_AS = {  # packages that are imported by another name than they are installed by
    "pyyaml": "yaml", "beautifulsoup4": "bs4", "pillow": "pil", "opencv_python": "cv2", "scikit_learn": "sklearn", "python_dateutil": "dateutil",
    "python_dotenv": "dotenv", "pyjwt": "jwt", "attrs": "attr", "gitpython": "git", "pyopenssl": "openssl", "pyserial": "serial", "pyzmq": "zmq",
    "pycryptodome": "crypto", "mysqlclient": "mysqldb", "psycopg2_binary": "psycopg2", "protobuf": "google", "setuptools": "pkg_resources",
    "django_rest_framework": "rest_framework", "djangorestframework": "rest_framework", "pytest_mock": "pytest_mock", "python_multipart": "multipart",
}  # fmt: skip


def is_lock(path: str, names: Iterable[str] = LOCKS) -> bool:
    """Whether a file says what is to be installed, to the version."""
    return any(fnmatch(path.rpartition("/")[2], name) for name in names)


def declared_dependencies(files: Files) -> frozenset[str]:
    """The names of all packages that the project names, as one would import them: in small letters, with `_` for `-`."""
    found = {plain(name) for reader in (_toml, _cfg, _requirements, _package, _go, _ruby, _php) for name in reader(files)}
    return frozenset(found | {IMPORTED_AS[name] for name in found & IMPORTED_AS.keys()}) - {"", "python", "php"}


def is_foreign(declared: frozenset[str]) -> Callable[[str], bool]:
    """Whether a module that is missing belongs to a package of others: one that is declared, or the language's own library."""

    def asked(module: str) -> bool:
        if module.startswith((".", "/")):
            return False
        top = "/".join(module.split("/")[:2]) if module.startswith("@") else module.split("/")[0].split(".")[0].split("::")[0]
        whole = {plain(top), plain(module)}
        above = {plain("/".join(module.split("/")[:end])) for end in range(1, module.count("/") + 2)}  # modules of Go
        return bool((whole | above) & declared) or top in sys.stdlib_module_names

    return asked


def install_line(files: Files, module: str) -> str:
    """The command that installs a package which the project declares, by its usual tool; empty where it is not known."""
    import tomllib

    top = plain(module.split("/")[0].split(".")[0])
    wanted = {top, plain(module), *(name for name, imported in IMPORTED_AS.items() if imported == top)}
    try:
        table = tomllib.loads(files.read("pyproject.toml") or "")
    except tomllib.TOMLDecodeError:
        table = {}
    extras = _table(_table(table, "project"), "optional-dependencies")
    for rows, line in ((_table(table, "dependency-groups"), "pip install --group {}"), (extras, "pip install -e '.[{}]'")):
        for group, names in rows.items():
            if wanted & {plain(name) for name in _packages(names, False)}:
                return line.format(group)
    lists = [path for path in files.paths() if REQUIREMENTS.fullmatch(path)][:MOST]
    found = next((path for path in lists if wanted & {plain(name) for name in _names((files.read(path) or "").splitlines())}), "")
    if found:
        return f"pip install -r {found}"
    return installing(files.read) if wanted & {plain(name) for name in _package(files)} else ""


def _table(within: dict[str, object], key: str) -> dict[str, object]:
    """A table of a table; empty where the project has something else there."""
    return found if isinstance(found := within.get(key), dict) else {}


def plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def _names(rows: Iterable[object]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, str) and (found := NAME.match(row)):
            yield found[1]


def _toml(files: Files) -> Iterator[str]:
    """pyproject.toml, Pipfile and Cargo.toml."""
    import tomllib

    for name in ("pyproject.toml", "Pipfile", "Cargo.toml"):
        try:
            table = tomllib.loads(files.read(name) or "")
        except tomllib.TOMLDecodeError:
            continue
        yield from _tables(table)


def _tables(table: dict[str, object]) -> Iterator[str]:
    """Lists of requirements and tables of packages, below each key that names them, wherever the tool keeps it."""
    for key, value in table.items():
        if "dependencies" in key or key in ("dependency-groups", "packages", "dev-packages", "requires"):
            yield from _packages(value, grouped=key in ("dependency-groups", "optional-dependencies"))
        elif isinstance(value, dict):
            yield from _tables(value)


def _packages(value: object, grouped: bool) -> Iterator[str]:
    if isinstance(value, list):
        yield from _names(value)
    elif isinstance(value, dict):
        yield from (name for rows in value.values() for name in _packages(rows, False)) if grouped else value


def _cfg(files: Files) -> Iterator[str]:
    """setup.cfg and tox.ini, and what setup.py has in so many words."""
    import configparser

    for name in ("setup.cfg", "tox.ini"):
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(files.read(name) or "")
        except configparser.Error:
            continue
        for section in parser.sections():
            for key, value in parser[section].items():
                if key in ("install_requires", "tests_require", "deps") or section == "options.extras_require":
                    yield from _names(line for line in value.splitlines() if not line.lstrip().startswith(("-", "{")))
    yield from _names(_of_setup(files.read("setup.py") or ""))


def _of_setup(text: str) -> Iterator[str]:
    """What setup.py asks for, where it is written out: by its syntax, since a requirement may hold quotes and brackets of its own."""
    import ast

    try:
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword)]
    except (SyntaxError, ValueError, RecursionError):
        return
    for asked in calls:
        if asked.arg in ("install_requires", "tests_require", "extras_require"):
            rows = asked.value.values if isinstance(asked.value, ast.Dict) else [asked.value]
            yield from (
                each.value for row in rows for each in ast.walk(row) if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )


def _requirements(files: Files) -> Iterator[str]:
    lists = [path for path in files.paths() if REQUIREMENTS.fullmatch(path)][:MOST]
    for path in lists:
        yield from _names(line for line in (files.read(path) or "").splitlines() if not line.lstrip().startswith(("#", "-", "git+")))


def _package(files: Files) -> Iterator[str]:
    yield from _json_keys(files.read("package.json"), ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"))


def _php(files: Files) -> Iterator[str]:
    yield from _json_keys(files.read("composer.json"), ("require", "require-dev"))


def _json_keys(text: str | None, keys: tuple[str, ...]) -> Iterator[str]:
    import json

    try:
        table = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return
    for key in keys if isinstance(table, dict) else ():
        yield from table[key] if isinstance(table.get(key), dict) else ()


def _go(files: Files) -> Iterator[str]:
    text = files.read("go.mod") or ""
    blocks = re.findall(r"^require\s*\((.*?)^\)", text, re.DOTALL | re.MULTILINE)
    rows = [*re.findall(r"^require\s+([^\s(].*)$", text, re.MULTILINE), *(line for block in blocks for line in block.splitlines())]
    yield from _names(row for row in rows if not row.strip().startswith("//"))


def _ruby(files: Files) -> Iterator[str]:
    yield from re.findall(r"^\s*gem\s+[\"']([\w.-]+)", files.read("Gemfile") or "", re.MULTILINE)
