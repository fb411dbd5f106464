"""Product code that runs text as code: read from a file, decoded or fetched. What runs is not in a code file, so no other analysis sees it. Pure.

Evaluating a literal or a text built in place is fine; libraries do that for speed.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.changes.edited_files import EditedFile, product
from detent.evidence.static_analysis.knows_tests_names import code_of
from detent.kernel.model import Flag

NEAR = 3  # lines of one statement
DEEPEST = 3  # assignments followed from name to name


class TextRunning(NamedTuple):
    """How a language runs text as code, as patterns."""

    runs: str  # calls that run a text
    text: str  # sources of text
    alone: str  # calls that load something that does not look like code
    comments: str


PYTHON = TextRunning(
    r"(?<![\w.])(?:exec|eval)\(|\bbuiltins\.(?:exec|eval)\(|\btypes\.(?:FunctionType|CodeType)\(|\bInteractiveInterpreter\(|\.runsource\(",
    r"\.read(?:_text|_bytes|lines?)?\(|(?<![\w.])open\(|\bb(?:16|32|64|85)decode\(|\bdecompress\(|\bfromhex\(|\bunhexlify\(|\burlopen\(|\bmarshal\.loads?\("
    r"|\bget_data\(|\bresource_string\(|\bcodecs\.decode\(|\brequests\.get\(",
    r"\brun_path\(\s*[^,)\n]*[\"'][^\"'\n]*\.(?!py\b)\w+[\"']|\b(?:SourceFileLoader|spec_from_file_location)\([^)\n]*[\"'][^\"'\n]*\.(?!(?:py|pyc|so|pyd)\b)[a-z]\w*[\"']",
    "hash",
)
JAVASCRIPT = TextRunning(
    r"(?<![\w.$])eval\(|\bFunction\(|\bvm\.(?:run\w+|compileFunction)\(|\bnew\s+(?:vm\.)?(?:Script|SourceTextModule)\(|\brunIn\w*Context\(|\b_compile\(|(?<![\w.])import\("
    r"|\bsetTimeout\(\s*[\w.]*(?:readFile|atob)",
    r"\breadFile(?:Sync)?\(|(?<![\w.])atob\(|\bBuffer\.from\([^\n]*,\s*[\"'`](?:base64|hex)|\bfromCharCode\(|\b(?:inflate|gunzip|brotliDecompress|unzip)\w*\(|\.text\(\)",
    r"(?<![\w.])import\(\s*[\"'`]data:|(?<![\w.])\b(?:require\.extensions|Module\._extensions)\b",
    "c",
)
RUBY = TextRunning(
    r"(?<![\w.])eval\b[ (]|\b(?:instance|class|module)_eval\b[ (]|\bbinding\.eval\b|\bInstructionSequence\.(?:compile|load_from_binary)\b",
    r"\b(?:File|IO)\.(?:read|binread|readlines|open)\b|\.read\b|(?<!\w)DATA\b|\.unpack1?\b|\bBase64\.|\bZlib::|\bURI\.open\b|__END__",
    r"(?<![\w.])load[ (]\s*[^\n#]*[\"'][^\"'\n]*\.(?!(?:rb|rake|ru|gemspec)\b)[a-z]\w*[\"']",
    "hash",
)
PHP = TextRunning(
    r"(?<![\w>:$])(?:eval|create_function)\s*\(",
    r"\bfile_get_contents\(|\bbase64_decode\(|\bgz(?:inflate|uncompress|decode)\(|\bstr_rot13\(|\bhex2bin\(|\bstrrev\(",
    r"\b(?:include|require)(?:_once)?\b[^;\n]*[\"'][^\"'\n]*\.(?:txt|jpe?g|png|gif|ico|dat|bin|log|md)[\"']",
    "c",
)
SHELL = TextRunning(
    r"(?<![\w-])eval\s|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|(?<![\w-])(?:source|\.)\s+<\(",
    r"\bbase64\s+(?:-d|-D|--decode)|\bxxd\s+-r|\b(?:curl|wget)\s|\bopenssl\s+enc\b|\brev\b|\btr\s+[\"']?A-Z",
    r"(?!)",
    "hash",
)
GO = TextRunning(r"(?!)", r"(?!)", r"\bplugin\.Open\(|\byaegi\b|\botto\.New\(|\bgoja\.New\(", "c")
JVM = TextRunning(r"(?!)", r"(?!)", r"\bdefineClass\(|\bdefineHiddenClass\(", "c")
DOTNET = TextRunning(r"(?!)", r"(?!)", r"\bAssembly\.Load\(\s*(?!\")", "c")
LANGUAGES: Mapping[str, TextRunning] = {
    **dict.fromkeys((".py", ".pyw"), PYTHON),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"), JAVASCRIPT),
    **dict.fromkeys((".rb", ".rake", ".ru"), RUBY),
    ".php": PHP,
    **dict.fromkeys((".sh", ".bash", ".zsh"), SHELL),
    ".go": GO,
    **dict.fromkeys((".java", ".kt"), JVM),
    ".cs": DOTNET,
}
GIVEN = re.compile(
    r"^[ \t]*(?:(?:const|let|var|export|final)\s+)*(?P<name>[$@\w]+)(?:\s*:\s*[\w.\[\]]+)?\s*(?:=(?![=~>])|:=)(?P<value>[^\n]*)",
    re.MULTILINE,
)
MADE = re.compile(
    r"^(?P<deep>[ \t]*)(?:export\s+|async\s+|private\s+|static\s+)*(?:def|function|fn)\s+(?:self\.)?(?P<name>\w+)[^\n]*\n(?P<body>(?:(?P=deep)[ \t]+[^\n]*\n|[ \t]*\n){1,12})",
    re.MULTILINE,
)


def text_as_code(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """A flag for each product file with changed lines that run such text or define it."""
    for file in product(files):
        if not file.added or file.suffix not in LANGUAGES:
            continue
        known = {snippet.strip() for _, snippet in running(file.path, file.before)} if file.before else set[str]()
        for line, snippet in running(file.path, file.after, file.added):
            if snippet.strip() not in known:
                words = "this line runs text as code that is read from elsewhere or decoded, and that nobody reviews as code"
                yield Flag("binaries", words, f"{file.path}:{line}", after=file.line(line))
                break


def running(path: str, text: str, lines: Collection[int] = ()) -> list[tuple[int, str]]:
    """The lines that run text from elsewhere; with `lines`, only those that involve one of these."""
    how = LANGUAGES.get(PurePosixPath(path).suffix)
    if how is None or not (re.search(how.runs, text) or re.search(how.alone, text)):
        return []
    plain = code_of(how.comments, text)
    rows, names = plain.split("\n"), _names(plain, how.text)
    asked = re.compile(rf"(?<![\w$@])(?:{'|'.join(map(re.escape, sorted(names)))})(?!\w)") if names else None
    found = list[tuple[int, str]]()
    for number, row in enumerate(rows, 1):
        statement = "\n".join(rows[number - 1 : number - 1 + NEAR])
        hit = re.search(how.runs, row)
        given = ""
        if hit:
            given = row if how is SHELL else _argument(statement[hit.start() :])
        by = [names[name] for name in asked.findall(given)] if asked and given else []
        touched = {number, *(line for each in by for line in each)}
        touched |= set(range(number, number + NEAR))
        runs = re.search(how.alone, row) or (given and (re.search(how.text, given) or by))
        if runs and (not lines or touched & set(lines)):
            found.append((number, row))
    return found


def _argument(text: str) -> str:
    """A call up to its closing bracket; the whole line for one without brackets."""
    deep, begun = 0, False
    for at, sign in enumerate(text):
        if sign in "([{":
            deep, begun = deep + 1, True
        elif sign in ")]}":
            deep -= 1
            if begun and deep <= 0:
                return text[: at + 1]
        elif sign == "\n" and not begun:
            return text[:at]
    return text


def _names(plain: str, source: str) -> dict[str, frozenset[int]]:
    """The names that hold or return such text, each with the lines that define it."""
    found = dict[str, frozenset[int]]()
    for made in MADE.finditer(plain):
        if re.search(source, made["body"]):
            found[made["name"]] = frozenset({plain.count("\n", 0, made.start()) + 1})
    given = [(each["name"], each["value"], plain.count("\n", 0, each.start("name")) + 1) for each in GIVEN.finditer(plain)]
    for _ in range(DEEPEST):
        for name, value, line in given:
            by = [found[word] for word in re.findall(r"[$@\w]+", value) if word in found and word != name]
            if name not in found and (re.search(source, value) or by):
                found[name] = frozenset({line, *(n for each in by for n in each)})
    return found
