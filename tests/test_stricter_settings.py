"""Settings by which work is judged that only ask for more than before, and those that may ask for less."""

from pathlib import Path

import pytest

from detent.evidence.changes.judging_parts import asks_only_more, judges
from detent.evidence.runners.python.pytest_ini import runner_part
from tests.test_check import BASE, Branch
from tests.test_check_habits import kinds

RUFF = '[tool.ruff.lint]\nselect = ["E", "F"]\nignore = ["D", "F401"]\n[tool.ruff.lint.per-file-ignores]\n"tests/*" = ["S101", "D"]\n'
MYPY = '[tool.mypy]\nwarn_return_any = true\nignore_missing_imports = true\n[[tool.mypy.overrides]]\nmodule = ["a", "b"]\nignore_errors = true\n'
COVERAGE = (
    '[tool.coverage.run]\nomit = ["a.py", "b.py"]\n[tool.coverage.report]\nfail_under = 80\nexclude_lines = ["pragma: no cover", "raise"]\n'
)
FLAKE8 = "[flake8]\nselect = E,F\nextend-ignore = D100, F401\nmax-complexity = 10\n"
PYLINT = "[MESSAGES CONTROL]\ndisable = too-many-arguments,\n  unused-import\n"
OWN = "[mypy]\ndisallow_untyped_defs = False\n\n[mypy-a.*]\nignore_errors = True\n"
ESLINT = '{"rules": {"no-var": "off", "eqeqeq": 1, "max-len": ["warn", 80]}}'
FLAT = "export default [\n  {\n    rules: {\n      'no-var': 'off',\n      \"eqeqeq\": \"warn\",\n    },\n  },\n];\n"
BIOME = '{"linter": {"rules": {"recommended": true, "suspicious": {"noExplicitAny": "off"}}}}'
TYPES = '{"compilerOptions": {"strict": false, "skipLibCheck": true, "target": "es2020"}}'
GOLANG = "linters:\n  enable:\n    - govet\n  disable:\n    - errcheck\n"
NYC = '{"nyc": {"check-coverage": true, "lines": 80}}'
MORE = {
    "rules of ruff": ("pyproject.toml", RUFF, RUFF.replace('"F"]', '"F", "B", "I"]')),
    "further rules of ruff": ("pyproject.toml", RUFF, RUFF.replace("ignore =", 'extend-select = ["UP"]\nignore =')),
    "fewer exceptions of ruff": ("pyproject.toml", RUFF, RUFF.replace('"D", "F401"', '"D"').replace('"S101", "D"', '"S101"')),
    "strict types": ("pyproject.toml", MYPY, MYPY.replace("warn_return_any", "strict = true\nwarn_return_any")),
    "types of what is imported": ("pyproject.toml", MYPY, MYPY.replace("ignore_missing_imports = true\n", "")),
    "one module less that is not typed": ("pyproject.toml", MYPY, MYPY.replace('["a", "b"]', '"b"')),
    "a module that is typed wholly": ("pyproject.toml", MYPY, f'{MYPY}[[tool.mypy.overrides]]\nmodule = "c"\ndisallow_untyped_defs = true\n'),
    "switches in a file of mypy": ("mypy.ini", OWN, OWN.replace("disallow_untyped_defs = False", "disallow_untyped_defs = True")),
    "coverage": ("pyproject.toml", COVERAGE, COVERAGE.replace("80", "92.5").replace('"a.py", ', "").replace(', "raise"', "")),
    "coverage of branches": ("pyproject.toml", COVERAGE, COVERAGE.replace("omit", "branch = true\nomit")),
    "flake8": (".flake8", FLAKE8, FLAKE8.replace("E,F", "E,F,B").replace(", F401", "").replace("= 10", "= 8")),
    "pylint": (".pylintrc", PYLINT, PYLINT.replace(",\n  unused-import", "")),
    "eslint": (".eslintrc.json", ESLINT, ESLINT.replace('"off"', '"error"').replace("1", "2").replace('"warn"', '"error"')),
    "eslint, another rule": (".eslintrc.json", ESLINT, ESLINT.replace('{"no-var"', '{"curly": "error", "no-var"')),
    "eslint, no longer off": (".eslintrc.json", ESLINT, ESLINT.replace('"no-var": "off", ', "")),
    "eslint, a program": ("eslint.config.js", FLAT, FLAT.replace("'off'", "'error'").replace('"warn",', '"error",\n      curly: "error",')),
    "biome": ("biome.json", BIOME, BIOME.replace('"off"', '"error"')),
    "typescript": ("tsconfig.json", TYPES, TYPES.replace("false", 'true, "noUnusedLocals": true').replace('"skipLibCheck": true, ', "")),
    "golangci": (".golangci.yml", GOLANG, GOLANG.replace("    - govet\n", "    - govet\n    - gosec\n").replace("    - errcheck\n", "    []\n")),
    "nyc": ("package.json", NYC, NYC.replace("80", "90")),
}  # fmt: skip
LESS = {
    "fewer rules": ("pyproject.toml", RUFF, RUFF.replace('["E", "F"]', '["E", "B", "UP"]')),
    "the rules of ruff itself": ("pyproject.toml", RUFF, RUFF.replace('select = ["E", "F"]\n', "")),
    "one exception for another": ("pyproject.toml", RUFF, RUFF.replace("F401", "F821")),
    "an exception for further files": ("pyproject.toml", RUFF, f'{RUFF}"src/*" = ["F"]\n'),
    "one rule more, and one exception more": ("pyproject.toml", RUFF, RUFF.replace('"F"]', '"F", "B"]').replace('"F401"', '"F401", "F821"')),
    "another tool": ("pyproject.toml", RUFF, f"{RUFF}[tool.mypy]\nstrict = true\n"),
    "a switch that is off": ("pyproject.toml", MYPY, MYPY.replace("warn_return_any = true", "warn_return_any = false")),
    "a module that is not typed": ("pyproject.toml", MYPY, MYPY.replace('["a", "b"]', '["a", "c"]')),
    "an expression of files": ("pyproject.toml", f'{MYPY.partition("[[")[0]}exclude = "(?x)( a | b )"\n', f'{MYPY.partition("[[")[0]}exclude = "(?x)( a | )"\n'),
    "less coverage": ("pyproject.toml", COVERAGE, COVERAGE.replace("80", "8")),
    "coverage that cannot be reached": ("pyproject.toml", COVERAGE, COVERAGE.replace("80", "101")),
    "no coverage": ("pyproject.toml", COVERAGE, COVERAGE.replace("fail_under = 80\n", "")),
    "files that are included again": ("pyproject.toml", COVERAGE.replace('"b.py"', '"!b.py"'), COVERAGE.replace(', "b.py"', "")),
    "complexity": (".flake8", FLAKE8, FLAKE8.replace("= 10", "= -1")),
    "a file that came": (".flake8", "", FLAKE8),
    "eslint, off": (".eslintrc.json", ESLINT, ESLINT.replace('"eqeqeq": 1', '"eqeqeq": 0')),
    "eslint, other options": (".eslintrc.json", ESLINT, ESLINT.replace('["warn", 80]', '["error", 200]')),
    "eslint, a rule with options": (".eslintrc.json", ESLINT, ESLINT.replace('{"no-var"', '{"complexity": ["error", 99], "no-var"')),
    "eslint, a warning": (".eslintrc.json", ESLINT, ESLINT.replace('{"no-var"', '{"curly": "warn", "no-var"')),
    "eslint, for no files": (".eslintrc.json", ESLINT, ESLINT.replace('"off"', '"error"').replace("}}", '}, "ignorePatterns": ["*"]}')),
    "eslint, a program that has it off": ("eslint.config.js", FLAT, FLAT.replace('"warn"', '"off"')),
    "eslint, a program with more than rules": ("eslint.config.js", FLAT, FLAT.replace("'off'", "'error'").replace("    rules", "    ignores: ['src'],\n    rules")),
    "biome, all of them": ("biome.json", BIOME, BIOME.replace('"off"', '"error"').replace("true", "false")),
    "biome, options": ("biome.json", BIOME.replace('"off"', '{"level": "error", "options": {"max": 1}}'), BIOME.replace('"off"', '{"level": "error", "options": {"max": 2}}')),
    "typescript": ("tsconfig.json", TYPES, TYPES.replace("false", "true").replace('"target"', '"exclude": ["src"], "target"')),
    "golangci": (".golangci.yml", GOLANG, GOLANG.replace("govet", "gosec")),
    "golangci, by what stands elsewhere": (".golangci.yml", "a: &x\n  - b\n" + GOLANG, "a: &x\n  - b\n  - c\n" + GOLANG),
    "what a script runs": ("pyproject.toml", '[tool.hatch.envs.a.scripts]\nenable = "pytest a"\n', '[tool.hatch.envs.a.scripts]\nenable = "pytest a || true"\n'),
    "what tox runs": ("tox.ini", "[testenv]\nenable = pytest a\n", "[testenv]\nenable = pytest a b\n"),
}  # fmt: skip
PYTEST = '[tool.pytest.ini_options]\naddopts = ["-ra", "--import-mode=importlib", "--cov-fail-under=80"]\nfilterwarnings = ["default", "ignore::UserWarning"]\n'
OF_PYTEST = {
    "a warning is an error": PYTEST.replace('"-ra",', '"-W", "error",'),
    "a warning is an error, in one word": PYTEST.replace('"-ra",', '"-Werror", "--strict-markers",'),
    "other warnings are errors": PYTEST.replace('"default"', '"error", "default"'),
    "a warning is no longer ignored": PYTEST.replace(', "ignore::UserWarning"', ""),
    "strict markers": PYTEST + "strict_markers = true\nxfail_strict = true\n",
    "more coverage": PYTEST.replace("=80", "=85"),
    "a shorter report": PYTEST.replace('"-ra"', '"-q"'),
}
NOT_OF_PYTEST = {
    "a choice of tests": PYTEST.replace('"-ra"', '"-k", "error"'),
    "a choice of tests that looks like more": PYTEST.replace('"-ra"', '"-k", "--strict-markers"'),
    "less coverage": PYTEST.replace("=80", "=8"),
    "no coverage": PYTEST.replace(', "--cov-fail-under=80"', ""),
    "a warning that is ignored": PYTEST.replace('"ignore::UserWarning"', '"ignore"'),
    "an order of warnings": PYTEST.replace('"default", "ignore::UserWarning"', '"ignore::UserWarning", "default"'),
    "a plugin": PYTEST.replace('"-ra"', '"-p", "-Werror"'),
    "fewer files": PYTEST + 'xfail_strict = true\npython_files = ["a.py"]\n',
    "not strict": PYTEST + "xfail_strict = false\n",
    "nothing": "",
}


