"""Product code that may leak secrets: it reads people's key files, or sends out the whole environment. Pure.

That a test proves such a line does not help: tests notice what code returns, not what else it reads. Files that did the same before the change
are not flagged.
"""

import re
from collections.abc import Iterator

from detent.evidence.changes.edited_files import EditedFile, product
from detent.evidence.source.file_patterns import is_words
from detent.kernel.model import Flag

KEYS = re.compile(
    r"\.ssh\b[\"'`/,\s]|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.aws[\"'`/,\s]+credentials|\.git-credentials\b|\.kube[\"'`/,\s]+config\b|\.docker[\"'`/,\s]+config\.json"
    r"|[\"'`/](?:\.netrc|_netrc|\.pypirc|\.pgpass|\.my\.cnf)\b|\.gnupg\b|/etc/(?:shadow|sudoers)\b|\bLogin Data\b|\bcookies\.sqlite\b|\blogins\.json\b|\bwallet\.dat\b"
    r"|[\"'`/]\.(?:bash|zsh)_history\b|\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b|/proc/(?:self|\d+|\$|%|\{)[^\s\"'`]*/environ\b|\.config[\"'`/,\s]+gh[\"'`/,\s]+hosts"
    r"|\.claude[\"'`/,\s]+\.credentials|\.codex[\"'`/,\s]+auth\.json|\bLibrary[\"'`/,\s]+Keychains\b|\bfind-generic-password\b"
)
PASSWORD = re.compile(r"\b[a-z][a-z0-9+]+://[^\s:/@\"'`{}$<%#]+:(?P<word>[^\s@/\"'`{}$<%#*]{6,})@(?P<host>[\w-]+(?:\.[\w-]+)+)")
NO_PASSWORD = re.compile(
    r"(?i)pass|pwd|secret|change|postgres|user|guest|root|admin|example|token|xxx|1234|test|foo|bar|key|hunter|word|abc"
)
NO_HOST = re.compile(
    r"(?i)(?:.*\.)?(?:localhost|example(?:\.\w+)?|test|invalid|local|internal)|127\..*|0\.0\.0\.0|(?:.*\.)?(?:host|server|domain|proxy|foo|bar)\.\w+"
)
REMARK = re.compile(r"^\s*(?:#(?!!)|//|\*|/\*|--\s|<!--|\"\"\"|''')")
ENVIRONMENT = re.compile(
    r"(?:\bos\.)?\benviron\b(?!\s*(?:\[|\.(?:get|setdefault|pop|__getitem__)\b|=|,\s*[\"']))|\bprocess\.env\b(?!\s*(?:\??\.|\[|=))|\bENV\.(?:to_h(?:ash)?|to_a|inspect|map|each\w*|sort\w*)\b"
    r"|\bos\.Environ\(\)|\benv::vars(?:_os)?\(\)|\bSystem\.getenv\(\)|\bgetenv\(\s*\)|\$_ENV\b(?!\s*\[)|\bGetEnvironmentVariables\(\)"
)
OF_SHELL = re.compile(r"(?<![\w.@$-])(?:printenv|env)\s*(?:\||$|>)|\bexport -p\b")
SHELLS = (".sh", ".bash", ".zsh", "")
OUT = re.compile(
    r"\burlopen\(|\burllib\d?\.request\b|\b(?:requests|httpx|session|client|aiohttp)\.(?:post|put|get|request|patch)\(|\bHTTPS?Connection\(|\bsocket\.(?:socket|create_connection)\(|\.send(?:to|all)\("
    r"|(?<![\w.])fetch\(|\baxios\b|\bhttps?\.(?:request|get|post)\(|\bsendBeacon\(|\bnew\s+WebSocket\(|\bXMLHttpRequest\b|\bnet\.(?:connect|Socket|Dial)\b|\bdns\.(?:resolve|lookup)\w*\("
    r"|\bNet::HTTP\b|\bHTTParty\b|\bFaraday\b|\bTCPSocket\b|\bURI\.open\b|\bhttp\.(?:Post(?:Form)?|Get|NewRequest\w*)\(|\breqwest\b|\bureq\b|\bHttpClient\b|\bcurl_(?:init|exec)\("
    r"|[\"'`\s(](?:curl|wget|nc|ncat)[\"'`\s,]|\bgetaddrinfo\(|\bgethostbyname\(|\bLookup(?:Host|TXT|IP)\(|\bsmtplib\b"
)


def leaks(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for changed product lines that read people's keys, hold a password or send out the environment; one per file and kind."""
    for file in product(files):
        if not file.added or is_words(file.path):
            continue
        added = [(n, line) for n in sorted(file.added) if not REMARK.match(line := file.line(n))]
        keys = [n for n, line in added if KEYS.search(line)]
        if keys and not KEYS.search(file.before):
            sentence = "this line of the product names a place where people keep their keys"
            yield Flag("secrets", sentence, f"{file.path}:{keys[0]}", after=file.line(keys[0]))
        words = [n for n, line in added if any(_is_password(hit) for hit in PASSWORD.finditer(line))]
        if words:
            yield Flag("secrets", "this line holds a password in an address", f"{file.path}:{words[0]}", after="(not shown)")
        whole = [n for n, line in added if ENVIRONMENT.search(line) or (file.suffix in SHELLS and OF_SHELL.search(line))]
        if whole and any(OUT.search(line) for _, line in added) and not ENVIRONMENT.search(file.before):
            sentence = "this line takes all environment variables, and new lines of this file send something out"
            yield Flag("secrets", sentence, f"{file.path}:{whole[0]}", after=file.line(whole[0]))


def _is_password(found: re.Match[str]) -> bool:
    """Whether a password in a URL is a real one: not an example, and for a real host."""
    return not NO_PASSWORD.search(found["word"]) and not NO_HOST.fullmatch(found["host"])
