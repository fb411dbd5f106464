"""What judges besides the tests: configuration of linters, type checkers and coverage, and the scripts and targets that preflight calls. Pure: texts in, texts out.

A file is compared by what of it judges: a version or a dependency in the same file is an ordinary change, and so are other versions of the
tools that it had, one more version to test with, or which pushes are judged beside pull requests.
"""

import json
import re
from pathlib import PurePosixPath

from detent.evidence.changes.layout_settings import judging_value

NAMES = re.compile(
    r"\.?ruff\.toml|\.?mypy\.ini|\.flake8|\.?pylintrc(?:\.toml)?|pyrightconfig\.json|\.pydocstyle(?:\.ini)?|\.isort\.cfg|\.?bandit(?:\.ya?ml)?|\.style\.yapf"
    r"|\.importlinter|\.pre-commit-config\.ya?ml|ty\.toml|\.coveragerc|noxfile\.py"
    r"|[tj]sconfig(?:\.[\w-]+)*\.json|eslint\.config\.[cm]?[jt]s|\.eslintrc(?:\.\w+)?|\.eslintignore|\.prettierrc(?:\.\w+)?|prettier\.config\.\w+|\.prettierignore"
    r"|biome\.jsonc?|rome\.json|\.stylelintrc(?:\.\w+)?|stylelint\.config\.\w+|\.?oxlintrc\.json|tslint\.json|\.jshintrc|knip\.(?:json|ts)|dprint\.json|\.lintstagedrc(?:\.\w+)?"
    r"|lint-staged\.config\.\w+|\.c8rc(?:\.json)?|\.nycrc(?:\.\w+)?|lefthook\.ya?ml"
    r"|\.golangci\.(?:ya?ml|toml|json)|staticcheck\.conf|revive\.toml|\.?clippy\.toml|\.?rustfmt\.toml|deny\.toml"
    r"|\.rubocop(?:_todo)?\.yml|\.standard(?:rb)?\.yml|\.reek\.yml|phpstan(?:-baseline)?\.neon(?:\.dist)?|psalm(?:-baseline)?\.xml(?:\.dist)?|phpcs\.xml(?:\.dist)?"
    r"|\.php-cs-fixer(?:\.dist)?\.php|checkstyle(?:-\w+)?\.xml|spotbugs[\w-]*\.xml|pmd[\w-]*\.xml|detekt\.ya?ml|\.scalafmt\.conf|\.clang-(?:tidy|format)|CPPLINT\.cfg"
    r"|\.gitattributes|CODEOWNERS"
    r"|\.gitleaks(?:\.toml|ignore)|\.trivyignore(?:\.ya?ml)?|trivy\.ya?ml|\.snyk|osv-scanner\.toml|\.secrets\.baseline|\.grype\.ya?ml|audit-ci\.jsonc?|\.nsprc|\.talismanrc"
    r"|\.yamllint(?:\.ya?ml)?|\.hadolint\.ya?ml|\.checkov\.ya?ml|\.tflint\.hcl|\.shellcheckrc|\.sqlfluff|\.mega-linter\.yml|\.ansible-lint|\.brakeman\.ignore|brakeman\.ignore"
    r"|[Dd]angerfile(?:\.[jt]s)?|\.dependency-cruiser\.[cm]?js|\.size-limit(?:\.\w+)?|\.codeclimate\.yml|\.codacy\.ya?ml|\.deepsource\.toml|\.coderabbit\.ya?ml|greptile\.json"
    r"|\.env(?:\.\w+)?|\.envrc|entry_points\.txt|dependabot\.ya?ml|renovate\.json5?|\.renovaterc(?:\.json)?"
    r"|tox\.toml|hatch\.toml|\.simplecov|\.?babelrc(?:\.\w+)?|\.babelrc(?:\.\w+)?|babel\.config\.\w+|\.swcrc|turbo\.jsonc?|nx\.json|(?:playwright|cypress|karma|wdio|nightwatch|stryker)"
    r"(?:[.-][\w-]+)*\.(?:conf(?:ig)?\.)?[cm]?[jt]s(?:on)?|web-test-runner\.config\.\w+|\.stryker\.conf\.\w+|Earthfile|Guardfile|\.overcommit\.yml|\.testcoverage\.ya?ml|\.octocov\.yml"
    r"|\.mergify\.ya?ml|\.kodiak\.toml|bors\.toml|\.pullapprove\.ya?ml|\.prow\.yaml|\.zuul\.ya?ml|\.coveralls\.yml|\.bumper\.ya?ml"
    r"|sonar-project\.properties|\.semgrep(?:\.ya?ml|ignore)?|\.swiftlint\.yml|analysis_options\.yaml|\.credo\.exs"
)
DATA = r"(?:jsonc?|json5|ya?ml|toml|xml|txt|neon|csv|lst|ini|cfg|conf|properties|sarif|dist)"
EXCEPTIONS = re.compile(
    rf"(?i:(?:[\w.-]*[._-])?(?:baseline|suppressions?|suppressed|exclusions|false[-_]?positives|known[-_](?:issues|violations|errors)|(?:lint|audit|check)[-_]ignores?)"
    rf"(?:[._-][\w-]+)*\.(?:{DATA}|php|rules|supp))"
    r"|\.[\w-]+[._-](?:baseline|suppressions?|todo)|\.?[\w-]+[_-]todo\.ya?ml|[\w.-]+\.supp|GlobalSuppressions\.cs"
    r"|\.(?:betterer\.results|nancy-ignore|cfnlintignore)|\.?vulture[-_]?(?:white|allow)list\.py|stored\.rules"
)  # what tools of any kind are told to let pass
OF_LINTERS = re.compile(
    rf"\.[\w-]*lint(?:er)?[\w-]*(?:\.[\w-]+)*|[\w-]*lint(?:er)?(?:rc)?(?:[._-][\w-]+)*\.{DATA}|[\w-]*lint-(?:local-)?rules\.[cm]?[jt]s"
)
MORE = re.compile(
    r"\.pyre_configuration|pytype\.(?:cfg|toml)|[_.]?typos\.toml|\.?cspell(?:\.config)?\.\w+|\.safety-policy\.ya?ml|\.?vale\.ini|\.?zizmor\.ya?ml|tach\.toml|prek\.toml"
    r"|\.jscpd\.json|\.madgerc|\.depcheckrc(?:\.\w+)?|\.remarkrc(?:\.\w+)?|\.taprc|\.xo-config(?:\.\w+)?|xo\.config\.\w+|\.betterer\.[jt]s|api-extractor\.json|\.attw\.json"
    r"|Steepfile|packwerk\.yml|\.fasterer\.yml|\.bundler-audit\.yml|\.mdlrc|lefthook-local\.ya?ml|phpmd(?:\.\w+)*\.xml|phpstan\.dist\.neon|\.phpcs\.xml(?:\.dist)?|deptrac(?:\.\w+)*\.ya?ml"
    r"|infection\.json5?(?:\.dist)?|rector\.php|ecs\.php|grumphp\.ya?ml(?:\.dist)?|phparkitect\.php|pint\.json|\.?tarpaulin\.toml|archunit\.properties|stylecop\.json|\.globalconfig"
    r"|\.?gosec\.json|\.?revive\.toml|lombok\.config|fabfile\.py|dodo\.py|buildspec\.ya?ml|cloudbuild\.ya?ml|codecov\.yaml|\.coveralls\.yaml|\.gitlab-ci[\w-]*\.ya?ml|azure-pipelines[\w-]*\.ya?ml"
    r"|\.yarnrc(?:\.yml)?|\.?pnpmfile\.c?js|bunfig\.toml"
)  # settings of further tools, and of what starts the runner
HIDES = re.compile(
    r"^(?!\s*#).*\s(?:-diff\b|linguist-(?:generated|vendored)\b(?!=false)|filter=(?!lfs\b)|merge=ours)"
    r"|^\s*(?:\S*/)?(?:\*|\S*\.(?:py|[cm]?[jt]sx?|go|rb|php|rs|java|kt|cs))\s+(?:.*\s)?binary\b"
)  # by such a line of .gitattributes a reviewer is not shown a change, or git changes what is read
STEERS = re.compile(
    r"^\s*(?:export\s+)?(?:NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|STARTUP|HOME|OPTIMIZE)|PYTEST_\w+|RUBY(?:OPT|LIB)|GOFLAGS|LD_\w+|(?:VI|JE)TEST_?\w*)\s*=",
    re.MULTILINE,
)  # variables of a .env by which tests are run otherwise
FOLDERS = (
    ".husky/", ".githooks/", ".github/settings.yml", ".github/rulesets/", ".mergify/", ".gitlab/ci/", ".teamcity/", ".semaphore/", ".harness/", ".tekton/",
    ".phan/", ".basedpyright/", ".semgrep/", "supply-chain/", ".cargo/audit.toml", ".cargo/mutants.toml", ".yarn/releases/", ".yarn/plugins/", ".bundle/",
)  # fmt: skip
TOOLS = (
    "ruff", "mypy", "pyright", "basedpyright", "pylint", "flake8", "black", "isort", "bandit", "pydocstyle", "vulture", "interrogate", "ty", "codespell",
    "deptry", "importlinter", "import-linter", "poe", "taskipy", "pyrefly", "yapf", "autopep8", "pyupgrade", "docformatter", "pytest", "coverage", "tox", "nox",
)  # tables below [tool] of a pyproject  # fmt: skip
SECTIONS = (
    "mypy",
    "flake8",
    "pylint",
    "pycodestyle",
    "pydocstyle",
    "isort",
    "bandit",
    "coverage",
    "tool",
    "pytest",
    "testenv",
    "tox",
    "yapf",
    "pep8",
    "importlinter",
    "doc8",
)
INIS = (".flake8", ".pylintrc", "pylintrc", ".isort.cfg")  # which judge as a whole
ENVIRONMENTS = ("tox.toml", "hatch.toml")  # what they install beside the runner is an ordinary change
NEEDS = ("deps", "dependencies", "extra-dependencies", "features", "requires", "extras")  # what such a table asks to be installed
PACKAGE = (
    "eslintConfig",
    "eslintIgnore",
    "prettier",
    "stylelint",
    "xo",
    "standard",
    "c8",
    "nyc",
    "lint-staged",
    "husky",
    "jest",
    "mocha",
    "vitest",
    "ava",
    "babel",
    "tsd",
)
JUDGES = re.compile(
    r"(?:pre|post)?(?:test|lint|check|type-?check|types|format|fmt|style|ci|verify|validate|coverage|cov|preflight|audit|eslint|tsc|mypy|ruff)(?:[:_.-].*)?"
)
SHARED = ("pyproject.toml", "setup.cfg", "tox.ini", "package.json", "composer.json")  # files in which a part judges
TARGETS = (
    "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml", "Rakefile",
)  # fmt: skip


