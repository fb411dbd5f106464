"""Settings that judge nothing but how code is laid out, and options that only show more or less of a run. Pure: values in, values out.

A longer line or a longer report lets nothing through that was held before, so no reviewer wants to be asked about them.
"""

import re

KEYS = (
    "line-length", "line_length", "max-line-length", "max_line_length", "max-doc-length", "wrap-length",
    "indent-width", "indent-style", "line-ending", "quote-style", "skip-string-normalization",
    "skip-magic-trailing-comma", "docstring-code-format", "docstring-code-line-length", "multi_line_output",
    "include_trailing_comma", "force_grid_wrap", "use_parentheses", "lines_after_imports", "lines-after-imports",
    "force_sort_within_sections", "console_output_style",
)  # fmt: skip
RULE = re.compile(
    r"E[123]\d\d|E50[12]|E70[1-4]|W191|W29[123]|W391|W50[345]|I001|Q00\d|COM8\d\d"  # of pycodestyle and ruff
    r"|C030[1345]|line-too-long|trailing-whitespace|trailing-newlines|missing-final-newline|wrong-import-order|ungrouped-imports"  # of pylint
)
SHOWS = re.compile(
    r"(?:(?<=\s)|^)(?:-v+|-q+|--verbose|--quiet|--colou?r(?:=\S+)?|--tb=\S+|-r[a-zA-Z]+|--durations(?:-min)?=[\d.]+|--cov-report=\S+|--no-header"
    r"|--show-?locals|-l)(?=\s|$)"
)
PYTEST = re.compile(r"(?:^|[\s/])(?:pytest|py\.test)(?=\s|$)")
OPTIONS = ("addopts",)
RULES = ("ignore", "disable", "extend-ignore", "extend-select", "enable")


def judging_value(value: object, key: str = "") -> object:
    """The same settings without those of layout and of what is shown."""
    if isinstance(value, dict):
        return {name: judging_value(below, name) for name, below in value.items() if name not in KEYS}
    if isinstance(value, list):
        return [judging_value(each, key) for each in value if not (isinstance(each, str) and _is_of_looks(each, key))]
    return _of_words(value, key) if isinstance(value, str) else value


def _is_of_looks(word: str, key: str) -> bool:
    return bool(RULE.fullmatch(word)) or (key in OPTIONS and bool(SHOWS.fullmatch(word)))


def _of_words(said: str, key: str) -> str:
    """A text of settings: rules in a row, or lines of which some call pytest."""
    if key in RULES:
        return " ".join(word for word in re.split(r"[\s,]+", said) if word and not RULE.fullmatch(word))
    return "\n".join(" ".join(SHOWS.sub("", line).split()) if key in OPTIONS or PYTEST.search(line) else line for line in said.splitlines())
