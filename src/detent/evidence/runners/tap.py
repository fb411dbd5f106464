"""TAP, versions 12 to 14, as bats, node-tap, ava and prove write it: the test points, one by one, with their subtests.

It comes from a process that ran the project's code: a report that is cut, bails out or contradicts its own plan is CannotTell.
"""

import re
from typing import NamedTuple

from detent.errors import CannotTell
from detent.evidence.report import Outcome

POINT = re.compile(
    r"(?P<word>not ok|ok)\b(?:\s+\d+)?(?:\s+-)?\s*(?P<says>.*?)(?:\s#\s*(?P<directive>(?i:skip|todo))\S*\s*(?P<excuse>.*))?(?P<opens>\s*\{)?$"
)
PLAN = re.compile(r"1\.\.(\d+)(?:\s*#.*)?$")
TIMED = re.compile(r"\s*#\s*(?:time=|in )([\d.]+)\s*(ms|s(?:ec)?)?$")
STEP = 4  # spaces of indent per subtest


class TapPoint(NamedTuple):
    """One test point without subtests, or one that failed although none of its subtests did."""

    names: tuple[str, ...]  # of the enclosing subtests, outermost first, and its own
    outcome: Outcome
    details: str = ""  # the lines below it
    seconds: float = 0.0


class _Level:
    """The points of one depth, until the point that contains them ends."""

    def __init__(self) -> None:
        self.points: list[TapPoint] = []
        self.seen = 0
        self.plan: int | None = None

    def closed(self) -> list[TapPoint]:
        more = self.seen - (self.plan or 0)
        only_failures = self.plan is not None and 0 < more <= self.seen and all(point.outcome == "failed" for point in self.points[-more:])
        if self.plan != self.seen and not only_failures:  # ava reports a crashed process in addition to its plan
            planned = "has no plan" if self.plan is None else f"plans {self.plan} tests"
            raise CannotTell(f"the test report is incomplete: it {planned}, and has {self.seen}")
        if only_failures and len(self.points) == self.seen and any(point.outcome == "failed" for point in self.points[:-more]):
            return self.points[:-more]  # the process failed because its tests did
        return self.points


class _Points:
    """Reads line by line: deeper points belong to the next point, or to the one that opened a brace."""

    def __init__(self) -> None:
        self.levels = [_Level()]
        self.opened: dict[int, TapPoint] = {}
        self.inside = ""  # the line that ends the open YAML block
        self.titled: bool | None = None  # whether the report has title lines, as tape writes them; decided before the first point
        self.title = ""

    def line(self, text: str) -> None:
        plain = text.strip()
        depth, odd = divmod(len(text) - len(text.lstrip(" ")), STEP)
        if self.inside or (odd == 2 and plain == "---"):
            self.inside = "" if plain == "..." else "..."
            self._say("" if plain in ("---", "...") else text)
        elif plain.startswith("Bail out!"):
            raise CannotTell(f"the tests bailed out: {plain[:200]}")
        elif odd == 0 and (plan := PLAN.match(plain)):
            self._at(depth).plan = int(plan[1])
        elif odd == 0 and (found := POINT.match(plain)):
            self._point(depth, found)
        elif odd == 0 and plain == "}" and depth in self.opened:
            self._add(depth, self.opened.pop(depth))
        elif plain.startswith("#") and not plain.startswith("# Subtest"):
            self.titled = self.titled is not False and (self.titled or not odd + depth)
            if self.titled and not odd + depth:
                self.title = plain.lstrip("# ")
            else:
                self._say(plain.lstrip("# "))

    def _at(self, depth: int) -> _Level:
        while len(self.levels) <= depth:
            self.levels.append(_Level())
        return self.levels[depth]

    def _point(self, depth: int, found: re.Match[str]) -> None:
        says, seconds = found["says"].strip(), 0.0
        if timed := TIMED.search(says):
            says, seconds = says[: timed.start()], float(timed[1]) / (1 if (timed[2] or "ms")[0] == "s" else 1000)
        outcome: Outcome = "skipped" if found["directive"] else "failed" if found["word"] == "not ok" else "passed"
        self.titled = bool(self.titled)
        name = says.replace("\\#", "#") or "(no name)"
        above = (self.title,) if self.title and not depth and self.title != name else ()
        point = TapPoint((*above, name), outcome, found["excuse"] or "", seconds)
        if found["opens"]:
            self.opened[depth] = point
        else:
            self._add(depth, point)

    def _add(self, depth: int, point: TapPoint) -> None:
        level = self._at(depth)
        level.seen += 1
        deeper, self.levels[depth + 1 :] = self.levels[depth + 1 :], []
        below = [each for inner in deeper for each in inner.closed()]
        level.points += [each._replace(names=(*point.names, *each.names)) for each in below]
        if not below or (point.outcome == "failed" and not any(each.outcome == "failed" for each in below)):
            level.points.append(point)

    def _say(self, text: str) -> None:
        level = self.levels[-1]
        if level.points:
            level.points[-1] = level.points[-1]._replace(details=f"{level.points[-1].details}\n{text}".strip("\n"))


def points_before_end(report: bytes) -> list[TapPoint]:
    """The tests of a report that was cut, those that ended."""
    points = _Points()
    for line in report.decode("utf-8", "replace").splitlines():
        points.line(line)
    return points.levels[0].points


def read_points(report: bytes) -> list[TapPoint]:
    """Every test of a report, in order."""
    points = _Points()
    for line in report.decode("utf-8", "replace").splitlines():
        points.line(line)
    if len(points.levels) > 1 or points.opened or points.inside:
        raise CannotTell("the test report is incomplete: it ends inside a test")
    return points.levels[0].closed()
