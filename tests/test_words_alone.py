"""Changes of comments alone, in files where `#` or `//` begins one."""

import pytest

from detent.evidence.changes.no_substance import same_code

HEADER = "# Copyright A\n# SPDX: MIT\n\n"
WORDS = {
    "settings": (".golangci.yml", HEADER + "linters:\n  enable:\n    - vet\n"),
    "ruby": ("lib/a.rb", HEADER + "module A\n  X = 1 # one\nend\n"),
    "a shell script": ("run.sh", "#!/bin/sh\n" + HEADER + "echo a\n"),
    "an image": ("Dockerfile", HEADER + "FROM a:1\n"),
    "go": ("a.go", "// Copyright A\n\npackage a\n"),
}
MORE = {
    "indentation": ("a.yml", "a:\n  b: 1\nc: 2\n", "a:\n  b: 1\n  c: 2\n"),
    "the program of a script": ("run.sh", "#!/bin/sh\necho a\n", "#!/bin/bash\necho a\n"),
    "what ruby reads": ("a.rb", "# frozen_string_literal: true\nA = 'a'\n", "# frozen_string_literal: false\nA = 'a'\n"),
    "a line of text": ("a.rb", "A = <<~B\n  # one\nB\n", "A = <<~B\n  # two\nB\n"),
    "a block of text": ("a.yml", "a: |\n  # one\n", "a: |\n  # two\n"),
    "code in a comment": ("a.rb", "# x = 1\n", "x = 1\n"),
    "a file that go takes in": ("a.go", "package a\n\n//go:embed a.txt\nvar A string\n", "package a\n\n//go:embed b.txt\nvar A string\n"),
    "where go builds it": ("a.go", "//go:build linux\n\npackage a\n", "//go:build windows\n\npackage a\n"),
}


@pytest.mark.parametrize(("path", "text"), WORDS.values(), ids=WORDS)
def test_another_header_is_no_code(path: str, text: str) -> None:
    assert same_code(path, text, text.replace("Copyright A", "Copyright B. 2025"))


@pytest.mark.parametrize(("path", "before", "after"), MORE.values(), ids=MORE)
def test_what_a_machine_reads_is_code(path: str, before: str, after: str) -> None:
    assert not same_code(path, before, after)
