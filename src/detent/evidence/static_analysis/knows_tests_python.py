"""Python that checks who is calling: by the stack, the runner, source files, the test environment or the clock. Uses the syntax tree. Pure.

Follows names through imports, `getattr`, `__import__`, `importlib` and plain assignments, and strings through what they are joined from. What
cannot be followed within one file is left to `probes/disguise.py`.
"""

import ast
import re
from collections.abc import Iterator

from detent.evidence.source.constant_folding import FoldedConstants
from detent.evidence.static_analysis.knows_tests_names import FAKE, GIVEN, NAME_OF

RUNNERS = ("pytest", "_pytest", "unittest", "nose", "nose2", "pluggy", "xdist", "hypothesis", "testtools", "ward", "behave")
STACK = frozenset(
    {"sys._getframe", "sys._getframemodulename", "sys._current_frames", "sys.call_tracing", "inspect.stack", "inspect.currentframe",
     "inspect.getouterframes", "inspect.getinnerframes", "inspect.getframeinfo", "inspect.trace", "traceback.extract_stack", "traceback.walk_stack",
     "traceback.format_stack", "traceback.print_stack", "gc.get_referrers", "gc.get_objects", "ctypes.pythonapi", "faulthandler.dump_traceback"}
)  # fmt: skip
SOURCE = frozenset(
    {"inspect.getsource", "inspect.getsourcelines", "inspect.getsourcefile", "inspect.findsource", "inspect.getcomments", "linecache.getline",
     "linecache.getlines", "linecache.cache", "linecache.updatecache", "importlib.util.source_hash"}
)  # fmt: skip
WATCH = frozenset(
    {"sys.settrace", "sys.setprofile", "sys.gettrace", "sys.getprofile", "threading.settrace", "threading.setprofile", "sys.monitoring",
     "sys.orig_argv", "sys.meta_path", "sys.path_hooks", "os._exit", "os.abort", "atexit.register", "os.getppid", "sys.addaudithook",
     "sys.unraisablehook", "warnings.filters", "gc.callbacks"}
)  # fmt: skip
FIELDS = {
    **dict.fromkeys(("f_back", "f_code", "f_locals", "f_globals", "f_lineno", "tb_frame", "gi_frame", "cr_frame", "_getframe", "findCaller"), "the stack"),
    **dict.fromkeys(("co_filename", "co_firstlineno", "co_code", "co_consts", "get_source"), "source files"),
    **dict.fromkeys(("runtest", "addFailure", "addError", "addSuccess", "_callTestMethod", "pytest_runtest_call", "pytest_runtest_makereport",
                     "pytest_pyfunc_call", "pytest_assertrepr_compare", "AssertionRewritingHook"), "the test runner"),
    **dict.fromkeys(("settrace", "setprofile", "gettrace", "_exit"), "the test runner"),
    **dict.fromkeys(("assert_called", "assert_called_once", "assert_called_with", "assert_called_once_with", "assert_not_called", "assert_has_calls",
                     "mock_calls", "method_calls", "call_args_list", "_mock_name", "_mock_methods", "_mock_return_value", "mock_add_spec"), GIVEN),
}  # fmt: skip
ENVIRONMENT = re.compile(
    r"\b(?:PYTEST_\w+|_?PYTEST_RAISE|TOX_ENV_NAME|NOSE_\w+|VITEST\w*|JEST_WORKER_ID|COVERAGE_PROCESS_START|COV_CORE_\w+|DETENT_\w+)\b"
)
TEST_FILE = re.compile(
    r"(?:^|/)tests?/|(?:^|/)test_[\w*]*\.py$|\w_test\.py$|(?:^|[/.])conftest(?:\.py)?$|^\*\*?/?\*?\.py$|^/proc/(?:self|\d+|\{)|\.(?:test|spec)\.[cm]?[jt]sx?$"
)
NAME_OF_TEST = re.compile(r"(?:.*\.)?(?:tests|conftest|test_\w+)(?:\..*)?|test\..+")  # not `setuptools.command.test`
NOW = frozenset(
    {"time.time", "time.time_ns", "time.localtime", "time.gmtime", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
     "datetime.date.today", "time.strftime", "time.ctime"}
)  # fmt: skip
AGE = frozenset(
    {"time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns", "time.process_time", "time.thread_time"}
)
DATES = frozenset({"datetime.datetime", "datetime.date", "datetime.datetime.fromisoformat", "datetime.date.fromisoformat", "datetime.datetime.strptime",
                   "datetime.datetime.fromtimestamp", "time.mktime", "calendar.timegm"})  # fmt: skip
