"""The files that judge work beside the tests, by name: configuration of linters, type checkers and coverage, and make or task files. Pure."""

import re
from pathlib import PurePosixPath

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
)  # lists of exceptions, for tools of any kind
OF_LINTERS = re.compile(
    rf"\.[\w-]*lint(?:er)?[\w-]*(?:\.[\w-]+)*|[\w-]*lint(?:er)?(?:rc)?(?:[._-][\w-]+)*\.{DATA}|[\w-]*lint-(?:local-)?rules\.[cm]?[jt]s"
)
MORE = re.compile(
    r"\.pyre_configuration|pytype\.(?:cfg|toml)|[_.]?typos\.toml|\.?cspell(?:\.config)?\.\w+|\.safety-policy\.ya?ml|\.?vale\.ini|\.?zizmor\.ya?ml|tach\.toml|prek\.toml"
    r"|\.jscpd\.json|\.madgerc|\.depcheckrc(?:\.\w+)?|\.remarkrc(?:\.\w+)?|\.taprc|\.xo-config(?:\.\w+)?|xo\.config\.\w+|\.betterer\.[jt]s|api-extractor\.json|\.attw\.json"
    r"|Steepfile|packwerk\.yml|\.fasterer\.yml|\.bundler-audit\.yml|\.mdlrc|lefthook-local\.ya?ml|phpmd(?:\.\w+)*\.xml|phpstan\.dist\.neon|\.phpcs\.xml(?:\.dist)?|deptrac(?:\.\w+)*\.ya?ml"
    r"|infection\.json5?(?:\.dist)?|rector\.php|ecs\.php|grumphp\.ya?ml(?:\.dist)?|phparkitect\.php|pint\.json|\.?tarpaulin\.toml|archunit\.properties|stylecop\.json|\.globalconfig"
    r"|\.?gosec\.json|\.?revive\.toml|lombok\.config|fabfile\.py|dodo\.py|buildspec\.ya?ml|cloudbuild\.ya?ml|codecov\.yaml|\.coveralls\.yaml|\.gitlab-ci[\w-]*\.ya?ml|azure-pipelines[\w-]*\.ya?ml"
    r"|\.yarnrc(?:\.yml)?|\.?pnpmfile\.c?js|bunfig\.toml|OWNERS(?:_ALIASES)?|\.?bazelrc|[\w-]*\.bazelrc|nogo(?:[_-]config)?\.json|\.?goreleaser\.ya?ml|moon\.yml|project\.json|wireit\.json|rush\.json"
)  # settings of further tools and of launchers of the runner
FOLDERS = (
    ".husky/", ".githooks/", ".github/settings.yml", ".github/rulesets/", ".mergify/", ".gitlab/ci/", ".teamcity/", ".semaphore/", ".harness/", ".tekton/",
    ".phan/", ".basedpyright/", ".semgrep/", "supply-chain/", ".cargo/audit.toml", ".cargo/mutants.toml", ".yarn/releases/", ".yarn/plugins/", ".bundle/",
)  # fmt: skip
SHARED = ("pyproject.toml", "setup.cfg", "tox.ini", "package.json", "composer.json")  # files of which only a part judges
TARGETS = (
    "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml", "Rakefile",
)  # fmt: skip


CALLS = {
    "npm": re.compile(r"\b(?:npm|pnpm|yarn|bun)\s+(?:(?:--?[\w=-]+)\s+)*(?:run(?:-script)?\s+)?(?:(?:--?[\w=-]+)\s+)*([\w:.-]+)"),
    "make": re.compile(r"\b(?:make|just|task|rake)\s+(?:-\S+\s+)*([\w.:-]+(?:\s+[\w.:-]+)*)"),
}


def is_judging(path: str) -> bool:
    """Whether a file's name says that it, or a part of it, configures a tool that judges code."""
    name = PurePosixPath(path).name
    known = any(form.fullmatch(name) for form in (NAMES, EXCEPTIONS, OF_LINTERS, MORE))
    return known or path.startswith(FOLDERS) or name in SHARED or has_targets(name)


def has_targets(name: str) -> bool:
    return name in TARGETS or name.endswith(".mk")


def targets_called(commands: tuple[str, ...], tool: str) -> frozenset[str]:
    """The script or target names that commands call."""
    return frozenset(word for command in commands for hit in CALLS[tool].findall(command) for word in hit.split())