def is_judging(path: str) -> bool:
    """Whether a file, by its name, configures a tool that judges code, or may in a part of it."""
    name = PurePosixPath(path).name
    known = any(form.fullmatch(name) for form in (NAMES, EXCEPTIONS, OF_LINTERS, MORE))
    return known or path.startswith(FOLDERS) or name in SHARED or _has_targets(name)


def _has_targets(name: str) -> bool:
    return name in TARGETS or name.endswith(".mk")


def judging_part(path: str, text: str) -> str:
    """What of such a file judges, as text that can be compared; the whole file if it cannot be taken apart."""
    name = PurePosixPath(path).name
    try:
        if name == "pyproject.toml":
            return _toml(text)
        if name in ("setup.cfg", "tox.ini", *INIS):
            return _ini(text, whole=name in INIS)
        if name == "package.json":
            return _package(text)
        if name == ".gitattributes":
            return "\n".join(line for line in text.splitlines() if HIDES.search(line))
        if name.startswith(".env"):
            return "\n".join(line for line in text.splitlines() if STEERS.match(line))
        if name == "composer.json":
            return json.dumps(json.loads(text or "{}").get("scripts"), sort_keys=True)
        if name.endswith((".json", ".jsonc")):
            return json.dumps(json.loads(jsonc(text) or "null"), sort_keys=True)
        if name.endswith(".toml"):
            import tomllib

            whole = tomllib.loads(text)
            return json.dumps(judging_value(_without_needs(whole) if name in ENVIRONMENTS else whole), sort_keys=True, default=str)
    except (ValueError, AttributeError, RecursionError):
        return text
    return "\n".join(line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";", "//")))


