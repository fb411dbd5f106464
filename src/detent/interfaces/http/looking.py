"""Read-only API calls beside a run's events: diffs, tests, transcripts, live log, claims, proof card, agents and workflow tables."""

import json
import re
from hashlib import sha256
from pathlib import Path

import msgspec

from detent.app import App
from detent.app.live_log import LONGEST_READ, live_file, read_from
from detent.app.push import commits_of
from detent.app.registry import is_workflow, workflow_names
from detent.app.tally import UsageTally
from detent.evidence.outcomes.card import Checked, kept_card
from detent.evidence.outcomes.claims import REF
from detent.evidence.report import TestReport
from detent.evidence.running.collect import KeptReport
from detent.git.notes import list_notes
from detent.interfaces.http import shapes, shapes_agents
from detent.interfaces.http.heads import NotFound, cut_flag, head_of
from detent.interfaces.http.run_pages import event_row, two_events
from detent.interfaces.http.runs_board import MOST
from detent.interfaces.http.shapes_card import BranchCard, CardShown
from detent.journal.journal_rows import from_entry
from detent.kernel.draw import arrows, as_table
from detent.world.whole_branch import has_moved_on, is_about

LARGEST_DIFF = 2_000_000
MOST_TESTS = 2000
MOST_NAMES = 200  # in each list of a card
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "--src-prefix=a/", "--dst-prefix=b/")


def diff(app: App, run: str, seq: int) -> shapes.Diff:
    """The diff of an event's tree over the last good one; without an event, of the whole branch."""
    base, tip = _event_trees(app, run, seq) if seq else _branch_trees(app, run)
    if not base or not tip:
        raise NotFound("nothing was changed yet", "there is a diff once work was handed in")
    raw = app.world.git.run(*DIFF, "--end-of-options", base, tip, "--").raw
    text = raw[:LARGEST_DIFF].decode("utf-8", "replace")
    return shapes.Diff(base=base, tip=tip, text=text, left_out=max(0, len(raw) - LARGEST_DIFF))


def _event_trees(app: App, run: str, seq: int) -> tuple[str, str]:
    found = two_events(app, run, seq)
    return _good(app, found[0].run.data), found[-1].found.tree


def _branch_trees(app: App, run: str) -> tuple[str, str]:
    head_of(app, run)
    data = app.door.load(run).run.data
    base = getattr(data, "base", "")
    return app.world.git.tree(base) if base else "", _good(app, data)


def _good(app: App, data: object) -> str:
    """The last good tree of a run, or that of its base."""
    good, base = getattr(data, "good_tree", ""), getattr(data, "base", "")
    return str(good or (app.world.git.tree(base) if base else ""))


def tests(app: App, run: str, seq: int) -> shapes.Tests:
    """Every test of the tree that an event judged, failed ones first."""
    found = two_events(app, run, seq)
    tree = found[-1].found.tree
    report, before = _report(app, tree), _report(app, _good(app, found[0].run.data))
    if report is None:
        return shapes.Tests(tree=tree, known=False, tests=(), left_out=0)
    known = before.ids if before else report.ids
    order = {"failed": 0, "error": 0, "skipped": 2, "passed": 3}
    ids = sorted(report.outcomes, key=lambda i: (order[report.outcomes[i]], i in known, i))
    rows = [shapes.TestRow(id=i, outcome=report.outcomes[i], new=i not in known, message=report.messages.get(i, "")) for i in ids]
    return shapes.Tests(tree=tree, known=True, tests=tuple(rows[:MOST_TESTS]), left_out=max(0, len(rows) - MOST_TESTS))


def _report(app: App, tree: str) -> TestReport | None:
    try:
        raw = (app.place.common_dir / "detent" / "evidence" / f"{tree}.json").read_bytes() if tree else b""
        stands = raw and app.journal.has_report(tree, sha256(raw).hexdigest())
        return msgspec.json.decode(raw, type=KeptReport).report if stands else None
    except (OSError, msgspec.DecodeError):
        return None


# -- output and transcripts ----------------------------------------------------------------------------------------------------


def output(app: App, run: str, asked: shapes.OutputAsked) -> shapes.Output:
    """The live log of a driven run, from an offset on."""
    head_of(app, run)
    return _chunk(live_file(app, run), asked)


def _chunk(file: Path, asked: shapes.OutputAsked) -> shapes.Output:
    return shapes.Output(**read_from(file, asked.after, min(asked.limit, LONGEST_READ))._asdict())


def _folder(app: App, run: str) -> Path:
    return app.place.common_dir / "detent" / "transcripts" / run


def transcripts(app: App, tally: UsageTally, run: str, asked: shapes.TranscriptsAsked) -> shapes.Transcripts:
    """A page of a run's transcripts, the newest first."""
    ended = tally.of(app, run, head_of(app, run).seq).turns
    files = sorted(_folder(app, run).glob("*.jsonl"), key=lambda f: f.stat().st_mtime_ns, reverse=True)
    end = asked.offset + min(asked.limit, MOST)
    rows = tuple(_transcript(f, _judged(app, run, ended.get(f.stem, 0))) for f in files[asked.offset : end])
    return shapes.Transcripts(transcripts=rows, total=len(files), next=end if end < len(files) else None)


