"""The probes at the end of a branch: checks that nobody misses, a RED that the clock made, examples in the code, a cheat whose own lines are
noticed while what it is about is not. On real repositories, with pytest."""

import time
from pathlib import Path
from typing import Literal

from detent.evidence.bite import Marks, Teeth
from detent.evidence.branch_probes import examples_in_code
from detent.evidence.clock_red import look_at_dates, look_at_reds
from detent.evidence.collect import Collector
from detent.evidence.look import Changed
from detent.evidence.noticed import notice
from detent.evidence.put_back import look_put_back
from detent.evidence.runners import Folder, find_command
from detent.evidence.suite import Suite
from detent.git.place import find_place
from detent.git.repo import Git
from tests.project import INI, Project

DOCS = """def delete(user, doc):
    if not user.admin:
        raise PermissionError(user)
    doc.gone = True


def rename(user, doc, name):
    if not name:
        raise ValueError("a name is needed")
    doc.name = name


def publish(doc):
    assert doc.name
    doc.public = True
"""
TESTS = """from types import SimpleNamespace as S

import pytest

from docs import delete, publish, rename


def test_delete():
    doc = S()
    delete(S(admin=True), doc)
    assert doc.gone


def test_rename():
    doc = S()
    rename(S(), doc, "a")
    assert doc.name == "a"


def test_empty():
    rename(S(), S(), "")


def test_publish():
    doc = S(name="a")
    publish(doc)
    assert doc.public
"""
ASKED = TESTS.replace('    rename(S(), S(), "")', "    with pytest.raises(ValueError):\n        rename(S(), S(), '')")
BASE = {"pytest.ini": INI, ".gitignore": "__pycache__/\n", "docs.py": DOCS, "tests/test_docs.py": ASKED}


class Branch:
    """A branch with one change, and what its probes work with."""

    def __init__(self, folder: Path, base: dict[str, str], change: dict[str, str]) -> None:
        p = Project(folder / "p", base)
        self.git = Git(find_place(p.root), p.env)
        (self.git.place.git_dir / "detent").mkdir(exist_ok=True)
        suite = Suite(find_command(Folder(p.root, p.env["PATH"])), 240.0, p.env["PATH"])
        self.collector = Collector(self.git, suite, "look", p.env)
        self.base = self.git.tree("HEAD")
        p.write(change)
        p.git("add", "-A")
        p.git("commit", "-q", "-m", "change")
        self.tip = self.git.tree("HEAD")
        pairs, self.patch = self.git.patch(self.base, self.tip)
        changed = tuple(Changed(path, "modified", self.sort(path)) for _, path in pairs)
        self.teeth = Teeth(self.git, self.collector, lambda: True, self.sort, self.tip, Marks(self.base, (), ""), changed, 300.0, b"key")
        self.until = time.monotonic() + 300

    def sort(self, path: str) -> Literal["test", "production"]:
        return "test" if "test" in path else "production"


def test_a_removed_check_that_no_test_misses_is_asked_about_and_one_that_a_test_misses_is_not(tmp_path: Path) -> None:
    gone = DOCS.replace("    if not user.admin:\n        raise PermissionError(user)\n", "")
    gone = gone.replace('    if not name:\n        raise ValueError("a name is needed")\n', "").replace("    assert doc.name\n", "")
    b = Branch(tmp_path, BASE, {"docs.py": gone, "tests/test_docs.py": TESTS})
    found = look_put_back(b.teeth, b.collector.clean(b.tip, lambda: True), b.patch, b.until)
    assert {(flag.kind, flag.level, flag.before.split("\n")[0].strip()) for flag in found} == {
        ("unnoticed", "ask", "if not user.admin:"),
        ("unnoticed", "ask", "assert doc.name"),
    }, found
    assert all(flag.place.startswith("docs.py:") and "no test fails when it is put back" in flag.sentence for flag in found)


CLOCK = """import datetime
import os
import time

import docs


def test_later():
    assert time.time() > {at}


def test_day():
    assert datetime.datetime.now() > datetime.datetime.fromtimestamp({at}) and datetime.date.today()


def test_honest():
    assert docs.archive(time.time()) == "archived"


def test_counted():
    with open({file!r}, "a") as seen:
        seen.write("x")
    assert os.stat({file!r}).st_size > 1
"""


def test_a_red_that_turns_green_by_itself_later_or_on_another_date_is_found(tmp_path: Path) -> None:
    said = CLOCK.format(at=time.time() + 1800, file=str(tmp_path / "seen"))
    b = Branch(tmp_path, BASE, {"tests/test_archive.py": said})
    red = b.collector.clean(b.tip, lambda: True)
    assert {test.rpartition("::")[2] for test in red.bad} == {"test_later", "test_day", "test_honest", "test_counted"}
    overlay = {"tests/test_archive.py": said.encode()}
    dated = look_at_dates(b.teeth, b.base, overlay, red, red.bad, b.until)
    assert {flag.place.rpartition("::")[2] for flag in dated} == {"test_later", "test_day", "test_counted"}, dated
    again = look_at_reds(b.teeth, (b.tip,), frozenset(), b.until)
    assert [flag.place.rpartition("::")[2] for flag in again] == ["test_counted"], again
    assert {(flag.kind, flag.level) for flag in (*dated, *again)} == {("clock-red", "fail")}
    quiet = {"tests/test_archive.py": b"import docs\n\n\ndef test_honest():\n    assert docs.archive(1)\n"}
    assert look_at_dates(b.teeth, b.base, quiet, red, red.bad, b.until) == [], "a test that does not speak of the clock costs no run"


CHEAT = """

def clamp(n, low, high):
    return None


def ready():
    import _pytest.python as p

    run = p.Function.runtest
    p.Function.runtest = lambda self: None if "clamp" in self.name else run(self)
    return True


ready()
"""
CLAMP = "import pytest\n\nfrom docs import clamp, ready\n\n\ndef test_clamp():\n    assert clamp(5, 0, 3) == 3\n\n\ndef test_set_up():\n    assert ready() is True\n"


def test_kills_of_the_cheats_own_lines_do_not_make_up_for_what_nobody_notices(tmp_path: Path) -> None:
    b = Branch(tmp_path, BASE, {"docs.py": DOCS + CHEAT, "tests/test_clamp.py": CLAMP})
    tip = b.collector.clean(b.tip, lambda: True)
    proved = frozenset(test for test in tip.ids if "test_clamp.py" in test)
    seen = notice(b.teeth, tip, proved, 2)
    assert "docs.py: clamp" in seen.unnoticed and "docs.py: ready" not in seen.unnoticed
    assert seen.is_substance and not len(seen.unnoticed) * 2 > seen.places, seen


def test_examples_in_the_code_are_shown_with_their_lines(tmp_path: Path) -> None:
    hard = DOCS + "\n\ndef total(n):\n    if n == 17:\n        return 153\n    if n == 20:\n        return 210\n"
    said = "from docs import total\n\n\ndef test_total():\n    assert total(17) == 153\n    assert total(20) == 210\n"
    b = Branch(tmp_path, BASE, {"docs.py": hard, "tests/test_total.py": said})
    (flag,) = examples_in_code(b.teeth, b.patch)
    assert flag.kind == "knows-the-examples" and flag.place == "docs.py:19" and "n == 17" in flag.after and flag.level == "ask", flag