def jsonc(text: str) -> str:
    """JSON with comments and commas at the end, as plain JSON."""
    bare = re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.DOTALL)
    return re.sub(r",(\s*[}\]])", r"\1", bare)


def _toml(text: str) -> str:
    import tomllib

    whole = tomllib.loads(text)
    tools, plugins = whole.get("tool", {}), whole.get("project", {}).get("entry-points", {}).get("pytest11")
    ours = {name: tools[name] for name in TOOLS if name in tools}
    hatch, pdm, uv = (tools.get(name, {}) for name in ("hatch", "pdm", "uv"))
    return json.dumps(
        judging_value(
            _without_needs({**ours, "envs": hatch.get("envs"), "scripts": pdm.get("scripts"), "tasks": uv.get("tasks"), "plugins": plugins})
        ),
        sort_keys=True,
        default=str,
    )


def _without_needs(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_needs(below) for key, below in value.items() if key not in NEEDS}
    return value


def _ini(text: str, whole: bool = False) -> str:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return text
    ours = [s for s in parser.sections() if whole or re.split(r"[:\-.]", s)[0] in SECTIONS]
    return json.dumps(judging_value({s: {k: v for k, v in parser[s].items() if k not in NEEDS} for s in ours}), sort_keys=True)


def _package(text: str) -> str:
    package = json.loads(text or "{}")
    scripts = {name: said for name, said in package.get("scripts", {}).items() if JUDGES.fullmatch(name)}
    return json.dumps({"scripts": scripts, **{key: package.get(key) for key in PACKAGE}}, sort_keys=True)


