"""Code in languages other than Python whose answer depends on the machine: its system, host, user, home, folder, terminal or process. Pure.

Honest code asks for all of these too. So a fact counts only if it is compared with a literal, or decides an answer by itself; a variable
assigned from it is followed for some lines. A file that already asked for its system or terminal before the change is not flagged for that.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

MACHINE = "the machine it runs on"
PATH = r"(?:\w+(?:\(\))?(?:::|->|\.)|\w+\()*"  # the path or call in front of a name
TEXT = r"(?:[A-Z]\w*(?:::\w+)?\(\s*)*(?:[\"'`][^\"'`\n]+[\"'`]|(?<![\w)])/(?![/*])[^/\n]+/)"  # never empty: honest code checks that something is set
NUMBER = r"\d+"
VALUE = rf"(?:{TEXT}|\d\d+)"  # a text, or a length of 10 or more; honest code checks whether it is empty
HERE = r"[\"'`/^]+(?i:[\w-]*(?:linux|ubuntu|debian|alpine|amd64|x64|x86_64|arm64|aarch64)[\w-]*)[\"'`/$]"  # the systems that tests run on; honest code makes exceptions for others
ZONE = r"[\"'`](?i:(?:Etc/)?(?:UTC|GMT))[\"'`]"
VARIABLES = "HOME|USER|USERNAME|LOGNAME|USERPROFILE|HOSTNAME|COMPUTERNAME|SHELL|PATH|PWD|TMPDIR|TERM|HOSTTYPE|LANG|TZ"
MARKS = (
    r"/(?:\.dockerenv|run/\.containerenv|proc/(?:1/|cpuinfo|meminfo|version|uptime|loadavg)"
    r"|etc/(?:hostname|machine-id)|home/\w|root\b|Users/\w|sys/class|srv/|builds/|workspace|github/|app\b)"
)
CHAIN = (
    r"(?:\)|!(?!=)|\?(?=\.)|\??(?:\.|->|::)(?!equals|starts?_?[wW]ith|ends?_?[wW]ith|contains|includes?\b|match)\w+[?!]?(?:\([^()\n]*\))?|\[\d*:?\d*\]"
    r"|\s*\?\?\s*[\"'`]{2})*"
)
SAME = r"\s*(?:[!=]==?|=~|!~|[<>]=?|%)\s*"
BEGINS = (
    r"\??\.(?:equals(?:IgnoreCase)?|starts?_?[wW]ith\??|ends?_?[wW]ith\??"
    r"|[cC]ontains|StartsWith|EndsWith|Equals|includes?\??|indexOf|IndexOf|match(?:es|All)?\??|search|eql\?|casecmp\??)[( ]\s*"
)
CALLS = r"\b(?:Has(?:Prefix|Suffix)|Contains|EqualFold|Equal|MatchString|str_(?:starts_with|ends_with|contains)|strn?(?:case)?cmp|stri?pos|preg_match|in_array)\("
FORMS = (
    "{fact}{chain}{same}{value}",
    "{value}{same}{path}{fact}",
    "{fact}{chain}{begins}{value}",
    "{calls}\\s*{path}{fact}{chain}\\s*,\\s*\\[?\\s*{value}",
    "{calls}\\s*{value}\\s*,\\s*{path}{fact}",
    "{value}[^\\n;()]{{0,40}}?\\]?\\.(?:equals\\w*|test|exec|includes?\\??|match\\??|contains)\\(\\s*{path}{fact}",
    "{value}[^\\n;]{{0,40}}?[\\]}}](?:\\[|\\s*,)\\s*{path}{fact}",
    "%w[\\[(]{words}[\\])]\\.include\\?\\(?\\s*{path}{fact}",
    "\\b(?:switch|case|match)[ (]+{path}{fact}{chain}[ )]*\\{{?[^\\n]*\\n?\\s*(?:case|when|in)?\\s*{value}",
)  # the fact and the literal, in every order
GIVEN = r"(?P<name>[$\w]+)(?:\s*,\s*\w+)?(?:\s*:\s*[\w<>&' ]+)?\s*:?=(?![=~>])\s*(?:await\s+|&|unsafe\s*\{{\s*)?{path}{fact}"
NEAR = 15  # lines for which an assigned name is followed
DECIDES = re.compile(r"\breturn\b|\?[^.?:\n][^:\n]*:|=>|\bthen\b|\belse\b")
ASKS = re.compile(r"\b(?:if|unless|elsif|elif|while|when|match|switch|return)\b|\?|&&|\|\||=>")


class Fact(NamedTuple):
    """A property of the machine."""

    by: str  # a pattern for reading it
    value: str = VALUE  # a pattern for what it must be compared with; empty: it is a boolean
    trade: bool = False  # not flagged in a file that already used it before


def _yes(by: str) -> Fact:
    """A boolean fact."""
    return Fact(by, "", True)


Facts = tuple[Fact, ...]
JAVASCRIPT: Facts = (
    Fact(r"\bprocess\.(?:platform|arch)\b|(?:\bos\.|(?<![\w.]))(?:platform|arch|type)\(\)|\bnavigator\.platform\b", HERE, True),
    Fact(r"\b(?:os\.)?(?:hostname|userInfo|homedir|tmpdir)\(\)|\bos\.(?:release|version)\(\)|\bprocess\.cwd\(\)"),
    Fact(r"\bprocess\.(?:pid|getuid\??\.?\(\)|geteuid\??\.?\(\)|getgid\??\.?\(\))|\bos\.(?:cpus\(\)\.length|totalmem\(\)|availableParallelism\(\)|loadavg\(\))", NUMBER),
    Fact(rf"\bprocess\.env(?:\??\.|\[[\"'`])(?:{VARIABLES})\b[\"'`]?\]?", TEXT),
    Fact(r"(?:\bDateTimeFormat\([^)\n]*\))?\.resolvedOptions\(\)\.timeZone\b", ZONE),
    Fact(r"\bnew Date\(\)\.getTimezoneOffset\(\)", NUMBER),
    Fact(r"\bprocess\.(?:memoryUsage(?:\.rss)?\(\)(?:\.\w+)?|resourceUsage\(\)\.\w+)|\bos\.(?:uptime|freemem)\(\)", NUMBER, True),
    _yes(r"\bprocess\.env(?:\??\.|\[[\"'`])NODE_(?:OPTIONS|PATH)\b"),
    _yes(r"\bprocess\.std(?:in|out|err)\??\.(?:isTTY|columns)\b|\bisatty\(|\bexists(?:Sync)?\(\s*[\"'`]" + MARKS),
)  # fmt: skip
GO: Facts = (
    Fact(r"\bruntime\.(?:GOOS|GOARCH)\b", HERE, True),
    Fact(r"\bos\.(?:Hostname|UserHomeDir|Getwd|TempDir|UserCacheDir|UserConfigDir)\(\)|\buser\.Current\(\)"),
    Fact(r"\b(?:os|syscall|unix)\.(?:Getpid|Getuid|Geteuid|Getgid)\(\)|\bruntime\.(?:NumCPU\(\)|GOMAXPROCS\(0\))", NUMBER),
    Fact(r"\bnet\.Interface(?:s|Addrs)\(\)", NUMBER),
    Fact(rf"\bos\.(?:Getenv|LookupEnv)\(\s*[\"`](?:{VARIABLES})[\"`]\s*\)", TEXT),
    Fact(r"\btime\.Local\.String\(\)|\btime\.Now\(\)\.(?:Location\(\)\.String|Zone)\(\)", ZONE),
    Fact(r"\bruntime\.Compiler\b", TEXT, True),
    Fact(r"\b\w+\.(?:HeapAlloc|TotalAlloc|Mallocs|HeapObjects|HeapSys)\b", NUMBER, True),
    _yes(r"\bos\.(?:Getenv|LookupEnv)\(\s*[\"`]GO(?:FLAGS|CACHE|PATH|MODCACHE)[\"`]"),
    _yes(r"\b(?:term|terminal|isatty)\.Is(?:Terminal|CygwinTerminal)\(|\bos\.ModeCharDevice\b|\bos\.L?[sS]tat\(\s*[\"`]" + MARKS),
)  # fmt: skip
RUBY: Facts = (
    Fact(r"\bRUBY_PLATFORM\b|\bRbConfig::CONFIG\[\s*[\"'](?:host_os|arch|target_os|host_cpu)[\"']\s*\]|\bEtc\.uname\[:\w+\]|\bGem::Platform\.local\.\w+", HERE, True),
    Fact(r"\bSocket\.gethostname\b|\bEtc\.(?:getlogin|getpwuid\S*)|\bDir\.(?:home|pwd|getwd|tmpdir)\b|`(?:hostname|whoami|uname[^`]*|id[^`]*|pwd)`"),
    Fact(r"\bProcess\.(?:pid|e?uid|gid)\b|\bEtc\.nprocessors\b", NUMBER),
    Fact(rf"\bENV(?:\[|\.fetch\(|\.dig\()\s*[\"'](?:{VARIABLES})[\"'](?:\s*,[^)\n]*)?[\])]", TEXT),
    Fact(r"\bTime\.now\.zone\b", ZONE),
    Fact(r"\bGC\.(?:stat(?:\[:\w+\]|\(:\w+\))|count)", NUMBER, True),
    _yes(r"\bENV(?:\[|\.(?:fetch|key\?)\()\s*[\"'](?:BUNDLE_GEMFILE|BUNDLE_BIN_PATH|RUBYOPT|RUBYLIB|GEM_HOME)[\"']"),
    _yes(r"(?:\$std(?:in|out|err)|\bSTD(?:IN|OUT|ERR))\.(?:tty\?|isatty)|\bIO\.console\b|\bProcess\.(?:pid|e?uid)\.(?:zero|even|odd|positive)\?"
     r"|\b(?:File|Dir)\.(?:exist|file|directory)\?[( ]\s*[\"']" + MARKS),
)  # fmt: skip
RUST: Facts = (
    Fact(r"\bconsts::(?:OS|ARCH|FAMILY)\b", HERE, True),
    _yes(r"\bcfg!\([^\n{;]*\btarget_(?:os|arch)\s*=\s*" + HERE),
    Fact(r"\bhostname::get\(\)|\bwhoami::\w+\(\)|\bgethostname\(\)|\benv::(?:current_dir|temp_dir|home_dir)\(\)|\b(?:dirs::)?home_dir\(\)"),
    Fact(r"\bprocess::id\(\)|\bget(?:pid|e?uid)\(\)\s*\}?(?:\.as_raw\(\))?|\bavailable_parallelism\(\)|\bnum_cpus::get\w*\(\)", NUMBER),
    Fact(rf"\benv::var(?:_os)?\(\s*\"(?:{VARIABLES})\"\s*\)", TEXT),
    _yes(r"\.is_terminal\(\)|\batty::is\(|\bPath::new\(\s*\"" + MARKS + r"[^\"\n]*\"\)\.(?:try_exists|exists|is_\w+)\(|\bfs::(?:metadata|exists)\(\s*\"" + MARKS),
)  # fmt: skip
PHP: Facts = (
    Fact(r"\bPHP_OS(?:_FAMILY)?\b|\bphp_uname\(\s*[\"'][sm][\"']\s*\)|\bphp_uname\(\)", HERE, True),
    Fact(r"\bgethostname\(\)|\bphp_uname\(\s*[\"']n[\"']\s*\)|\bget_current_user\(\)|\bgetcwd\(\)|\bsys_get_temp_dir\(\)|\bposix_getlogin\(\)"),
    Fact(r"\bposix_get(?:pid|e?uid|gid)\(\)|\bgetmy(?:pid|uid|inode)\(\)", NUMBER),
    Fact(rf"\bgetenv\(\s*[\"'](?:{VARIABLES})[\"']\s*\)|\$_(?:SERVER|ENV)\[\s*[\"'](?:{VARIABLES})[\"']\s*\]", TEXT),
    Fact(r"\bdate_default_timezone_get\(\)", ZONE),
    _yes(r"\b(?:stream|posix)_isatty\(|\b(?:file_exists|is_file|is_dir|is_readable)\(\s*[\"']" + MARKS),
)  # fmt: skip
JVM: Facts = (
    Fact(r"\bgetProperty\(\s*\"os\.(?:name|arch)\"(?:\s*,[^)\n]*)?\)", HERE, True),
    Fact(r"\bgetProperty\(\s*\"(?:user\.(?:name|home|dir)|java\.io\.tmpdir)\"\s*\)|\bgetLocalHost\(\)\.get\w+\(\)|\bInetAddress\.getLocalHost\(\)"),
    Fact(r"\bProcessHandle\.current\(\)\.pid\(\)|\bavailableProcessors\(\)", NUMBER),
    Fact(rf"\bgetenv\(\s*\"(?:{VARIABLES})\"\s*\)", TEXT),
    Fact(r"\bTimeZone\.getDefault\(\)(?:\.getID\(\))?|\bZoneId\.systemDefault\(\)(?:\.getId\(\))?", ZONE),
    _yes(r"\bSystem\.console\(\)|\bnew File\(\s*\"" + MARKS + r"[^\"\n]*\"\s*\)\.\w+\(|\bFiles\.(?:exists|isRegularFile|isDirectory)\(\s*(?:Path\.of|Paths\.get)\(\s*\"" + MARKS),
)  # fmt: skip
DOTNET: Facts = (
    Fact(r"\bEnvironment\.(?:MachineName|UserName|UserDomainName|CurrentDirectory|SystemDirectory)\b|\bDns\.GetHostName\(\)|\bGetCurrentDirectory\(\)|\bGetTempPath\(\)"),
    Fact(r"\bEnvironment\.(?:ProcessId|ProcessorCount)\b|\bGetCurrentProcess\(\)\.Id\b", NUMBER),
    Fact(rf"\bGetEnvironmentVariable\(\s*\"(?:{VARIABLES})\"\s*\)", TEXT),
    Fact(r"\bTimeZoneInfo\.Local\.\w+", ZONE),
    Fact(r"\bOSVersion\.Platform\b", r"PlatformID\.Unix\b", True),
    _yes(r"\bOperatingSystem\.IsLinux\(\)|\bIsOSPlatform\(\s*OSPlatform\.Linux\b|\bConsole\.Is(?:Output|Input|Error)Redirected\b|\bEnvironment\.UserInteractive\b"
     r"|\bFile\.Exists\(\s*\"" + MARKS),
)  # fmt: skip
LANGUAGES: Mapping[str, Facts] = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"), JAVASCRIPT),
    ".go": GO,
    ".rb": RUBY,
    ".rs": RUST,
    ".php": PHP,
    **dict.fromkeys((".java", ".kt", ".scala", ".groovy"), JVM),
    **dict.fromkeys((".cs", ".fs", ".vb"), DOTNET),
}
Hit = tuple[int, str]


def machine_hits(suffix: str, code: str, lines: Collection[int]) -> Iterator[Hit]:
    """The places where these lines of code, without comments, depend on the machine."""
    for fact in LANGUAGES.get(suffix, ()):
        if not (asked := [_line(code, found.start()) for found in re.finditer(fact.by, code)]):
            continue
        if fact.trade and any(line not in lines for line in asked):
            continue
        places = _compared(fact, code) if fact.value else _deciding(fact.by, code)
        yield from ((line, f"{MACHINE} ({' '.join(text.split())[:60]})") for line, text in places)


def _compared(fact: Fact, code: str) -> Iterator[tuple[int, str]]:
    yield from ((_line(code, hit.start()), hit[0]) for hit in _forms(fact.by, fact.value).finditer(code))
    for given in re.finditer(GIVEN.format(fact=f"(?:{fact.by})", path=PATH), code):
        if given["name"] in ("return", "_", "err", "nil"):
            continue
        end = _after(code, given.end())
        name = rf"(?<![\w.$]){re.escape(given['name'])}\b"
        yield from ((_line(code, hit.start()), hit[0]) for hit in _forms(name, fact.value).finditer(code, given.end(), end))


def _forms(fact: str, value: str) -> re.Pattern[str]:
    words = r"[^\])\n]*linux[^\])\n]*" if value == HERE else r"[^\])\n]+"
    parts = {
        "words": words,
        "fact": f"(?:{fact})",
        "value": f"(?:{value})",
        "path": PATH,
        "chain": CHAIN,
        "same": SAME,
        "begins": BEGINS,
        "calls": CALLS,
    }
    return re.compile("|".join(form.format(**parts) for form in FORMS))


def _deciding(by: str, code: str) -> Iterator[tuple[int, str]]:
    """The places where a boolean fact decides the answer, on its own line or the next."""
    rows = code.split("\n")
    for found in re.finditer(by, code):
        line = _line(code, found.start())
        row, near = rows[line - 1], "\n".join(rows[line - 1 : line + 1])
        if ASKS.search(row) and DECIDES.search(near):
            yield line, found[0]


def _after(code: str, at: int) -> int:
    """The end of the lines in which a name is followed: a few, or the whole file for a name at module level."""
    start = code.rfind("\n", 0, at) + 1
    if re.match(r"(?:export\s+)?(?:const|let|var|static|final|[A-Z])", code[start:at]):
        return len(code)
    end = at
    for _ in range(NEAR):
        end = code.find("\n", end + 1)
        if end < 0:
            return len(code)
    return end


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
