"""The packages that a project's manifests declare as dependencies. Manifests are only read: nothing is resolved, imported or run.

Owns the package names, and whether a missing module is third-party; `reasons` asks that.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch

from detent.evidence.runners.adapter import Files

MOST = 50  # requirements files that are read
REQUIREMENTS = re.compile(r"(?:requirements?/[\w.-]+|[\w.-]*requirements?[\w.-]*)\.(?:txt|in)")
NAME = re.compile(r"\s*(@?[A-Za-z0-9][\w./-]*)")
LOCKS = (
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "uv.lock", "poetry.lock", "pdm.lock",
    "Pipfile.lock", "requirements*.txt", "Cargo.lock", "go.sum", "Gemfile.lock", "composer.lock",
)  # fmt: skip
IMPORTED_AS = {  # packages whose import name differs from their package name
    "pyyaml": "yaml", "beautifulsoup4": "bs4", "pillow": "pil", "opencv_python": "cv2", "scikit_learn": "sklearn", "python_dateutil": "dateutil",
    "python_dotenv": "dotenv", "pyjwt": "jwt", "attrs": "attr", "gitpython": "git", "pyopenssl": "openssl", "pyserial": "serial", "pyzmq": "zmq",
    "pycryptodome": "crypto", "mysqlclient": "mysqldb", "psycopg2_binary": "psycopg2", "protobuf": "google", "setuptools": "pkg_resources",
    "django_rest_framework": "rest_framework", "djangorestframework": "rest_framework", "pytest_mock": "pytest_mock", "python_multipart": "multipart",
}  # fmt: skip


def is_lock(path: str, names: Iterable[str] = LOCKS) -> bool:
    """Whether a file is a lock file or a requirements list."""
    return any(fnmatch(path.rpartition("/")[2], name) for name in names)


def declared_dependencies(files: Files) -> frozenset[str]:
    """All packages that the project declares, by import name: lower case, with `_` for `-`."""
    found = {
        normalize_name(name) for reader in (_toml, _cfg, _requirements, of_package_json, _go, _ruby, _php, of_nox) for name in reader(files)
    }
    return frozenset(found | {IMPORTED_AS[name] for name in found & IMPORTED_AS.keys()}) - {"", "python", "php"}


def is_foreign(declared: frozenset[str]) -> Callable[[str], bool]:
    """Make a function that tells whether a missing module is not the project's own: a declared dependency, or the standard library."""

    def asked(module: str) -> bool:
        if module.startswith((".", "/")):
            return False
        top = "/".join(module.split("/")[:2]) if module.startswith("@") else module.split("/")[0].split(".")[0].split("::")[0]
        whole = {normalize_name(top), normalize_name(module)}
        above = {normalize_name("/".join(module.split("/")[:end])) for end in range(1, module.count("/") + 2)}  # Go modules
        return bool((whole | above) & declared) or top in sys.stdlib_module_names

    return asked


def normalize_name(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def names_of(rows: Iterable[object]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, str) and (found := NAME.match(row)):
            yield found[1]


def _toml(files: Files) -> Iterator[str]:
    """pyproject.toml, Pipfile, Cargo.toml and tox.toml."""
    import tomllib

    for name in ("pyproject.toml", "Pipfile", "Cargo.toml", "tox.toml"):
        try:
            table = tomllib.loads(files.read(name) or "")
        except tomllib.TOMLDecodeError:
            continue
        yield from _tables(table)


def _tables(table: dict[str, object]) -> Iterator[str]:
    """The packages below every key that means dependencies, at any depth, whichever tool's table it is."""
    for key, value in table.items():
        if "dependencies" in key or key in ("dependency-groups", "packages", "dev-packages", "requires", "deps"):
            lists = isinstance(value, dict) and all(isinstance(each, list) for each in value.values())  # as pdm keeps its groups
            yield from packages_in(value, grouped=key in ("dependency-groups", "optional-dependencies") or lists)
        elif isinstance(value, dict):
            yield from _tables(value)


def packages_in(value: object, grouped: bool = False) -> Iterator[str]:
    """The package names in a list of requirements or a table keyed by package. `grouped`: a table of such lists."""
    if isinstance(value, list):
        yield from names_of(value)
    elif isinstance(value, dict):
        yield from (name for rows in value.values() for name in packages_in(rows)) if grouped else value


def _cfg(files: Files) -> Iterator[str]:
    """setup.cfg, tox.ini, and the literal requirements in setup.py."""
    for name in ("setup.cfg", "tox.ini"):
        for section, key, value in read_ini(files, name):
            if key in ("install_requires", "tests_require", "deps") or section == "options.extras_require":
                yield from requirement_rows(value)
    yield from names_of(_of_setup(files.read("setup.py") or ""))


def requirement_rows(value: str) -> Iterator[str]:
    """The packages of a value with one requirement per line; in tox, a line may start with the environments it is for."""
    rows = (re.sub(r"^\s*[\w,{}.!-]+:\s+", "", row) for row in value.splitlines())
    return names_of(row for row in rows if not row.lstrip().startswith(("-", "{", "#")))


def read_ini(files: Files, name: str) -> Iterator[tuple[str, str, str]]:
    """Section, key and value of each entry of an INI file; nothing if it is missing or malformed."""
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(files.read(name) or "")
    except configparser.Error:
        return
    for section in parser.sections():
        yield from ((section, key, value) for key, value in parser[section].items())


def _of_setup(text: str) -> Iterator[str]:
    """The requirements written as string literals in setup.py. Parsed as Python, since a requirement may itself contain quotes and brackets."""
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


def of_nox(files: Files) -> Iterator[str]:
    """The packages that noxfile.py passes to `session.install(…)` as literals."""
    import ast

    try:
        calls = [node for node in ast.walk(ast.parse(files.read("noxfile.py") or "")) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        return
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "install":
            words = (arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
            yield from names_of(word for word in words if not word.startswith(("-", ".")))


def _requirements(files: Files) -> Iterator[str]:
    lists = [path for path in files.paths() if REQUIREMENTS.fullmatch(path)][:MOST]
    for path in lists:
        yield from names_of(line for line in (files.read(path) or "").splitlines() if not line.lstrip().startswith(("#", "-", "git+")))


def of_package_json(files: Files) -> Iterator[str]:
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
    yield from names_of(row for row in rows if not row.strip().startswith("//"))


def _ruby(files: Files) -> Iterator[str]:
    yield from re.findall(r"^\s*gem\s+[\"']([\w.-]+)", files.read("Gemfile") or "", re.MULTILINE)