# -- what preflight runs -----------------------------------------------------------------------------------------------------------

CALLS = {
    "npm": re.compile(r"\b(?:npm|pnpm|yarn|bun)\s+(?:(?:--?[\w=-]+)\s+)*(?:run(?:-script)?\s+)?(?:(?:--?[\w=-]+)\s+)*([\w:.-]+)"),
    "make": re.compile(r"\b(?:make|just|task|rake)\s+(?:-\S+\s+)*([\w.:-]+(?:\s+[\w.:-]+)*)"),
}


def targets_called(commands: tuple[str, ...], tool: str) -> frozenset[str]:
    """The scripts or targets that commands call by name."""
    return frozenset(word for command in commands for hit in CALLS[tool].findall(command) for word in hit.split())


def judges(path: str, before: str, after: str, preflight: tuple[str, ...]) -> bool:
    """Whether what judges was changed in a file: configuration of a tool, or a target that preflight calls."""
    name = PurePosixPath(path).name
    if _has_targets(name):
        return _targets(before, preflight) != _targets(after, preflight)
    if is_judging(path) and judging_part(path, before) != judging_part(path, after):
        return True
    if name != "package.json":
        return False
    scripts = [_scripts(text) for text in (before, after)]
    return any(scripts[0].get(each) != scripts[1].get(each) for each in targets_called(preflight, "npm"))


def _scripts(text: str) -> dict[str, object]:
    try:
        found = json.loads(text or "{}").get("scripts", {})
    except (ValueError, AttributeError):
        return {"": text}
    return found if isinstance(found, dict) else {}


def _targets(text: str, preflight: tuple[str, ...]) -> dict[str, str]:
    """The targets that preflight calls, or that judge by their name, each with what it runs."""
    found, name = dict[str, str](), ""
    wanted = targets_called(preflight, "make")
    for line in text.splitlines():
        head = re.match(r"([\w.%/-]+(?:[ ][\w.%/-]+)*)\s*(?:[\w ]*):(?!=)(.*)", line)
        if head and not line[:1].isspace():
            name = head[1].strip()
            found[name] = head[2].strip()
        elif name and line[:1].isspace() and line.strip() and not line.strip().startswith("#"):
            found[name] += f"\n{line.strip()}"
        elif re.match(r"\w+\s*[:?+]?=", line):
            found[line.partition("=")[0].strip()] = line if re.search(r"FLAGS|LINT|TEST|CHECK|MYPY|RUFF|ESLINT", line) else ""
    needed = {need for name in wanted for need in found.get(name, "").partition("\n")[0].split()}
    return {
        name: said for name, said in found.items() if name in wanted | needed or JUDGES.fullmatch(name) or "=" in said.partition("\n")[0]
    }


