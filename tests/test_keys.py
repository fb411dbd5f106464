"""Keys stay out of commits and out of everything that is written down: journal, evidence, notes, verdicts."""

import gzip
from base64 import b32encode, b64encode
from pathlib import Path

import pytest

from detent.evidence.source.secret_keys import keys_added, keys_in
from detent.gates.tree import no_keys_added
from detent.git.place import find_place
from detent.git.repo import Git
from detent.kernel.model import Data, Run
from tests.feature import GREEN, at, failed, refused, standing
from tests.looks import LiteralLook
from tests.project import Project

REAL = "sk-ant-" + "api03-Zq9vB4nR7tK2mX8cL5wJ1hY6"  # in two pieces, so that this file holds none
FOUND = {
    f'KEY = "{REAL}"': "an Anthropic key",
    "token: ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8": "a GitHub token",
    "AKIA" + "ZQ9VB4NR7TK2MX8C": "an AWS key",
    "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9vB4nR7tK2mX8cL5wJ1hY6aaZ\n": "a private key",
    'K = "-----BEGIN ' + 'PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA7bq9vB4nR7tK2mX8cL5wJ1hY6aaZ"': "a private key",
    "xoxb-" + "1234567890-abcdefghij": "a Slack token",
    "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q": "a Google key",
    "const s = 'hunter2-hunter2-hunter2'": "the value of DEPLOY_TOKEN",
}
ENCODED = "token: " + b64encode(f"key={REAL}\n".encode()).decode()
FOUND[ENCODED] = "an Anthropic key in base64"
FOUND["  tls.key: " + b64encode(b"-----BEGIN " + b"PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9vB4nR7tK2mX8cL5wJ1hY6aaZ\n").decode()] = (
    "a private key in base64"
)
FOUND |= {
    'KEY = "AK" + "IA' + 'ZQ9VB4NR7TK2MX8C"': "an AWS key in pieces",
    "KEY = ('AKIA' 'ZQ9VB4NR7TK2MX8C')": "an AWS key in pieces",
    "const key = ['sk_live_', 'Zq9vB4nR7tK2mX8cL5wJ1h'].join('')": "a Stripe key in pieces",
    "token = " + "glpat-" + "Zq9vB4nR7tK2mX8cL5wJ": "a GitLab token",
    "//registry.npmjs.org/:_authToken=npm_" + "Zq9vB4nR7tK2mX8cL5wJ1hY6Zq9vB4nR7tK2": "an npm token",
    "sk-proj-" + "Zq9vB4nR7tK2mX8cL5wJ1hY6Zq9v": "an OpenAI key",
}
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
OTHERWISE = {
    "parts of it as of an address": "%67%68%70%5F" + SECRET[4:],
    "each character of an address": "".join(f"%{ord(c):02x}" for c in SECRET),
    "escapes of JSON": "".join(f"\\u{ord(c):04x}" for c in SECRET),
    "escapes of a string": "".join(f"\\x{ord(c):02x}" for c in SECRET),
    "octal": "".join(f"\\{ord(c):03o}" for c in SECRET),
    "characters of HTML": "".join(f"&#{ord(c)};" for c in SECRET),
    "hex": SECRET.encode().hex(),
    "numbers": f"key = bytes({list(SECRET.encode())})",
    "base32": b32encode(SECRET.encode()).decode(),
    "base64 whose length is no multiple of three": b64encode(SECRET.encode()).decode(),
    "base64 of UTF-16": b64encode(SECRET.encode("utf-16-le")).decode(),
    "base64 in base64": b64encode(b64encode(SECRET.encode())).decode(),
    "base64 over two lines": f"'{b64encode(SECRET.encode()).decode()[:28]}'\n    '{b64encode(SECRET.encode()).decode()[28:]}'",
    "packed": b64encode(gzip.compress(SECRET.encode())).decode(),
    "pieces over two lines": f"key = ('{SECRET[:20]}'\n       '{SECRET[20:]}')",
    "a line that goes on": f"key={SECRET[:9]}\\\n  {SECRET[9:]}",
    "a string in a string": "key = f\"ghp_{'" + SECRET[4:] + "'}\"",
}


@pytest.mark.parametrize("text", OTHERWISE.values(), ids=OTHERWISE)
def test_a_key_is_found_however_it_is_written(text: str) -> None:
    ((line, kind),) = keys_in(f"a\n{text}", {})
    assert line == 1 and kind.startswith("a GitHub token in ")


def test_hashes_numbers_and_escapes_that_hold_no_key_are_none() -> None:
    for text in ("a" * 64, "de" * 32, str(list(range(100))), "\\u00e4\\u00f6" * 20, "%20%2F" * 30, "A" * 5000, "x = 1, 22, 333\n" * 500):
        assert list(keys_in(text, {})) == []


FINE = (
    "integrity: sha512-" + b64encode(bytes(range(64))).decode(),
    "icon: " + b64encode(b"an example: sk-ant-" + b"api03-fake-key-for-the-tests-of-this-project").decode(),
    'KEY = "sk-ant-test"',
    'KEY = "sk-ant-api03-fake-key-for-the-tests-of-this-project"',
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "x" * 36,
    "-----BEGIN PRIVATE KEY-----",
    "task-ant-colony-optimisation-of-everything-in-the-world",
    "import os; key = os.environ['ANTHROPIC_API_KEY']",
    "short: pw12",
)
KNOWN = {"hunter2-hunter2-hunter2": "DEPLOY_TOKEN", "pw12": "DB_PASSWORD"}


