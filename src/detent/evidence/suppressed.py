"""Suppressions that a change brings: lines, or whole files, that linters, type checkers or coverage shall not look at. Pure."""

import re
from collections.abc import Iterator

from detent.evidence.edited import Edited, product
from detent.kernel.model import Flag

SUPPRESSED = re.compile(
    r"#\s*noqa\b|#\s*type:\s*ignore|#\s*pyright:\s*\w*ignore|#\s*mypy:|#\s*pylint:\s*disable|#\s*pragma:\s*no\s?(?:cover|branch)|#\s*nosec\b|#\s*ty:\s*ignore"
    r"|eslint-disable|@ts-(?:ignore|expect-error|nocheck)|(?:istanbul|c8|v8)\s+ignore|biome-ignore|prettier-ignore|oxlint-disable"
    r"|//\s*nolint|#\[(?:allow|expect)\(|rubocop:disable|@SuppressWarnings|@Suppress\(|NOSONAR|phpstan-ignore|psalm-suppress|#pragma\s+warning\s+disable|NOLINT|:nocov:"
)
WHOLE_FILE = re.compile(
    r"^\s*#\s*(?:ruff|flake8):\s*noqa\s*$|^\s*#\s*mypy:\s*ignore-errors|^\s*#\s*pylint:\s*skip-file|^\s*#\s*type:\s*ignore\s*$|@ts-nocheck"
    r"|/\*\s*eslint-disable\s*\*/|/\*\s*(?:istanbul|c8|v8)\s+ignore\s+(?:file|start)|^\s*#!\[allow\((?:warnings|clippy::all|unused|dead_code)|//\s*nolint\s*(?:$|:all)"
)
MANY = 3


def suppressed(files: tuple[Edited, ...]) -> Iterator[Flag]:
    """Where a change silences what judges: a whole file, or many lines."""
    came, gone = list[tuple[Edited, int]](), 0
    for file in product(files):
        if not file.came_in_all:
            continue
        lines = [n for n in sorted(file.came) if SUPPRESSED.search(file.line(n)) or WHOLE_FILE.search(file.line(n))]
        whole = [n for n in lines if WHOLE_FILE.search(file.line(n)) and not WHOLE_FILE.search(file.before)]
        if whole:
            said = f"a whole file is taken out of what judges the code: `{file.line(whole[0])[:80]}`"
            yield Flag("judged-by", said, f"{file.path}:{whole[0]}", after=file.line(whole[0]))
        came += [(file, n) for n in lines if n not in whole]
        old = file.before.split("\n")
        gone += sum(1 for n in file.gone if n <= len(old) and SUPPRESSED.search(old[n - 1]))
    if len(came) - gone >= MANY:
        file, line = came[0]
        said = f"{len(came)} new lines silence what judges the code (such as `{file.line(line)[-60:]}`)"
        yield Flag("judged-by", said, f"{file.path}:{line}", after="\n".join(f.line(n) for f, n in came[:8]))
