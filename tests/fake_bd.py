"""A stand-in for beads' program `bd`: the calls that Detent makes, with its output formats, statuses, exit codes and compare-and-swap.

Called as `python fake_bd.py ARGS`, in a folder with a `.beads` folder. Unknown calls are refused, as by the real one. Small files in
`.beads` change its behaviour: `shape` (raw, items or data: how it wraps lists), `no-sync` (a version without that command), `broken-sync`.
"""

import fcntl
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

HOME = Path(".beads")
STATUSES = ("open", "in_progress", "blocked", "deferred", "closed")
TYPES = ("bug", "feature", "task", "epic", "chore", "decision")
LINKS = ("blocks", "related", "parent-child", "discovered-from")
Issue = dict[str, Any]


def fail(said: str) -> NoReturn:
    print(f"Error: {said}", file=sys.stderr)
    sys.exit(1)


def parsed(argv: list[str]) -> tuple[list[str], dict[str, str]]:
    """Words and flags: --name=value, --name value, or a switch. After `--` everything is a word."""
    words: list[str] = []
    flags: dict[str, str] = {}
    takes = ("--actor", "--limit", "--status", "--type", "--priority", "--description", "--labels", "--external-ref", "--deps", "--reason",
             "--assignee", "--notes", "--title")  # fmt: skip
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return words + rest, flags
        if not word.startswith("-"):
            words.append(word)
            continue
        name, cut, value = word.partition("=")
        if name in takes:
            flags[name] = value if cut else rest.pop(0)
        elif name in ("--json", "--claim", "--all"):
            flags[name] = "true"
        else:
            fail(f"unknown flag: {name}")
    return words, flags


def load() -> list[Issue]:
    return [json.loads(line) for line in (HOME / "issues.jsonl").read_text().splitlines() if line.strip()]


def store(issues: list[Issue]) -> None:
    scratch = HOME / "issues.new"
    scratch.write_text("".join(json.dumps(issue) + "\n" for issue in issues))
    os.replace(scratch, HOME / "issues.jsonl")


def find(issues: list[Issue], id: str) -> Issue:
    found = next((issue for issue in issues if issue["id"] == id), None)
    return found if found is not None else fail(f'no issue found matching "{id}"')


def now() -> str:
    return datetime.now(UTC).isoformat()


def answer(value: Any) -> None:
    shape = (HOME / "shape").read_text().strip() if (HOME / "shape").exists() else "data"
    if shape == "data" and os.environ.get("BD_JSON_ENVELOPE") == "1":
        value = {"schema_version": 1, "data": value}
    elif shape == "items" and isinstance(value, list):
        value = {"schema_version": 1, "items": value}
    print(json.dumps(value))


def shown(issues: list[Issue], issue: Issue) -> Issue:
    """An issue as `show` prints it, with the other issue of each dependency in full."""
    links = issue.get("dependencies") or []
    return {**issue, "dependencies": [{**find(issues, d["depends_on_id"]), "dependency_type": d["type"]} for d in links]}


def leads(issues: list[Issue], start: str, end: str) -> bool:
    todo, seen = [start], set[str]()
    while todo:
        if (at := todo.pop()) == end:
            return True
        if at not in seen:
            seen.add(at)
            todo += [d["depends_on_id"] for d in find(issues, at).get("dependencies") or () if d["type"] == "blocks"]
    return False


def link(issues: list[Issue], issue: Issue, need: str, sort: str) -> None:
    if sort not in LINKS:
        fail(f"invalid dependency type: {sort}")
    find(issues, need)
    if sort == "blocks" and leads(issues, need, issue["id"]):
        fail("cannot add dependency: would create a cycle")
    issue.setdefault("dependencies", []).append({"issue_id": issue["id"], "depends_on_id": need, "type": sort, "created_at": now()})


def create(issues: list[Issue], words: list[str], flags: dict[str, str]) -> None:
    if len(words) != 1 or not words[0].strip():
        fail("title required")
    if flags.get("--type", "task") not in TYPES:
        fail(f"invalid issue type: {flags['--type']}")
    issue: Issue = {"id": f"bd-{len(issues) + 1:x}", "title": words[0], "description": flags.get("--description", ""), "status": "open"}
    issue |= {
        "priority": int(flags.get("--priority", "2")),
        "issue_type": flags.get("--type", "task"),
        "created_at": now(),
        "updated_at": now(),
    }
    issue |= {"labels": flags["--labels"].split(",")} if "--labels" in flags else {}
    issue |= {"external_ref": flags["--external-ref"]} if "--external-ref" in flags else {}
    issues.append(issue)
    for each in flags["--deps"].split(",") if "--deps" in flags else ():
        sort, _, need = each.rpartition(":")
        link(issues, issue, need, sort or "blocks")
    store(issues)
    answer(issue)


def update(issues: list[Issue], words: list[str], flags: dict[str, str]) -> None:
    issue = find(issues, words[0])
    if "--claim" in flags:
        actor = flags.get("--actor") or os.environ.get("USER", "someone")
        if issue.get("assignee"):
            fail(f"issue already claimed by {issue['assignee']}")
        issue |= {"assignee": actor, "status": "in_progress"}
    if flags.get("--status", "open") not in STATUSES:
        fail(f"invalid status: {flags['--status']}")
    names = {"--type": "issue_type", "--external-ref": "external_ref"}
    for flag in ("--status", "--assignee", "--notes", "--external-ref", "--title", "--description", "--type"):
        if flag in flags:
            issue[names.get(flag, flag[2:])] = flags[flag]
    issue["priority"] = int(flags.get("--priority") or issue["priority"])
    issue["updated_at"] = now()
    store(issues)
    answer([issue])


def sync(flags: dict[str, str]) -> None:
    if (HOME / "no-sync").exists():
        fail('unknown command "sync" for "bd"')
    if (HOME / "broken-sync").exists():
        fail("failed to push: the remote does not answer")
    with (HOME / "synced").open("a") as out:
        out.write("x")


def run(words: list[str], flags: dict[str, str]) -> None:
    issues, (name, *rest) = load(), words
    if name == "list":
        most = int(flags.get("--limit", "50")) or len(issues)
        answer([i for i in issues if "--all" in flags or i["status"] != "closed"][:most])
    elif name == "show":
        answer([shown(issues, find(issues, id)) for id in rest])
    elif name == "create":
        create(issues, rest, flags)
    elif name == "update":
        update(issues, rest, flags)
    elif name == "close":
        find(issues, rest[0]).update(status="closed", closed_at=now(), close_reason=flags.get("--reason", ""))
        store(issues)
        answer([find(issues, rest[0])])
    elif name == "label" and rest[0] == "add":
        find(issues, rest[1]).setdefault("labels", []).append(rest[2])
        store(issues)
        answer([])
    elif name == "label" and rest[0] == "remove":
        find(issues, rest[1])["labels"].remove(rest[2])
        store(issues)
        answer([])
    elif name == "dep" and rest[0] == "add":
        link(issues, find(issues, rest[1]), rest[2], flags.get("--type", "blocks"))
        store(issues)
        answer({"status": "added"})
    elif name == "sync":
        sync(flags)
    else:
        fail(f'unknown command "{name}" for "bd"')


def main() -> None:
    if not HOME.is_dir():
        fail("no beads database found; run 'bd init'")
    words, flags = parsed(sys.argv[1:])
    with (HOME / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(words, flags)


if __name__ == "__main__":
    main()
