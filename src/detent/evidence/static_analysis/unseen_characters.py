"""New lines of code that are not what they look like: reversed reading order, invisible characters or line breaks, letters that look like others.
Pure."""

import re
import unicodedata

from detent.evidence.changes.edited_files import EditedFile

CODE = frozenset(
    {".py", ".pyw", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte", ".go", ".rb", ".rake", ".rs", ".php", ".java", ".kt",
     ".scala", ".groovy", ".swift", ".dart", ".cs", ".fs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".zig", ".lua", ".pl", ".ex", ".exs", ".sh", ".bash", ".zsh",
     ".ps1", ".sql"}
)  # fmt: skip
PARTED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # letters of Thai, Lao, Burmese and Khmer, where a zero-width space separates words
TWINS = "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"  # Greek letters that look like ASCII ones
OTHERS = rf"\u0400-\u04ff{TWINS}\u0561-\u0587\u13a0-\u13ef\uff21-\uff3a\uff41-\uff5a"  # Cyrillic, Greek, Armenian, Cherokee, fullwidth
LOOKS = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        ("characters that reverse the reading order", r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]"),
        ("invisible characters", (rf"(?<![{PARTED}])\u200b|\u200b(?![{PARTED}])"
         r"|[\u2060-\u2064\u115f\u1160\u3164\uffa0\ufeff\U000e0000-\U000e007f]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
         r"|[A-Za-z_$][\u00ad\u034f\u180e\u200c\u200d]+[A-Za-z_$(=\s]")),
        ("a line break that is not shown", r"\r(?!$)|[\u2028\u2029\x85]"),
        ("control characters", r"[\x01-\x08\x0b\x0e-\x1f\x7f]"),
        ("a word with letters of two alphabets", rf"(?<!\\)\b(?=\w*[A-Za-z])(?=\w*[{OTHERS}])\w+"),
        ("code far to the right", r"\S {100,}(?!#|//|/\*|\\$|\*/|\|)\S"),
    )
)  # fmt: skip
OF_TESTS = 4  # only the first 4 apply to tests, whose examples use many alphabets
TEXTS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|#.*")
NAME = re.compile(r"[^\W\d]\w*")


def unseen_characters(file: EditedFile) -> tuple[int, str] | None:
    """The first new line of a code file that is not what it looks like, and why."""
    if file.suffix not in CODE:
        return None
    rows, looks = file.after.split("\n"), LOOKS if file.is_product else LOOKS[:OF_TESTS]
    for number in sorted(file.all_added):
        row = (rows[number - 1] if number <= len(rows) else "").removeprefix("\ufeff")
        looks_at = looks[OF_TESTS:] if row.isascii() and row.isprintable() else looks
        if found := next((what for what, pattern in looks_at if pattern.search(row)), ""):
            return number, found
        if file.suffix == ".py" and not row.isascii() and _is_read_as_another(row):
            return number, "a name that Python reads as a different one"
    return None


def _is_read_as_another(row: str) -> bool:
    """Whether a line has a non-ASCII name that Python normalizes to an ASCII one, so that a search does not find it."""
    names = (name for name in NAME.findall(TEXTS.sub("", row)) if not name.isascii())
    return any(unicodedata.normalize("NFKC", name).isascii() for name in names)
