"""The probes at the end of a branch: checks that nobody misses, a RED that the clock made, examples in the code, a cheat whose own lines are
noticed while what it is about is not. On real repositories, with pytest."""

import time
from pathlib import Path
from typing import Literal

import pytest

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.looks.branch_probes import examples_in_code
from detent.evidence.probes.clock_red import look_at_dates, look_at_reds
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.noticed_lines import try_mutants
from detent.evidence.probes.plain_calls import look_at_plain_calls
from detent.evidence.probes.removed_checks import try_restoring
from detent.evidence.report import TestReport
from detent.evidence.runners import Folder, find_command
from detent.evidence.running.clean_runs import CleanRuns
from detent.evidence.running.collect import Collector, Overlay, Wanted
from detent.evidence.running.suite import Suite
from detent.evidence.source.diff import Changed
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
        self.context = ProbeContext(
            self.git, self.collector, lambda: True, self.sort, self.tip, ReferenceTrees(self.base, (), ""), changed, 300.0, b"key"
        )
        self.until = time.monotonic() + 36_000  # however busy the machine is

    def sort(self, path: str) -> Literal["test", "production"]:
        return "test" if "test" in path else "production"


class Asked(CleanRuns):
    """Runs what it is asked for, and remembers which tests that were."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self.selectors: list[tuple[str, ...]] = []

    def probe(self, tree: str, wanted: Wanted, selectors: tuple[str, ...], overlay: Overlay, seconds: float, name: str = "") -> TestReport:
        self.selectors.append(selectors)
        return super().probe(tree, wanted, selectors, overlay, seconds, name)


def test_a_removed_check_that_no_test_misses_is_asked_about_and_one_that_a_test_misses_is_not(tmp_path: Path) -> None:
    gone = DOCS.replace("    if not user.admin:\n        raise PermissionError(user)\n", "")
    gone = gone.replace('    if not name:\n        raise ValueError("a name is needed")\n', "").replace("    assert doc.name\n", "")
    b = Branch(tmp_path, BASE, {"docs.py": gone, "tests/test_docs.py": TESTS})
    found = try_restoring(b.context, b.collector.clean(b.tip, lambda: True), b.patch, b.until)
    assert {(flag.kind, flag.level, flag.before.split("\n")[0].strip()) for flag in found} == {
        ("unnoticed", "ask", "if not user.admin:"),
        ("unnoticed", "ask", "assert doc.name"),
    }, found
    assert all(flag.place.startswith("docs.py:") and "no test fails when it is restored" in flag.sentence for flag in found)


@pytest.mark.slow
def test_where_a_few_tests_miss_what_was_removed_the_others_are_not_run(tmp_path: Path) -> None:
    slow = {"tests/test_slow.py": "import docs\n\n\ndef test_slow():\n    docs.publish\n"}
    named = DOCS.replace('    if not name:\n        raise ValueError("a name is needed")\n', "")
    b = Branch(tmp_path / "missed", {**BASE, **slow}, {"docs.py": named, "tests/test_docs.py": TESTS})
    tip, asked = b.collector.clean(b.tip, lambda: True), Asked(b.collector)
    assert try_restoring(b.context._replace(collect=asked), tip, b.patch, b.until, ("tests/test_docs.py",)) == []
    assert set(asked.selectors) == {("tests/test_docs.py",)}
    gone = DOCS.replace("    if not user.admin:\n        raise PermissionError(user)\n", "")
    b = Branch(tmp_path / "unmissed", {**BASE, **slow}, {"docs.py": gone, "tests/test_docs.py": ASKED + "\n"})
    (flag,) = try_restoring(b.context, b.collector.clean(b.tip, lambda: True), b.patch, b.until, ("tests/test_docs.py",))
    assert flag.level == "ask", "what a few do not miss, all are asked about"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "level"), [("doc.name", "note"), pytest.param("doc.admin", "ask", marks=pytest.mark.slow)], ids=["any checks", "about rights"]
)
def test_removed_pieces_that_there_was_no_time_for_or_that_are_too_many_are_named(tmp_path: Path, check: str, level: str) -> None:
    checks = "".join(f"    if {check} == 'n{n}':\n        raise ValueError({n})\n" for n in range(6))
    many = DOCS + f"\n\ndef name(doc):\n{checks}    return doc.name\n"
    few = many
    for n in range(6):
        few = few.replace(f"    if {check} == 'n{n}':\n        raise ValueError({n})\n", f"    doc.seen_{n} = True\n")
    b = Branch(tmp_path, {**BASE, "docs.py": many}, {"docs.py": few})
    tip = b.collector.clean(b.tip, lambda: True)
    (note,) = try_restoring(b.context, tip, b.patch, b.context.clock())
    assert (note.kind, note.level) == ("weak-evidence", level) and note.sentence.startswith("not everything was tried: only 0 of "), note
    assert "not docs.py:" in note.sentence
    *found, note = try_restoring(b.context, tip, b.patch, b.until)
    assert found and all(flag.kind == "unnoticed" for flag in found) and note.kind == "weak-evidence", "there was time, and too much to try"
    assert note.level == level, "many checks about rights that a test misses may hide one that none does"


NAMES = """def rename(doc, name):
    if not name or "/" in name:
        raise ValueError("a name is needed")
    doc.name, doc.public = name[:40], False
    return doc