@pytest.mark.parametrize(("path", "before", "after"), MORE.values(), ids=MORE)
def test_settings_that_only_ask_for_more_are_an_ordinary_change(path: str, before: str, after: str) -> None:
    assert before != after and not judges(path, before, after, ())


@pytest.mark.parametrize(("path", "before", "after"), MORE.values(), ids=MORE)
def test_the_same_settings_taken_back_judge(path: str, before: str, after: str) -> None:
    assert judges(path, after, before, ())


@pytest.mark.parametrize(("path", "before", "after"), LESS.values(), ids=LESS)
def test_settings_that_may_ask_for_less_judge(path: str, before: str, after: str) -> None:
    assert before != after and judges(path, before, after, ())


@pytest.mark.parametrize("after", OF_PYTEST.values(), ids=OF_PYTEST)
def test_settings_of_pytest_that_only_make_more_fail_are_an_ordinary_change(after: str) -> None:
    assert asks_only_more("pyproject.toml", *(runner_part("pyproject.toml", text) for text in (PYTEST, after)))
    assert not judges("pyproject.toml", PYTEST, after, ())


@pytest.mark.parametrize("after", NOT_OF_PYTEST.values(), ids=NOT_OF_PYTEST)
def test_settings_of_pytest_by_which_less_may_fail_judge(after: str) -> None:
    assert not asks_only_more("pyproject.toml", *(runner_part("pyproject.toml", text) for text in (PYTEST, after)))
    assert judges("pyproject.toml", PYTEST, after, ())


def test_a_file_of_pytest_alone_is_read_too() -> None:
    assert asks_only_more("pytest.ini", "[pytest]\naddopts = -v\n", "[pytest]\naddopts = --strict-markers\nxfail_strict = true\n")
    assert not asks_only_more("pytest.ini", "[pytest]\naddopts = -v\n", "[pytest]\naddopts = --strict-markers -x\n")


SETTINGS = "[tool.pytest.ini_options]\nxfail_strict = false\n[tool.ruff.lint]\nselect = ['E']\n[tool.coverage.report]\nfail_under = 80\n"
STRICTER = SETTINGS.replace("= false", "= true").replace("['E']", "['E', 'F']").replace("80", "90")


@pytest.mark.slow
def test_stricter_settings_alone_are_clean_and_laxer_ones_are_asked_about(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**{path: text for path, text in BASE.items() if path != "pytest.ini"}, "pyproject.toml": SETTINGS})
    p.commit({"pyproject.toml": STRICTER})
    found = p.run("check", "--json").json
    assert not [flag for flag in found["flags"] if flag["level"] == "ask"], found
    p.commit({"pyproject.toml": STRICTER.replace("90", "9")})
    assert "judged-by" in kinds(p.run("check", "--json").json)
