"""Command lines of `cargo test`: which calls are recognised, which words select tests, and which options an agent may not use.

Options that only change the display are dropped; every option that is not listed is refused.
"""

from detent.evidence.runners.adapter import Command, Parsed, after_first, parsed, path_fault

KEPT_FLAGS = frozenset({"--workspace", "--all", "--all-features", "--no-default-features", "--release", "-r", "--locked", "--frozen"})
KEPT_VALUES = frozenset({"-p", "--package", "--exclude", "--features", "-F", "--profile", "--manifest-path"})
SHOWN_FLAGS = frozenset({"-q", "--quiet", "-v", "--verbose", "--no-fail-fast", "--offline"})
SHOWN_VALUES = frozenset({"--color", "-j", "--jobs"})
TARGETS = frozenset({"--lib", "--bins", "--tests"})
NAMED_TARGETS = frozenset({"--test", "--bin"})
SHOWN_AFTER = frozenset({"--nocapture", "--show-output", "--quiet", "-q"})  # after the second --
SHOWN_AFTER_VALUES = frozenset({"--test-threads", "--color", "--format"})
CALLS = (("cargo", "test"), ("cargo", "t"))


def adopt(words: tuple[str, ...]) -> Command | None:
    """A configured command that runs all tests of a cargo project once, with known options; else None."""
    if words[:2] not in CALLS:
        return None
    found = _parse(words[2:], KEPT_FLAGS | SHOWN_FLAGS, KEPT_VALUES | SHOWN_VALUES)
    return None if found.fault or found.selectors else Command(words, "cargo", "configured")


def base_flags(base: Command) -> list[str]:
    """The options of the project's own command that the machine keeps."""
    return list(_parse(base.argv[2:], KEPT_FLAGS | SHOWN_FLAGS, KEPT_VALUES | SHOWN_VALUES).kept)


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it."""
    own = f"`{base.text}`, " if base.text != "cargo test" else ""
    return parsed(
        command,
        lambda words: after_first(words, base.argv, *CALLS),
        lambda words: _parse(words, SHOWN_FLAGS | {"--workspace", "--all"}, SHOWN_VALUES),
        f"{own}`cargo test` with a part of a test's name, test files, --test, --lib or --bins",
    )


def _parse(words: tuple[str, ...], flags: frozenset[str], values: frozenset[str]) -> Parsed:
    paths: list[str] = []
    chosen: list[str] = []
    kept: list[str] = []
    after = False
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        takes = values | NAMED_TARGETS if not after else SHOWN_AFTER_VALUES
        if word == "--" and not after:
            after = True
        elif not word.startswith("-"):
            if fault := path_fault(word) if "/" in word or word.endswith(".rs") else "":
                return Parsed(fault=fault)
            if ".rs::" in word:
                return Parsed(fault=f"`{word}` is Detent's own test id, which cargo does not know; name the file or the test")
            paths += [word.removeprefix("./")] if "/" in word or word.endswith(".rs") else []
            chosen += [] if "/" in word or word.endswith(".rs") else [f"-name={word}"]
        elif name in takes:
            value = value if equals else left.pop(0) if left and not left[0].startswith("-") else ""
            if not value:
                return Parsed(fault=f"the option {name} has no value")
            chosen += [f"{name}={value}"] if name in NAMED_TARGETS else []
            kept += [name, value] if name in KEPT_VALUES else []
        elif word in (SHOWN_AFTER if after else flags):
            kept += [word] if word in KEPT_FLAGS else []
        elif (word in TARGETS and not after) or (word == "--exact" and after):
            chosen.append(word)
        else:
            return Parsed(fault=f"the option {name} can change the result")
    return Parsed((*paths, *chosen), kept=tuple(kept))