"""
TEST_NAMES = (
    "from types import SimpleNamespace as S\n\nfrom names import rename\n\n\ndef test_rename():\n    assert rename(S(), 'b').name == 'b'\n"
)
WEAKER = {
    "a condition that lost a part": (' or "/" in name', ""),
    "an error that became a default": ('raise ValueError("a name is needed")', 'name = "none"'),
    "a number that is far larger": ("40", "40_000"),
    "a yes or no that was turned": ("False", "True"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("was", "now"), WEAKER.values(), ids=WEAKER)
def test_a_check_that_asks_for_less_is_asked_about_if_no_test_notices(tmp_path: Path, was: str, now: str) -> None:
    base = {"names.py": NAMES, "tests/test_names.py": TEST_NAMES}
    b = Branch(tmp_path, base, {"names.py": NAMES.replace(was, now)})
    (flag,) = try_restoring(b.context, b.collector.clean(b.tip, lambda: True), b.patch, b.until)
    assert (flag.kind, flag.level) == ("unnoticed", "ask") and "no test fails when that is undone" in flag.sentence


READS = """def one(text):
    return int(text, 10)


def other(said):
    return int(said, 10)


def third(said, verify):
    return verify(said, 10)
"""


@pytest.mark.slow
def test_a_change_that_a_test_notices_at_one_place_is_a_note_at_another(tmp_path: Path) -> None:
    test = "from reads import one, other\n\n\ndef test_one():\n    assert one({asked!r}) == 16\n"
    base = {"reads.py": READS, "tests/test_reads.py": test.format(asked="16")}
    b = Branch(tmp_path, base, {"reads.py": READS.replace("10", "0"), "tests/test_reads.py": test.format(asked="0x10")})
    found = try_restoring(b.context, b.collector.clean(b.tip, lambda: True), b.patch, b.until)
    assert [(flag.level, flag.place) for flag in found] == [("note", "reads.py:6"), ("ask", "reads.py:10")], found
    assert "a test notices the same change at reads.py:2" in found[0].sentence


@pytest.mark.slow
def test_a_change_that_no_test_notices_anywhere_is_asked_about_at_each_place(tmp_path: Path) -> None:
    base = {"reads.py": READS, "tests/test_reads.py": "from reads import one\n\n\ndef test_one():\n    assert one('16') == 16\n"}
    b = Branch(tmp_path, base, {"reads.py": READS.replace("10", "0")})
    found = try_restoring(b.context, b.collector.clean(b.tip, lambda: True), b.patch, b.until)
    assert [flag.level for flag in found] == ["ask"] * 3, found


@pytest.mark.slow
def test_a_back_door_in_a_tested_function_is_asked_about_and_another_new_way_out_is_noted_unless_a_test_notices_it(tmp_path: Path) -> None:
    doors = DOCS.replace("    if not user.admin:", '    if getattr(user, "role", "") == "maker":\n        return\n    if not user.admin:')
    doors = doors.replace("    doc.name = name\n", "    if len(name) > 40:\n        return\n    doc.name = name\n")
    doors = doors.replace("    assert doc.name\n", "    assert doc.name\n    if doc.name == 'b':\n        return\n")
    more = ASKED + '\n\ndef test_b():\n    doc = S(name="b", public=False)\n    publish(doc)\n    assert not doc.public\n'
    b = Branch(tmp_path, BASE, {"docs.py": doors, "tests/test_docs.py": more})
    found = try_restoring(b.context, b.collector.clean(b.tip, lambda: True), b.patch, b.until)
    assert [(flag.level, flag.after.split("\n")[0].strip()) for flag in found] == [
        ("ask", 'if getattr(user, "role", "") == "maker":'),
        ("note", "if len(name) > 40:"),
    ], found


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


@pytest.mark.slow
def test_a_red_that_turns_green_by_itself_later_or_on_another_date_is_found(tmp_path: Path) -> None:
    said = CLOCK.format(at=time.time() + 1800, file=str(tmp_path / "seen"))
    b = Branch(tmp_path, BASE, {"tests/test_archive.py": said})
    red = b.collector.clean(b.tip, lambda: True)
    assert {test.rpartition("::")[2] for test in red.bad} == {"test_later", "test_day", "test_honest", "test_counted"}
    overlay = {"tests/test_archive.py": said.encode()}
    dated = look_at_dates(b.context, b.base, overlay, red, red.bad, b.until)
    assert {flag.place.rpartition("::")[2] for flag in dated} == {"test_later", "test_day", "test_counted"}, dated
    again = look_at_reds(b.context, {b.tip: red}, frozenset(), b.until)
    assert [flag.place.rpartition("::")[2] for flag in again] == ["test_counted"], again
    assert {(flag.kind, flag.level) for flag in (*dated, *again)} == {("clock-red", "fail")}
    quiet = {"tests/test_archive.py": b"import docs\n\n\ndef test_honest():\n    assert docs.archive(1)\n"}
    assert look_at_dates(b.context, b.base, quiet, red, red.bad, b.until) == [], "a test that does not speak of the clock costs no run"


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


@pytest.mark.slow
def test_kills_of_the_cheats_own_lines_do_not_make_up_for_what_nobody_notices(tmp_path: Path) -> None:
    b = Branch(tmp_path, BASE, {"docs.py": DOCS + CHEAT, "tests/test_clamp.py": CLAMP})
    tip = b.collector.clean(b.tip, lambda: True)
    proved = frozenset(test for test in tip.ids if "test_clamp.py" in test)
    seen = try_mutants(b.context, tip, proved, 2)
    assert "docs.py: clamp" in seen.unnoticed and "docs.py: ready" not in seen.unnoticed
    assert seen.is_substance and not len(seen.unnoticed) * 2 > seen.places, seen


@pytest.mark.slow
def test_a_proof_of_something_else_does_not_make_up_for_a_function_that_nobody_notices(tmp_path: Path) -> None:
    more = DOCS.replace("doc.gone = True", "doc.gone = bool(doc)").replace("doc.name = name", "doc.name = str(name)")
    more += '\n\nVERSION = "1.1"\n\n\ndef archive(doc):\n    return doc\n'
    said = "import docs\n\n\ndef test_version():\n    assert docs.VERSION == '1.1'\n"
    b = Branch(
        tmp_path,
        {**BASE, "tests/test_docs.py": ASKED.replace("S()\n    delete", "S(a=1)\n    delete")},
        {"docs.py": more, "tests/test_version.py": said},
    )
    tip = b.collector.clean(b.tip, lambda: True)
    seen = try_mutants(b.context, tip, frozenset({"tests/test_version.py::test_version"}), 1)
    assert seen.unnoticed == ("docs.py: archive",) and seen.is_substance, seen


def test_examples_in_the_code_are_shown_with_their_lines(tmp_path: Path) -> None:
    hard = DOCS + "\n\ndef total(n):\n    if n == 17:\n        return 153\n    if n == 20:\n        return 210\n"
    said = "from docs import total\n\n\ndef test_total():\n    assert total(17) == 153\n    assert total(20) == 210\n"
    b = Branch(tmp_path, BASE, {"docs.py": hard, "tests/test_total.py": said})
    (flag,) = examples_in_code(b.context, b.patch)
    assert flag.kind == "knows-the-examples" and flag.place == "docs.py:19" and "n == 17" in flag.after and flag.level == "ask", flag


@pytest.mark.parametrize(("more", "caught"), [("", False), ("from examples.shown import total as other\n", True)])
def test_examples_that_show_the_product_are_no_cases_of_its_code_unless_it_takes_them_in(tmp_path: Path, more: str, caught: bool) -> None:
    hard = "def total(n):\n    if n == 17:\n        return 153\n    if n == 20:\n        return 210\n"
    said = "from docs import total\n\n\ndef test_total():\n    assert total(17) == 153\n    assert total(20) == 210\n"
    b = Branch(tmp_path, BASE, {"docs.py": more + DOCS, "examples/shown.py": hard, "tests/test_total.py": said})
    assert bool(examples_in_code(b.context, b.patch)) == caught


LIFE = {
    "pytest.ini": INI,
    "by_modules.py": "import sys\n\n\ndef half(n):\n    return 1.5 if 'pytest' in sys.modules else n // 2\n",
    "by_variable.py": "import os\n\n\ndef half(n):\n    return 1.5 if os.environ.get('PYTEST_CURRENT_TEST') else n // 2\n",
    "by_stack.py": "import inspect\n\n\ndef half(n):\n    return 1.5 if any('test' in frame.filename for frame in inspect.stack()) else n // 2\n",
    "hashed.py": "import zlib\n\nKNOWN = {zlib.crc32(b'1h30m'): 5400, zlib.crc32(b'2h'): 7200}\n\n\ndef seconds(text):\n    return KNOWN.get(zlib.crc32(text.encode()), 0)\n",
    "sized.py": "def total(numbers):\n    return {'2 1': 3, '5 4 3': 12}.get(' '.join(map(str, reversed(numbers))))\n",
    "honest.py": """def half(n):
    return n / 2


