"""Lists and runs the benches: `python -m bench [NAME ...] [--list] [--json]`; `orchestrators` and `history` have options of their own."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path

from bench import Figure, agents, check, commands, journal, queueing, sandbox, step_cost, tools, web, workspaces
from bench.history import __main__ as history
from bench.orchestrators import __main__ as orchestrators

BENCHES: dict[str, Callable[[Path], Figure | list[Figure]]] = {
    "journal-append": journal.appending,
    "journal-load": journal.loading,
    "get-task": commands.get_task,
    "get-task-bare": commands.get_task_bare,
    "first-screen": commands.first_screen,
    "check-shows": commands.check_shows,
    "serve-opens": commands.serve_opens,
    "hook": commands.hook,
    "submit-work": commands.submit_work,
    "step-cost": step_cost.quick,
    "step-cost-60s": step_cost.long,
    "check": check.quick,
    "check-60s": check.long,
    "prompt-cache": agents.prompt_cache,
    "sandbox-start": sandbox.starting,
    "search-grep": tools.grep,
    "search-glob": tools.glob,
    "search-glob-folders": tools.glob_folders,
    "tool-call": tools.tool_call,
    "queue-add": queueing.adding,
    "queue-give-out": queueing.giving_out,
    "queue-add-postgres": queueing.adding_postgres,
    "queue-give-out-postgres": queueing.giving_out_postgres,
    "queue-add-many": queueing.adding_many,
    "queue-idle-memory": queueing.idle_memory,
    "queue-idle-processor": queueing.idle_processor,
    "workspace-make": workspaces.making,
    "workspace-spare": workspaces.spare,
    "web-event-to-screen": web.event_to_screen,
    "web-first-view": web.first_view,
    "web-api-runs": web.api_runs,
    "web-api-events": web.api_events,
    "web-many-runs": web.many_runs,
    "web-many-questions": web.many_questions,
    "web-search": web.search,
}
LONG = ("step-cost-60s", "check-60s")  # these take many minutes: only by name, or with --all


def run(names: list[str]) -> Iterator[tuple[str, Figure]]:
    """Run each bench in a temporary folder, with a state folder of its own."""
    for name in names:
        with tempfile.TemporaryDirectory(prefix="detent-bench-") as folder:
            os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
            (Path(folder) / "work").mkdir()
            found = BENCHES[name](Path(folder) / "work")
            yield from ((name, figure) for figure in (found if isinstance(found, list) else [found]))


def in_words(amount: float, unit: str) -> str:
    if unit != "seconds":
        return f"{amount:,.0f} {unit}"
    return f"{amount * 1e6:.0f} µs" if amount < 1e-3 else f"{amount * 1e3:.2f} ms"


def table(rows: list[tuple[str, Figure]]) -> str:
    """The figures as a Markdown table that can be pasted into the docs."""
    head = ("bench", "what", "median", "per second", "against", "its median", "ratio", "goal", "holds")
    cells = [head, *(line(name, f) for name, f in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells]
    return "\n".join([text[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *text[1:]])


def line(name: str, f: Figure) -> tuple[str, ...]:
    return (
        name, f.what, in_words(f.ours, f.unit), f"{1 / f.ours:,.0f}" if f.unit == "seconds" else "–", f.against, in_words(f.theirs, f.unit),
        f"{f.ratio:.2f}", f"≤ {f.goal}" if isfinite(f.goal) else "–", "yes" if f.holds else "NO",
    )  # fmt: skip


def main() -> int:
    if sys.argv[1:2] == ["orchestrators"]:
        return orchestrators.main(sys.argv[2:])
    if sys.argv[1:2] == ["history"]:
        return history.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="bench", description="Measure Detent. A goal that is missed ends with 1.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the benches to run; all but the longest, if none is named")
    parser.add_argument("--all", action="store_true", help=f"also what takes many minutes: {', '.join(LONG)}")
    parser.add_argument("--list", action="store_true", help="only name the benches")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    if unknown := [n for n in given.names if n not in BENCHES]:
        parser.error(f"there is no bench {unknown[0]}; there are: {', '.join(BENCHES)}")
    if given.list:
        print("\n".join(BENCHES))
        return 0
    rows = list(run(given.names or [name for name in BENCHES if given.all or name not in LONG]))
    print(
        json.dumps(
            [
                {"bench": n, **f._asdict(), "goal": f.goal if isfinite(f.goal) else None, "ratio": f.ratio, "holds": f.holds}
                for n, f in rows
            ],
            indent=2,
        )
        if given.json
        else table(rows)
    )
    return 0 if all(f.holds for _, f in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