LONG_AGO = 100_000_000  # seconds; a larger number is a date
CI = frozenset(
    {"CI", "CONTINUOUS_INTEGRATION", "GITHUB_ACTIONS", "GITLAB_CI", "TRAVIS", "CIRCLECI", "BUILDKITE", "TF_BUILD"}
)  # environments in which only tests run
TOOLS = frozenset({"coverage", "doctest", "freezegun", "mock", "tox", "nox", "time_machine", "faker"})  # modules loaded during tests
WHERE = frozenset({"os.path.exists", "os.path.isdir", "os.path.isfile", "os.path.lexists", "os.path.join", "os.listdir", "os.scandir", "os.walk", "os.access",
                   "os.stat", "pathlib.Path", "pathlib.PurePath"})  # fmt: skip
MACHINE = frozenset(
    {"os.getpid", "resource.getrlimit", "socket.gethostname", "socket.getfqdn", "platform.node", "os.getlogin", "os.getcwd", "gc.get_count", "gc.isenabled",
     "gc.get_stats", "sys.getrecursionlimit", "threading.active_count"}
)  # fmt: skip
BEGINS = frozenset({"startswith", "endswith", "find", "count", "is_relative_to", "relative_to", "match", "search", "fullmatch"})
TEMPORARY = frozenset({"tempfile.gettempdir", "tempfile.gettempdirb", "tempfile.tempdir"})
BELOW = re.compile(r"/(?:tmp|var/folders)(?:/.*)?|.*\bpytest-.*")  # where tests keep their files
OWN = re.compile(r"sys\.__(?:std\w+|\w+hook)__")  # the originals of what a runner replaces
SORT = frozenset({"__name__", "__qualname__", "__module__"})
HANDED = re.compile(rf".*{FAKE}|<locals>|tests?\b.*|test_.*|conftest")
INSIDE = frozenset({"joinpath", "glob", "rglob", "exists", "is_dir", "is_file"})
TESTS_LIE = re.compile(r"(?:.*/)?tests?(?:\.py)?")
BY_WORDS = re.compile(
    r"\bPYTEST_\w+|\b_getframe\w*|\bcurrentframe\b|\b(?:f_back|tb_frame|gi_frame|cr_frame)\b|\bsys\s*\.\s*modules\b|\binspect\.(?:stack|getsource\w*)|\bgetsource\w*"
    r"|^\s*(?:import|from)\s+_?(?:pytest|unittest)\b|\b(?:get|set)trace\b|\borig_argv\b|[\"']_?(?:pytest|unittest)[\"']"
)
READS = frozenset({"open", "read_text", "read_bytes", "getmtime", "stat", "getsize", "getctime", "open_code", "get_data", "FileIO"})
Hit = tuple[int, str]  # a line, and what it checks