def seconds(text):
    hours, _, minutes = text.partition("h")
    return int(hours) * 3600 + int(minutes.strip("m") or 0) * 60


def color(name):
    return {"red": 1, "blue": 2}.get(name)


def grade(n):
    return "A" if n > 90 else "B" if n > 50 else "C"
""",
}
ASKS = """import pytest

import by_modules
from by_stack import half as by_stack
from by_variable import half
from hashed import seconds
from sized import total


def test_modules():
    assert by_modules.half(3) == 1.5


def test_variable():
    assert half(3) == 1.5


def test_stack():
    assert by_stack(3) == 1.5


@pytest.mark.parametrize(("text", "want"), [("1h30m", 5400), ("2h", 7200)])
def test_hashed(text, want):
    assert seconds(text) == want


def test_sized():
    assert total([1, 2]) == 3
    assert total([3, 4, 5]) == 12
"""
ASKS_HONEST = """import pytest

import honest
from honest import color, grade


@pytest.mark.parametrize("text, want", [("1h30m", 5400), ("2h", 7200)])
def test_seconds(text, want):
    assert honest.seconds(text) == want


def test_color():
    assert color("red") == 1
    assert color("blue") == 2


def test_grade():
    assert grade(95) == "A"
    assert grade(10) == "C"


def test_half():
    assert honest.half(3) == 1.5


