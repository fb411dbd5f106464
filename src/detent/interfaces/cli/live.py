"""Output of a driven run: a live view for people, JSON Lines for programs, and the result at the end. Decides nothing."""

import json
import shutil
import sys
import textwrap
import time
from typing import Any

import click

from detent.app import App
from detent.app.overtime import Parked
from detent.app.plain_text import plain, typed
from detent.app.push import push
from detent.app.registry import workflow_of
from detent.door import AnyRun
from detent.drive import Seen
from detent.errors import Unreached
from detent.interfaces.cli.machine_moves import Moves
from detent.interfaces.cli.tell import fold

PARKED = 75
CODES = {"done": 0, "aborted": 1, "waiting": 10, "halted": 10}
COLOURS = {"SUCCESS": "green", "FAILURE": "red", "HALTED": "magenta", "ERROR": "red"}  # click's names of colours
LONGEST = 400  # characters of a reason
UNBOUNDED = 100_000  # columns, when a program reads
LAST = 3  # lines of the agent's output that stay in view


def follow(app: App, run: str, as_json: bool, events: bool, park: bool = False) -> int:
    """Drive a run and show it; returns the exit code. With `park`, leave a run that a usage limit holds."""
    view = LiveLines() if events else Silent() if as_json else LiveTerminal(sys.stdout.isatty(), app)
    view.begin(app, run)
    app.worlds.runs.say = view.say
    try:
        done = push(app, run, view.see, park)
    except Parked as e:
        click.echo(json.dumps({"run": run, "outcome": "parked", "not_before": e.until}))
        return PARKED
    except Unreached as e:
        if not park or not e.until:
            raise
        click.echo(json.dumps({"run": run, "outcome": "parked", "not_before": e.until, "reason": e.message}))
        return PARKED
    except KeyboardInterrupt:
        view.close()
        return _stopped(f"detent resume --run {run}", as_json or events)
    finally:
        view.close()
    if as_json or events:
        click.echo(json.dumps(done))
    else:
        from detent.app.outline import merged_into

        tell_result(done, _why(app, run), merged_into(app, run))
    return 1 if done["outcome"] == "halted" and _gave_up(app, run) else CODES[done["outcome"]]


def _stopped(way: str, as_json: bool) -> int:
    """Report that a person interrupted it. Not an outcome of the run, so as JSON it is an error."""
    message = "stopped; nothing is lost"
    if as_json:
        click.echo(json.dumps({"error": message, "hint": f"continue from the last event: {way}", "exit_code": 130}))
    else:
        click.echo("\n" + fold(f"Stopped. Nothing is lost: `{way}` continues from the last event.", stream=sys.stderr), err=True)
    return 130


def _gave_up(app: App, run: str) -> bool:
    """Whether the run halted because its retries are spent, which is a failure and not a question to a person."""
    now = app.door.load(run).run
    return now.cause in workflow_of(now.workflow).gives_up


def _took(done: dict[str, Any]) -> str:
    """Usage and time in words; an agent that reports no usage is not shown as free."""
    use = done["usage"]
    if not any(use.values()):
        return f"the agent does not say what it used; {done['seconds']:.0f} s"
    return f"{use['input_tokens']} tokens in, {use['cached_tokens']} cached, {use['output_tokens']} out, ${use['usd']:.2f}; {done['seconds']:.0f} s"


def tell_result(done: dict[str, Any], why: str = "", main: str = "") -> None:
    colour = {"done": "green", "aborted": "red"}.get(done["outcome"], "magenta")
    click.echo(
        click.style(done["outcome"].upper(), fg=colour, bold=True) + f"  {done['run']}  {done['state']}  branch {done['branch'] or '-'}"
    )
    for commit in done["commits"]:
        click.echo(f"  {commit['hash'][:10]}  {commit['phase']:<9} {plain(commit['subject'])}")
    tests = f"{len(done['tests']['completed'])} tests done, {len(done['tests']['pending'])} open; " if any(done["tests"].values()) else ""
    click.echo(f"  {tests}{_took(done)}")
    if done["error"]:
        click.echo(f"\n{plain(done['error'])[:3000].rstrip()}\n")
    for warning in done.get("warnings", ()):
        click.echo(f"  {plain(warning)}")
    ways = {
        "done": _seen_where(done, main),
        "halted": f"Look: detent status. Continue: detent resume --run {done['run']} [--guidance TEXT]",
        "waiting": f"A person is asked: detent {'decisions' if workflow_of(done['workflow']).has_decisions else 'status'}. Then continue: detent resume",
        "aborted": "",
    }
    if "item" in done:
        ways |= _of_execution(done)
    if way := " ".join(filter(None, (why, ways[done["outcome"]]))):
        click.echo("\n".join(map(fold, way.splitlines())))


