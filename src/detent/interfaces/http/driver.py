"""A process that drives one run which a person started or released on the page, and ends where the run ends or waits. Knows no server.

It is started by the server and outlives it. What it is told goes into the journal and the run's running output, like that of any driver.
"""

import json
import sys
from pathlib import Path

from detent.errors import DetentError
from detent.interfaces.cli.ends import ended


def main(argv: list[str]) -> int:
    return ended(["--json"], lambda: _drive(argv[0]))


def _drive(run: str) -> int:
    from detent.app import now, open_app
    from detent.app.live import MARK, append, live_file
    from detent.app.push import fit_for_push, push

    app = open_app(Path.cwd())
    try:
        fit_for_push(app)
        push(app, run, lambda seen: None)
    except DetentError as e:
        row = {"kind": "failed", "at": now(), "run": run, "state": "", "role": "", "text": f"{e.message}. {e.hint}"}
        append(live_file(app, run), f"{MARK}{json.dumps(row)}\n")
        raise
    finally:
        app.journal.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