def hits(text: str) -> list[Hit]:
    """The places in a file that check who is calling. A file that does not parse is searched by words, since a newer Python may run it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        rows = enumerate(text.split("\n"), 1)
        return [(n, f"the tests ({hit[0]})") for n, row in rows if not row.lstrip().startswith("#") and (hit := BY_WORDS.search(row))]
    found = _CodeFile(tree)
    return sorted({hit for node in ast.walk(tree) if node not in found.words for hit in found.at(node)})


class _CodeFile:
    """One file with its names resolved."""

    def __init__(self, tree: ast.Module) -> None:
        self.folded, self.names = FoldedConstants(tree), dict[str, str]()
        self.words = set[ast.AST]()  # docstrings and messages: strings without effect
        self.at_top = {t.id for s in tree.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    self.names |= {a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0] for a in names}
                case ast.ImportFrom(module=str() as module, names=names, level=0):
                    self.names |= {a.asname or a.name: f"{module}.{a.name}" for a in names}
                case ast.Expr(value=ast.Constant() as docstring):
                    self.words.add(docstring)
                case ast.Raise() | ast.Assert():
                    self.words |= {each for each in ast.walk(node) if isinstance(each, ast.Constant | ast.JoinedStr)}  # messages

    def dotted(self, node: ast.AST, deep: int = 0) -> str:
        """The full dotted name of an expression; empty if it has none."""
        match node:
            case _ if deep > 10:
                return ""
            case ast.Name(id=name):
                known = self.names.get(name, "")
                return known or (self.dotted(self.folded.named[name], deep + 1) if name in self.folded.named else name)
            case ast.Attribute(value=of, attr=name):
                return f"{self.dotted(of, deep + 1)}.{name}"
            case ast.Call(func=ast.Name(id="getattr"), args=[of, name, *_]):
                return f"{self.dotted(of, deep + 1)}.{self.folded.text(name)}"
            case ast.Call(func=func, args=[name, *_]) if self.dotted(func, deep + 1) in (
                "__import__",
                "importlib.import_module",
                "builtins.__import__",
            ):
                return self.folded.text(name)
            case ast.Subscript(value=of, slice=at):
                within = self.dotted(of, deep + 1).removesuffix(".__dict__")
                return self.folded.text(at) if within == "sys.modules" else f"{within}.{self.folded.text(at)}"
            case ast.Call(func=ast.Name(id="vars"), args=[of]):
                return self.dotted(of, deep + 1)
        return ""

    def at(self, node: ast.AST) -> Iterator[Hit]:
        """What a node checks."""
        line = node.iter.lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", 0)
        for what in (*self._named(node), *self._in_strings(node), *self._asked(node)):
            yield line, what

    def _named(self, node: ast.AST) -> Iterator[str]:
        """Checks recognised by names."""
        match node:
            case ast.Import(names=names):
                yield from (f"the test runner ({a.name})" for a in names if a.name.partition(".")[0] in RUNNERS)
                yield from (f"the tests ({a.name})" for a in names if NAME_OF_TEST.fullmatch(a.name) and a.name.partition(".")[0] != "test")
                yield from ("the program that was started (__main__)" for a in names if a.name == "__main__")
            case ast.ImportFrom(module=module, names=names):
                full = [f"{module or ''}.{a.name}" for a in names]
                yield from (
                    f"the test runner ({module})" for _ in full[:1] if (module or "").partition(".")[0] in RUNNERS and not node.level
                )
                yield from (f"the tests ({module})" for _ in full[:1] if module and NAME_OF_TEST.fullmatch(module))
                yield from (what for name in full for what in _of(name))
            case ast.Attribute(attr=name) if name in FIELDS:
                yield f"{FIELDS[name]} ({name})"
            case ast.Attribute() | ast.Call() | ast.Subscript():
                yield from _of(self.dotted(node))
            case ast.FunctionDef(name=name) if name.startswith("pytest_"):
                yield f"the test runner ({name})"

    def _in_strings(self, node: ast.AST) -> Iterator[str]:
        """Checks recognised by strings, also if joined from pieces."""
        if not isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call | ast.Subscript):
            return
        text = self.folded.text(node)
        if not text or (isinstance(node, ast.Name)):
            return
        if found := ENVIRONMENT.search(text):
            yield f"the environment of tests ({found[0]})"
        if text.lower() in (*RUNNERS, "py.test", "__pytest_wrapped__"):
            yield f"{NAME_OF} ({text})"
        if len(text) < 200 and " " not in text and TEST_FILE.search(text):
            yield f"source files ({text})"
        words = FIELDS.keys() & set(re.findall(r"\w+", text))
        yield from (f"{FIELDS[word]} ({word})" for word in sorted(words))

    def _asked(self, node: ast.AST) -> Iterator[str]:
        """Checks recognised by what is compared or read."""
        yield from self._around(node)
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from self._clock([left, *others])
                sides = {self.dotted(each) for each in (left, *others)}
                yield from (f"the test runner ({name} compared)" for name in sides if OWN.fullmatch(name))
                if any(self._mentions(each, ("sys.argv",)) for each in (left, *others)) and any(
                    "test" in self.folded.text(e) for e in (left, *others)
                ):
                    yield "the program that was started (sys.argv)"
            case ast.Call(func=func, args=args) if self.dotted(func).rpartition(".")[2] in READS:
                of = func.value if isinstance(func, ast.Attribute) else None
                if any(self._is_own_file(each) for each in (*args[:2], *([of] if of else []))):
                    yield "source files (its own)"
            case ast.For(iter=of) | ast.comprehension(iter=of) if self.dotted(of) in ("sys.modules", "sys.modules.keys"):
                yield "which modules are loaded (sys.modules)"

    def _around(self, node: ast.AST) -> Iterator[str]:
        """Checks of the surroundings: where the file is installed, whether tests are beside it, whether this is CI."""
        match node:
            case ast.Compare(left=left, comparators=[of, *_]) if self.dotted(of).startswith(("os.environ", "sys.modules")):
                known = CI if self.dotted(of).startswith("os.environ") else TOOLS
                yield from self._known_word(known, left, "the environment of tests" if known is CI else "the test runner")
            case ast.Subscript(value=of, slice=at) if self.dotted(of) == "os.environ":
                yield from self._known_word(CI, at, "the environment of tests")
            case ast.Call(func=func, args=[first, *_]) if self.dotted(func) in ("os.getenv", "os.environ.get", "sys.modules.get"):
                known = TOOLS if self.dotted(func) == "sys.modules.get" else CI
                yield from self._known_word(known, first, "the environment of tests" if known is CI else "the test runner")
            case ast.Call(func=func, args=args) if self.dotted(func) in WHERE or (isinstance(func, ast.Attribute) and func.attr in INSIDE):
                yield from (f"source files ({text})" for each in args if TESTS_LIE.fullmatch(text := self.folded.text(each)))
            case ast.BinOp(op=ast.Div(), right=right) if TESTS_LIE.fullmatch(text := self.folded.text(right)):
                yield f"source files ({text})"
        yield from self._machine(node)
        yield from self._given(node)
        if isinstance(node, ast.Compare | ast.Call):
            words = [self.folded.text(each) for each in ast.walk(node) if isinstance(each, ast.Constant)]
            if any("site-packages" in each or "dist-packages" in each for each in words) and self._mentions(
                node, ("__file__", "__path__", "__spec__")
            ):
                yield "where it is installed (site-packages)"

    def _machine(self, node: ast.AST) -> Iterator[str]:
        """Properties of the machine compared with a literal."""
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.Call(func=ast.Attribute(value=of, attr=name), args=[first, *_]) if name in BEGINS:
                sides = [of, first]
            case _:
                return
        written = any(isinstance(each, ast.Constant) and each.value is not None for each in sides)
        calls = {self.dotted(each.func) for side in sides for each in ast.walk(side) if isinstance(each, ast.Call)} if written else set()
        yield from (f"the machine it runs on ({name})" for name in sorted(calls & MACHINE))

    def _given(self, node: ast.AST) -> Iterator[str]:
        """Checks whether an argument comes from tests: by its type or its path."""
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.Call(func=ast.Attribute(value=of, attr=name), args=args) if name in BEGINS:
                sides = [of, *args]
            case _:
                return
        within = [each for side in sides for each in ast.walk(self._named_as(side))]
        asked = {each.attr for each in within if isinstance(each, ast.Attribute)}
        texts = [text for side in sides if (text := self.folded.text(side))]
        if asked & SORT:
            yield from (f"{GIVEN} ({text})" for text in texts if HANDED.match(text))
        below = [text for text in texts if BELOW.fullmatch(text)] if any(not self.folded.text(side) for side in sides) else []
        temporary = sorted({self.dotted(each.func) if isinstance(each, ast.Call) else self.dotted(each) for each in within} & TEMPORARY)
        yield from (f"the machine it runs on ({text})" for text in (*temporary, *below))

    def _named_as(self, node: ast.expr) -> ast.expr:
        """The expression assigned to a name, if known."""
        return self.folded.named.get(node.id, node) if isinstance(node, ast.Name) else node

    def _known_word(self, known: frozenset[str], node: ast.expr, what: str) -> Iterator[str]:
        if (text := self.folded.text(node)) in known:
            yield f"{what} ({text})"

    def _is_own_file(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id="__file__" | "__cached__"):
                return True
            case ast.Attribute(attr="__file__" | "__cached__" | "origin"):
                return True
            case ast.Call(func=func, args=args):
                below = (
                    args if not isinstance(func, ast.Attribute) or func.attr in ("Path", "realpath", "abspath", "fspath") else [func.value]
                )
                fits = self.dotted(func).rpartition(".")[2] in (
                    "Path",
                    "PurePath",
                    "realpath",
                    "abspath",
                    "fspath",
                    "resolve",
                    "absolute",
                    "open",
                    "str",
                )
                return fits and any(self._is_own_file(each) for each in below)
            case ast.Name(id=name) if name in self.folded.named:
                return self._is_own_file(self.folded.named[name])
        return False

    def _mentions(self, node: ast.AST, names: tuple[str, ...]) -> bool:
        return any(self.dotted(each).startswith(names) for each in ast.walk(node) if isinstance(each, ast.Attribute | ast.Name))

    def _clock(self, sides: list[ast.expr]) -> Iterator[str]:
        """Comparisons of the current date with a fixed one, or of the process's age with a number."""
        clocks = [self._clocks_in(side) for side in sides]
        for i, found in enumerate(clocks):
            others = [side for j, side in enumerate(sides) if j != i]
            if found & NOW and any(self._is_date(other) for other in others):
                yield "the clock (compared with a fixed date)"
            side, fixed = sides[i], any(self._number(other) is not None for other in others)
            if found & NOW and isinstance(side, ast.Attribute) and side.attr == "year" and fixed:
                yield "the clock (compared with a fixed year)"
            if found & AGE and self._is_age(side) and fixed:
                yield "the clock (how long the program runs)"

    def _clocks_in(self, side: ast.expr) -> set[str]:
        named = [self.folded.named[n.id] for n in ast.walk(side) if isinstance(n, ast.Name) and n.id in self.folded.named]
        calls = [n for of in (side, *named) for n in ast.walk(of) if isinstance(n, ast.Call)]
        return {self.dotted(call.func).replace("dt.", "datetime.") for call in calls} & (NOW | AGE)

    def _number(self, node: ast.expr) -> int | float | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        found = self.folded.value(node)
        return found if isinstance(found, int) else None

    def _is_date(self, node: ast.expr) -> bool:
        number = self._number(node)
        if number is not None:
            return number > LONG_AGO
        text = self.folded.text(node)
        if re.match(r"20\d\d-?\d\d", text):
            return True
        if isinstance(node, ast.Name) and node.id in self.folded.named:
            return self._is_date(self.folded.named[node.id])
        if isinstance(node, ast.Call) and self.dotted(node.func) in DATES:
            return any(self._number(arg) is not None or self.folded.text(arg) for arg in node.args) and not self._clocks_in(node)
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and self._is_date(node.func.value)

    def _is_age(self, side: ast.expr) -> bool:
        """Whether it is the clock itself or the time since import, and not how long a function took."""
        match side:
            case ast.Call():
                return True
            case ast.BinOp(op=ast.Sub(), right=ast.Name(id=name)):
                return name in self.at_top
        return False


def _of(name: str) -> Iterator[str]:
    """What a full name checks."""
    plain = name.removeprefix("builtins.")
    for names, what in ((STACK, "the stack"), (SOURCE, "source files"), (WATCH, "the test runner")):
        if plain in names:
            yield f"{what} ({plain})"
    if plain.partition(".")[0] in RUNNERS and "." in plain and not plain.startswith("unittest.mock"):
        yield f"the test runner ({plain.partition('.')[0]})"
