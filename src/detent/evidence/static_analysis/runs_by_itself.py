"""Files that make something run on a person's machine as soon as an editor opens the folder, a shell enters it or an agent starts in it. Also
changes to scripts that run the tests. Reads only."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from detent.evidence.changes.edited_files import EditedFile
from detent.kernel.model import Flag

EDITOR, AGENT = "an editor that opens this folder", "an agent that works in this folder"
BY_ITSELF: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (what, re.compile(path), re.compile(pattern, re.IGNORECASE))
    for what, path, pattern in (
        (EDITOR, r"(?:.*/)?\.vscode/tasks\.json|.*\.code-workspace", r"folderOpen|\"(?:command|args)\"|allowAutomaticTasks"),
        (EDITOR, r"(?:.*/)?\.vscode/settings\.json", (r"allowAutomaticTasks|\bterminal\.integrated\.(?:env|profiles|automationProfile)|\binterpreter"
         r"|\"[\w.]*(?:path|command|executable|args)\"")),
        (EDITOR, r"(?:.*/)?\.idea/(?:startup|runConfigurations/.*|externalTools|watcherTasks)\.?(?:xml)?", r"\bvalue=|<option|<task"),
        (EDITOR, r"(?:.*/)?(?:\.exrc|\.n?vim(?:rc|\.lua)|\.dir-locals\.el|\.zed/(?:tasks|settings)\.json|\.sublime-project)", r"\S"),
        ("a container that is made of this folder", r"(?:.*/)?(?:\.devcontainer/.*|\.devcontainer\.json|\.gitpod\.yml)",
         r"\b(?:initialize|onCreate|updateContent|post(?:Create|Start|Attach))Command\b|^\s*-?\s*(?:init|before|command|prebuild)\s*:"),
        (AGENT, (r"(?:.*/)?(?:\.?mcp\.json|\.(?:cursor|vscode|roo|kiro)/.*mcp\.json|\.(?:claude|gemini|qwen|codex)/(?:settings(?:\.local)?\.json|config\.toml)"
         r"|opencode\.jsonc?|\.(?:cursor|codex)/hooks\.json)"), r"command|\bargs\b|\bhooks?\b|\ballow|\burl\b|\bmcp|approval|sandbox"),
        ("a shell that enters this folder", r"(?:.*/)?(?:\.envrc|\.autoenv(?:\.zsh)?|\.lando\.yml)",
         r"^\s*(?![#\[\s])(?!(?:use|layout|dotenv|PATH_add|export\s+\w+=[\w./-]*$)\b)\S+.*[\s(`=|;]"),
        ("a debugger or a shell of a language that starts in this folder", r"(?:.*/)?\.(?:gdbinit|lldbinit|pdbrc(?:\.py)?|pythonrc(?:\.py)?|irbrc|pryrc|inputrc|rdbgrc)", r"\S"),
    )
)  # who runs it, which file, and the lines that say what to run  # fmt: skip
SCRIPT = re.compile(
    r".*\.(?:sh|bash|zsh|fish|ps1|psm1|bat|cmd)|(?:.*/)?(?:Earthfile|Dockerfile[\w.-]*|Containerfile|magefile\.go|[\w-]+\.dockerfile|Procfile)"
)
SHEBANG = re.compile(r"#!.*\b(?:ba|z|da|fi)?sh\b")
JUDGE = re.compile(
    r"(?<![\w./-])(?:(?:python[\d.]*|uv|poetry|pdm|hatch|npx|pnpm|yarn|bun|bundle|npm|exec|run|rake|vendor/bin|node_modules/\.bin|go|cargo|make|mvn|dotnet|\./gradlew|gradle|\./mvnw|mix|swift|composer)[\s/]+(?:-m\s+|--\s+)?)*"
    r"(?:pytest|py\.test|unittest|tox|nox|rspec|minitest|jest|vitest|mocha|ava|playwright|cypress|phpunit|pest|nextest|gotestsum|ctest|bats|ruff|flake8|pylint|mypy|pyright|eslint|biome|tsc|prettier"
    r"|rubocop|brakeman|golangci-lint|staticcheck|govulncheck|clippy|bandit|semgrep|gitleaks|trivy|shellcheck|phpstan|psalm|detent|(?:go|cargo|npm|yarn|pnpm|bun|mvn|make|dotnet|gradle|gradlew|mix|rake|run|node\s+-)-?-?\s*(?:run\s+)?(?:test|vet|lint|check|verify|audit))\b"
)
FORGIVES = re.compile(
    r"\|\|\s*(?:true|:|exit\s+0|echo)\b|;\s*true\s*$|^\s*set\s+\+e\b|^\s*exit\s+0\s*$"
    r"|--(?:passWithNoTests|no-verify|exit-zero|allow-empty)\b|\bErrorActionPreference\b.*Continue"
)
NARROWS = re.compile(
    r"-(?:k|m|t|run|skip|g)$|--?(?:deselect|ignore|co$|collect-only|skip|exclude|testPathIgnore|testNamePattern|grep|invert|only|tags?\b|bail|fail-?fast|maxfail|max-warnings|quiet)",
    re.IGNORECASE,
)
STRICT = re.compile(r"^\s*set\s+-\w*[eo]\w*\b|\bErrorActionPreference\b.*Stop")


def runs_by_itself(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for files that make a program run by itself."""
    for file in files:
        if file.how == "deleted" or not file.all_added:
            continue
        for who, path, pattern in BY_ITSELF:
            lines = [n for n in sorted(file.all_added) if pattern.search(file.line(n))] if path.fullmatch(file.path) else []
            if lines:
                words = f"{file.path} tells {who} what to run"
                yield Flag("executable-bits", words, f"{file.path}:{lines[0]}", after=file.line(lines[0]))
                break


def judging_scripts(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for scripts that now run fewer tests or linters, run them differently, or ignore their failures."""
    for file in files:
        if file.how == "added" or not (SCRIPT.fullmatch(file.path) or SHEBANG.match(file.before)):
            continue
        rows = file.before.split("\n")
        removed = [rows[n - 1].strip() for n in sorted(file.removed) if n <= len(rows)]
        added = [file.line(n) for n in sorted(file.all_added)]
        if not JUDGE.search("\n".join(line for line in rows if not line.lstrip().startswith("#"))):
            continue
        less = next((line for line in removed if JUDGE.search(line) and not line.startswith("#") and not _stands(line, added)), "")
        less = less or next((line for line in removed if STRICT.search(line) and not any(map(STRICT.search, added))), "")
        more = next((line for line in added if FORGIVES.search(line) and line not in removed), "")
        if less or more:
            words = f"the part of {PurePosixPath(file.path).name} that runs tests or checks was changed"
            yield Flag("judged-by", words, file.path, less, more or next((line for line in added if JUDGE.search(line)), ""))


def _stands(line: str, added: list[str]) -> bool:
    """Whether a removed command is back with at least the same words, and none added that narrows it."""
    words = Counter(line.split())
    found = (Counter(other.split()) - words for other in added if not words - Counter(other.split()) and not FORGIVES.search(other))
    return any(not any(map(NARROWS.match, more)) for more in found)