@pytest.mark.parametrize("text", FOUND)
def test_a_key_is_known_by_its_form_or_because_our_environment_holds_it(text: str) -> None:
    assert list(keys_in(f"a\n{text}", KNOWN)) == [(1, FOUND[text])]


@pytest.mark.parametrize("text", FINE)
def test_what_says_that_it_is_none_or_is_too_short_to_be_one_is_none(text: str) -> None:
    assert list(keys_in(text, KNOWN)) == []


def test_tests_may_write_made_up_keys_in_pieces() -> None:
    row = 'KEY = "AKIA" + "' + 'ZQ9VB4NR7TK2MX8C"'
    patch = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+{1}\n"
    found = [keys_added(patch.format(path, row).encode(), {}) for path in ("shop/keys.py", "tests/test_keys.py", "src/keys.test.ts")]
    assert found == [("shop/keys.py:1: an AWS key in pieces",), (), ()]


def test_only_added_lines_are_looked_at_and_named_by_path_and_line(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", {"old.py": f"# one\n{REAL}\n", "two.py": "a = 1\nb = 2\nc = 3\n"})
    before = p.git("rev-parse", "HEAD^{tree}")
    (p.root / "old.py").write_text(f"# one and a half\n{REAL}\n")
    (p.root / "two.py").write_text(f"a = 1\nb = 20\nc = 3\n+++ b/x\nd = '{REAL}'\n")
    (p.root / "ä new.py").write_text(f"\n\nK = '{REAL}'\n")
    p.git("add", "-A")
    git = Git(find_place(p.root), p.env)
    assert keys_added(git.patch(before, p.git("write-tree"))[1], {}) == ("two.py:5: an Anthropic key", "ä new.py:3: an Anthropic key")


def test_no_attribute_setting_or_nul_hides_a_key(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", {"old.py": "a = 1\n", ".gitattributes": "*.py -diff\n*.txt diff=shown\n"})
    for name, value in {"diff.shown.textconv": "true", "diff.noprefix": "true", "diff.mnemonicPrefix": "true"}.items():
        p.git("config", name, value)
    before = p.git("rev-parse", "HEAD^{tree}")
    for name in ("a.py", "b.txt", "c.bin"):
        (p.root / name).write_text(f"\0\nK = '{REAL}'\n")
    p.git("add", "-A")
    changes, patch = Git(find_place(p.root), p.env).patch(before, p.git("write-tree"))
    assert changes == [("A", "a.py"), ("A", "b.txt"), ("A", "c.bin")]
    assert keys_added(patch, {}) == tuple(f"{name}:2: an Anthropic key" for name in ("a.py", "b.txt", "c.bin"))


def test_a_persons_word_allows_a_file_by_its_name_and_no_other() -> None:
    run = Run("r", "tdd", "GREEN", 1, Data(), steers=("tests/data/keys.py holds no real key",))
    assert no_keys_added(LiteralLook(run, keys=("tests/data/keys.py:1: an AWS key",))) is None
    for other in ("data/keys.py", "src/a.py", "s.py"):
        assert f"{other}:1: an AWS key" in (no_keys_added(LiteralLook(run, keys=(f"{other}:1: an AWS key",))) or "")


@pytest.mark.slow
def test_work_with_a_key_in_it_is_refused_with_the_place_and_without_the_key_until_a_person_allows_it() -> None:
    f = at("GREEN")
    before = standing(f)
    f.lay({"calc.py": f'KEY = "{REAL}"\n\n\n{GREEN}'})
    verdict = f.submit()
    refused(f, before, verdict, "calc.py:1: an Anthropic key; a commit would keep it for good")
    assert REAL not in repr(verdict)
    assert 'detent steer "calc.py holds no real key"' in verdict.reasons[0]
    f.person("steer", note="calc.py holds no real key")
    assert (f.submit().status, REAL in f.git("show", "HEAD:calc.py")) == ("SUCCESS", True)


@pytest.mark.slow
def test_a_key_that_tests_print_is_written_down_nowhere() -> None:
    f = at("GREEN", files={"conftest.py": f'KEY = "{REAL}"\n'})
    f.env["DEPLOY_TOKEN"] = token = "hunter2-hunter2-hunter2"
    f.lay({"calc.py": f'import conftest\n\n\ndef add(a, b):\n    raise RuntimeError(conftest.KEY + " " + "-".join(["{token[:7]}"] * 3))\n'})
    verdict = f.submit()
    failed(f, verdict, "test_add still fails", "TestFailure", 1, "GREEN")
    assert "RuntimeError: [redacted] [redacted]" in verdict.output
    f.close()
    kept = [*(f.root / ".git/detent").rglob("*"), *(f.root / ".git").glob("*.log")]
    spilled = [file.name for file in kept if file.is_file() and (REAL.encode() in (data := file.read_bytes()) or token.encode() in data)]
    assert spilled == []
    assert REAL not in f.git("notes", "--ref=tdd-handoffs", "show", "HEAD")
