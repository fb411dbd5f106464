"""Runs PHPUnit. A file that cannot be loaded ends its whole run, so then each file is run separately.

A separate program, started in the sandbox; it decides nothing.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from detent.evidence.runners.php.phpunit_report import NONE, PhpunitCall, PhpunitReport
from detent.evidence.runners.wrapper import RunOrder, ordered, start, write

NOT_OURS = ("vendor", "node_modules")
WHOLE = re.compile(r"</testsuites>\s*\Z")


def main() -> int:
    report, order = ordered()
    if os.path.islink("vendor") and os.path.isdir("vendor/composer"):
        sys.exit('vendor is a link, so composer would load the code of another checkout; set [workspace] setup = "composer install"')
    runs = [ran for path in order.paths or [""] for ran in attempts(order, path)]
    code = max((2 if each.file else each.code for each in runs), default=0)
    write(report, PhpunitReport(code, str(Path.cwd()), runs))
    sys.stdout.write("\n".join(each.output for each in runs))
    return code


def attempts(order: RunOrder, path: str) -> list[PhpunitCall]:
    """The tests of a path; if that leaves no log, those of each file below it."""
    whole = attempt(order, path)
    if whole.log:
        return [whole]
    if path.endswith(".php"):
        return (
            [PhpunitCall(whole.code, whole.output, file=path)]
            if not NONE.search(whole.output) or "could not be found" in whole.output
            else []
        )
    files = sorted(file for file in files_below(path or ".") if file.endswith("Test.php"))
    return [each for file in files for each in attempts(order, file)]


def attempt(order: RunOrder, path: str) -> PhpunitCall:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.xml"
        ours = ["--log-junit", str(log), "--colors=never", "--no-interaction", "--do-not-cache-result"]
        done = start([*order.program, *order.options, *ours, *([path] if path else [])])
        text = log.read_text("utf-8", "replace") if log.exists() else ""
    return PhpunitCall(done.code, done.stdout + done.stderr, text if WHOLE.search(text) else "")


def files_below(path: str) -> list[str]:
    found = []
    for here, folders, files in os.walk(path):
        folders[:] = [name for name in folders if name not in NOT_OURS and not name.startswith(".")]
        found += [os.path.normpath(os.path.join(here, name)) for name in files]
    return found


if __name__ == "__main__":
    sys.exit(main())
