"""Code that is loaded once tests have run: the source as it was, never one that was written since, and no bytecode that was."""

import importlib.util
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repos import write

LOADS = """
import sys
from detent.app.preload import nothing_newer
sys.path.insert(0, sys.argv[1])
nothing_newer()
print("ready", flush=True)
sys.stdin.readline()
import late.part
print(late.part.WORD)
"""


def loaded(folder: Path, meanwhile: dict[str, str]) -> tuple[str, str]:
    """What a process says that loads `late.part` after these files were written; what is written to `compiled/` becomes the bytecode of `late/`."""
    words, pipe = [sys.executable, "-c", LOADS, str(folder)], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as asked:
        assert asked.stdout is not None and asked.stdout.readline() == "ready\n"
        write(folder, meanwhile)
        for source in folder.glob("compiled/*.py"):
            made = importlib.util.cache_from_source(str(folder / "late" / source.name))
            py_compile.compile(str(source), made, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        return asked.communicate("\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    write(tmp_path, {"late/__init__.py": "", "late/part.py": "WORD = 'ours'\n"})
    return tmp_path


def test_a_module_that_nobody_touched_is_loaded(folder: Path) -> None:
    assert loaded(folder, {})[0] == "ours\n"


def test_bytecode_that_was_written_meanwhile_is_not_read(folder: Path) -> None:
    assert loaded(folder, {"compiled/part.py": "WORD = 'theirs'\n"})[0] == "ours\n"


def test_a_source_that_was_written_meanwhile_is_not_loaded(folder: Path) -> None:
    said = loaded(folder, {"late/part.py": "WORD = 'theirs'\n"})
    assert said[0] == "" and "late/part.py was written while tests ran, so it is not loaded" in said[1]
