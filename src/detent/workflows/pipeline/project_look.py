"""What a session learns about the project at its base commit: constitution, templates, and what exists (tests, modules, conventions). Reads git only."""

from collections import Counter
from pathlib import Path

from detent.blocks.check_card import plural
from detent.door import AnyRun
from detent.evidence.runners import RUNNERS
from detent.world.work_tree import RepoWorld

CONSTITUTION, AGENTS = ".detent/constitution.md", "AGENTS.md"
TEMPLATES = {"template-spec.md": ".detent/templates/spec.md", "template-architecture.md": ".detent/templates/architecture.md"}
PROJECT = "project.md"
OWN = Path(__file__).parent / "templates"
CONVENTIONS = {  # what a file at the root says about how the project is written
    "pyproject.toml": "Python project and tool settings", "setup.cfg": "Python tool settings", "ruff.toml": "ruff", ".editorconfig": "editor settings",
    "package.json": "JavaScript project and scripts", "tsconfig.json": "TypeScript", ".eslintrc.json": "ESLint", "eslint.config.js": "ESLint", ".prettierrc": "Prettier",
    "go.mod": "Go module", "Cargo.toml": "Rust crate", "pom.xml": "Maven", "build.gradle": "Gradle", "Makefile": "make targets", "CMakeLists.txt": "CMake",
    ".pre-commit-config.yaml": "pre-commit hooks", "CONTRIBUTING.md": "how to contribute", "AGENTS.md": "instructions to agents", "README.md": "what it is and how to run it",
}  # fmt: skip
MOST = 12


def laid_texts(world: RepoWorld, run: AnyRun) -> dict[str, str]:
    """The texts that every role finds below instructions/: constitution, document templates, and what exists, all as of the base commit."""
    git, base = world.git, run.data.base
    texts = {PROJECT: project_text(world, run)}
    if (law := git.read(base, CONSTITUTION)) is not None:
        texts["constitution.md"] = law.decode("utf-8", "replace")
    for name, path in TEMPLATES.items():
        given = git.read(base, path)
        texts[name] = given.decode("utf-8", "replace") if given is not None else (OWN / name.removeprefix("template-")).read_text("utf-8")
    return texts


def project_text(world: RepoWorld, run: AnyRun) -> str:
    """Existing tests, modules and conventions, on one page."""
    every = world.git.run("ls-tree", "-r", "-z", "--name-only", run.data.base).items
    paths = [path for path in every if path and not path.startswith(".detent/")]
    suite = world.config_of(run).suite.base
    is_test = RUNNERS[suite.runner].is_test if suite and suite.runner in RUNNERS else (lambda path: "test" in path.lower())
    tests, code = [p for p in paths if is_test(p)], [p for p in paths if not is_test(p)]
    conventions = [f"{name}: {what}" for name, what in CONVENTIONS.items() if name in paths]
    conventions += [f"{path}: CI" for path in paths if path.startswith((".github/workflows/", ".gitlab-ci"))][:3]
    parts = (
        "# The project as it was when the session began",
        f"{plural(len(paths), 'file')}. Keep and extend what exists; do not build anything twice.",
        "## Existing tests",
        _listed(
            [
                f"runner: {suite.runner}" if suite and suite.runner else "runner: none was recognised",
                plural(len(tests), "test file"),
                *_shown(tests),
            ]
        ),
        "## Modules",
        _listed(_folders(code)),
        "## Conventions",
        _listed(conventions or ["none was recognised; follow the existing code"]),
    )
    return "\n\n".join(parts) + "\n"


def _folders(paths: list[str]) -> list[str]:
    """The folders with the most files, two levels deep, with their most frequent file endings."""
    by: dict[str, list[str]] = {}
    for path in paths:
        by.setdefault("/".join(path.split("/")[:-1][:2]) or "(root)", []).append(path)
    rows = sorted(by.items(), key=lambda row: (-len(row[1]), row[0]))
    lines = []
    for folder, files in rows[:MOST]:
        ends = ", ".join(end for end, _ in Counter(filter(None, (Path(path).suffix for path in files))).most_common(3))
        such = ", ".join(sorted(Path(f).name for f in files)[:3])
        lines.append(f"{folder}: {plural(len(files), 'file')}{f' ({ends})' if ends else ''}, such as {such}")
    return lines + ([f"{len(rows) - MOST} more folders"] if len(rows) > MOST else [])


def _shown(paths: list[str]) -> list[str]:
    return sorted(paths)[:MOST] + ([f"and {len(paths) - MOST} more"] if len(paths) > MOST else [])


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
