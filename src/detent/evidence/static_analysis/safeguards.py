"""Safeguards that a change removes, and dangers that it adds: locks, time limits, secure random numbers, certificates, queries. Pure.

Tests seldom cover them, so they can disappear from proved work unnoticed. Judges by words only; `probes/removed_checks.py` tries whether a
test notices.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

Rows = tuple[tuple[str, re.Pattern[str]], ...]  # a description, and a pattern for it
RELEASE = "a release of what was opened"

SAFEGUARDS: Rows = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("a lock", (r"\bwith\s+(?:await\s+)?[\w.()]*(?:lock|mutex|semaphore)\w*\b|\.(?:r?lock|acquire|runExclusive|with_lock)\b\s*[({]|\bflock\(|\.synchronize\b"
         r"|\bsynchronized\b|\bvolatile\s+\w|(?<![\w.])lock\s*\(|\bInterlocked\.\w|\bAtomic(?:Integer|Long|Boolean|Reference|[IU](?:8|16|32|64|size)|Bool)\b|\bsync\.Once\b")),
        ("a transaction", r"\b(?:transaction|atomic)\b\s*[({:.]|\btransaction\s+do\b|\.begin_?(?:tx|transaction)?\("),
        ("a durable write (fsync, rename)", r"\bf(?:data)?sync(?:Sync)?\(|\.sync\(\)|\bos\.replace\(|\brenameSync\(|\bFile\.rename\("),
        ("a time limit", (r"(?<![.\w])timeout(?:\s*[=:]\s*|:[^,\n=]{1,30}=\s*)(?!None|null|0\b)\S|\bAbort(?:Controller|Signal)\b|\bwith(?:Timeout|Deadline)\("
         r"|\bset\w*Deadline\(|\bTimeout\.timeout\b|\.timeout\(\s*(?:std::time::)?Duration|\b(?:read|open|write|ssl|connect)_timeout\s*=(?!\s*(?:nil|0)\b)"
         r"|\bset(?:Connect|Read|Socket|So)?Timeout\(\s*(?!0\b|function|\()[\w.]|\bCURLOPT_(?:CONNECT)?TIMEOUT|\bTimeout\s*=\s*TimeSpan\.From")),
        ("a limit on what clients may send", r"\bMaxBytesReader\(|\bLimitReader\(|\.take\([\w.]+\)\s*\.read|\brateLimit(?:er)?\(|\blimit\s*:\s*[\"']\d+\s*[kmg]?b"),
        ("a bound (min, max, clamp)", r"(?<!\.)\b(?:min|max|clamp\w*)\(|\bMath\.(?:min|max)\(|\]\.(?:min|max)\b|\.clamp\("),
        ("a secure random number", (r"\bsecrets\.\w|\bSystemRandom\b|\burandom\(|\brandom(?:Bytes|UUID)\(|\bgetRandomValues\(|\brand\.Read\(|\bSecureRandom\b"
         r"|\brandom_(?:bytes|int)\(|\bRandomNumberGenerator\b|\bOsRng\b|\bgetrandom\(")),
        ("a cookie attribute (HttpOnly, Secure, SameSite)", (
         r"\bhttp_?only\b[\"']?\s*[=:]+>?\s*true|\bsecure\b[\"']?\s*[=:]+>?\s*true|\bsame_?site\b[\"']?\s*[=:]+>?\s*[\"':]?(?:lax|strict)")),
        ("a certificate check", r"\bverify\b[^,\n=]{0,30}=\s*True|\bCERT_REQUIRED\b|\bcreate_default_context\(|\brejectUnauthorized\s*:\s*true|\bVERIFY_PEER\b"),
        ("a constant-time comparison", (r"\bConstantTimeCompare\(|\btimingSafeEqual\(|\bcompare_digest\(|\bsecure_compare\(|\bhash_equals\(|\bct_eq\("
         r"|\bFixedTimeEquals\("
         r"|\bMessageDigest\.isEqual\(")),
        ("escaping of input", (r"\bencodeURI(?:Component)?\(|\bquote(?:_plus)?\(|\bshlex\.(?:quote|join)\(|\b(?:Query|Path|HTML)Escape\w*\(|\bsafe_load\b"
         r"|\bhtml(?:specialchars|entities)\(|\bstrip_tags\(|\bescapeshell(?:arg|cmd)\(|\b(?:Html|Url|JavaScript|Xml)Encode\(|\bHtmlEncoder\b|\bencode_(?:text|safe|html\w*)\("
         r"|\bescape_?(?:HTML|xml|java_?script)\w*\(|\bhtml_?escape\(|\bDOMPurify\b|\bShellwords\.\w|\breal_escape_string\(")),
        ("a check that a path stays in its folder", (
         r"\bfilepath\.(?:Clean|IsLocal|EvalSymlinks)\(|\bsecure_filename\(|\bsafe_join\(|\bnormalize\(\)\s*\.startsWith\(|\btoRealPath\("
         r"|\brealpath(?:Sync)?\(|\bcanonicalize\(")),
        ("a guard against prototype pollution", r"[\"'`]__proto__[\"'`]|\bObject\.create\(\s*null\s*\)"),
        ("a parameterized query", r"\bprepareStatement\(|->prepare\(|\.Parameters\.Add\w*\(|\bbindParam\(|\bbindValue\("),
        ("a permission check", (r"\[Authorize\b|@(?:PreAuthorize|Secured|RolesAllowed)\b|\bprotect_from_forgery\b|\bbefore_action\s+:(?:auth|require|verify|check|ensure)\w*"
         r"|\[ValidateAntiForgeryToken|^\s*authorize!?[ (]|\bpolicy_scope\(|^\s*verify_(?:authorized|policy_scoped)\b"
         r"|\buse\(\s*(?:helmet|csurf|csrf\w*|auth\w*|(?-i:(?:require|ensure|check|verify)[A-Z]\w*))\b")),
        ("a rule of the compiler", r"^\s*#!?\[\s*(?:forbid|deny)\(|^\s*[\"']use strict[\"']|^#\s*frozen_string_literal:\s*true|\bdeclare\(\s*strict_types\s*=\s*1"),
        ("a query limited to the user's own data", r"\bcurrent_(?:user|account)\.\w+\.(?:find|where|find_by!?)\b"),
        ("the algorithms that a token may have", r"\balgorithms?[\"']?\s*(?::|=>?)\s*\["),
        ("input validation", (r"\bDisallowUnknownFields\(|\bFILTER_VALIDATE_\w+|\bschema\.(?:parse|validate|safeParse)\w*\(|\.permit\(\s*:"
         r"|^\s*validates?(?:_\w+)?\s+:\w|^\s*@(?:Valid|NotBlank)\b"
         r"|\bdisallow-doctype-decl|\bFEATURE_SECURE_PROCESSING|\bDtdProcessing\.Prohibit|\bThrowIf(?:Null|Negative)\w*\(|\bstrict_types\s*=\s*1|\bforbid\(\s*unsafe_code")),
        ("an overflow check", (r"\bchecked_(?:add|sub|mul|div|rem|pow|neg|sh[lr])\(|\b(?:add|subtract|multiply|increment|decrement|negate|toInt)Exact\("
         r"|(?<![\w.])checked\s*[({]")),
        ("an account without rights", (r"^\s*(?-i:USER)\s+(?!root\b|0\b)\w"
         r"|\brunAsNonRoot:\s*true|\breadOnlyRootFilesystem:\s*true|\bno-new-privileges|\ballowPrivilegeEscalation:\s*false")),
        ("a constraint of the database", (r"(?-i:\bCHECK)\s*\(|\bNOT NULL\b|\bREFERENCES\s+\w|\bFOREIGN KEY\b"
         r"|\bunique\s*[=:]\s*true|\bnull(?:able)?\s*[=:]\s*false|\bforeign_key:\s*true")),
        ("a security header", r"\bContent-Security-Policy\b|\bStrict-Transport-Security\b|\bX-Frame-Options\b|\bX-Content-Type-Options\b"),
        (RELEASE, r"^\s*defer\s+\w|^\s*finally\b|^\s*\}?\s*finally\s*\{|\bcontextlib\.closing\(|\bwith\s+(?:\w+\.)?open\("),
        ("a password hash", r"\bbcrypt\b|\bpassword_(?:hash|verify)\(|\bargon2\w*|\bscrypt\w*\(|\bpbkdf2\w*\("),
    )
)  # fmt: skip
SQL = r"(?i:select\b[^\"'`\n]*\bfrom|insert\s+into|update\b[^\"'`\n]*\bset|delete\s+from)\b"
DANGERS: Rows = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        ("a shell command built from text", (r"\bshell\s*[=:]\s*[Tt]rue\b|\bos\.(?:system|popen)\(|\bexec\.Command(?:Context)?\([^\n]*\"(?:/bin/)?(?:ba|z|da)?sh\"\s*,\s*\"-c\""
         r"|\bCommand::new\(\s*\"(?:/bin/)?(?:ba|z|da)?sh\"|(?<![\w.])(?:system|exec|spawn|IO\.popen|Open3\.\w+)[( ]\s*\"[^\"\n]*#\{|\bshell_exec\(|\bpassthru\("
         r"|(?:(?<![\w.])|\b(?:child_process|cp)\.)exec(?:Sync)?\(\s*(?:`[^`\n]*\$\{|[\"'][^\"'\n]*[\"']\s*\+)|\bgetRuntime\(\)\.exec\(\s*\"[^\"\n]*\"\s*\+")),
        ("a query built from strings", (rf"[\"'`][^\"'`\n]*\b{SQL}[^\n]*"
         r"(?:\$\{|#\{|[\"']\s*(?:\+|%(?!s)|\.format\()|\.\s*\$)")),
        ("a query built from strings", (rf"\bf[\"'][^\"'\n]*\b{SQL}[^\n]*\{{"
         r"|\bSprintf\(\s*[\"`](?i:select|insert|update|delete)\b")),
        ("a query built from strings", (rf"\"[^\"\n]*\b{SQL}[^\"\n]*[^\\\"\n]\$\w|\$\"[^\"\n]*\b{SQL}[^\"\n]*\{{|\bformat!\(\s*\"[^\"\n]*\b{SQL}"
         r"|\.(?:where|order|having|find_by_sql|execute|exec_query)[( ]\s*\"[^\"\n]*#\{")),
        ("unchecked certificates", (r"\bverify\s*=\s*False\b|\bCERT_NONE\b|_create_unverified|\brejectUnauthorized\s*:\s*false"
         r"|\bInsecureSkipVerify\s*:\s*true|\bVERIFY_NONE\b|\bcheck_hostname\s*=\s*False|\bCURLOPT_SSL_VERIFY(?:PEER|HOST)\s*(?:,|=>)\s*(?:false|0)\b"
         r"|\bdanger_accept_invalid_\w+\(\s*true|\bNODE_TLS_REJECT_UNAUTHORIZED\b|\bDangerousAcceptAny\w*|Certificate\w*ValidationCallback\b[^\n]*=>\s*true"
         r"|HostnameVerifier\([^\n]*->\s*true|\bNoopHostnameVerifier\b|[\"']verify(?:_peer(?:_name)?)?[\"']\s*=>\s*false")),
        ("an old version of TLS", r"\btls\.Version(?:TLS1[01]|SSL30)\b|\bSslProtocols\.(?:Tls|Tls11|Ssl[23])\b|[\"']TLSv1(?:[._]1)?[\"']|\bPROTOCOL_TLSv1(?:_1)?\b"),
        ("data run as code (eval, unsafe deserialization)", (r"(?<![\w.])eval\(|\bpickle\.loads?\(|\byaml\.(?:unsafe_load|load\((?!.*Safe))|\bMarshal\.load\b|\bnew\s+Function\("
         r"|(?<![\w>:])unserialize\(|\bYAML\.(?:load|unsafe_load)\(|\bTypeNameHandling\.(?!None\b)\w|\bBinaryFormatter\b|\bObjectInputStream\(|\bDtdProcessing\.Parse\b"
          r"|\bLIBXML_NOENT\b")),
        ("unescaped HTML", (r"\bmark_safe\(|\.html_safe\b|\bautoescape\s*[=:]\s*(?:False|false)|\.innerHTML\s*=|\bdangerouslySetInnerHTML\b"
         r"|\btemplate\.(?:HTML|JS|URL)\("
         r"|\bHtml\.Raw\(|\bv-html\b|\bbypassSecurityTrust\w+|\{!!|\|\s*safe\b|\{\{[^}\n]*\|\s*raw\b|\{\{\{\s*[\w.]+\s*\}\}\}|<%==|<%-\s*(?!include)[\w.\[\]]+\s*%>|\bth:utext\b"
         r"|\bautoescape\s+(?:false|off)\b")),
        ("CORS open to every site", r"Access-Control-Allow-Origin[\"']?\s*[\],:=]+\s*[\"']\*|\ballow_origins\s*=\s*\[\s*[\"']\*|\borigin\s*:\s*[\"']\*"),
        ("an account with all rights", r"^\s*USER\s+(?:root|0)\b|\bprivileged:\s*true|\bGRANT\s+ALL\b|\bDROP\s+CONSTRAINT\b"),
        ("a world-writable file", r"\b0o?(?:777|666)\b"),
        ("a way around a permission check", (r"\.permit!|\[AllowAnonymous\b|\bcsrf(?:\(\))?\.disable\b|\bpermitAll\(\)|\bskip_before_action\s+:(?:auth|verify|require)"
         r"|\bskip_forgery_protection\b|\bcsrf_exempt\b")),
        ("unchecked memory access", (r"\bget_unchecked(?:_mut)?\(|\bfrom_utf8_unchecked\(|\bunwrap_unchecked\(|\bunreachable_unchecked\("
         r"|\bunsafe\.(?:Pointer|Slice|String)\(")),
        ("a page without isolation (sandbox, nodeIntegration)", r"\b(?:sandbox|contextIsolation|webSecurity)\s*:\s*false\b|\bnodeIntegration\s*:\s*true\b"),
    )
)  # fmt: skip
WEAKER: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (what, re.compile(strong), re.compile(weak))
    for what, strong, weak in (
        ("a weaker hash", r"(?i:sha-?_?(?:2|3|224|256|384|512)\b|sha3|blake)|bcrypt|argon2|password_hash", r"(?i:\bmd5|\bsha-?_?1\b|crc32)"),
        ("a weaker cipher", r"(?i:\bgcm\b|chacha|/gcm/|\bcbc\b|/cbc/)", r"(?i:\becb\b|/ecb/|\bdes\b|\brc4\b)"),
        ("an assertion that only debug builds check", r"(?<!_)\bassert(?:_eq|_ne)?!", r"\bdebug_assert(?:_eq|_ne)?!"),
        ("arithmetic that may overflow", r"\b(?:checked|saturating)_\w+\(|\btry_(?:into|from)\(", r"\bwrapping_\w+\(|\bunchecked\b|\bas\s+[iu](?:8|16|32|64|size)\b"),
        ("a random number that can be guessed", r"\"crypto/rand\"", r"\"math/rand(?:/v2)?\""),
        ("a template that escapes nothing", r"\"html/template\"", r"\"text/template\""),
        ("a token that is read and not verified", r"\bjwt\.(?:verify|Parse(?:WithClaims)?)\(|\bJWT\.decode\([^\n]*,\s*true\b|\bjwtVerify\(",
         r"\bjwt\.decode\(|\bParseUnverified\(|\bJWT\.decode\([^\n]*,\s*false\b|\bdecodeJwt\("),
        ("an error that is no longer raised", r"\.(?:save|create|update|destroy)!", r"\.(?:save|create|update|destroy)\b(?!!)"),
        ("a conversion that takes anything", r"(?<![\w.])Integer\(", r"\.to_i\b"),
        ("a call that reaches private methods", r"\.public_send\b", r"\.(?:__)?send\b"),
        ("wider file permissions", r"\b0o?[67]00\b", r"\b0o?(?:[67]44|[67]55|[67]64)\b"),
    )
)  # a description, the safer form, and the weaker one that replaces it  # fmt: skip
NARROW, BROAD = (
    re.compile(r"^\s*except\s+\(?(?!(?:Base)?Exception\b)\w|^\s*rescue\s+(?!StandardError|Exception|=>)\w"),
    re.compile(r"^\s*except(?:\s+(?:Base)?Exception(?:\s+as\s+\w+)?)?\s*:|^\s*rescue\s*(?:$|=>|StandardError|Exception)|\bcatch\s*(?:\(\w*\)\s*)?\{\s*\}"),
)  # fmt: skip
OPENED = re.compile(r"\bwith\s+(?:\w+\.)?open\(")
OPENS = re.compile(r"\bopen\w*\(")
CLOSES = re.compile(
    r"^\s*(?:defer\s+\w|\}?\s*finally\b)|^\s*(?:async\s+)?with\s+(?!.*\b(?:suppress|nullcontext)\()|\.(?:read|write)_(?:text|bytes)\(|\btry\s*\(|\busing\b"
)  # forms that close what they open, or release it at the end


def lost(removed: Sequence[str], new: Sequence[str], elsewhere: Iterable[str]) -> str:
    """The safeguard that lines lost or the danger they gained, in words; empty if none. `elsewhere`: all added lines, where it may be again."""
    there = tuple(elsewhere)
    for what, pattern in SAFEGUARDS:
        were = _count(pattern, removed)
        if (
            were > _count(pattern, new)
            and were > _count_all(pattern, there)
            and not (what == RELEASE and _needs_no_release(removed, new, there))
        ):
            return f"{what} was removed"
    for what, pattern in DANGERS:
        if _count(pattern, new) > _count(pattern, removed):
            return f"{what} was added"
    for what, strong, weak in WEAKER:
        if _count(strong, removed) > _count(strong, new) and _count(weak, new) > _count(weak, removed):
            return f"a safeguard was weakened ({what})"
    if _count(NARROW, removed) > _count(NARROW, new) and _count(BROAD, new) > _count(BROAD, removed):
        return "every error is now caught, where only some were"
    return ""


def _needs_no_release(removed: Sequence[str], new: Sequence[str], there: Sequence[str]) -> bool:
    """Whether the new lines close what was opened in another way, or nothing is opened any more."""
    if not any(map(str.strip, new)):
        return any(map(OPENED.search, removed)) and not any(map(OPENS.search, there))
    return _count(CLOSES, removed) <= _count(CLOSES, new)


@lru_cache(64)
def _count_all(pattern: re.Pattern[str], lines: tuple[str, ...]) -> int:
    """The count over all added lines, which is the same for each hunk of a change."""
    return _count(pattern, lines)


def _count(pattern: re.Pattern[str], lines: Iterable[str]) -> int:
    return sum(1 for line in lines for _ in pattern.finditer(line))
