"""Which commits are replayed: those where the plain runner shows a test that needs the commit and none that it breaks. Knows nothing of the gate."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from bench.history import Commit, Suite
from bench.history.checkout import Checkout, say, write
from bench.history.names import is_code, is_test

RECORD, FIELD = "\x01", "\x02"  # not whitespace for str.strip


def candidates(checkout: Checkout) -> Iterator[Commit]:
    """Commits that are no merges and touch both tests and code, newest first."""
    log = checkout.git(
        "log", "--no-merges", "--no-renames", "--name-only", f"--format={RECORD}%H{FIELD}%P{FIELD}%s", "-z", "refs/bench/tip"
    )
    for record in log.split(RECORD)[1:]:
        head, *rest = record.strip("\0\n").split("\0")
        commit, parent, title = head.split(FIELD)
        paths = [path.strip("\n") for path in rest if path.strip("\n")]
        tests = tuple(path for path in paths if is_test(path))
        if tests and parent and any(map(is_code, paths)):
            yield Commit(commit, title, parent, tests)


def known(checkout: Checkout) -> dict[str, Commit]:
    file = checkout.folder / "corpus.json"
    return {each.hash: each for each in msgspec.json.decode(file.read_bytes(), type=list[Commit])} if file.exists() else {}


def collect(checkout: Checkout, limit: int, look: int, only: Sequence[str] = ()) -> list[Commit]:
    """Examine candidates until `limit` of them are in the corpus or `look` were examined; each finding is stored at once."""
    found, chosen = known(checkout), list[Commit]()
    for candidate in candidates(checkout):
        if only and not candidate.hash.startswith(tuple(only)):
            continue
        if not only and (len(chosen) >= look or sum(not each.why_not for each in chosen) >= limit):
            break
        if candidate.hash not in found:
            say(f"{checkout.name}: {candidate.hash[:10]} {candidate.title[:70]}")
            found[candidate.hash] = judged(checkout, candidate)
            say(f"{checkout.name}: {candidate.hash[:10]} {found[candidate.hash].why_not or 'in the corpus'}")
            write(checkout.folder / "corpus.json", list(found.values()))
        chosen.append(found[candidate.hash])
    return chosen


def judged(checkout: Checkout, commit: Commit) -> Commit:
    """Test a candidate with the plain runner: its parent, the commit, and the parent with the commit's tests. Stops at the first reason against it."""
    suites: list[Suite] = []
    trees: tuple[Callable[[], str], ...] = (
        lambda: checkout.git("rev-parse", f"{commit.parent}^{{tree}}"),
        lambda: checkout.git("rev-parse", f"{commit.hash}^{{tree}}"),
        lambda: checkout.mixed(commit.parent, commit.hash, commit.tests),
    )
    for what, tree in zip(("parent", "commit", "mixed"), trees, strict=True):
        longest = 60 + 5 * suites[0].seconds if suites else 0  # a new test may hang on the old code
        suite = checkout.suite(tree(), longest)
        if why := _unfit(what, suite):
            return msgspec.structs.replace(commit, why_not=why)
        suites.append(suite)
    before, after, mixed = suites
    broken = sorted(before.passed & after.failed)
    proofs = fail_to_pass(commit, mixed, after, checkout.runner.by_file)
    own = sorted(after.failed - set(before.cases))
    why = (
        f"it breaks {len(broken)} tests, such as {broken[0]}"
        if broken
        else f"{len(own)} of its own tests fail here, such as {own[0]}"
        if own
        else ""
    )
    why = why or ("" if proofs else "no test needs it")
    lost = len(before.passed - set(after.cases))
    return msgspec.structs.replace(commit, proofs=proofs, lost=lost, cpu=after.cpu, seconds=after.seconds, why_not=why)


def _unfit(what: str, suite: Suite) -> str:
    """Why this tree cannot be tested in the environment; empty if it can. The mixed tree may fail, but not hang or crash the runner."""
    if what == "mixed":
        return "its tests hang or crash the runner without its code" if suite.killed and suite.problem else ""
    if suite.problem:
        return f"the environment does not fit its {what}: {suite.problem}"
    if what == "parent" and len(suite.passed) <= len(suite.failed):
        return f"the environment does not fit its {what}: {len(suite.failed)} tests fail, {len(suite.passed)} pass"
    return ""


def fail_to_pass(commit: Commit, mixed: Suite, after: Suite, by_file: bool) -> tuple[str, ...]:
    """Tests that pass on the commit and fail without its code.

    A test that is missing without the code counts only if nothing of its file passed, so that the file could not be loaded; else its id just changed.
    """
    loaded = {mixed.groups[name] for name in mixed.passed}
    unloaded = {name for name, group in after.groups.items() if group not in loaded and (not by_file or group in commit.tests)}
    return tuple(sorted(name for name in after.passed if name in mixed.failed or (name not in mixed.cases and name in unloaded)))