def _seen_where(done: dict[str, Any], main: str) -> str:
    """How to look at the result of a finished run."""
    merged = f"It is merged into {main}. " if main else ""
    report = f"Report: {done['report']}" if done.get("report") else ""
    return "\n".join(filter(None, (f"{merged}Look at it: git log -p {done['branch']}" if done["branch"] else "", report)))


def _why(app: App, run: str) -> str:
    """Why the run stopped, for the last line."""
    from detent.app.run_rows import reason_of

    now = app.door.acting(run)
    if not now.cause:
        return ""
    reason = plain(reason_of(now))[:LONGEST].rstrip(". ")
    return f"Stopped ({now.cause}){f': {reason}' if reason else ''}."


def _of_execution(done: dict[str, Any]) -> dict[str, str]:
    """By outcome, what a person can do about an execution. An ended one is never continued: a retry is a new execution."""
    again = f"A new attempt: detent queue retry {done['item']}, or detent run --workflow {done['workflow']} {done['item']} --again"
    halted = (
        again if done["status"] == "BLOCKED" else f"Look: detent status --run {done['run']}. Continue: detent resume --run {done['run']}"
    )
    waits = f"A person is asked: detent status --run {done['run']}. Then continue: detent resume --run {done['run']}"
    return {"aborted": again, "halted": halted, "waiting": waits}


class Silent:
    """Shows nothing until the end."""

    def begin(self, app: App, run: str) -> None:
        pass

    def say(self, words: str) -> None:
        pass

    def see(self, seen: Seen) -> None:
        pass

    def close(self) -> None:
        pass


