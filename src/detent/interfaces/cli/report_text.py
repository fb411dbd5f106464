"""A report as text of 80 columns, and as markdown. Counts nothing."""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from detent.app.estimating import Estimate
from detent.app.plain_text import plain
from detent.app.report_values import AgentCost, CostShare, Group, QueueNow, Report, ReportRow

WIDTH = 80
GAP = 28  # columns for the cost of a row
TITLES: Mapping[Group, str] = {
    "waits": "Waiting for a person",
    "failed": "Failed",
    "landed": "Landed",
    "finished": "Not in main yet",
    "running": "Running",
    "queued": "Queued",
    "cancelled": "Cancelled",
}
SHORT: Mapping[Group, str] = {**TITLES, "waits": "waiting for a person", "finished": "to merge"}
MARKED = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#~"})


# -- numbers -------------------------------------------------------------------------------------------------------------------


def money(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 0.01 or usd == 0 else f"${usd:.4f}"


def short_number(number: float) -> str:
    """A number as people read it: 950, 12k, 1.2M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + letter if number < 10 * size else f"{number / size:.0f}{letter}"
    return f"{number:.0f}"


def duration_text(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


def cost_text(cost: AgentCost) -> str:
    return f"{money(cost.usd)}, {short_number(cost.tokens)} tokens, {duration_text(cost.seconds)} of agents' work in {plural(cost.turns, 'turn')}"


def estimated(expected: Sequence[Estimate | None]) -> str:
    """The estimated cost of executions, on one line."""
    known = [each for each in expected if each is not None]
    if not known:
        return "no history yet"
    usd, tokens, seconds = sum(e.usd for e in known), sum(e.tokens for e in known), sum(e.seconds for e in known)
    total = f"{money(usd)}, {short_number(tokens)} tokens, {duration_text(seconds)}"
    if len(expected) == 1:
        return f"{total} (median of {plural(known[0].executions, 'finished execution')} {known[0].like})"
    without = f"; {len(expected) - len(known)} without history" if len(known) < len(expected) else ""
    return f"{total} for {plural(len(known), 'item')} (each the median of similar finished executions{without})"


def plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def kinds(flags: Mapping[str, int]) -> str:
    return ", ".join(kind if n == 1 else f"{kind} ({n})" for kind, n in flags.items())


def counted(report: Report) -> str:
    named = (f"{n} {SHORT[group].lower()}" for group in TITLES if (n := report.counts.get(group, 0)))
    return ", ".join(named) or "nothing happened, and nothing waits for a person"


# -- text ----------------------------------------------------------------------------------------------------------------------


def as_text(report: Report) -> str:
    since, until = local(report.since), local(report.until)
    lines = [f"{plain(report.project)}: {since:%a %d %b %H:%M} to {until:%a %d %b %H:%M}", "", *_wrapped(counted(report), "  ")]
    lines += _wrapped(cost_text(report.cost), "  ") if report.cost.turns else []
    lines += list(_queue_lines(report.queue)) if report.queue else []
    for group, title in TITLES.items():
        if rows := [row for row in report.rows if row.group == group]:
            lines += ["", f"{title} ({len(rows)})", *(line for row in rows for line in _row_lines(row))]
    for title, shares in (("By role", report.by_role), ("By model", report.by_model)):
        lines += _share_lines(title, shares) if shares else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        plain(text), WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _cut(text: str, width: int) -> str:
    words = " ".join(plain(text).split())
    return words if len(words) <= width else f"{words[: width - 1]}…"


def _queue_lines(queue: QueueNow) -> Iterator[str]:
    yield from _wrapped(
        f"Queue: {queue.running} running, {queue.ready} ready, {queue.waiting} waiting, {plural(queue.workers, 'worker')}", "  "
    )
    for row in queue.budget:
        used, most = (
            money(n) if row.name == "usd" else f"{n:,.1f} h" if row.name == "hours" else short_number(n) for n in (row.used, row.most)
        )
        yield f"  Budget: {used} of {most} {'' if row.name != 'tokens' else 'tokens '}used since {local(queue.budget_since):%a %H:%M}"
    if queue.paused:
        ends = f"continues {local(queue.paused.until):%a %d %b %H:%M}" if queue.paused.until else "detent queue resume"
        yield from _wrapped(f"PAUSED since {local(queue.paused.since):%a %H:%M}: {queue.paused.reason} ({ends})", "  ")
    if queue.notify_fault:
        yield from _wrapped(f"The last notification was not sent: {queue.notify_fault}", "  ")


def _row_lines(row: ReportRow) -> Iterator[str]:
    cost = f"{money(row.cost.usd):>8} {short_number(row.cost.tokens):>6} {duration_text(row.cost.seconds):>10}" if row.cost.turns else ""
    head = " ".join(filter(None, (row.item or row.run, row.title)))
    yield f"  {_cut(head, WIDTH - 2 - GAP):<{WIDTH - 2 - GAP}}  {cost}".rstrip()
    for part in _facts(row):
        yield from _wrapped(part, "    ")


def _facts(row: ReportRow) -> Iterator[str]:
    """Further facts of a row, a line each."""
    if row.why:
        yield row.why
    if row.command:
        yield f"Next: {row.command}"
    if row.flags:
        yield f"Flags: {kinds(row.flags)}"
    if row.accepted:
        yield f"Flags accepted: {kinds(row.accepted)}"
    if row.earlier:
        yield f"{plural(row.attempts, 'attempt')}; before: " + "; ".join(
            f"{each.run} {each.state}{f' ({each.why})' if each.why else ''}" for each in row.earlier[:3]
        )
    links = (row.pull_request or row.branch, f"detent show {row.run}" if row.run else "")
    yield " · ".join(filter(None, links))


def _share_lines(title: str, shares: tuple[CostShare, ...]) -> list[str]:
    head = f"{title:<38} {'cost':>9} {'tokens':>8} {'time':>13} {'turns':>8}"
    rows = (
        f"  {_cut(share.name, 36):<36} {money(share.cost.usd):>9} {short_number(share.cost.tokens):>8} {duration_text(share.cost.seconds):>13} {share.cost.turns:>8}"
        for share in shares
    )
    return ["", head, *rows]


# -- markdown ------------------------------------------------------------------------------------------------------------------


def as_markdown(report: Report) -> str:
    since, until = local(report.since), local(report.until)
    lines = [f"# {escape_markdown(report.project)}: {since:%a %d %b %H:%M} to {until:%a %d %b %H:%M}", "", f"{counted(report)}."]
    lines += ["", f"{cost_text(report.cost)}."] if report.cost.turns else []
    if report.queue and report.queue.paused:
        lines += ["", f"**The queue is paused:** {escape_markdown(report.queue.paused.reason)}."]
    for group, title in TITLES.items():
        if rows := [row for row in report.rows if row.group == group]:
            lines += ["", f"## {title} ({len(rows)})", "", *(line for row in rows for line in _entry(row))]
    for title, shares in (("By role", report.by_role), ("By model", report.by_model)):
        lines += _table(title, shares) if shares else []
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """A text escaped for markdown."""
    return " ".join(plain(text).split()).translate(MARKED)


def _code(text: str) -> str:
    return f"`{plain(text).replace('`', chr(39))}`"


def _entry(row: ReportRow) -> Iterator[str]:
    cost = f" ({money(row.cost.usd)}, {short_number(row.cost.tokens)} tokens, {duration_text(row.cost.seconds)})" if row.cost.turns else ""
    yield f"- **{escape_markdown(row.item or row.run)}** {escape_markdown(row.title)}{cost}"
    show: Callable[[str], str] = lambda name: f"  - {name}"  # noqa: E731 - one line of a list
    if row.why:
        yield show(escape_markdown(row.why))
    if row.command:
        yield show(f"next: {_code(row.command)}")
    if row.flags or row.accepted:
        yield show(f"flags{' accepted' if row.accepted else ''}: {escape_markdown(kinds(row.flags or row.accepted))}")
    if row.earlier:
        yield show(f"{plural(row.attempts, 'attempt')}: " + ", ".join(f"{_code(each.run)} {each.state}" for each in row.earlier[:3]))
    link = f"<{row.pull_request}>" if row.pull_request else _code(row.branch) if row.branch else ""
    if link or row.run:
        yield show(", ".join(filter(None, (link, f"run {_code(row.run)}" if row.run else ""))))


def _table(title: str, shares: tuple[CostShare, ...]) -> list[str]:
    head = [f"## {title}", "", "| | cost | tokens | time | turns |", "|---|--:|--:|--:|--:|"]
    rows = (
        f"| {escape_markdown(share.name)} | {money(share.cost.usd)} | {short_number(share.cost.tokens)} | {duration_text(share.cost.seconds)} | {share.cost.turns} |"
        for share in shares
    )
    return ["", *head, *rows]
