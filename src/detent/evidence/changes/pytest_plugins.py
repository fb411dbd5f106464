"""Which plugin of pytest is missing, by what its absence makes pytest say. Pure: texts and names of packages in, names of packages out."""

import re
from collections.abc import Iterator, Mapping

from detent.evidence.changes.dependencies import plain

OPTIONS = re.compile(r"unrecognized arguments: (.*)")
REQUIRED = re.compile(r"Missing required plugins: ([\w.-]+)")
FIXTURE = re.compile(r"fixture '(\w+)' not found")
ASYNC = "async def functions are not natively supported"
ASYNC_PLUGINS = ("pytest-asyncio", "anyio", "pytest-trio", "pytest-aiohttp")
PLUGIN_OF_OPTION: Mapping[str, str] = {
    "-n": "pytest-xdist", "--numprocesses": "pytest-xdist", "--dist": "pytest-xdist", "--maxprocesses": "pytest-xdist", "--reruns": "pytest-rerunfailures",
    "--ds": "pytest-django", "--reuse-db": "pytest-django", "--nomigrations": "pytest-django", "--no-migrations": "pytest-django",
    "--disable-socket": "pytest-socket", "--allow-hosts": "pytest-socket", "--snapshot": "syrupy", "--hypothesis": "hypothesis",
    "--typeguard-packages": "typeguard", "--mypy-ini-file": "pytest-mypy-plugins",
}  # fmt: skip
PLUGIN_OF_FIXTURE: Mapping[str, str] = {
    "mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpserver": "pytest-httpserver", "requests_mock": "requests-mock",
    "httpx_mock": "pytest-httpx", "aiohttp_client": "pytest-aiohttp", "freezer": "pytest-freezer", "datadir": "pytest-datadir",
    "data_regression": "pytest-regressions", "db": "pytest-django", "django_db_setup": "pytest-django", "faker": "Faker", "qtbot": "pytest-qt",
    "event_loop": "pytest-asyncio", "anyio_backend": "anyio", "httpbin": "pytest-httpbin", "subtests": "pytest-subtests", "fs": "pyfakefs",
    "time_machine": "time-machine", "snapshot": "syrupy", "worker_id": "pytest-xdist",
}  # fmt: skip
PLUGINS = frozenset((*PLUGIN_OF_OPTION.values(), *PLUGIN_OF_FIXTURE.values(), *ASYNC_PLUGINS, "pytest-cov"))


def missing_plugins(said: str, declared: frozenset[str]) -> Iterator[str]:
    """Plugins of pytest that are missing, by what their absence makes pytest say."""
    yield from (found[1] for found in REQUIRED.finditer(said))
    for found in OPTIONS.finditer(said):
        yield from filter(None, (_of_option(word, declared) for word in found[1].split() if word.startswith("-")))
    yield from (plugin for found in FIXTURE.finditer(said) if (plugin := PLUGIN_OF_FIXTURE.get(found[1])))
    if ASYNC in said:
        yield next((plugin for plugin in ASYNC_PLUGINS if plain(plugin) in declared), ASYNC_PLUGINS[0])


def _of_option(word: str, declared: frozenset[str]) -> str:
    """The plugin that an option belongs to: `--cov-report` to pytest-cov, if the project declares one of that name, or if it is well known."""
    option = word.split("=")[0]
    known = next((PLUGIN_OF_OPTION[name] for name in PLUGIN_OF_OPTION if option == name or option.startswith(f"{name}-")), "")
    if known or option.startswith("--cov"):
        return known or "pytest-cov"
    ours = sorted((name for name in declared if name.startswith("pytest_")), key=len, reverse=True)
    return next((name.replace("_", "-") for name in ours if option.startswith(f"--{name.removeprefix('pytest_').replace('_', '-')}")), "")
