"""Secret keys in what a change adds: their place and kind, never their value. Few, strict patterns, since a false hit stops honest work.

A key is recognised by its form, or by its value if our own environment has it. One that calls itself an example is ignored.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from detent.evidence.source.encoded_text import readings

SHORTEST = 16  # length of a value from the environment; a shorter one may be a word
KINDS = {
    "an Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{24,}",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
    "an AWS key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a private key": r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[\s\"'+,]|\\n)*[A-Za-z0-9+/]{40}",
    "a Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}",
    "a Google key": r"\bAIza[A-Za-z0-9_-]{35}",
    "a Stripe key": r"\b[sr]k_live_[A-Za-z0-9]{20,}",
    "an OpenAI key": r"\bsk-(?:proj|svcacct)-[A-Za-z0-9_-]{24,}",
    "a GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a PyPI token": r"\bpypi-AgE[A-Za-z0-9_-]{50,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{34}\b",
    "a SendGrid key": r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b",
    "a DigitalOcean token": r"\bdo[por]_v1_[a-f0-9]{64}\b",
    "an OpenRouter key": r"\bsk-or-v1-[a-f0-9]{64}\b",
    "a Groq key": r"\bgsk_[A-Za-z0-9]{52}\b",
    "an xAI key": r"\bxai-[A-Za-z0-9]{80}\b",
    "an Azure storage key": r"\bAccountKey=[A-Za-z0-9+/]{86}==",
    "a Slack webhook": r"\bhooks\.slack\.com/services/T\w+/B\w+/\w{20,}",
}
NOT_ONE = re.compile(r"example|sample|dummy|fake|placeholder|redacted|(.)\1{7}", re.IGNORECASE)
JOINED = re.compile(r"([\"'`])\s*[+.,&\\]?\s*[rbuf]?\1|\\\n[ \t]*|\{[\"']|[\"']\}")  # "one" + "text", also over lines, and f"one{'text'}"
IN_PIECES = " in pieces"
OF_TESTS = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_|[._]test\.|[._]spec\.")  # tests rightly build fake keys this way
HUNK = re.compile(rb"@@ -\S+ \+([0-9]+)")


def keys_added(patch: bytes, known: Mapping[str, str]) -> tuple[str, ...]:
    """Every key on a line that a patch adds, as `path:line: kind`. `known`: secret value -> name of its variable."""
    found = [f"{path}: {kind} in its name" for path in new_files(patch) for _, kind in _keys_as_they_are(path, known)]
    for path, line, text in added(patch):
        for at, kind in keys_in(text, known):
            if kind.endswith(IN_PIECES) and OF_TESTS.search(path):
                continue
            found.append(f"{path}:{line + at}: {kind}")
    return tuple(found)


def keys_in(text: str, known: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """The lines of a text that hold a key, plain, in pieces or encoded, counted from 0, with the kind of each."""
    whole = list(_keys_as_they_are(text, known))
    yield from whole
    pieces = _keys_as_they_are(JOINED.sub("", text), known)
    yield from ((line, f"{kind}{IN_PIECES}") for line, kind in pieces if (line, kind) not in whole)
    seen = {kind for _, kind in whole}
    for at, inner, how in readings(text):
        for kind in {kind for _, kind in (*_keys_as_they_are(inner, known), *_keys_as_they_are(JOINED.sub("", inner), known))} - seen:
            seen.add(kind)
            yield text.count("\n", 0, at), f"{kind} in {how}"


def _keys_as_they_are(text: str, known: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    for kind, pattern in KINDS.items():
        for hit in re.finditer(pattern, text):
            if not NOT_ONE.search(hit[0]):
                yield text.count("\n", 0, hit.start()), kind
    for value, name in known.items():
        if len(value) >= SHORTEST and (at := text.find(value)) >= 0:
            yield text.count("\n", 0, at), f"the value of {name}"


def _plain(line: bytes) -> str:
    """A line as its reader would see it: decoded, without invisible characters, with compatibility letters normalized.

    In UTF-16 and UTF-32 the ASCII letters are themselves, between zero bytes.
    """
    text = line.replace(b"\0", b"").decode("utf-8", "replace")
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", "".join(c for c in text if unicodedata.category(c) != "Cf"))


def new_files(patch: bytes) -> list[str]:
    """The names of files that a patch adds, including empty ones."""
    parts = (part for part in re.split(rb"(?m)^diff --git ", patch)[1:] if re.search(rb"(?m)^new file mode", part))
    return [part.split(b"\n", 1)[0].decode("utf-8", "surrogateescape").rpartition(" b/")[2] for part in parts]


def added(patch: bytes) -> Iterator[tuple[str, int, str]]:
    """The pieces that a patch without context adds: path, first line and text."""
    path, line, piece = "", 0, list[str]()
    for raw in [*patch.split(b"\n"), b"@@ "]:
        if raw.startswith(b"+") and line:
            piece.append(_plain(raw[1:]))
            continue
        if raw.startswith((b"@@ ", b"diff ")):
            if piece:
                yield path, line, "\n".join(piece)
            piece, hunk = [], HUNK.match(raw)
            line = int(hunk[1]) if hunk else 0
        elif raw.startswith(b"+++ ") and not line:
            path = raw[4:].decode("utf-8", "surrogateescape").rstrip("\t").removeprefix("b/")
