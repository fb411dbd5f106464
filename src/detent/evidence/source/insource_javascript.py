"""In-source tests of JavaScript and TypeScript, `if (import.meta.vitest) { … }`, found by tokens. Pure."""

from detent.evidence.source.insource_part import TestPart, without
from detent.evidence.source.js_tokens import JsToken, UnclearScript, tokenize

OPENING = ["if", "(", "import", ".", "meta", ".", "vitest", ")", "{"]


def parts(text: str) -> list[TestPart] | None:
    """The test blocks of a file, keyed by number; None if it cannot be parsed."""
    if "import.meta.vitest" not in text:
        return []
    try:
        tokens = tokenize(text)
    except UnclearScript:
        return None
    found: list[TestPart] = []
    for at, token in enumerate(tokens):
        if [each.text for each in tokens[at : at + len(OPENING)]] == OPENING and (not found or token.at >= found[-1].end):
            end = _closing(tokens, at + len(OPENING) - 1)
            if end is None:
                return None
            found.append(TestPart(token.at, end, f"block {len(found)}"))
    return found


def lay(code: str, tests: str, before: list[TestPart], after: list[TestPart]) -> str | None:
    """The code without its own test blocks, with those of the other version at the end."""
    bare = without(code, before).rstrip("\n")
    blocks = [tests[part.start : part.end] for part in after]
    return "\n\n".join([bare, *blocks]) + "\n" if blocks else without(code, before)


def _closing(tokens: list[JsToken], at: int) -> int | None:
    """The end of the block whose brace is at this token."""
    depth = 0
    for token in tokens[at:]:
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "sign" else 0
        if depth == 0:
            return token.end
    return None
