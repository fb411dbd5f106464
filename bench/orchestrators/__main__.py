"""`python -m bench.orchestrators`: installs the orchestrators, plays the agents against each, and prints the table."""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.orchestrators import ROWS
from bench.orchestrators.install import Package, install
from bench.orchestrators.report import OURS, Found, in_json, table
from bench.orchestrators.scene import left_out
from detent import __version__
from detent.errors import DetentError
from detent.interfaces.gatebench import BenchAgent, BenchLanguage, languages
from detent.interfaces.gatebench.bench_report import line
from detent.interfaces.gatebench.play import BenchResult

ROOT = Path(__file__).parent.parent.parent
ALONE = ("bwrap", "--dev-bind", "/", "/", "--unshare-net", "--unshare-pid", "--proc", "/proc", "--die-with-parent")
SECONDS = 900
Pair = tuple[BenchLanguage, BenchAgent]

# Without --all: a few agents of each kind, so that a run takes minutes.
CHOSEN = (
    "plain", "mends-its-mistake", "parametrised", "noisy",
    "no-test", "no-code", "breaks-another",
    "deletes-the-test", "weakens-the-assertion", "conftest-that-sleeps", "sitecustomize", "works-only-here",
)  # fmt: skip


def pairs(spoken: Sequence[str], named: Sequence[str], everything: bool) -> list[Pair]:
    """The agents to play: the named ones, else the chosen few, else all that can be played against another orchestrator."""
    known = [(language, agent) for language in languages(tuple(spoken)) for agent in language.agents if not left_out(agent)]
    if unknown := [name for name in named if name not in {agent.name for _, agent in known}]:
        raise DetentError(f"there is no agent '{unknown[0]}' for other orchestrators", "`detent bench gates --list` names them")
    return [pair for pair in known if pair[1].name in named or (not named and (everything or pair[1].name in CHOSEN))]


def alone(name: str, pair: Pair, folder: Path) -> BenchResult | str:
    """Play one agent against one orchestrator without network; a sentence if that gave no result."""
    language, agent = pair
    begun = time.monotonic()
    argv = [*ALONE, sys.executable, "-m", "bench.orchestrators.one", name, language.language, agent.name, str(folder)]
    try:
        done = subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"{agent.name} (not within {SECONDS} seconds)"
    if done.returncode:
        return f"{agent.name} ({(done.stderr.strip().splitlines() or ['no word'])[-1][:160]})"
    said = json.loads(done.stdout.splitlines()[-1])
    return BenchResult(agent.name, language.language, agent.sort, said["accepted"], "", said["words"], time.monotonic() - begun)


def ours(chosen: Sequence[Pair], jobs: int) -> Found:
    """The same agents against Detent, with its own command."""
    spoken = [word for name in {language.language for language, _ in chosen} for word in ("--language", name)]
    named = [word for name in {agent.name for _, agent in chosen} for word in ("--agent", name)]
    argv = [sys.executable, "-m", "detent", "bench", "gates", "--json", "--jobs", str(jobs), *spoken, *named]
    done = subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise DetentError(f"detent bench gates ended with {done.returncode}", done.stderr[-400:])
    found = json.loads(done.stdout)
    outcomes = [BenchResult(**{name: value for name, value in each.items() if name in BenchResult._fields}) for each in found["agents"]]
    return Found(__version__, outcomes, found["not_run"])


def measure(name: str, chosen: Sequence[Pair], folder: Path, jobs: int) -> Found:
    """Play all agents against one orchestrator."""
    if name == OURS:
        return ours(chosen, jobs)
    row = ROWS[name]
    install(Package(row.package, row.version, row.source), folder / name)

    def judge(pair: Pair) -> BenchResult | str:
        result = alone(name, pair, folder / name)
        print(f"{name}: {result if isinstance(result, str) else line(result)}", file=sys.stderr)
        return result

    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(judge, chosen))
    told = [each for each in results if isinstance(each, BenchResult)]
    return Found(row.version, told, [each for each in results if isinstance(each, str)])


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.orchestrators", description="Play the agents of `detent bench gates` against other orchestrators."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which; all, if none is named: {', '.join((OURS, *ROWS))}")
    parser.add_argument("--language", action="append", help="python, javascript; python if none is named")
    parser.add_argument("--agent", action="append", default=[], help="only this agent; may be given again")
    parser.add_argument("--all", action="store_true", help="all agents that mean something to any orchestrator")
    parser.add_argument("--jobs", type=int, default=2, help="how many agents at once")
    parser.add_argument("--folder", type=Path, help="install here and keep it; else into a folder that is removed")
    parser.add_argument("--json", type=Path, help="write the results here")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.names if name not in (OURS, *ROWS)]:
        parser.error(f"there is no orchestrator {unknown[0]}; there are: {', '.join((OURS, *ROWS))}")
    return given


def run(given: argparse.Namespace) -> dict[str, Found]:
    """Measure every requested orchestrator in turn."""
    chosen = pairs(given.language or ["python"], given.agent, given.all)
    if not shutil.which("bwrap"):
        raise DetentError("bubblewrap is not installed", "each orchestrator runs in a network of its own: install bubblewrap")
    with tempfile.TemporaryDirectory(prefix="detent-others-", ignore_cleanup_errors=True) as temporary:
        folder = (given.folder or Path(temporary)).absolute()
        return {name: measure(name, chosen, folder, given.jobs) for name in given.names or (OURS, *ROWS)}


def main(argv: Sequence[str]) -> int:
    given = arguments(argv)
    try:
        found = run(given)
    except DetentError as e:
        print(f"bench orchestrators: {e.message}\n   {e.hint}", file=sys.stderr)
        return 2
    print(table(found))
    if given.json:
        given.json.write_text(json.dumps(in_json(found), indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
