"""Makes Python calls in the project's plain interpreter, without any test: here, or as if on another machine. Owns the program that makes them.

Code that recognises a judged run (by a low process id, an empty home, no terminal) returns something else there.
"""

import json
import re
import shlex

from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.plain_answers import EQUAL_TOO, CallResult, ask_program
from detent.evidence.running.collect import Collector
from detent.evidence.running.installed import python_behind

PREPARES = re.compile(
    r"\bautouse\b|os\.environ|sys\.path|pytest_configure|pytest_session|pytest_runtest|tzset|\bseed\(|DJANGO_SETTINGS|^env\s*=",
    re.MULTILINE,
)  # setup that may legitimately change results outside of tests
PROGRAM = """import ast, json
PLAIN = (bool, int, float, str, bytes)
def alike(one, other):
    one, other = (one.casefold(), other.casefold()) if isinstance(one, str) else (one, other)
    return one == other or isinstance(one, (str, bytes)) and (one.startswith(other) or other.startswith(one))
def others(wanted, every):
    near = [wanted + 1, wanted - 1] if type(wanted) in (int, float) else [not wanted] if type(wanted) is bool else []
    return [each for each in [*near, *every] if type(each) is type(wanted) and not alike(each, wanted)]
def equal_too(value, wanted, every):
    for other in others(wanted, every) if type(wanted) in PLAIN else []:
        try:
            if value == other:
                return other
        except Exception:
            pass
def ask(names, call, wanted, every):
    here = {{}}
    try:
        exec(names, here)
    except BaseException:
        return None
    try:
        value, wanted = eval(call, here), eval(wanted, here)
        right = bool(value == wanted)
        other = equal_too(value, wanted, every) if right else None
        return [right, repr(value)[:200]] if other is None else [False, {too!r} + repr(other)[:200]]
    except Exception as error:
        return [False, "raises " + type(error).__name__]
def literal(text):
    try:
        return ast.literal_eval(text)
    except Exception:
        return None
def ask_all():
    calls = json.loads({calls!r})
    every = [literal(wanted) for names, call, wanted in calls]
    print({mark!r} + json.dumps([ask(*each, every) for each in calls]))
import threading
worker = threading.Thread(target=ask_all, name="worker-3") if {away} else None
worker.start() if worker else ask_all()
"""
AWAY = """
def away():
    import gc, os, platform, socket, sys, tempfile
    sys.path[:] = [os.getcwd() if each == "" else each for each in sys.path]
    home, kernel = tempfile.mkdtemp(), os.uname()
    for name in (".bashrc", ".profile", ".gitconfig"):
        open(os.path.join(home, name), "w").close()
    os.environ.update(HOME=home, PWD=home, USER="web", LOGNAME="web", HOSTNAME="web-07", TERM="xterm-256color", SHELL="/bin/sh", SHLVL="2")
    os.chdir(home)
    os.getpid, os.getppid, os.getlogin = lambda: 48211, lambda: 48007, lambda: "web"
    os.isatty = lambda number: True
    socket.gethostname = socket.getfqdn = platform.node = lambda *given: "web-07"
    os.uname = lambda: os.uname_result((kernel[0], "web-07", *kernel[2:]))
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.isatty = lambda: True
    try:
        import resource
        resource.getrlimit = lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    except ImportError:
        pass
    gc.collect()
    gc.disable()
    sys.setrecursionlimit(5000)
try:
    away()
except Exception:
    pass
"""


def ask_python(
    context: ProbeContext, collector: Collector, calls: list[tuple[str, str, str]], mark: str, until: float, away: bool
) -> list[CallResult | None]:
    """The result of each call in the project's plain Python; empty if it cannot be run."""
    base, collector = collector.suite.base, collector.of(context.tree)
    python = python_behind(base, collector.home, collector.env) if base is not None and base.runner in ("pytest", "unittest") else None
    if python is None or _prepares(context):
        return []
    program = (AWAY if away else "") + PROGRAM.format(mark=mark, calls=json.dumps(calls), away=away, too=EQUAL_TOO)
    return ask_program(context, collector, f"{shlex.quote(str(python))} -c", program, mark, until)


def _prepares(context: ProbeContext) -> bool:
    """Whether the project has a setup that runs before its tests."""
    listed = context.paths()
    paths = [path for path in listed if path.endswith("conftest.py") or path in ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")]
    return PREPARES.search("\n".join(context.text(path) for path in paths)) is not None