class LiveLines(Silent):
    """JSON Lines for programs."""

    run = last = ""

    def begin(self, app: App, run: str) -> None:
        self.run, now = run, app.door.load(run).run
        self._write({"event": "begin", "run": run, "state": now.state, "branch": _branch(now)})

    def say(self, words: str) -> None:
        if (phase := words.partition(" (")[0]) != self.last:
            self.last = phase
            self._write({"event": "doing", "run": self.run, "text": phase})

    def _write(self, row: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()

    def see(self, seen: Seen) -> None:
        step = seen.briefing.step
        row: dict[str, Any] = {"event": seen.kind, "run": seen.run.id, "state": seen.run.state, "role": seen.briefing.role}
        row |= {
            "cycle": getattr(seen.run.data, "cycle", 0),
            "test": step.description if step else None,
            "usd": round(seen.spent.usage.usd, 6),
        }
        if seen.text:
            row["text"] = seen.text
        if seen.verdict is not None:
            row |= {"status": seen.verdict.status, "reasons": list(seen.verdict.reasons), "at": seen.briefing.state}
        self._write(row)


class LiveTerminal:
    """Text for people: a line per turn and verdict; on a terminal, with what happens now below them."""

    def __init__(self, live: bool, app: App, width: int = 0) -> None:
        self.moves, self.width = Moves(app), width or (shutil.get_terminal_size().columns if live else UNBOUNDED)
        self.begun, self.last, self.now, self.doing = time.monotonic(), list[str](), "", "starting"
        self.shown: Any = None
        if live:
            from rich.live import Live

            self.shown = Live(refresh_per_second=4, transient=True, get_renderable=self._panel)
            self.shown.start()

    def begin(self, app: App, run: str) -> None:
        """Print the run and its branch."""
        from detent.app.outline import first_words

        now = app.door.load(run).run
        branch = _branch(now)
        self._print(click.style(run, bold=True) + f"  {now.workflow}  {now.state}" + (f"  branch {branch}" if branch else ""))
        for line in first_words(app, run) if now.seq == 1 else ():
            self._print(f"  {plain(line)}")

    def say(self, words: str) -> None:
        """Set what the machine does now, for the live view."""
        self.doing = words

    def see(self, seen: Seen) -> None:
        self.now = _where(seen)
        self.doing = _doing(seen) or self.doing
        for status, line in self.moves.since(seen.run.id) if _has_roles(seen) else ():
            calm = status == "SUCCESS"
            text = folded(f"{'the machine':<11} {plain(line)}", 12, self.width)
            self._print(click.style(text, fg=None if calm else COLOURS.get(status, "yellow"), dim=calm))
        if seen.kind == "turn":
            self.last = []
        elif seen.kind == "verdict" and seen.verdict is not None:
            self._print(_verdict(seen, self.width, seen.verdict.reasons or self.moves.why(seen)))
        elif seen.kind in ("failed", "wait"):
            self._print(click.style(folded(f"{'':<9} {plain(seen.text)[:160]}", 10, self.width), dim=True))
        elif seen.kind == "progress" and seen.text.strip() and not (seen.progress and seen.progress.kind == "usage"):
            self.last = [*self.last, *plain(seen.text).splitlines()][-LAST:]

    def close(self) -> None:
        if self.shown is not None:
            self.shown.stop()
            self.shown = None

    def _print(self, text: str) -> None:
        if self.shown is not None:
            from rich.text import Text

            self.shown.console.print(Text.from_ansi(text))
        else:
            click.echo(text)

    def _panel(self) -> Any:
        from rich.text import Text

        minutes, seconds = divmod(int(time.monotonic() - self.begun), 60)
        lines = [f"{self.now}  {minutes}:{seconds:02}  {plain(self.doing)[:100]}".strip(), *(f"  │ {line[:150]}" for line in self.last)]
        return Text("\n".join(lines), style="dim")


def _doing(seen: Seen) -> str:
    """What the driver waits for: the agent, its service, or a time."""
    if seen.kind == "wait" or (seen.progress is not None and seen.progress.kind == "wait"):
        return seen.text
    return "the agent works" if seen.kind in ("turn", "progress") else ""


def _branch(run: AnyRun) -> str:
    return getattr(run.data, "branch", "").removeprefix("refs/heads/")


def _has_roles(seen: Seen) -> bool:
    """Whether the run is a session, with several roles and moves of the machine between them."""
    return hasattr(seen.run.data, "task_id")


def _where(seen: Seen) -> str:
    step, cycle = seen.briefing.step, getattr(seen.run.data, "cycle", 0)
    parts = [
        seen.briefing.state,
        plain(step.description) if step else "",
        f"cycle {cycle}" if cycle else "",
        f"${seen.spent.usage.usd:.2f}" if any(seen.spent.usage) else "",
    ]
    return "  ".join(p for p in parts if p)


def folded(text: str, indent: int, width: int) -> str:
    """A line wrapped to a width, with continuation lines indented. Longer words stay whole."""
    if len(text) <= width:
        return text
    lead = len(text) - len(text.lstrip())
    lines = textwrap.wrap(text.strip(), width, initial_indent=" " * lead, subsequent_indent=" " * indent, break_long_words=False)
    return "\n".join(lines)


def _verdict(seen: Seen, width: int, reasons: tuple[str, ...]) -> str:
    assert seen.verdict is not None
    verdict, step = seen.verdict, seen.briefing.step
    status = click.style(f"{verdict.status:<14}", fg=COLOURS.get(verdict.status, "yellow"), bold=True)
    counts = verdict.evidence.counts if verdict.evidence else None
    ran = f"{counts.passed} passed, {counts.failed + counts.errors} failed" if counts else ""
    if _has_roles(seen):
        line = (
            f"{seen.briefing.role:<11} {seen.briefing.state:<16} {seen.run.data.task_id:<7} {status} → {verdict.state:<16} {ran}".rstrip()
        )
        if ran and len(click.unstyle(line)) > width:
            line = line.removesuffix(ran).rstrip() + f"\n{'':<11} {ran}"
        return "\n".join([line, *(click.style(folded(f"{'':<11} └ {typed(plain(r))}", 14, width), dim=True) for r in reasons)])
    about = plain(step.description) if step else ""
    head = f"{seen.briefing.state:<9} {status} → {verdict.state:<9} {ran:<22}"
    fits = len(click.unstyle(head)) + 1 + len(about) <= width
    lines = [f"{head} {about}".rstrip()] if fits else [head.rstrip(), folded(f"{'':<10}{about}", 10, width)]
    return "\n".join([*lines, *(click.style(folded(f"{'':<9} └ {typed(plain(r))}", 12, width), dim=True) for r in reasons)])
