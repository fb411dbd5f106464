"""`./x bench history CLONE…`: replays real commits through the gate and prints what was refused, flagged and accepted, by cause, with the cost."""

import argparse
import json
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bench.history import Commit, Project, Replayed, replay_check, replay_pr
from bench.history.caller import Caller, version_of
from bench.history.checkout import Checkout, say, write
from bench.history.corpus import collect
from bench.history.report import Findings, in_json, text
from bench.history.several import at_once
from bench.history.twins import KINDS, Fate
from bench.history.twins.make import twins_of
from detent.errors import DetentError

REPLAYS: dict[str, Callable[[Commit, Caller], Replayed]] = {"pr": replay_pr.replay, "check": replay_check.replay}
QUOTE = "a command with blanks is one word, in quotes: --command 'go test ./...'"
WORK = Path.home() / ".cache" / "detent-history"


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench history", description="Replay real commits of any clone through the gate. See docs/history-bench.md."
    )
    parser.add_argument(
        "clones", nargs="+", type=Path, metavar="CLONE", help="a git dir or a checkout with its full history; it is only read"
    )
    parser.add_argument("--limit", type=int, default=0, help="commits of each clone that are replayed (at first 8); kept for later calls")
    parser.add_argument(
        "--look", type=int, default=0, help="candidates that are looked at for them (at first half as many again); kept too"
    )
    parser.add_argument("--only", default="", metavar="HASH,…", help="these commits, and no others")
    parser.add_argument("--workflow", choices=list(REPLAYS), default="pr")
    parser.add_argument("--command", default="", help="the project's [test] command; kept for later calls")
    parser.add_argument("--setup", default="", help="makes the project's environment in its checkout, once; kept for later calls")
    parser.add_argument("--work", type=Path, default=WORK, help=f"where checkouts, environments and findings are kept (default: {WORK})")
    parser.add_argument("--detent", default=str(Path(sys.executable).with_name("detent")), metavar="PROGRAM", help="the detent that judges")
    parser.add_argument("--corpus", action="store_true", help="only find the corpus, replay nothing")
    parser.add_argument("--again", action="store_true", help="replay also what this very version of Detent has judged before")
    parser.add_argument(
        "--twins", nargs="?", const="all", default="", metavar="KIND,…", help=f"also their spoiled twins: {', '.join(KINDS)}"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="clones that are worked on at the same time (default: 1)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one plain run of the suite (default: 600)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given, more = parser.parse_known_intermixed_args(argv)
    if more:
        parser.error(f"{' '.join(more)} belongs to no option; {QUOTE}")
    if missing := [clone for clone in given.clones if not clone.is_dir()]:
        parser.error(f"there is no folder {missing[0]}; {QUOTE}")
    given.kinds = tuple(KINDS) if given.twins == "all" else tuple(filter(None, given.twins.split(",")))
    if unknown := [kind for kind in given.kinds if kind not in KINDS]:
        parser.error(f"there is no twin '{unknown[0]}'; there are: {', '.join(KINDS)}")
    if given.jobs < 1:
        parser.error("--jobs is at least 1")
    return given


def replayed(checkout: Checkout, commits: Sequence[Commit], given: argparse.Namespace, program: Path, version: str) -> list[Replayed]:
    """Replay each commit in turn and store each result at once. A commit that this version has judged before is skipped."""
    file = checkout.folder / "replays" / f"{given.workflow}-{version}.json"
    known = {each.hash: each for each in msgspec.json.decode(file.read_bytes(), type=list[Replayed])} if file.exists() else {}
    found = []
    for commit in commits:
        if given.again or commit.hash not in known:
            known[commit.hash] = REPLAYS[given.workflow](commit, Caller(checkout, program))
            write(file, list(known.values()))
            fate = known[commit.hash]
            said = fate.cause or ", ".join(sorted({flag.kind for flag in fate.flags}))
            say(f"{checkout.name}: {commit.hash[:10]} {fate.outcome} {fate.refused_at} {fate.suites():.1f} suites  {said[:200]}")
        found.append(known[commit.hash])
    return found


def one(clone: Path, given: argparse.Namespace, program: Path, version: str) -> Findings:
    checkout = Checkout(clone, given.work, Project(given.command, given.setup, given.limit, given.look), given.timeout)
    checkout.make()
    only = tuple(filter(None, given.only.split(",")))
    commits = collect(checkout, checkout.project.limit, checkout.project.look, only)
    chosen = [each for each in commits if not each.why_not]
    found = [] if given.corpus else replayed(checkout, chosen, given, program, version)
    twins = [] if given.corpus else [twin for commit in chosen for twin in twins_of(checkout, commit, given.kinds)]
    made = [twin.commit for twin in twins if twin.commit]
    seen = {each.hash: each for each in replayed(checkout, made, given, program, version)}
    fates = [Fate(twin, seen.get(twin.commit.hash if twin.commit else "")) for twin in twins]
    return Findings(checkout.name, checkout.git("rev-parse", "refs/bench/tip"), commits, found, fates)


def main(argv: Sequence[str]) -> int:
    given = arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that SIGTERM cleans up too
    try:
        program = Path(shutil.which(given.detent) or given.detent).absolute()
        if not program.is_file():
            raise DetentError(f"there is no program {given.detent}", "name one with --detent, such as .venv/bin/detent")
        version = version_of(program)
        several = given.jobs > 1 and len(given.clones) > 1
        found = at_once(given) if several else [one(clone, given, program, version) for clone in given.clones]
    except DetentError as e:
        say(f"bench history: {e.message}\n   {e.hint}")
        return 2
    except KeyboardInterrupt:
        say("bench history: interrupted; what was found is kept, and the same call goes on from here")
        return 130
    print(json.dumps(in_json(found, given.workflow, version), indent=2) if given.json else text(found))
    return 0
