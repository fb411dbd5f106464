"""Files that decide how tests are run whatever the runner: Detent's own settings and those of CI services."""

from pathlib import PurePosixPath

NAMES = frozenset(
    {"detent.toml", "tdd.properties", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "Jenkinsfile", ".drone.yml"}
)  # fmt: skip
FOLDERS = (".github/workflows/", ".github/actions/", ".circleci/", ".buildkite/", ".woodpecker/")


def is_shared_config(path: str) -> bool:
    """Whether a file is one of them."""
    return PurePosixPath(path).name in NAMES or path.startswith(FOLDERS)
