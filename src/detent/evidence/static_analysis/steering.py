"""Environment variables that change how tests run, set outside the configuration of tests: in a Makefile, a container, a shell profile, code. Pure."""

import re
from collections.abc import Iterator

from detent.evidence.changes.edited_files import EditedFile
from detent.evidence.changes.judging_parts import STEERING
from detent.evidence.source.file_patterns import is_document
from detent.kernel.model import Flag

CODE = re.compile(r".*\.(?:py|[cm]?[jt]sx?|go|rb|rs|java|kt|php|cs)|(?:.*/)?Rakefile|.*\.rake")
PUT = re.compile(
    rf"(?<![\w.$-])[\"']?(?:ENV\s+)?(?P<name>{STEERING})[\"']?\s*(?:\?|:)?[=:](?!=|:)\s*\S|\bENV\s+(?P<docker>{STEERING})\s+\S"
)
PUT_BY_CODE = re.compile(
    rf"(?:\benviron\[|\bENV\[|\bprocess\.env\[|\bprocess\.env\.|\b[sS]et_?env\(\s*)[\"'`]?(?P<name>{STEERING})[\"'`]?(?:\]?\s*(?:\|\|)?=(?!=|~)|\s*,)"
    rf"|(?<![\w.])(?P<key>{STEERING})[\"']?\s*(?:=>|:)\s*f?[\"'`]|[(,]\s*(?P<arg>{STEERING})=f?[\"']|[\"'`](?P<text>{STEERING})=\S"  # for a child
)
COMMENT = re.compile(r"\s*(?:#|//|\*|<!--|--\s)")


def steered(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """New lines that set such a variable, once for each file. What configures tests as a whole is flagged by others."""
    for file in files:
        if file.is_test or file.sort == "config" or is_document(file.path):
            continue
        pattern = PUT_BY_CODE if CODE.fullmatch(file.path) else PUT
        for n in sorted(file.all_added):
            found = pattern.search(file.line(n))
            if found is None or COMMENT.match(file.line(n)) or file.line(n) in file.before:
                continue
            name = next(each for each in found.groupdict().values() if each)
            yield Flag("judged-by", f"{file.path} sets {name}, which changes how tests run", f"{file.path}:{n}", after=file.line(n))
            break
