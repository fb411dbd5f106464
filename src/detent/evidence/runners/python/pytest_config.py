"""Which part of a shared configuration file decides how pytest runs: a change elsewhere in the file is an ordinary change."""

import json


def runner_part(path: str, text: str) -> str:
    """What of a file concerns the test run, as text that can be compared; the whole file if it cannot be taken apart."""
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        return _toml(text)
    if name in ("setup.cfg", "tox.ini"):
        return _ini(text)
    return text


def _toml(text: str) -> str:
    import tomllib

    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return text
    return json.dumps({name: tools.get(name) for name in ("pytest", "coverage", "tox", "hatch")}, sort_keys=True, default=str)


def _ini(text: str) -> str:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return text
    ours = [s for s in parser.sections() if s.split(":")[0] in ("tool", "pytest", "coverage", "testenv", "tox")]
    return json.dumps({s: dict(parser[s]) for s in ours}, sort_keys=True)
