"""Fixtures for every test: an isolated environment, and the gate that counts skipped tests."""

import gc
import os
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from detent.app.speaker import agent_variable
from detent.storage.machine import SWITCH
from tests import machine, warm_pytest
from tests.run_log import RunLog

# Tests that attack pytest itself, its files or what it loads at start, and tests of processes that it leaves behind: a fork of a started
# pytest would behave differently.
COLD = frozenset(
    {
        "test_bytecode.py",
        "test_canary.py",
        "test_canary_runners.py",
        "test_judged_runs.py",
        "test_kept_builds.py",
        "test_knows_the_tests.py",
        "test_looking_away.py",
        "test_pr_failures.py",
        "test_pytest_runner.py",
        "test_runner_traps.py",
        "test_small_holes.py",
        "test_static_flags.py",
        "test_tdd_cheats.py",
        "test_toolchain.py",
        "test_verify_claims.py",
    }
)
LEVEL, PULL = "DETENT_SANDBOX_LEVEL", "DETENT_SANDBOX_PULL"
LOGGED = "TESTS_RUN_LOG"
ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.txt")

gc.disable()  # until all tests are collected: they live to the end, and scanning them repeatedly takes most of the time

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # however busy it is
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def state_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parent of each test's state folder. One for all, because pytest scans all its numbered folders for each new one."""
    return tmp_path_factory.mktemp("states")


@pytest.fixture(autouse=True)
def own_environment(request: pytest.FixtureRequest, state_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's settings out of the test, and the test out of the user's state folder."""
    if request.path.name in COLD:
        monkeypatch.setenv(warm_pytest.COLD, "1")
    for name in [name for name in os.environ if name.startswith(("DETENT_", "TDD_")) and name != SWITCH]:
        monkeypatch.delenv(name)
    while mark := agent_variable(os.environ):  # set by the client that an agent runs the tests with
        monkeypatch.delenv(mark)
    if machine.no_walls():  # tests of the sandbox itself are skipped; all others can run without one
        monkeypatch.setenv(LEVEL, "none")
    monkeypatch.setenv(PULL, "none")  # tests of the sandbox set this themselves; all others are faster without one
    monkeypatch.setenv("XDG_STATE_HOME", tempfile.mkdtemp(dir=state_folders))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server of this test process, started when first needed."""
    from tests.postgres import running

    with running() as server:
        yield server


@pytest.fixture(scope="session")
def queue_templates() -> dict[str, str]:
    """Queues that were set up once, to copy from."""
    return {}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Debian's browser, for the tests of one file."""
    machine.need("chromium", "loopback")
    from playwright.sync_api import expect

    from tests.patience import LONG
    from tests.webbed import browser

    expect.set_options(timeout=LONG * 1000)
    with browser() as opened:
        yield opened


def keep_samples(items: list[pytest.Item]) -> None:
    """Of a test with `sample(n)`, n evenly spread cases stay quick; the others become slow."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for family in cases.values():
        mark = family[0].get_closest_marker("sample")
        wanted = int(mark.args[0]) if mark else 0
        kept = {round(place * (len(family) - 1) / max(1, wanted - 1)) for place in range(wanted)}
        for place, item in enumerate(family):
            if place not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests, and skip those that need something this machine lacks."""
    keep_samples(items)
    for item in items:
        if lacking := machine.missing(name for mark in item.iter_markers("needs") for name in mark.args):
            item.add_marker(pytest.mark.skip(reason=lacking.why))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Freeze what was collected; only what tests leave is garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job; programs under test must still get it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if getattr(config.option, "numprocesses", None):
        machine.take_stock()
    os.environ[PULL] = "none"  # for things made before `own_environment` and shared by several tests
    if machine.no_walls():
        os.environ[LEVEL] = "none"
    if not hasattr(config, "workerinput"):  # with xdist only the controller judges; the workers report to it
        strict = os.environ.get("CI", "").lower() not in ("", "0", "false")
        config.pluginmanager.register(SkipGate(read_allowed(ALLOWED_SKIPS), strict), "skip-gate")
        if not os.environ.get(LOGGED):  # a test run inside a test must not overwrite the log of the outer run
            os.environ[LOGGED] = "yes"
            config.pluginmanager.register(RunLog(config.rootpath / ".pytest_cache"), "run-log")


class SkipGate:
    """Reports how many tests were skipped, why, and what to do about it; if `strict`, an unlisted skip fails the run."""

    def __init__(self, allowed: Iterable[re.Pattern[str]], strict: bool) -> None:
        self.allowed = tuple(allowed)
        self.strict = strict
        self.skips: set[tuple[str, str]] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not hasattr(report, "wasxfail"):  # an expected failure ran, so it is no skip
            self.note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.note(report)

    def note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped:
            self.skips.add((report.nodeid, reason_of(report)))

    def unlisted(self) -> list[tuple[str, str]]:
        return sorted(skip for skip in self.skips if not any(rule.fullmatch(" | ".join(skip)) for rule in self.allowed))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        passing = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self.strict and self.unlisted() and session.exitstatus in passing:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.skips:
            return
        unlisted = self.unlisted()
        terminalreporter.section(f"{len(self.skips)} left out")
        for reason, times in Counter(reason for _, reason in self.skips).most_common():
            how = machine.how_to_get(reason)
            terminalreporter.line(f"{times:5} left out: {reason}" + (f"; to run them: {how}" if how else ""))
        if self.strict:
            for skip in sorted(self.skips):
                terminalreporter.line(("not listed: " if skip in unlisted else "listed:     ") + " | ".join(skip))
        if self.strict and unlisted:
            sentence = f"The run fails: {len(unlisted)} skipped, but not listed in tests/allowed_skips.txt. Make them run, or list them with the reason."
            terminalreporter.line(sentence, red=True)


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The reason of a skip, on one line."""
    where = report.longrepr
    text = str(where[2]) if isinstance(where, tuple | list) else str(where)
    return " ".join(text.removeprefix("Skipped: ").split())


def read_allowed(path: Path) -> list[re.Pattern[str]]:
    """One pattern per listed skip; each line must be `node id | reason`."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [pattern(path, line) for line in map(str.strip, lines) if line and not line.startswith("#")]


def pattern(path: Path, line: str) -> re.Pattern[str]:
    nodeid, _, reason = (part.strip() for part in line.partition(" | "))
    if not nodeid or not reason:
        raise pytest.UsageError(f"{path.name}: a line must read `node id | reason`, but one reads: {line}")
    return re.compile(re.escape(f"{nodeid} | {reason}").replace(r"\*", ".*"))
