"""Read, Write and Edit stay in the workspace, whatever is there and whatever happens meanwhile; both ways of opening files pass the same tests."""

import contextlib
import ctypes
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from detent.tools.beneath import best_opener, by_openat2
from tests.patience import LONG
from tests.toolboxes import OPENERS, PROGRAMS, Bench, bench

SECRET = "the secret of the house"
ROUNDS = 400


@pytest.fixture(params=OPENERS)
def at(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return bench(tmp_path, OPENERS[request.param])


def listing(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def every_way(at: Bench, path: str) -> list[str]:
    """What each tool that opens a file says of a path that it must not open."""
    return [
        at.refused("Read", file_path=path),
        at.refused("Write", file_path=path, content="x"),
        at.refused("Edit", file_path=path, old_string="the", new_string="x"),
    ]


@pytest.mark.needs("openat2")
def test_this_machine_has_openat2() -> None:
    assert best_opener() is by_openat2


def test_a_file_is_written_read_and_edited(at: Bench) -> None:
    at.told("Write", file_path="src/deep/er/main.py", content="a = 1\nb = 2\n")
    assert at.told("Read", file_path="src/deep/er/main.py") == "     1\ta = 1\n     2\tb = 2"
    assert (
        at.told("Edit", file_path="src/deep/er/main.py", old_string="b = 2", new_string="b = 3")
        == "src/deep/er/main.py was changed in line 2."
    )
    assert (at.root / "src/deep/er/main.py").read_text() == "a = 1\nb = 3\n"
    assert listing(at.root).keys() == {"src/deep/er/main.py"}


def test_an_absolute_path_below_the_workspace_is_the_same_file(at: Bench) -> None:
    at.told("Write", file_path=f"{at.root}/a.txt", content="one\n")
    assert at.told("Read", file_path="./a.txt") == at.told("Read", file_path=f"{at.root}//./a.txt") == "     1\tone"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("../outside/a.txt", "'..'"),
        ("src/../../outside/a.txt", "'..'"),
        ("{root}/../outside/a.txt", "'..'"),
        ("{root}-beside/a.txt", "outside the workspace"),
        ("{outside}/a.txt", "outside the workspace"),
        ("/etc/passwd", "outside the workspace"),
        ("/proc/self/environ", "outside the workspace"),
        ("~/a.txt", "not a path in the workspace"),
        ("~root/a.txt", "not a path in the workspace"),
        ("C:\\a.txt", "not a path in the workspace"),
        ("c:/a.txt", "not a path in the workspace"),
        ("\\\\host\\share", "not a path in the workspace"),
        ("", "empty"),
        ("a\0b", "control character"),
        ("a.txt\n", "control character"),
        ("a\x1b[31m", "control character"),
        ("a\x85b", "control character"),
        ("\ud800", "not valid text"),
        (".git/config", ".git"),
        ("sub/.GIT/config", ".git"),
        ("{root}/.git/HEAD", ".git"),
    ],
)  # fmt: skip
def test_a_path_that_leads_out_is_refused_by_name(at: Bench, path: str, sentence: str) -> None:
    (at.outside / "a.txt").write_text(SECRET)
    at.put("a", "the a")
    at.put(".git/config", "the config")
    before = listing(at.root.parent)
    for said in every_way(at, path.format(root=at.root, outside=at.outside)):
        assert sentence in said and SECRET not in said
    assert listing(at.root.parent) == before


def test_links_are_not_followed_whatever_they_point_to(at: Bench) -> None:
    (at.outside / "a.txt").write_text(SECRET)
    at.put("real/a.txt", "the real one")
    (at.root / "docs").symlink_to(at.outside)
    (at.root / "inner").symlink_to("real")
    (at.root / "a.txt").symlink_to(at.outside / "a.txt")
    (at.root / "here.txt").symlink_to("real/a.txt")
    (at.root / "new.txt").symlink_to(at.outside / "new.txt")
    (at.root / "loop").symlink_to("loop")
    before = listing(at.root.parent)
    for path in ("docs/a.txt", "docs/new/deep.txt", "inner/a.txt", "a.txt", "here.txt", "new.txt", "loop", "docs"):
        for said in every_way(at, path):
            assert "Links are not followed" in said or "does not exist" in said, said
    assert "Links are not followed" in at.refused("Read", file_path="docs/a.txt")
    assert "Links are not followed" in at.refused("Write", file_path="docs/new/deep.txt", content="x")
    assert listing(at.root.parent) == before and (at.root / "a.txt").is_symlink()


