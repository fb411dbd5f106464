"""Files that decide how tests are run, or what is made of them, whatever the runner: Detent's own settings, those of CI services, and
limits of coverage."""

from pathlib import PurePosixPath

NAMES = frozenset(
    {"detent.toml", "tdd.properties", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "Jenkinsfile", ".drone.yml",
     ".cirrus.yml", "appveyor.yml", ".appveyor.yml", "codecov.yml", ".codecov.yml", ".coveragerc", ".nycrc", ".nycrc.json", ".c8rc.json"}
)  # fmt: skip
FOLDERS = (
    ".github/workflows/",
    ".github/actions/",
    ".circleci/",
    ".buildkite/",
    ".woodpecker/",
    ".gitea/workflows/",
    ".forgejo/workflows/",
)


def is_shared_config(path: str) -> bool:
    """Whether a file is one of them."""
    return PurePosixPath(path).name in NAMES or path.startswith(FOLDERS)
