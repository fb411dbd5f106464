"""New suppressions: lines or whole files excluded from linters, type checkers or coverage. Also tests skipped in CI or retried. Pure."""

import re
from collections.abc import Iterator

from detent.evidence.changes.edited_files import EditedFile, product
from detent.kernel.model import Flag

SUPPRESSED = re.compile(
    r"#\s*noqa\b|#\s*type:\s*ignore|#\s*pyright:\s*\w*ignore|#\s*mypy:|#\s*pylint:\s*disable|#\s*pragma:\s*no\s?(?:cover|branch)|#\s*nosec\b|#\s*ty:\s*ignore"
    r"|eslint-disable|@ts-(?:ignore|expect-error|nocheck)|(?:istanbul|c8|v8)\s+ignore|biome-ignore|prettier-ignore|oxlint-disable"
    r"|//\s*nolint|#\[(?:allow|expect)\(|rubocop:disable|@SuppressWarnings|@Suppress\(|NOSONAR|phpstan-ignore|psalm-suppress|#pragma\s+warning\s+disable|NOLINT|:nocov:"
)
WHOLE_FILE = re.compile(
    r"^\s*#\s*(?:ruff|flake8):\s*noqa\s*$|^\s*#\s*mypy:\s*ignore-errors|^\s*#\s*pylint:\s*skip-file|^\s*#\s*type:\s*ignore\s*$|@ts-nocheck"
    r"|/\*\s*eslint-disable\s*\*/|/\*\s*(?:istanbul|c8|v8)\s+ignore\s+(?:file|start)|^\s*#!\[allow\((?:warnings|clippy::all|unused|dead_code)|//\s*nolint\s*(?:$|:all)"
    r"|^\s*#\s*(?:pyright:\s*basic|pyre-ignore-all|pyrefly:\s*ignore-errors)|^\s*@(?:typing\.)?no_type_check\b|/\*\s*eslint\s+[\w@/-]+\s*:\s*(?:0|[\"']?off)|deno-lint-ignore-file"
    r"|biome-ignore-all|tslint:disable\s*(?:\*/|$)|jshint\s+ignore:start|//lint:file-ignore"
    r"|^\s*declare module [\"'](?:\*|\.{1,2}/[^\"'\n]*)[\"']|rubocop:disable\s+all|^\s*#\s*typed:\s*(?:false|ignore)\b"
)
SCANNER = re.compile(
    r"#\s*nosec\b|\bnosemgrep\b|#\s*noqa:[^#\n]*\bS\d{3}\b|\b(?:codeql|lgtm)\s*\[|\bNOSONAR\b|rubocop:disable[^\n]*\bSecurity/|\b(?:checkov:skip|tfsec:ignore|trivy:ignore)"
    r"|//\s*nolint:[^\n]*\bgosec\b|eslint-disable[^\n]*\bsecurity/|\bgitleaks:allow\b|allowlist secret"
)  # suppressions for security scanners, each of which raises a question
MANY = 3
RARE = 20  # new lines of code per suppression, from which the flag is only a note
ON_CI = re.compile(r"\b(?:CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|CIRCLECI|BUILDKITE|TF_BUILD|JENKINS_URL)\b")
LEAVES_OUT = re.compile(r"skip|\bxfail\b|\bpending\b|\btodo\b|\breturn\s*;?$", re.IGNORECASE)
AGAIN = re.compile(
    r"\bmark\.flaky\b|^\s*@flaky\b|\breruns\s*=|\bretryTimes\(|\bthis\.retries\(|\bretr(?:y|ies):\s*[1-9]|\b@?RetryingTest\b|\bRepeatedIfExceptionsTest\b|\bretry_on_failure\b"
)
NEAR = 2  # lines from the CI check to the skip


def left_out(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for tests that are skipped in CI, or retried until they pass."""
    for file in files:
        if not file.is_test:
            continue
        for n in sorted(file.all_added):
            line, near = file.line(n), "\n".join(file.line(m) for m in range(n, n + NEAR + 1))
            if ON_CI.search(line) and LEAVES_OUT.search(near) and re.search(r"env", line, re.IGNORECASE):
                yield Flag("judged-by", "a test is skipped in CI", f"{file.path}:{n}", after=line)
            elif AGAIN.search(line):
                yield Flag("judged-by", "a test is retried until it passes", f"{file.path}:{n}", after=line)


def suppressed(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for silenced checks: a whole file, a security scanner, or many lines."""
    added, removed = list[tuple[EditedFile, int]](), 0
    for file in product(files):
        if not file.all_added:
            continue
        lines = [n for n in sorted(file.added) if SUPPRESSED.search(file.line(n)) or WHOLE_FILE.search(file.line(n))]
        whole = [n for n in lines if WHOLE_FILE.search(file.line(n)) and not WHOLE_FILE.search(file.before)]
        if whole:
            sentence = f"a whole file is excluded from the checks: `{file.line(whole[0])[:80]}`"
            yield Flag("judged-by", sentence, f"{file.path}:{whole[0]}", after=file.line(whole[0]))
        deaf = [n for n in sorted(file.added) if n not in whole and SCANNER.search(file.line(n)) and file.line(n) not in file.before]
        if deaf:
            sentence = f"the security scanner is made to skip this line: `{file.line(deaf[0])[-60:]}`"
            yield Flag("judged-by", sentence, f"{file.path}:{deaf[0]}", after=file.line(deaf[0]))
        added += [(file, n) for n in lines if n not in whole]
        old = file.before.split("\n")
        removed += sum(1 for n in file.removed if n <= len(old) and SUPPRESSED.search(old[n - 1]))
    if len(added) - removed >= MANY:
        file, line = added[0]
        sentence = f"{len(added)} new lines silence linters or other checks (such as `{file.line(line)[-60:]}`)"
        rare = (len(added) - removed) * RARE <= sum(1 for f in product(files) for n in f.added if f.line(n).strip())
        yield Flag(
            "judged-by", sentence, f"{file.path}:{line}", after="\n".join(f.line(n) for f, n in added[:8]), level="note" if rare else "ask"
        )
