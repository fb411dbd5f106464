"""Lines of the product that say of themselves that they are not the real thing: a placeholder, an answer that is hard-coded for now, a branch that
is not implemented. Pure.

Only what a remark or a logged line says of the code beside it, or what code raises where it was reached: a plain `TODO` about something else is left alone.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

from detent.evidence.changes.edited_files import EditedFile, product
from detent.kernel.model import Flag

REMARK = re.compile(r"(?:^|(?<=[\s;{}(),:]))(?:#(?!\[|!)|//|/\*|\*(?=\s)|--(?=\s)|<!--|\"\"\"|''')(?P<said>.*)$")
WORK = r"(?:implement\w*|logic|code|call|calls|request|check|checks|validation|version|data|value|values|response|result|answer|service|api|integration|query|lookup|backend|thing)"
STANDS_IN = re.compile(
    rf"""(?ix)
    \b(?:todo|fixme|xxx|hack)\b\W*(?:\([^)]*\)\W*)?(?:actually\s+|properly\s+|really\s+)?(?:implement|replace|finish|complete|wire|hook\s+up|connect|add\s+(?:the\s+)?(?:real|actual|proper)|real\b|proper\b
      |make\s+(?:this|it)\s+(?:real|work)|do\s+(?:this|it)\s+(?:properly|for\s+real)|call\s+the\s+(?:real|actual)|remove\s+(?:this\s+)?(?:hard|hack|stub|fake|mock))
    |\b(?:replace|swap)\w*\s+(?:this\s+|it\s+|me\s+)?(?:with|by|for)\s+(?:the\s+|a\s+)?(?:real|actual|proper)\b
    |\b(?:until|once)\b.{{0,40}}\b(?:real|actual|proper)\s+{WORK}\b
    |\bin\s+(?:a\s+|the\s+)?(?:real|actual|production)\s+(?:implementation|system|app(?:lication)?|world|version|code|life|product|environment)\b.{{0,40}}\b(?:would|should|will|call|use|need)
    |\bin\s+production\b.{{0,20}}\b(?:this|we|you|it|one)\s+(?:would|should)\b
    |\b(?:is|are|as|returns?|gives?|uses?|using|with|just|only)\s+(?:only\s+|just\s+)?an?\s+(?:mere\s+|simple\s+|temporary\s+)?(?:placeholder|stub|mock|dummy|fake|skeleton)\b(?!\s+(?:file|object|class|module|char|text|name|in\s|of\s))
    |^\W*(?:temporary\s+|simple\s+)?(?:placeholder|stub(?:bed)?|dummy|mock(?:ed)?|fake[ds]?|hard-?\s?coded)\b\W*(?:$|:|implementation|until|for\s+now|logic|answer|value|values|response|result|data|version|so\s|to\s|,|\(|--|-|—)
    |\bhard-?\s?cod(?:e|ed|ing)\b.{{0,30}}\b(?:for\s+now|until|temporar|to\s+(?:pass|satisfy|make)|test)
    |\b(?:simulat(?:e|es|ed|ing)|pretend(?:s|ing)?|fak(?:e|es|ing))\s+(?:the\s+|a\s+|an\s+|that\s+|to\s+)?(?:{WORK}|success|it|call|send|work)
    |\bnot\s+(?:yet\s+|really\s+|actually\s+|fully\s+)?(?:implemented|wired|hooked\s+up|connected|finished)(?:\s+(?:up\s+)?yet)?\b(?=\W*(?:$|yet|,|so\b|for\s+now))
    |\b(?:not|never|n't|nothing|nobody|no\s\w+)\b.{{0,30}}\b(?:checked|looked\s+(?:up|at)|validated|verified|enforced|wired(?:\s+up)?)\s+(?:here\s+)?yet\b
    |\b(?:will|shall|should|must|to)\s+be\s+(?:called|asked|checked|looked\s+up|wired(?:\s+up)?|plugged\s+in|hooked\s+up|connected|filled\s+in|replaced|computed|calculated)\b
      .{{0,20}}\b(?:here\b\W*(?:$|,|;)|later\b)
    |\b(?:wire\s+(?:up|in)|hook\s+up|plug\s+in|fill\s+in|implement)\b(?:\s+\w+){{0,4}}\s+later\s*$
    |\bwill\s+do\s+(?:for\s+now|until|till|meanwhile)\b|\b(?:stubbed|mocked|faked|hard-?coded)\s+(?:out|in|away)\b
    |^\W*(?:a\s+)?(?:sham|bogus|made-?up|invented|pretended|canned)\s+(?:{WORK})\b|\bplaceholder\s+(?:{WORK})\b
    |\b(?:until|till)\s+(?:the|we|our|an?)\b.{{0,40}}\b(?:is|are)\s+(?:in\s+place|wired(?:\s+up)?|hooked\s+up|deployed|implemented|built)\s*$
    |\b(?:backend|api|service|implementation|integration|server|endpoint)\s+(?:is\s+|still\s+)*(?:pending|missing|to\s+come|to\s+follow)\b
    |^\W*no-?op\b\W*(?:,|;|for\s+now|until|$)|\b(?:un|half-?)implemented\b|\bto\s+be\s+implemented\b|\bimplement(?:ed)?\s+(?:this\s+|it\s+)?later\b
    |\b(?:for\s+now|temporarily)\b.{{0,25}}\b(?:return|just|always|simply|assume|pretend|hard|skip|fake|accept|allow)|\b(?:just|always|simply|only)\s+(?:return|accept|allow|succeed|pass|say)\w*.{{0,40}}\bfor\s+now\b
    |\bgood\s+enough\s+(?:for|to\s+pass)\s+(?:the\s+)?tests?\b|\bmakes?\s+the\s+tests?\s+pass\b
    """
)
EXPLAINED = re.compile(
    r"^\W*(?:@param\s+(?:\{[^}]*\}\s*)?|:param\s+)?(?P<name>placeholder|stub|dummy|mock|fake)\b\s*(?::|--|-|—|,|\()\s*", re.IGNORECASE
)
SHOWN = re.compile(
    r"(?:(?:the|a|an)\s+)?(?:text|hint|label|words|string|grey|gray)?\s*(?:that\s+is\s+|to\s+be\s+)?(?:shown|displayed|visible|rendered|drawn)\b",
    re.IGNORECASE,
)
NAMED = re.compile(
    r"(?<![\w\"'])(?:placeholder|stub|dummy|mock|fake)(?=\s*[=:,)?(\]]|\s*\.\w|\s*$)|(?<=[\"'])(?:placeholder|stub|dummy|mock|fake)(?=[\"']\s*[:\])])"
)
LOGGED = re.compile(
    r"^\s*(?:console\.\w+|(?:\w*[lL]og(?:ger|ging)?|slog)\.\w+|fmt\.F?[pP]rint\w*|print(?:ln|f)?|puts|warn)[( ]\s*f?[\"'`](?:[\w. -]{1,30}:\s*)?(?P<said>[^\"'`]*)"
)  # what a line logs, without the name at its beginning
RAISES = re.compile(
    r"\braise\s+NotImplementedError\b|\b(?:raise|fail|abort|die)[( ]\s*[\"'](?:[^\"']*\bnot (?:yet )?implemented|TODO|FIXME|unimplemented)"
    r"|\bthrow\s+new\s+\w*(?:Error|Exception)\(\s*[\"'`][^\"'`]*\b(?:not (?:yet )?(?:implemented|supported yet)|unimplemented|TODO)\b"
    r"|\bthrow\s+new\s+(?:NotImplemented\w*|UnsupportedOperationException\(\s*[\"'](?:TODO|not (?:yet )?implemented))|\bpanic\(\s*[\"`]"
    r"(?:[^\"`]*\bnot (?:yet )?implemented|TODO|unimplemented)"
    r"|\b(?:errors\.New|fmt\.Errorf)\(\s*\"[^\"]*\bnot (?:yet )?implemented\b|\b(?:todo|unimplemented)!\s*\(|\bTODO\(\s*\"",
    re.IGNORECASE,
)
HEAD = re.compile(r"^\s*(?:[\w@]+\s+)*(?:def|function|func|fn)\b|^\s*(?:[\w#]+\s+)*[\w#$]+\s*\([^)]*\)\s*(?::\s*[\w<>\[\]| ]+)?\s*\{\s*$")
BRANCH = re.compile(
    r"^\s*[})]*\s*(?:else|if|elif|elsif|unless|case|when|default|switch|match|except|catch|rescue|for|while)\b|=>\s*\{?\s*$"
)


def says_unfinished(files: tuple[EditedFile, ...], beside: Callable[[str], bool]) -> Iterator[Flag]:
    """The lines of this kind that a change brings; none that only moved, or that stand beside the product."""
    for file in product(files):
        rows, names = file.before.split("\n"), _names(file.after)
        moved = Counter(rows[n - 1].strip()[:200] for n in file.removed if n <= len(rows))
        for n in sorted(file.added):
            line = file.line(n)
            if not (_says_so(line, names) or _raises(file, n)):
                continue
            if moved[line] > 0:
                moved[line] -= 1
            elif not beside(file.path):
                yield Flag("unfinished", "this line says that the code is not the real thing yet", f"{file.path}:{n}", after=line)


def _says_so(line: str, names: frozenset[str]) -> bool:
    found = REMARK.search(line) or LOGGED.match(line)
    if found is None or STANDS_IN.search(found["said"]) is None:
        return False
    about = EXPLAINED.match(found["said"])
    return about is None or (about["name"] not in names and not SHOWN.match(found["said"], about.end()))


def _names(text: str) -> frozenset[str]:
    """The names that the code of a file has for fields, options and the like, by the words that remarks use for stand-ins."""
    return frozenset(name for line in text.split("\n") if not REMARK.match(line.strip()) for name in NAMED.findall(REMARK.sub("", line)))


def _raises(file: EditedFile, number: int) -> bool:
    """Whether a line gives up where something was to be done: in a branch, or as all that a function at the top does. All of a method may be for
    others to fill."""
    line = file.line(number)
    if not RAISES.search(line) or REMARK.match(line):
        return False
    above = next((n for n in range(number - 1, 0, -1) if file.line(n) and not REMARK.match(file.line(n))), 0)
    line_above = file.line(above)
    if BRANCH.match(line) or BRANCH.match(line_above) or re.search(r"\s(?:if|unless)\s", line):
        return True
    return not HEAD.match(line_above) or not file.after.split("\n")[above - 1][:1].isspace()
