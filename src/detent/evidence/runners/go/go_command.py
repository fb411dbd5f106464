"""Command lines of `go test`: which calls are recognised, which words select tests, and which options an agent may not use.

Options that only change the display are dropped; every option that is not listed is refused.
"""

from detent.evidence.runners.adapter import Command, Parsed, after_first, parsed, path_fault

KEPT_FLAGS = frozenset({"race", "short", "msan", "asan", "trimpath", "cover"})  # kept from a configured command
KEPT_VALUES = frozenset(
    {"tags", "timeout", "p", "parallel", "cpu", "mod", "modfile", "vet", "ldflags", "gcflags", "covermode", "coverpkg", "shuffle"}
)
SHOWN_FLAGS = frozenset({"v", "json", "failfast", "fullpath"})
SHOWN_VALUES = frozenset({"count", "timeout"})
ALL = frozenset({".", "./...", "...", "./"})


def adopt(words: tuple[str, ...]) -> Command | None:
    """A configured command that runs `go test` once with known options; else None."""
    if words[:2] != ("go", "test"):
        return None
    found = _parse(words[2:], KEPT_FLAGS | SHOWN_FLAGS, KEPT_VALUES | SHOWN_VALUES)
    paths = tuple(word for word in words[2:] if word in found.selectors or word.removeprefix("./") in found.selectors)
    return None if found.fault or any(each.startswith("-") for each in found.selectors) else Command(words, "go", "configured", paths)


def base_flags(base: Command) -> list[str]:
    """The options of the project's own command that the machine keeps."""
    kept = _parse(base.argv[2:], KEPT_FLAGS | SHOWN_FLAGS, KEPT_VALUES | SHOWN_VALUES).kept
    return [flag for flag in kept if flag.lstrip("-").partition("=")[0] in KEPT_FLAGS | KEPT_VALUES]


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it."""
    own = base.argv[: len(base.argv) - len(base.paths)]
    configured = f"`{base.text}`, " if base.text != "go test ./..." else ""

    def options(words: tuple[str, ...]) -> Parsed:
        found = _parse(words, SHOWN_FLAGS | {"race", "short", "cover"}, SHOWN_VALUES)
        whole = not found.selectors or any(each in ALL for each in found.selectors)
        return found._replace(selectors=tuple(each for each in found.selectors if not whole or each.startswith("-")))

    allowed = f"{configured}`go test` with packages, folders, test files or -run"
    return parsed(command, lambda words: after_first(words, base.argv, own, ("go", "test")), options, allowed)


def _parse(words: tuple[str, ...], flags: frozenset[str], values: frozenset[str]) -> Parsed:
    paths: list[str] = []
    options: list[str] = []
    run = ""
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            if fault := _path_fault(word):
                return Parsed(fault=fault)
            paths.append(word if word in ALL else word.removeprefix("./").rstrip("/"))
            continue
        if name in flags and not (equals and value not in ("true", "false")):
            options.append(word)
            continue
        if name != "run" and name not in values:
            return Parsed(fault=f"the option -{name} can change the result")
        value = value if equals else left.pop(0) if left and not left[0].startswith("-") else ""
        if not value.strip():
            return Parsed(fault=f"the option -{name} has no value")
        run = value if name == "run" else run
        options += [] if name == "run" else [f"-{name}={value}"]
    return Parsed((*paths, *((f"-run={run}",) if run else ())), kept=tuple(options))


def _path_fault(word: str) -> str:
    if "::" in word:
        return f"`{word}` is Detent's own test id, which go does not know; name the file or the package, or use -run"
    if "@" in word or ("." in word.partition("/")[0] and not word.startswith(".") and not word.endswith(".go")):
        return f"`{word}` is not a package inside the project; write it as a path, such as ./pkg/..."
    return path_fault(word)
