"""Ordinary changes to CI, pre-commit and tox files: other versions of the same tools, more to test with or to run, other push triggers.

Pure: texts in, an answer out.
"""

import re

from detent.evidence.changes.judging_parts import judging_part
from detent.evidence.changes.stricter_ci import only_more_runs

TOOL = re.compile(r"(\buses:\s*[\w./-]+@|\brev:\s*[\"']?)(?:v?\d[\w.+-]*[\"']?|[0-9a-f]{40}\s+)(?:\s*#.*)?$")  # @v4, @SHA # v4, rev: v1.2
RUNTIME = r"(?:py(?:py|thon)?|pypy|graalpy|node|go|ruby|php|jruby)?-?v?\d+(?:\.\d+)*(?:\.x|t|-dev)?"
TESTED = re.compile(
    r"""((?:^|[\s{,"'])(?:(?:python|node|go|ruby|php|java|rust|dotnet|deno|bun|tox|env)(?:[-_]?(?:version|env|list))?s?|name)["']?\s*[:=](?!=)\s*)(\[[^\]\n]*\]|"[^"\n]*"|'[^'\n]*'|[^\s,#{}\[\]"']+(?:,[^\s,#{}\[\]"']+)*)"""
)  # the versions in a CI matrix, or a list of environments
ALONE = re.compile(rf"""^(\s*(?:-\s+)?)((?:["']?{RUNTIME}["']?,?\s*)+)$""")
BY_HAND = re.compile(r"^\s+-?\s*workflow_dispatch:?\s*$|(?<=\w)\s*,\s*workflow_dispatch(?=\s*[\],])")  # the trigger by hand
STARTS = re.compile(r"^[\"']?on[\"']?:[ \t]*([^\n]*)\n((?:[ \t]+[^\n]*\n|-[^\n]*\n|[ \t]*\n|#[^\n]*\n)*)", re.MULTILINE)  # the triggers
ITEM = re.compile(rf"""(?<![\w.-]){RUNTIME}(?![\w.-])""")


def runs_no_less(path: str, before: str, after: str) -> bool:
    """Whether a CI, pre-commit or tox file still runs all that it ran: only versions of tools it already used differ, or there is more to run.

    Also true if a workflow changed only which pushes start it, as long as every pull request still does.
    """
    if not before or not after or not path.endswith((".yml", ".yaml", "tox.ini")):
        return False
    if path.startswith(".github/workflows/"):
        before, after = map(_without_pushes, (before, after))
    sides = [_lines(judging_part(path, text).replace("\\n", ",") if path.endswith(".ini") else text) for text in (before, after)]
    if sides[0] == sides[1]:
        return True
    was, now = ([_without_tested(line) for line in side] for side in sides)
    tested = [frozenset(item for line in side for item in _tested(line)) for side in sides]
    if set(was) == set(now) and tested[0] <= tested[1] and _in_turn(was) == _in_turn(now):
        return True
    return only_more_runs(path, *("\n".join(side) for side in sides))


def _without_pushes(text: str) -> str:
    """A workflow without its push triggers, if every pull request starts it: no pull request is judged less then."""
    found = STARTS.search(text)
    if found is None or "{" in found[1]:
        return text
    triggers = _triggers(found[1], found[2])
    if triggers.get("pull_request", "x") or "push" not in triggers:
        return text
    others = sorted(f"  {name}:{below}" for name, below in triggers.items() if name != "push")
    return "\n".join([text[: found.start()], "on:", *others, text[found.end() :]])


def _triggers(line: str, block: str) -> dict[str, str]:
    """The triggers of a workflow, each with its conditions."""
    triggers = dict.fromkeys(re.findall(r"[\w]+", line.partition("#")[0]), "")
    last, deep = "", ""
    for each in [each for each in block.splitlines() if each.strip() and not each.lstrip().startswith("#")]:
        lead = each[: len(each) - len(each.lstrip())]
        deep = deep or lead
        name, _, rest = each.strip().partition(":")
        if lead == deep:
            last, triggers[name.lstrip("- ")] = name.lstrip("- "), rest.strip()
        elif last:
            triggers[last] += f"\n{each.rstrip()}"
    return triggers


def _lines(text: str) -> list[str]:
    lines = [BY_HAND.sub("", TOOL.sub(r"\1", line)).rstrip() for line in text.splitlines()]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _tested(line: str) -> list[str]:
    """The versions to test with that a line names."""
    alone = ALONE.match(line)
    return ITEM.findall(alone[2]) if alone else [item for found in TESTED.finditer(line) for item in ITEM.findall(found[2])]


def _without_tested(line: str) -> str:
    """A line with its versions replaced by a single placeholder."""
    if alone := ALONE.match(line):
        return alone[1].strip()
    bare = TESTED.sub(lambda found: found[1] + _listed(found[2]), line)
    return " ".join(bare.split())


def _listed(text: str) -> str:
    parts = ["?" if ITEM.fullmatch(part.strip("[]\"' ")) else part.strip("[]\"' ") for part in text.split(",")]
    return ",".join(part for n, part in enumerate(parts) if part != "?" or "?" not in parts[:n])


def _in_turn(lines: list[str]) -> list[str]:
    """The lines without consecutive duplicates."""
    return [line for n, line in enumerate(lines) if n == 0 or line != lines[n - 1]]
