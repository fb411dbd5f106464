"""Exit codes, error messages and signals of every call. Knows no command, and imports no click.

0 accepted or done · 1 refused, failed, busy, stale · 2 usage, configuration, environment · 3 a bug in Detent · 10 a person is needed
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from detent.errors import Busy, DetentError


def run_call(argv: Sequence[str], work: Callable[[], int]) -> int:
    """Do the work of a call, report its errors, and return its exit code."""
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _stop)
    try:
        code = work()
        sys.stdout.flush()
        return code
    except DetentError as e:
        return report_error(argv, e.message, e.hint, 1 if isinstance(e, Busy) else 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as e:  # noqa: BLE001 - a bug has an exit code of its own
        from detent import installation
        from detent.app.away import parked_by

        if isinstance(e, ModuleNotFoundError) and (extra := installation.EXTRAS.get((e.name or "").partition(".")[0])):
            return report_error(
                argv, f"{e.name} is not installed, and this command needs it", f"install it: {installation.extra(extra)}", 2
            )
        if (away := parked_by(e)) is not None:  # such as a full disk, wherever it was hit
            return report_error(argv, away.message, "make room there, then run the command again", 2)
        import traceback

        traceback.print_exc()
        return report_error(argv, f"this is a bug in Detent: {type(e).__name__}: {e}", "please report it with the lines above", 3)


def _stop(number: int, frame: object) -> None:
    """Handle a signal by SystemExit, so that programs are stopped and locks released. A second signal kills at once."""
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)


@contextmanager
def before_stopping(tell: Callable[[], None]) -> Iterator[None]:
    """While this is open, call `tell` before the handler of a stopping signal, so that threads can end early."""
    old = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def stop(number: int, frame: FrameType | None) -> None:
        tell()
        handler = old[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    try:
        for number in old:
            signal.signal(number, stop)
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def report_error(argv: Sequence[str], message: str, hint: str, code: int) -> int:
    """Print an error and its hint, as JSON where that was asked for; returns the exit code."""
    from detent.app.plain_text import typed

    message, hint = typed(message), typed(hint)
    if "--json" in argv or "--events" in argv:
        import json

        print(json.dumps({"error": message, "hint": hint, "exit_code": code}))
    else:
        from detent.interfaces.cli.tell import fold

        lines = (f"detent: {message}", *(f"  {line}" for line in hint.splitlines()))
        print(*(fold(line, 2, sys.stderr) for line in lines), sep="\n", file=sys.stderr)
    return code
