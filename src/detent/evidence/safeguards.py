"""Safeguards that a change takes out of code, or dangers that it brings in: locks, time limits, secret numbers, certificates, queries. Pure.

Tests seldom ask for them, so that they can go unseen in work that is proved. Knows words only; whether a test notices is tried by others.
"""

import re
from collections.abc import Iterable, Sequence

Rows = tuple[tuple[str, re.Pattern[str]], ...]  # what is said, and how it is written

SAFEGUARDS: Rows = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("a lock", r"\bwith\s+(?:await\s+)?[\w.()]*(?:lock|mutex|semaphore)\w*\b|\.(?:r?lock|acquire|synchronize|runExclusive|with_lock)\b\s*[({]|\bflock\("),
        ("a transaction", r"\b(?:transaction|atomic)\b\s*[({:.]|\btransaction\s+do\b|\.begin_?(?:tx|transaction)?\("),
        ("a write that survives a crash", r"\bf(?:data)?sync(?:Sync)?\(|\.sync\(\)|\bos\.replace\(|\brenameSync\(|\bFile\.rename\("),
        ("a time limit", (r"(?<![.\w])timeout(?:\s*[=:]\s*|:[^,\n=]{1,30}=\s*)(?!None|null|0\b)\S|\bAbort(?:Controller|Signal)\b|\bwith(?:Timeout|Deadline)\("
         r"|\bset\w*Deadline\(|\bTimeout\.timeout\b")),
        ("a number that nobody can guess", r"\bsecrets\.\w|\bSystemRandom\b|\burandom\(|\brandom(?:Bytes|UUID)\(|\bgetRandomValues\(|\brand\.Read\(|\bSecureRandom\b"),
        ("a guard of a cookie", r"\bhttp_?only\b[\"']?\s*[=:]+>?\s*true|\bsecure\b[\"']?\s*[=:]+>?\s*true|\bsame_?site\b[\"']?\s*[=:]+>?\s*[\"':]?(?:lax|strict)"),
        ("a check of certificates", r"\bverify\b[^,\n=]{0,30}=\s*True|\bCERT_REQUIRED\b|\bcreate_default_context\(|\brejectUnauthorized\s*:\s*true|\bVERIFY_PEER\b"),
        ("an encoding of what others sent", r"\bencodeURI(?:Component)?\(|\bquote(?:_plus)?\(|\bshlex\.(?:quote|join)\(|\b(?:Query|Path|HTML)Escape\w*\(|\bsafe_load\b"),
    )
)  # fmt: skip
DANGERS: Rows = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        ("a shell that is given a text", r"\bshell\s*[=:]\s*[Tt]rue\b|\bos\.(?:system|popen)\("),
        ("a query that is put together from pieces", (r"(?i:[\"'`][^\"'`\n]*\b(?:select|insert\s+into|update|delete\s+from)\b[^\n]*)"
         r"(?:\$\{|#\{|[\"']\s*(?:\+|%(?!s)|\.format\()|\.\s*\$)")),
        ("a query that is put together from pieces", (r"\bf[\"'](?i:[^\"'\n]*\b(?:select|insert\s+into|update|delete\s+from)\b)[^\n]*\{"
         r"|\bSprintf\(\s*[\"`](?i:select|insert|update|delete)\b")),
        ("certificates that are not checked", (r"\bverify\s*=\s*False\b|\bCERT_NONE\b|_create_unverified|\brejectUnauthorized\s*:\s*false"
         r"|\bInsecureSkipVerify\s*:\s*true|\bVERIFY_NONE\b|\bcheck_hostname\s*=\s*False")),
        ("data that is run as code", r"(?<![\w.])eval\(|\bpickle\.loads?\(|\byaml\.(?:unsafe_load|load\((?!.*Safe))|\bMarshal\.load\b|\bnew\s+Function\("),
        ("text that is taken for HTML", r"\bmark_safe\(|\.html_safe\b|\bautoescape\s*[=:]\s*(?:False|false)|\.innerHTML\s*=|\bdangerouslySetInnerHTML\b|\btemplate\.HTML\("),
        ("every site that may ask", r"Access-Control-Allow-Origin[\"']?\s*[\],:=]+\s*[\"']\*|\ballow_origins\s*=\s*\[\s*[\"']\*|\borigin\s*:\s*[\"']\*"),
        ("a file that everybody may write", r"\b0o?777\b"),
    )
)  # fmt: skip
NARROW, BROAD = (
    re.compile(r"^\s*except\s+\(?(?!(?:Base)?Exception\b)\w|^\s*rescue\s+(?!StandardError|Exception|=>)\w"),
    re.compile(r"^\s*except(?:\s+(?:Base)?Exception(?:\s+as\s+\w+)?)?\s*:|^\s*rescue\s*(?:$|=>|StandardError|Exception)|\bcatch\s*(?:\(\w*\)\s*)?\{\s*\}"),
)  # fmt: skip


def lost(gone: Sequence[str], new: Sequence[str], elsewhere: Iterable[str]) -> str:
    """What of this kind some lines had, or have now; empty if nothing. `elsewhere`: all lines that came, in which it may stand again."""
    there = list(elsewhere)
    for what, pattern in SAFEGUARDS:
        if _count(pattern, gone) > _count(pattern, new) and not _count(pattern, there):
            return f"{what} was taken out"
    for what, pattern in DANGERS:
        if _count(pattern, new) > _count(pattern, gone):
            return f"{what} came in"
    if _count(NARROW, gone) > _count(NARROW, new) and _count(BROAD, new) > _count(BROAD, gone):
        return "every error is caught now, where only some were"
    return ""


def _count(pattern: re.Pattern[str], lines: Iterable[str]) -> int:
    return sum(bool(pattern.search(line)) for line in lines)
