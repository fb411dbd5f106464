"""The project's own programs that its preflight commands run: scripts named in a command, and the files those load. Pure: texts in, paths out."""

import re
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from posixpath import dirname, join, normpath

from detent.evidence.changes.judging_config import targets_called

INTERPRETERS = re.compile(
    r"(?:python[\d.]*|node|bun|deno|ruby|perl|php|bash|sh|zsh|dash|tsx|ts-node|go|uv|poetry|pdm|hatch|pipenv|npx|pnpm|yarn|npm|env|time|nice|exec|command)$"
)
WITH_FILE = re.compile(
    r"--?(?:c|p|f|r|config\w*(?:-file|-path)?|rcfile|rc-file|rulesdir|rules|require|import|loader|settings|project|plugin|plugins|conf|resolve-plugins-relative-to)"
)
BROUGHT_IN = re.compile(
    r"(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:_relative)?\s*\(?\s*)[\"'](\.{0,2}[\w./-]+)[\"']|^\s*(?:source|\.)\s+(\S+)|^\s*(?:from\s+\.?(\w+)\s+import|import\s+(\w+))",
    re.MULTILINE,
)
NAMED = re.compile(r"[\"'`]([\w./-]+)[\"'`]")
LISTS = re.compile(
    r"(?i)allow|ignore|exclu|except|baseline|known|skip|suppress|exempt|todo|legacy|rules?\b"
)  # names of the exception lists of such a program
CODE = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".rb", ".go", ".rs", ".php", ".java", ".kt", ".cs", ".md", ".rst")
ENDS = ("", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".sh", "/index.js", "/__init__.py")
MAKEFILES = ("Makefile", "makefile", "justfile", "GNUmakefile")
DEEPEST = 3
SCRIPTS = frozenset(
    {"scripts", "script", "tools", "tool", "ci", "bin", "dev", "devtools", "hack", "build", "contrib", "linters", "checks", "tasks"}
)
PRODUCT = ("src", "lib", "app", "pkg", "internal", "cmd")
JUDGE = re.compile(
    r"(?:^|[^a-z])(?:self)?(?:lint|check|verif|valid|audit|style|format|fmt|typecheck|preflight|rules?(?![a-z])|tests?(?![a-z])|coverage)"
)


OWN = re.compile(
    r"(?:pre|post)?(?:lint|check|type-?check|style|verify|validate|audit|preflight)(?:[:_.-].*)?"
)  # scripts and targets that judge
RUN = re.compile(
    r"^\s*(?:-\s+)?(?:run|entry):\s*(?![|>&*])[\"']?(.+?)[\"']?\s*$|^\s{6,}((?:python3?|node|bash|sh|ruby|go run|\./)\S*\s*\S.*|\./\S+.*)$",
    re.MULTILINE,
)


def commands_kept(read: Callable[[str], str], paths: Collection[str]) -> tuple[str, ...]:
    """The check commands of the project itself: package scripts and make targets with such names, and its own programs with such names that
    pre-commit hooks and CI run."""
    import json

    found = list[str]()
    if "package.json" in paths:
        with suppress(ValueError, AttributeError, TypeError):
            found += [f"npm run {name}" for name in json.loads(read("package.json")).get("scripts", {}) if OWN.fullmatch(name)]
    makefile = next((name for name in MAKEFILES if name in paths), "")
    if makefile:
        found += _recipes(read(makefile))
    for path in paths:
        if path == ".pre-commit-config.yaml" or (path.startswith(".github/workflows/") and path.endswith((".yml", ".yaml"))):
            lines = (first or second for first, second in RUN.findall(read(path)))
            found += [line for line in lines if any(JUDGE.search(word.lower()) for word in line.split() if "/" in word or "." in word)]
    return tuple(dict.fromkeys(found))


def _recipes(text: str) -> Iterator[str]:
    """The recipe lines of the Makefile targets whose name says that they judge."""
    judges = False
    for line in text.splitlines():
        if head := re.match(r"([\w.-]+)\s*:(?!=)", line):
            judges = OWN.fullmatch(head[1]) is not None
        elif judges and line[:1].isspace():
            yield line.strip().lstrip("@-")