@pytest.mark.needs("hard links")
def test_other_names_of_a_file_keep_what_they_have(at: Bench) -> None:
    outside = at.outside / "a.txt"
    outside.write_text(SECRET)
    for name in ("w.txt", "e.txt"):
        os.link(outside, at.root / name)
    at.told("Write", file_path="w.txt", content="mine")
    at.told("Edit", file_path="e.txt", old_string="secret", new_string="mine")
    assert outside.read_text() == SECRET
    assert (at.root / "w.txt").read_text() == "mine" and "mine" in (at.root / "e.txt").read_text()


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o444, 0o664])
def test_the_rights_of_a_file_are_kept(at: Bench, mode: int) -> None:
    file = at.put("run.sh", "echo one\n")
    file.chmod(mode)
    at.told("Edit", file_path="run.sh", old_string="one", new_string="two")
    at.told("Write", file_path="run.sh", content="echo three\n")
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.needs("owners")
def test_the_owner_of_a_file_is_kept(at: Bench) -> None:
    file = at.put("a.txt", "one")
    os.chown(file, 12345, 12346)
    at.told("Edit", file_path="a.txt", old_string="one", new_string="two")
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 12346)


def test_what_is_no_regular_file_is_refused_at_once(at: Bench) -> None:
    os.mkfifo(at.root / "pipe")
    (at.root / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(at.root)  # the name of a socket must be short
        server.bind("socket")
        os.chdir(here)
        for path, sentence in (
            ("pipe", "not a regular file"),
            ("socket", "not a regular file"),
            ("folder", "is a folder"),
            (".", "folder"),
        ):
            for said in every_way(at, path):
                assert sentence in said, said
    with contextlib.suppress(PermissionError):  # which only root has, and not in every container
        os.mknod(at.root / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        assert all("not a regular file" in said for said in every_way(at, "zero"))


@pytest.mark.parametrize("path", ["n" * 300, "d/" * 3000 + "a.txt", "n" * 300 + "/a.txt", "é" * 200])
def test_long_names_and_deep_paths_are_clean_errors(at: Bench, path: str) -> None:
    for said in (at.refused("Read", file_path=path), at.refused("Edit", file_path=path, old_string="a", new_string="b")):
        assert ("too long" in said or "does not exist" in said) and len(said) < 1000


def test_a_file_below_a_file_is_a_clean_error(at: Bench) -> None:
    at.put("a.txt", "x")
    for said in every_way(at, "a.txt/b/c.txt"):
        assert "a part of it is a file" in said


def test_a_write_that_fails_leaves_the_file_as_it_was_and_nothing_beside_it(at: Bench, tmp_path: Path) -> None:
    at.put("a.txt", "old")
    code = (
        "import resource, signal, sys; from pathlib import Path; from detent.tools import Toolbox\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "print(Toolbox(Path(sys.argv[1]), lambda p: None, lambda c: None, Path('/none')).call('Write', {'file_path': 'a.txt', 'content': 'x' * 5000}))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(at.root)], capture_output=True, text=True, check=True)
    assert "failed=True" in done.stdout and "File too large" in done.stdout
    assert listing(at.root) == {"a.txt": b"old"}


def test_what_may_not_be_written_is_not_touched(tmp_path: Path) -> None:
    asked: list[str] = []

    def may_write(path: str) -> str | None:
        asked.append(path)
        return None if path.startswith("src/") else f"{path} is not yours."

    at = bench(tmp_path, may_write=may_write)
    at.put("docs/a.txt", "one")
    assert at.refused("Write", file_path=f"{at.root}/./docs//new.txt", content="x") == "docs/new.txt is not yours."
    assert at.refused("Edit", file_path="docs/a.txt", old_string="one", new_string="x") == "docs/a.txt is not yours."
    at.told("Write", file_path="src/a.txt", content="x")
    assert asked == ["docs/new.txt", "docs/a.txt", "src/a.txt"]
    assert listing(at.root) == {"docs/a.txt": b"one", "src/a.txt": b"x"}


# A link that is swapped in while the tools work: another process exchanges two names as fast as it can.

SWAP = """
import ctypes, sys
libc = ctypes.CDLL(None)
print("go", flush=True)
while True:
    libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
"""


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    assert hasattr(ctypes.CDLL(None), "renameat2")
    child = subprocess.Popen([sys.executable, "-I", "-c", SWAP, str(one), str(other)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        child.stdout.readline()
        yield
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()


def swapped_folder(at: Bench) -> tuple[Path, Path]:
    """`docs` is a folder of the workspace at one moment, and a link to the outside at the next."""
    at.put("docs/a.txt", "harmless\n")
    for name in ("a.txt", "only-outside.txt"):
        (at.outside / name).write_text(SECRET + "\n")
    (at.root / "link").symlink_to(at.outside)
    return at.root / "docs", at.root / "link"


def rounds(call: Callable[[int], bool], least: int = ROUNDS, seconds: float = LONG) -> tuple[int, int]:
    """How often it worked and how often not: so many rounds, and on until both were seen."""
    end, counts = time.monotonic() + seconds, [0, 0]
    while sum(counts) < least or (min(counts) < 5 and time.monotonic() < end):
        counts[call(sum(counts))] += 1
    return counts[1], counts[0]


def test_a_link_swapped_in_meanwhile_never_leads_a_write_out(at: Bench) -> None:
    docs, link = swapped_folder(at)
    before = listing(at.outside)
    with swapping(docs, link):
        wrote, refused = rounds(lambda n: not at.call("Write", file_path=f"docs/{n % 7}.txt", content="mine\n").failed)
        deeper, _ = rounds(lambda n: not at.call("Write", file_path=f"docs/new{n % 50}/{n}.txt", content="mine\n").failed)
        rounds(lambda n: not at.call("Edit", file_path="docs/a.txt", old_string="the", new_string="x").failed, seconds=0)
    assert wrote and refused and deeper, "the two names were never seen swapped"
    assert listing(at.outside) == before


def test_a_link_swapped_in_meanwhile_never_shows_what_is_outside(at: Bench) -> None:
    docs, link = swapped_folder(at)
    (at.outside / "file.txt").write_text(SECRET)
    at.put("file.txt", "harmless")
    (at.root / "file-link").symlink_to(at.outside / "file.txt")
    said = []
    with swapping(docs, link), swapping(at.root / "file.txt", at.root / "file-link"):
        for path in ("docs/a.txt", "file.txt"):

            def look(n: int, path: str = path) -> bool:
                said.append(at.call("Read", file_path=path))
                return not said[-1].failed

            read, refused = rounds(look)
            assert read and refused, "the two names were never seen swapped"
    assert not [answer for answer in said if SECRET in answer.text]


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_link_swapped_in_meanwhile_never_shows_what_is_outside_to_a_search(tmp_path: Path, program: str) -> None:
    at = bench(tmp_path, program=PROGRAMS[program])
    docs, link = swapped_folder(at)
    said: list[str] = []
    times, end = 25 if program == "ripgrep" else 6, time.monotonic() + LONG
    with swapping(docs, link):
        while len(said) < 5 * times or (not any("harmless" in text for text in said) and time.monotonic() < end):
            said.append(at.call("Grep", pattern="s", output_mode="content").text)
            said.append(at.call("Grep", pattern="s", path="docs", output_mode="content").text)
            said.append(at.call("Grep", pattern="secret", path="docs").text)
            said.append(at.call("Glob", pattern="**/*.txt").text)
            said.append(at.call("Glob", pattern="*", path="docs").text)
    assert not [text for text in said if SECRET in text or "only-outside" in text]
    assert any("harmless" in text for text in said)


def test_looking_first_and_opening_then_is_led_out(at: Bench) -> None:
    """The same swaps lead an ordinary check astray, so the tests above would notice."""
    docs, link = swapped_folder(at)

    def naive(_: int) -> bool:
        try:
            if not docs.is_symlink():
                return SECRET in (docs / "a.txt").read_text()
        except OSError:
            pass
        return False

    with swapping(docs, link):
        end = time.monotonic() + LONG
        assert any(naive(0) for _ in iter(lambda: time.monotonic() < end, False))
