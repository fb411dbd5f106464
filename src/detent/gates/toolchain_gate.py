"""The gate over the test runner itself: what is installed must be what was there when the run began."""

from detent.evidence.look import ChangeLook
from detent.kernel.model import Data, Flag
from detent.kernel.rows import Said

LOCKS = (
    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml", "requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "pyproject.toml",
    "setup.py", "setup.cfg", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "package.json", "Gemfile.lock", "composer.lock",
)  # fmt: skip
BACK = "Reinstall it as the lock file says. If it was you, accept it: detent doctor --accept"


def toolchain_kept(look: ChangeLook[Data]) -> Said:
    """The test runner's installed packages are as they were when the run began; a person is asked if the files changed too that say what is installed."""
    paths = look.toolchain()
    if paths is None:
        said = f"what was installed for the tests when the run began is not known any more: its record was removed. {BACK}"
        return Flag("toolchain", said, level="fail")
    if not paths:
        return None
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    if lock := next((name for name in LOCKS if look.read(f"BASE:{name}") != look.read(name)), ""):
        return Flag("toolchain", f"{paths[0]}{more} changed together with {lock}; tests run on it", paths[0], level="ask")
    said = f"{paths[0]}{more} changed since the run began, and no lock file did: tests run on it. {BACK}"
    return Flag("toolchain", said, paths[0], level="fail")