def programs(commands: tuple[str, ...], read: Callable[[str], str], paths: Collection[str]) -> frozenset[str]:
    """The project's files that these commands run or read as configuration, and the files those load."""
    lines = list(commands)
    for name in targets_called(commands, "npm"):
        lines += _script(read("package.json"), name) if "package.json" in paths else []
    makefile = next((name for name in MAKEFILES if name in paths), "")
    if makefile and (called := targets_called(commands, "make")):
        lines += [line.strip().lstrip("@-") for line in read(makefile).splitlines() if line[:1].isspace()] if called else []
    todo, found = [path for line in lines for path in _named(line, paths)], set[str]()
    for _ in range(DEEPEST):
        new = [path for path in todo if path not in found]
        found.update(new)
        todo = [each for path in new for each in (*_brought_in(path, read(path), paths), *_lists(path, read(path), paths))]
    return frozenset(found)


def _script(text: str, name: str) -> list[str]:
    import json

    try:
        scripts = json.loads(text or "{}").get("scripts", {})
        return [str(scripts[each]) for each in (f"pre{name}", name, f"post{name}") if each in scripts]
    except (ValueError, AttributeError, TypeError):
        return []


def _named(line: str, paths: Collection[str]) -> Iterator[str]:
    """The files that a command line runs or reads as configuration; not the files it checks."""
    for part in re.split(r"&&|\|\||[;|&\n]", line):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        yield from _of_call(words, paths)


def _of_call(words: list[str], paths: Collection[str]) -> Iterator[str]:
    runs, after = True, ""  # the next plain word is the program
    for word in words if words[:1] not in (["test"], ["["]) else ():
        option, _, given = word.partition("=")
        if after == "-m" and runs:
            yield from _module(word, paths)
            runs, after = False, ""
            continue
        if word.startswith("-"):
            if given and WITH_FILE.fullmatch(option) and (path := _there(given, paths)):
                yield path
            after = word
            continue
        path = _there(word, paths)
        if path and ((runs and not _is_product(path, paths)) or WITH_FILE.fullmatch(after)):
            yield path
        if runs and not (INTERPRETERS.search(word.rpartition("/")[2]) or re.match(r"\w+=", word) or word in ("run", "exec", "x", "dlx")):
            runs = False
        after = ""


def _module(name: str, paths: Collection[str]) -> Iterator[str]:
    """The files of a module run with `-m`, unless it is the product's own."""
    path = _there(name.replace(".", "/"), paths)
    if path and not _is_product(path, paths, module=True):
        yield path
        yield from (each for each in (f"{dirname(path)}/__main__.py",) if path.endswith("/__init__.py") and each in paths)


def _is_product(path: str, paths: Collection[str], module: bool = False) -> bool:
    """Whether a file is part of the product, by its folder and name: a program that judges shows it in its name or folder.

    At the top level, a script judges whatever its name, and a module belongs to the product.
    """
    *folders, name = path.split("/")
    if any(each in SCRIPTS or each.startswith(".") for each in folders) or any(JUDGE.search(each.lower()) for each in (*folders, name)):
        return False
    return module or path.startswith(tuple(f"{each}/" for each in PRODUCT)) or f"{dirname(path)}/__init__.py" in paths


def _there(word: str, paths: Collection[str]) -> str:
    plain = normpath(word)
    return next((each for end in ENDS if (each := f"{plain}{end}") in paths), "")


def _lists(path: str, text: str, paths: Collection[str]) -> Iterator[str]:
    """The exception lists that a program names: data files with such a name or in the same folder. Not the files it checks."""
    for name in NAMED.findall(text):
        for found in (normpath(name), normpath(join(dirname(path), name))):
            beside = dirname(path) != "" and dirname(found) == dirname(path)
            if found in paths and not found.endswith(CODE) and (beside or LISTS.search(found.rpartition("/")[2])):
                yield found


def _brought_in(path: str, text: str, paths: Collection[str]) -> Iterator[str]:
    """The files in its own folder that a program loads."""
    beside = dirname(path) not in ("", "src", "lib", "app")  # in the product's folders, a plain import may mean the product
    for groups in BROUGHT_IN.findall(text):
        if not (beside or groups[0] or groups[1]):
            continue
        name = next((each for each in groups if each), "")
        if name and (found := _there(join(dirname(path), name), paths)):
            yield found