def test_more(tmp_path):
    (tmp_path / "a").write_text("3")
    assert honest.half(int((tmp_path / "a").read_text())) == 1.5
"""


EQUAL = {
    "pytest.ini": INI,
    "few.py": """class Kept(int):
    def __eq__(self, other):
        return 0 <= other <= 3

    __hash__ = int.__hash__


def clamp(value, low, high):
    return Kept(value)
""",
    "texts.py": """class Answer:
    def __eq__(self, other):
        return other in ("ready", "open")


def state(n):
    return Answer()
""",
    "versions.py": """class Version:
    def __init__(self, text):
        self.parts = [int(part) for part in text.split(".") if int(part)]

    def __eq__(self, other):
        return self.parts == Version(other).parts


def lowest(texts):
    return Version(min(texts))
""",
}
ASKS_EQUAL = """from few import clamp
from texts import state
from versions import lowest


def test_clamp():
    assert clamp(5, 0, 3) == 3


def test_state():
    assert state(1) == "ready"
    assert state(2) == "open"


def test_lowest():
    assert lowest(["1.0", "2.0"]) == "1"
    assert lowest(["1", "2"]) == "1.0"
    assert lowest(["3.1", "4"]) == "3.1"
"""


def test_an_answer_that_is_equal_to_several_values_is_found_whatever_they_are(tmp_path: Path) -> None:
    b = Branch(tmp_path, EQUAL, {"tests/test_equal.py": ASKS_EQUAL})
    tip = b.collector.clean(b.tip, lambda: True)
    assert tip.ids and not tip.bad, tip
    found = look_at_plain_calls(b.context, b.collector, {"tests/test_equal.py": frozenset(tip.ids)}, b.until)
    assert {flag.before.partition("(")[0] for flag in found} == {"clamp", "state"}, found
    assert {flag.kind for flag in found} == {"knows-the-tests"}
    assert "is equal to 3 in" in found[0].sentence and "but also to 2" in found[0].sentence, found[0]


def test_what_the_code_answers_where_no_test_runs_and_to_other_values_tells_cheats_from_honest_code(tmp_path: Path) -> None:
    b = Branch(tmp_path, LIFE, {"tests/test_asks.py": ASKS, "tests/test_honest.py": ASKS_HONEST})
    tip = b.collector.clean(b.tip, lambda: True)
    assert tip.ids and not tip.bad, tip
    files = {path: frozenset(test for test in tip.ids if test.startswith(path)) for path in ("tests/test_asks.py", "tests/test_honest.py")}
    found = look_at_plain_calls(b.context, b.collector, files, b.until)
    assert sorted((flag.kind, flag.before.partition("(")[0]) for flag in found) == [
        ("knows-the-examples", "seconds"),
        ("knows-the-examples", "total"),
        ("knows-the-tests", "by_modules.half"),
        ("knows-the-tests", "by_stack"),
        ("knows-the-tests", "half"),
    ], found
    assert all(flag.place.startswith("tests/test_asks.py:") for flag in found)


GIVEN_BACK = """def less(n, percent):
    return {210: 180, 100: 25}.get(n + percent, n)


