"""Glob and Grep: what they find, in which order, and where they stop. ripgrep and the program of our own pass the same tests."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from detent.tools.search import ripgrep
from tests.toolboxes import PROGRAMS, Bench, bench


@pytest.fixture(params=PROGRAMS)
def at(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return bench(tmp_path, program=PROGRAMS[request.param])


def tree(at: Bench) -> None:
    """A small project: later ones are newer."""
    files = {
        ".gitignore": "*.log\n/build/\nnode_modules\n!keep.log\n",
        "src/.gitignore": "generated.py\n",
        "src/app.py": "import os\n\ndef main():\n    return needle\n",
        "src/generated.py": "needle\n",
        "src/web/page.ts": "const needle = 1;\n",
        "src/web/view.tsx": "const Needle = 2;\n",
        ".hidden/ci.yml": "run: needle\n",
        "build/out.py": "needle\n",
        "src/build/kept.py": "needle\n",
        "node_modules/x/index.js": "needle\n",
        "deep/node_modules/y/index.js": "needle\n",
        "a.log": "needle\n",
        "keep.log": "needle\n",
        ".git/config": "needle\n",
        "sub/.git": "gitdir: needle\n",
        "binary.dat": "needle\0needle\n",
        "README.md": "first\nneedle one\nmiddle\nneedle two\nlast\n",
    }
    for n, (path, text) in enumerate(files.items()):
        os.utime(at.put(path, text), (1_000_000 + n, 1_000_000 + n))
    (at.root / "linked.py").symlink_to("src/app.py")
    (at.root / "linked").symlink_to("src")
    os.mkfifo(at.root / "pipe.py")


FOUND = [".hidden/ci.yml", "README.md", "keep.log", "src/app.py", "src/build/kept.py", "src/web/page.ts"]


def test_the_environment_has_ripgrep() -> None:
    assert ripgrep(Path("/nowhere")) is not None


def test_ripgrep_is_never_one_from_the_workspace() -> None:
    assert ripgrep(Path(sys.executable).parent.parent) is None


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("pattern", "path", "paths"),
    [
        ("*.py", ".", ["src/build/kept.py", "src/app.py"]),
        ("**/*.py", ".", ["src/build/kept.py", "src/app.py"]),
        ("./*.py", ".", []),
        ("*.{ts,tsx}", ".", ["src/web/view.tsx", "src/web/page.ts"]),
        ("src/**/*.ts*", ".", ["src/web/view.tsx", "src/web/page.ts"]),
        ("src/*", ".", ["src/app.py", "src/.gitignore"]),
        ("web/*.ts", "src", ["src/web/page.ts"]),
        ("*.py", "src/build", ["src/build/kept.py"]),
        ("generated.py", "src", []),
        ("*.log", ".", ["keep.log"]),
        ("node_modules/**", ".", []),
        ("**/index.js", ".", []),
        ("[R]EAD??.md", ".", ["README.md"]),
        ("{root}/src/*.py", ".", ["src/app.py"]),
        ("{root}/src/*.py", "{root}/src", ["src/app.py"]),
        ("*.yml", ".", [".hidden/ci.yml"]),
        ("config", ".", []),
        ("linked*", ".", []),
    ],
)
def test_glob_finds_files_by_pattern_the_newest_first(at: Bench, pattern: str, path: str, paths: list[str]) -> None:
    tree(at)
    said = at.told("Glob", pattern=pattern.replace("{root}", str(at.root)), path=path.replace("{root}", str(at.root)))
    assert said.splitlines() == paths if paths else said.startswith("No file matches")


def test_glob_shows_so_many_and_says_how_many_more(at: Bench) -> None:
    for n in range(450):
        os.utime(at.put(f"d{n % 7}/f{n}.txt", ""), (n, n))
    *paths, more = at.told("Glob", pattern="*.txt").splitlines()
    assert paths == [f"d{n % 7}/f{n}.txt" for n in range(449, 249, -1)]
    assert more.removeprefix("[up to ").removeprefix("[") == "250 more files; use a narrower pattern or path]"
    assert at.told("Glob", pattern="*[.]txt").endswith("\n[250 more files; use a narrower pattern or path]")


def test_grep_finds_files_lines_and_counts(at: Bench) -> None:
    tree(at)
    assert at.told("Grep", pattern="needle").splitlines() == FOUND
    assert at.told("Grep", pattern="needle", output_mode="count").splitlines() == [
        *(f"{p}:{2 if p == 'README.md' else 1}" for p in FOUND),
        "[7 lines in 6 files]",
    ]
    assert at.told("Grep", pattern=r"needle \w+$", output_mode="content").splitlines() == [
        "README.md:2:needle one",
        "README.md:4:needle two",
    ]
    assert at.told("Grep", pattern="^Nothing like this$").startswith("Nothing matches")


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"-i": True, "glob": "*.tsx"}, ["src/web/view.tsx:1:const Needle = 2;"]),
        ({"-n": False, "glob": "*.yml"}, [".hidden/ci.yml:run: needle"]),
        ({"type": "py"}, ["src/app.py:4:    return needle", "src/build/kept.py:1:needle"]),
        ({"type": "py", "glob": "build/**", "path": "src"}, ["src/build/kept.py:1:needle"]),
        ({"glob": "src/*.py"}, ["src/app.py:4:    return needle"]),
        ({"glob": "{root}/src/*.py"}, ["src/app.py:4:    return needle"]),
        ({"path": "src/web"}, ["src/web/page.ts:1:const needle = 1;"]),
        ({"path": "src/app.py"}, ["src/app.py:4:    return needle"]),
        ({"path": "{root}/src/app.py", "-B": 1}, ["src/app.py-3-def main():", "src/app.py:4:    return needle"]),
        ({"path": "src/generated.py"}, ["src/generated.py:1:needle"]),
        ({"path": "README.md", "-A": 1}, ["README.md:2:needle one", "README.md-3-middle", "README.md:4:needle two", "README.md-5-last"]),
        ({"glob": "*.md", "-C": 1, "head_limit": 2}, ["README.md-1-first", "README.md:2:needle one", "[3 more; narrow the search, or raise head_limit]"]),
        ({"pattern": "one", "glob": "*.{md,py}", "-C": 1}, ["README.md-1-first", "README.md:2:needle one", "README.md-3-middle"]),
        ({"pattern": "one.middle", "multiline": True, "glob": "*.md"}, ["README.md:2:needle one", "README.md:3:middle"]),
        ({"pattern": "os|needle", "type": "py", "-A": 0, "-C": 0}, ["src/app.py:1:import os", "src/app.py:4:    return needle", "src/build/kept.py:1:needle"]),
        ({"pattern": "import|return", "glob": "app.py", "-B": 1}, ["src/app.py:1:import os", "--", "src/app.py-3-def main():", "src/app.py:4:    return needle"]),
    ],
)  # fmt: skip
def test_grep_takes_the_options_that_models_know(at: Bench, arguments: dict[str, object], lines: list[str]) -> None:
    tree(at)
    given = {key: value.replace("{root}", str(at.root)) if isinstance(value, str) else value for key, value in arguments.items()}
    assert at.told("Grep", **{"pattern": "needle", "output_mode": "content", **given}).splitlines() == lines


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("Grep", {"pattern": "("}, "unclosed group|unterminated subpattern"),
        ("Grep", {"pattern": ""}, "empty"),
        ("Grep", {"pattern": "a\0b"}, "NUL"),
        ("Grep", {"pattern": "a", "type": "nonsense"}, "file type"),
        ("Grep", {"pattern": "a", "path": "nowhere"}, "does not exist"),
        ("Grep", {"pattern": "a", "path": "../outside"}, r"'\.\.'"),
        ("Grep", {"pattern": "a", "path": "linked"}, "Links are not followed"),
        ("Grep", {"pattern": "a", "path": "linked.py"}, "Links are not followed"),
        ("Grep", {"pattern": "a", "path": ".git"}, r"\.git"),
        ("Grep", {"pattern": "a", "path": "pipe.py"}, "not a regular file"),
        ("Grep", {"pattern": "a", "glob": "../*"}, r"'\.\.'"),
        ("Glob", {"pattern": "../*"}, r"'\.\.'"),
        ("Glob", {"pattern": "/etc/*"}, "outside the workspace"),
        ("Glob", {"pattern": "~/*"}, "not a path in the workspace"),
        ("Glob", {"pattern": "*", "path": "linked"}, "Links are not followed"),
        ("Glob", {"pattern": "*", "path": "src/app.py"}, "is a file, not a folder"),
        ("Glob", {"pattern": "{a,b"}, "brace"),
        ("Glob", {"pattern": "{a,b}" * 30}, "more than 100 patterns"),
        ("Glob", {"pattern": ""}, "empty"),
        ("Glob", {"pattern": "{root}/docs/*", "path": "src"}, "is not below src"),
        ("Glob", {"pattern": "[b-a]"}, "cannot be read"),
    ],
)
def test_a_search_that_cannot_be_done_says_why(at: Bench, tool: str, arguments: dict[str, str], sentence: str) -> None:
    tree(at)
    import re

    assert re.search(sentence, at.refused(tool, **{k: v.replace("{root}", str(at.root)) for k, v in arguments.items()}))


@pytest.mark.parametrize("pattern", ["--files", "-e", "--pre=touch ran", "-f/etc/passwd"])
def test_a_pattern_is_never_an_option(at: Bench, pattern: str) -> None:
    at.put("a.txt", f"x {pattern} y\n")
    assert at.told("Grep", pattern=pattern, output_mode="content") == f"a.txt:1:x {pattern} y"
    assert not (at.root / "ran").exists()
    at.refused("Grep", pattern="x", type="py --pre=touch")


def test_names_and_lines_cannot_hide_or_pretend(at: Bench) -> None:
    at.put("new\nline.txt", "needle")
    at.put("esc\x1b[31m.txt", "needle")
    at.put("a.txt", "needle \x1b[2J\u202e " + "w" * 5000 + "\n")
    (at.root / os.fsdecode(b"bad\xff.txt")).write_text("needle")
    assert set(at.told("Glob", pattern="*.txt").splitlines()) == {"new\\x0aline.txt", "esc\\x1b[31m.txt", "a.txt", "bad\\xff.txt"}
    assert set(at.told("Grep", pattern="needle").splitlines()) == {"new\\x0aline.txt", "esc\\x1b[31m.txt", "a.txt", "bad\\xff.txt"}
    line = at.told("Grep", pattern="needle", output_mode="content", glob="a.txt")
    assert line.startswith("a.txt:1:needle \\x1b[2J\\u202e w") and "more characters in this line]" in line and len(line) < 700


@pytest.mark.slow
def test_a_great_many_matches_are_bounded(at: Bench) -> None:
    for n in range(40):
        at.put(f"f{n:02}.txt", "needle\n" * 5000)
    text = at.told("Grep", pattern="needle", output_mode="content")
    assert text.splitlines()[199:] == ["f00.txt:200:needle", "[199,800 more; narrow the search, or raise head_limit]"]
    assert len(at.told("Grep", pattern="needle", output_mode="content", head_limit=100_000)) < 30_300


@pytest.mark.slow
def test_output_beyond_all_bounds_is_cut_and_said_so(tmp_path: Path) -> None:
    at = bench(tmp_path)
    (at.root / ("n" * 200)).mkdir()
    for n in range(4):
        at.put(f"{'n' * 200}/{n}.txt", "x\n" * 60_000)
    said = at.told("Grep", pattern="x", output_mode="content", head_limit=3)
    assert "[at least " in said and not list(at.root.glob("core*"))


@pytest.mark.parametrize("pattern", ["**/*a" * 60 + "b", "*a" * 200 + "b", "{a,*}*" * 6])
def test_no_pattern_takes_long(at: Bench, pattern: str) -> None:
    at.put("/".join(["a" * 50] * 30).lstrip("/") + "/" + "a" * 200, "x")
    assert at.told("Glob", pattern=pattern)


def test_a_search_leaves_nothing_behind(at: Bench) -> None:
    tree(at)
    at.told("Grep", pattern="needle")
    at.told("Glob", pattern="*")
    assert list((at.root.parent / "spill").iterdir()) == []


def test_settings_of_the_user_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rc").write_text("--invert-match\n")
    (tmp_path / ".gitignore").write_text("*\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    at = bench(tmp_path)
    at.put("a.txt", "needle\n")
    at.put("b.txt", "other\n")
    assert at.told("Grep", pattern="needle") == "a.txt"


def test_the_program_of_our_own_is_shipped() -> None:
    assert shutil.which(sys.executable) and (Path(ripgrep.__code__.co_filename).parent / "fallback.py").is_file()
