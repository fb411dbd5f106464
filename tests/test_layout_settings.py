"""Settings by which work is judged, where only layout differs, or what a run shows."""

import pytest

from detent.evidence.changes.judging_parts import judges

TOX = "[testenv]\ncommands =\n    pytest --verbose --cov=shop --cov-report=html {posargs}\n"
PYLINT = '[tool.pylint."MESSAGES CONTROL"]\ndisable = ["too-many-arguments"]\n'
RUFF = '[tool.ruff]\nline-length = 88\n\n[tool.ruff.lint]\nselect = ["ALL"]\nignore = ["D"]\n'
FLAKE8 = "[flake8]\nmax-line-length = 88\nextend-ignore = E203\n"
ADDOPTS = '[tool.pytest.ini_options]\naddopts = ["-ra", "--strict-markers"]\n'
LAYOUT = {
    "a longer report of pytest": ("tox.ini", TOX, TOX.replace("--verbose", "-vv")),
    "another form of a report of coverage": ("tox.ini", TOX, TOX.replace("--cov-report=html", "--cov-report=xml --cov-report=term")),
    "options that show": ("pyproject.toml", ADDOPTS, ADDOPTS.replace('"-ra", ', '"--tb=short", "-q", ')),
    "long lines, for pylint": ("pyproject.toml", PYLINT, PYLINT.replace('arguments"', 'arguments", "line-too-long"')),
    "longer lines, and rules of layout": ("pyproject.toml", RUFF, RUFF.replace("88", "120").replace('"D"', '"D", "E501", "COM812"')),
    "longer lines, for flake8": (".flake8", FLAKE8, FLAKE8.replace("88", "100").replace("E203", "E203, W503,E501")),
}
JUDGED = {
    "fewer tests": ("tox.ini", TOX, TOX.replace("--verbose", "-k odd")),
    "no failure": ("tox.ini", TOX, TOX.replace("{posargs}", "|| true")),
    "what is measured": ("tox.ini", TOX, TOX.replace("--cov=shop", "--cov=tests")),
    "markers": ("pyproject.toml", ADDOPTS, ADDOPTS.replace(', "--strict-markers"', "")),
    "a rule of sense, for pylint": ("pyproject.toml", PYLINT, PYLINT.replace('arguments"', 'arguments", "unused-variable"')),
    "a rule of sense, for ruff": ("pyproject.toml", RUFF, RUFF.replace('"D"', '"D", "F821"')),
    "all of a kind": ("pyproject.toml", RUFF, RUFF.replace('"D"', '"D", "E"')),
    "a rule of sense, for flake8": (".flake8", FLAKE8, FLAKE8.replace("E203", "E203,F401")),
    "files that are left out": (".flake8", FLAKE8, FLAKE8 + "exclude = shop\n"),
}


@pytest.mark.parametrize(("path", "before", "after"), LAYOUT.values(), ids=LAYOUT)
def test_settings_of_layout_and_of_what_is_shown_judge_nothing(path: str, before: str, after: str) -> None:
    assert not judges(path, before, after, ())


@pytest.mark.parametrize(("path", "before", "after"), JUDGED.values(), ids=JUDGED)
def test_all_other_settings_judge(path: str, before: str, after: str) -> None:
    assert judges(path, before, after, ())
