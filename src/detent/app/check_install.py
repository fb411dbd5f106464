"""`check --install`: installs dependencies for the base and for the change, and flags lock files that the change touches."""

import os
from collections.abc import Callable, Iterable, Mapping

import msgspec

from detent.app.check_projects import Installs
from detent.app.run_configs import OPEN, RunSandbox, sandbox_of
from detent.config import Settings
from detent.errors import CannotTell
from detent.evidence.changes.dependencies import is_lock
from detent.evidence.outcomes.card import Card, Change
from detent.evidence.running.installed import without
from detent.evidence.running.suite import Suite, environment
from detent.git.repo import Git
from detent.kernel.model import Flag
from detent.kernel.redact import redactor, secrets_of
from detent.world.install import InstallOrder, install

MOST_LOCKS = 3
BARE = "it runs in a clean checkout where nothing is installed yet, so it begins with that: npm ci && npm run build, for example"


def has(inside: RunSandbox) -> str:
    """Which sandbox and network the install command gets, in words."""
    if inside.sandbox.name in OPEN:
        return "without a sandbox, with this machine's network"
    return f"in {inside.sandbox.name}, " + (
        "with this machine's network" if inside.network else "without a network: [sandbox] network = true gives it one"
    )


def installed_for(
    git: Git,
    change: Change,
    settings: Settings,
    command: str,
    env: Mapping[str, str],
    say: Callable[[str], None],
    wanted: Callable[[], bool],
) -> tuple[Installs, str]:
    """Run the install command for both trees: what it installed for each, and what `has` says of its sandbox. CannotTell if it fails for one."""
    inside = sandbox_of(settings, False, env, git.place.root)
    suite = Suite(None, 0.0, env.get("PATH", os.defpath), tuple(settings.test.env))
    order = InstallOrder(
        command, inside.tests, without(environment(suite, env, git.place.git_dir / "detent" / "pycache")), has(inside), wanted
    )
    redact, found = redactor(secrets_of(env)), {}
    for tree, of in ((change.before, "base"), (change.after, "change")):
        say(f"installing for the {of}: {command}")
        try:
            found[tree] = install(git, order, tree, trusted=of == "base")
        except CannotTell as e:
            raise CannotTell(f"for the {of}: {redact(str(e))}\n{BARE}") from e
    return found, order.has


def with_lock_notes(card: Card, paths: Iterable[str], installed: bool) -> Card:
    """The card with a note on each changed lock file: the tests ran with what is installed, which may differ from the lock file."""
    how = (
        "what it asks for was installed by --install"
        if installed
        else "the tests of both sides ran with what is installed here (--install CMD installs for each)"
    )
    kind = "new-dependencies" if installed else "weak-evidence"
    locks = [path for path in paths if is_lock(path)]
    flags = [Flag(kind, f"{path} changed; {how}", path, level="note") for path in locks[:MOST_LOCKS]]
    return msgspec.structs.replace(card, flags=(*card.flags, *flags))