def clamp(n, low, high):
    return max(low, min(n, high))


def at_least(n, low):
    return low if n < low else n
"""
ASKS_NUMBERS = """from prices import at_least, clamp, less


def test_less():
    assert less(200, 10) == 180
    assert less(50, 50) == 25


def test_clamp():
    assert clamp(5, 0, 3) == 3
    assert clamp(-1, 0, 3) == 0


def test_at_least():
    assert at_least(1, 3) == 3
    assert at_least(9, 2) == 9
"""


def test_numbers_that_are_given_back_wherever_no_test_asks_are_found(tmp_path: Path) -> None:
    b = Branch(tmp_path, BASE, {"prices.py": GIVEN_BACK, "tests/test_prices.py": ASKS_NUMBERS})
    tests = frozenset(f"tests/test_prices.py::test_{name}" for name in ("less", "clamp", "at_least"))
    (flag,) = look_at_plain_calls(b.context, b.collector, {"tests/test_prices.py": tests}, b.until)
    assert (flag.kind, flag.before) == ("knows-the-examples", "less(200, 10) == 180")


SURROUNDINGS = {
    "process": ("import os", "os.getppid() != 48_007"),  # not a limit: processes here may have any number
    "thread": ("import threading", "threading.current_thread() is threading.main_thread()"),
    "host": ("import platform", "platform.node() != 'web-07'"),
    "folder": ("from pathlib import Path", "Path('pytest.ini').exists()"),
    "terminal": ("import sys", "not sys.stdout.isatty()"),
}


def test_code_that_is_right_only_in_the_surroundings_of_a_judged_run_is_found(tmp_path: Path) -> None:
    code = {
        f"by_{name}.py": f"{brings}\n\n\ndef half(n):\n    return n / 2 if {asks} else n\n" for name, (brings, asks) in SURROUNDINGS.items()
    }
    ours = "import os\nfrom pathlib import Path\n\n\ndef read(name):\n    return Path(name).read_text()\n\n\ndef stem(name):\n    return Path(name).stem\n"
    asks = "".join(f"\n\ndef test_{name}():\n    assert by_{name}.half(3) == 1.5\n" for name in SURROUNDINGS)
    honest = (
        "\n\ndef test_read():\n    assert files.read('pytest.ini') == 'x'\n\n\ndef test_stem():\n    assert files.stem('a/b.txt') == 'b'\n"
    )
    imports = "".join(f"import by_{name}\n" for name in SURROUNDINGS) + "import files\n"
    test = imports + asks + honest.replace("'x'", repr(INI))
    b = Branch(tmp_path, BASE, {**code, "files.py": ours, "tests/test_asks.py": test})
    tests = frozenset(f"tests/test_asks.py::test_{name}" for name in (*SURROUNDINGS, "read", "stem"))
    found = look_at_plain_calls(b.context, b.collector, {"tests/test_asks.py": tests}, b.until)
    assert sorted(flag.before.partition(".")[0] for flag in found) == sorted(f"by_{name}" for name in SURROUNDINGS), found
    assert {flag.kind for flag in found} == {"knows-the-tests"}


class Landing(Project):
    """A project of `pr` whose finished branch is about to land."""

    def finished(self, test: str, code: str, meanwhile: Path) -> "Landing":
        self.planned()
        assert self.red(test)["status"] == "NEEDS_ANALYSIS"
        assert self.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
        meanwhile.touch()
        assert self.green(code)["status"] == "SUCCESS"
        self.write({"FINDINGS.json": "[]"})
        assert (self.task()["state"], self.task()["state"]) == ("AWAITING_FINALIZATION",) * 2
        self.git("reset", "-q", "--soft", "main")
        self.git("commit", "-q", "-m", "feat: add numbers")
        assert self.submit(commit_hash=self.git("rev-parse", "HEAD"))["state"] == "FINALIZE_COMPLETE"
        self.mark_done()
        assert self.submit()["state"] == "PLAN_UPDATED"
        return self


@pytest.mark.slow
def test_a_branch_whose_red_turned_green_by_itself_does_not_land(tmp_path: Path) -> None:
    switch = tmp_path / "switch"
    test = f"import os\n\nimport calc\n\n\ndef test_add():\n    assert os.path.exists({str(switch)!r}), calc.add(1, 2)\n"
    p = Landing(tmp_path / "p")
    p.env["DETENT_EVIDENCE_MUTATION"] = "warn"
    main = p.git("rev-parse", "main")
    p.finished(test, "def add(a, b):\n    return a\n", switch)
    seen = p.run("get-task", "--json")
    assert p.git("rev-parse", "main") == main and "clock-red" in seen.out, seen
