"""Runs `go test`. A test file that cannot be built is recorded and left out, and its package is run again without it.

A separate program, started in the sandbox; it decides nothing. It writes down go's output, round by round.
"""

import re
import sys
import tempfile
from pathlib import Path, PurePosixPath

import msgspec

from detent.evidence.runners.go.go_report import GoPackage, GoReport, GoRound, faults
from detent.evidence.runners.wrapper import RunOrder, ordered, start, write

MOST_ROUNDS = 6
FUNCTION = re.compile(r"^func ((?:Test|Example|Fuzz)(?![a-z])\w*)\(", re.MULTILINE)
RUN_ALWAYS = re.compile(
    r"^func ((?:Test|Fuzz)(?![a-z])\w*)\(\w+ \*testing\.[TF]\)", re.MULTILINE
)  # an example without output is only compiled


class GoListed(msgspec.Struct):
    """A package as `go list` describes it."""

    ImportPath: str = ""
    Dir: str = ""
    TestGoFiles: list[str] = []
    XTestGoFiles: list[str] = []


def main() -> int:
    report, order = ordered()
    root = str(Path.cwd())
    run = "".join(order.names)
    files = [path for path in order.paths if path.endswith(".go")]
    packages = [
        narrowed(each, files, run)
        for each in list_packages(order, root, [*(p for p in order.paths if p not in files), *(parent(file) for file in files)])
    ]
    rounds: list[GoRound] = []
    for names, pattern in calls(packages, files, run):
        rounds += attempts(order.options, names, pattern, root)
    version = start(["go", "env", "GOVERSION"]).stdout.strip()
    code = max((each.code for each in rounds if not each.hidden), default=0)
    write(report, GoReport(version, code, rounds, packages))
    sys.stdout.write("".join(each.text() for each in rounds))
    return code


def parent(file: str) -> str:
    return f"./{PurePosixPath(file).parent}"


def list_packages(order: RunOrder, root: str, patterns: list[str]) -> list[GoPackage]:
    """The packages, with the tests that their files define."""
    tags = [flag for flag in order.options if flag.startswith(("-tags", "-mod", "-race"))]
    listed = start(["go", "list", "-e", "-find", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", *tags, "--", *dict.fromkeys(patterns)])
    if listed.code:
        sys.exit(listed.stderr)
    found, decoder = [], msgspec.json.Decoder(GoListed)
    for text in re.split(r"(?<=^\})\n", listed.stdout, flags=re.MULTILINE):
        if not text.strip():
            continue
        each = decoder.decode(text)
        folder = each.Dir.removeprefix(root).strip("/")
        names = [f"{folder}/{name}".lstrip("/") for name in (*each.TestGoFiles, *each.XTestGoFiles)]
        texts = {name: Path(name).read_text("utf-8", "replace") for name in names}
        must = [test for text in texts.values() for test in RUN_ALWAYS.findall(text)]
        found.append(GoPackage(each.ImportPath, folder, {name: FUNCTION.findall(text) for name, text in texts.items()}, must))
    return [each for each in found if each.tests]


def narrowed(package: GoPackage, files: list[str], run: str) -> GoPackage:
    """Limit the tests that must appear: none if tests are selected by name, those of the files if by file."""
    chosen = [name for file, names in package.tests.items() if file in files for name in names]
    return msgspec.structs.replace(package, must=[] if run else [name for name in package.must if not files or name in chosen])


def calls(packages: list[GoPackage], files: list[str], run: str) -> list[tuple[list[str], str]]:
    """The calls to make: all packages together if all their tests run, else one call for each package."""
    if not packages:
        return []
    if not files:
        return [([each.path for each in packages], run)]
    found = []
    for each in packages:
        chosen = [name for file, names in each.tests.items() if file in files for name in names]
        if any(file in files for file in each.tests):
            found.append(([each.path], run or f"^({'|'.join(chosen)})$"))
    return found


def attempts(flags: list[str], packages: list[str], run: str, root: str) -> list[GoRound]:
    """Call `go test`, and again without the test files that could not be built, until everything left can be."""
    rounds: list[GoRound] = []
    hidden: list[str] = []
    left = packages
    while left and len(rounds) < MOST_ROUNDS:
        rounds.append(attempt(flags, left, run, root, hidden))
        broken = [fault.file for fault in faults(rounds[-1].built(), root) if fault.file.endswith("_test.go")]
        fresh = [file for file in broken if file not in hidden]
        if not fresh:
            break
        hidden = [*hidden, *fresh]
        left = rounds[-1].not_built()
    return rounds


def attempt(flags: list[str], packages: list[str], run: str, root: str, hidden: list[str]) -> GoRound:
    with tempfile.TemporaryDirectory() as folder:
        overlay = Path(folder) / "overlay.json"
        overlay.write_bytes(msgspec.json.encode({"Replace": {f"{root}/{file}": "" for file in hidden}}))
        every = [] if any(flag.startswith("-gcflags") for flag in flags) else ["-gcflags=-e"]
        chosen = [f"-run={run}"] if run else []
        argv = ["go", "test", "-json", "-count=1", *every, *flags, *chosen, f"-overlay={overlay}", *packages]
        return GoRound(*start(argv), hidden)


if __name__ == "__main__":
    sys.exit(main())
