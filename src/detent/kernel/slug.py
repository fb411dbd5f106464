"""Words for names: of branches, of folders. [a-z0-9-] only, with letters of other alphabets as near as ASCII has them."""

import re
import unicodedata

SPELLED = {
    "ä": "ae",
    "ö": "oe",
    "ü": "ue",
    "ß": "ss",
    "æ": "ae",
    "ø": "o",
    "å": "a",
    "œ": "oe",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ı": "i",
}


def slug(text: str, most: int) -> str:
    """A text as part of a name; empty if nothing of it can be written so."""
    lower = unicodedata.normalize("NFC", text.lower())
    written = unicodedata.normalize("NFKD", "".join(SPELLED.get(letter, letter) for letter in lower))
    plain = "".join(letter for letter in written if not unicodedata.combining(letter))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:most].strip("-")