TOOL = re.compile(r"(\buses:\s*[\w./-]+@|\brev:\s*[\"']?)(?:v?\d[\w.+-]*[\"']?|[0-9a-f]{40}\s+)(?:\s*#.*)?$")  # @v4, @SHA # v4, rev: v1.2
RUNTIME = r"(?:py(?:py|thon)?|pypy|graalpy|node|go|ruby|php|jruby)?-?v?\d+(?:\.\d+)*(?:\.x|t|-dev)?"
TESTED = re.compile(
    r"""((?:^|[\s{,"'])(?:(?:python|node|go|ruby|php|java|rust|dotnet|deno|bun|tox|env)(?:[-_]?(?:version|env|list))?s?|name)["']?\s*[:=](?!=)\s*)(\[[^\]\n]*\]|"[^"\n]*"|'[^'\n]*'|[^\s,#{}\[\]"']+(?:,[^\s,#{}\[\]"']+)*)"""
)  # what a matrix tests with, or a list of environments
ALONE = re.compile(rf"""^(\s*(?:-\s+)?)((?:["']?{RUNTIME}["']?,?\s*)+)$""")
BY_HAND = re.compile(r"^\s+-?\s*workflow_dispatch:?\s*$|(?<=\w)\s*,\s*workflow_dispatch(?=\s*[\],])")  # people may start it as well
STARTS = re.compile(r"^[\"']?on[\"']?:[ \t]*([^\n]*)\n((?:[ \t]+[^\n]*\n|-[^\n]*\n|[ \t]*\n|#[^\n]*\n)*)", re.MULTILINE)  # with its block
ITEM = re.compile(rf"""(?<![\w.-]){RUNTIME}(?![\w.-])""")


def only_versions_differ(path: str, before: str, after: str) -> bool:
    """Whether a CI file, or that of pre-commit or tox, only names other versions of the tools that it had, or further ones to test with.

    So does a workflow that each pull request starts as before: which pushes start it is an ordinary change.
    """
    if not before or not after or not path.endswith((".yml", ".yaml", "tox.ini")):
        return False
    if path.startswith(".github/workflows/"):
        before, after = map(_without_pushes, (before, after))
    sides = [_lines(judging_part(path, text).replace("\\n", ",") if path.endswith(".ini") else text) for text in (before, after)]
    if sides[0] == sides[1]:
        return True
    was, now = ([_without_tested(line) for line in side] for side in sides)
    tested = [frozenset(item for line in side for item in _tested(line)) for side in sides]
    return set(was) == set(now) and tested[0] <= tested[1] and _in_turn(was) == _in_turn(now)


def _without_pushes(text: str) -> str:
    """A workflow that each pull request starts, without saying which pushes start it as well: no pull request is judged less."""
    found = STARTS.search(text)
    if found is None or "{" in found[1]:
        return text
    triggers = _triggers(found[1], found[2])
    if triggers.get("pull_request", "x") or "push" not in triggers:
        return text
    others = sorted(f"  {name}:{below}" for name, below in triggers.items() if name != "push")
    return "\n".join([text[: found.start()], "on:", *others, text[found.end() :]])


def _triggers(line: str, block: str) -> dict[str, str]:
    """What starts a workflow, each with its conditions."""
    triggers = dict.fromkeys(re.findall(r"[\w]+", line.partition("#")[0]), "")
    last, deep = "", ""
    for each in [each for each in block.splitlines() if each.strip() and not each.lstrip().startswith("#")]:
        lead = each[: len(each) - len(each.lstrip())]
        deep = deep or lead
        name, _, rest = each.strip().partition(":")
        if lead == deep:
            last, triggers[name.lstrip("- ")] = name.lstrip("- "), rest.strip()
        elif last:
            triggers[last] += f"\n{each.rstrip()}"
    return triggers


def _lines(text: str) -> list[str]:
    lines = [BY_HAND.sub("", TOOL.sub(r"\1", line)).rstrip() for line in text.splitlines()]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _tested(line: str) -> list[str]:
    """The versions that a line says to test with."""
    alone = ALONE.match(line)
    return ITEM.findall(alone[2]) if alone else [item for found in TESTED.finditer(line) for item in ITEM.findall(found[2])]


def _without_tested(line: str) -> str:
    """A line with one blank for all its versions."""
    if alone := ALONE.match(line):
        return alone[1].strip()
    bare = TESTED.sub(lambda found: found[1] + _listed(found[2]), line)
    return " ".join(bare.split())


def _listed(said: str) -> str:
    parts = ["?" if ITEM.fullmatch(part.strip("[]\"' ")) else part.strip("[]\"' ") for part in said.split(",")]
    return ",".join(part for n, part in enumerate(parts) if part != "?" or "?" not in parts[:n])


def _in_turn(lines: list[str]) -> list[str]:
    """Lines without those that say the same as the one before."""
    return [line for n, line in enumerate(lines) if n == 0 or line != lines[n - 1]]