def _judged(app: App, run: str, seq: int) -> shapes.EventRow | None:
    """The event that ended a turn, if any."""
    entry = app.journal.at(run, seq) if seq else None
    return event_row(app, from_entry(app.door.tables[entry.workflow], entry), None) if entry else None


def _transcript(file: Path, row: shapes.EventRow | None) -> shapes.TranscriptRow:
    first = _first(file)
    return shapes.TranscriptRow(
        attempt=file.stem,
        at=str(first.get("at", "")),
        state=row.was if row else str(_asked(first).get("state", "")),
        role=str(_asked(first).get("role", "")),
        size=file.stat().st_size,
        open=row is None,
        usage=row.usage if row else None,
        status=row.status if row else "",
    )


def _first(file: Path) -> dict[str, object]:
    try:
        with file.open("rb") as source:
            value = json.loads(source.readline(2_000_000))
        return value if isinstance(value, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def _asked(first: dict[str, object]) -> dict[str, object]:
    try:
        value = json.loads(str(first.get("briefing", "{}")))
        return value if isinstance(value, dict) else {}
    except (ValueError, RecursionError):
        return {}


def transcript(app: App, run: str, attempt: str, asked: shapes.OutputAsked) -> shapes.Output:
    """The transcript of one turn: JSON Lines, without secrets."""
    head_of(app, run)
    file = _folder(app, run) / f"{attempt}.jsonl"
    if not NAME.fullmatch(attempt) or not file.is_file() or file.is_symlink():
        raise NotFound(f"there is no transcript {attempt}", f"GET /api/runs/{run}/transcripts lists them")
    return _chunk(file, asked)


# -- what was proved, and the table --------------------------------------------------------------------------------------------


def proof(app: App, run: str) -> shapes.Proof:
    """The claims on a run's commits, and the command that verifies them."""
    head_of(app, run)
    now, git = app.door.load(run).run, app.world.git
    notes = list_notes(git, REF) if git.resolve(f"refs/notes/{REF}") else {}
    commits = commits_of(app, now)
    base, branch = getattr(now.data, "base", ""), getattr(now.data, "branch", "").removeprefix("refs/heads/")
    rows = [shapes.ProofRow(commit=c.hash, subject=c.subject, claim=_note(app, notes.get(c.hash, ""))) for c in commits]
    return shapes.Proof(branch=branch, commits=tuple(rows), verify=f"detent verify {base[:12]}..{branch}" if base and branch else "")


def card(app: App, run: str) -> BranchCard:
    """The proof card of the run's branch, if it has one yet."""
    head_of(app, run)
    found = kept_card(app.place.common_dir, run)
    return BranchCard(card=_shown(app, run, found) if found else None)


def _shown(app: App, run: str, found: Checked) -> CardShown:
    now, made = app.door.load(run).run, found.card
    flags = (*made.asks, *(flag for flag in made.flags if flag.level != "ask"))
    named = (made.proved, made.pins, made.known)
    return CardShown(
        answer=found.answer,
        range=found.change.name,
        commits=len(found.change.commits),
        files=len(found.change.paths),
        proved=made.proved[:MOST_NAMES],
        pins=made.pins[:MOST_NAMES],
        kept=made.kept,
        out=len(made.out),
        known=made.known[:MOST_NAMES],
        left_out=sum(max(0, len(names) - MOST_NAMES) for names in named),
        failed=made.failed,
        flags=tuple(cut_flag(flag) for flag in flags),
        unclear=made.unclear,
        accepted=bool(made.asks)
        and (now.accepted == made.tip or not is_about(app.worlds.of(now), now, found)),  # the run has begun its next pull request
        moved_on=has_moved_on(app.worlds.of(now), now, found),
        command=found.command,
        sandbox=found.sandbox,
        test_runs=made.suites,
        seconds=made.seconds,
    )


def _note(app: App, blob: str) -> str:
    return app.world.git.run("cat-file", "blob", blob).raw.decode("utf-8", "replace") if blob else ""


def agents(app: App) -> shapes_agents.AgentList:
    """The agents of this machine: available ones, and what the others lack."""
    from detent.app.commit_settings import settings_at
    from detent.app.who import found_agents

    settings = settings_at(app.world.git, "HEAD", app.world.outer)
    found = found_agents(settings, app.world.outer, app.place.root)
    rows = tuple(shapes_agents.AgentRow(agent=f.agent, lacks=f.lacks, hint=f.hint) for f in found)
    return shapes_agents.AgentList(configured=tuple(dict.fromkeys(settings.agents.roles.values())), agents=rows)


def workflow(app: App, name: str) -> shapes.WorkflowShown:
    if not is_workflow(name):
        raise NotFound(f"there is no workflow {name}", f"known: {', '.join(workflow_names())}")
    table = app.door.tables[name]
    states = tuple(shapes.StateRow(name=n, actor=s.actor, role=s.role, end=s.end, start=n in table.starts) for n, s in table.states.items())
    drawn = tuple(shapes.Arrow(at=at, to=to, on=tuple(on)) for (at, to), on in arrows(table).items())
    return shapes.WorkflowShown(name=name, title=table.title, states=states, arrows=drawn, table=as_table(table))
