"""Workflows of GitHub and hooks of pre-commit that only became more: a further job, combination or hook. Pure.

What else a file says must stay as it was: a step, a condition, which jobs a job waits for. Versions of actions and hooks are left out by the caller.
"""

import json
import re
from collections.abc import Callable

from detent.evidence.changes.stricter_commands import stricter_lines
from detent.evidence.changes.stricter_values import Value

JOB = frozenset({"name", "runs-on", "strategy", "steps", "needs", "if", "timeout-minutes", "env", "services", "defaults", "container"})
AROUND = re.compile(
    r"secrets\.|github\.token|GITHUB_TOKEN|GH_TOKEN|\bgit\s+(?:push|commit|tag)|\bgh\s|\bcurl\b|\bwget\b|self-hosted|/artifact|-artifact@|/cache(?:@|/)"
)  # what reaches past a job
SPEED = ("fail-fast", "max-parallel")  # of a matrix: when its jobs run, not what they run
ALIAS = re.compile(r"[:,\[-]\s+[&*]\w")  # is not followed
FROM_ELSEWHERE = re.compile(r"https://\S+")


def only_more_runs(path: str, before: str, after: str) -> bool:
    """Whether a workflow or a pre-commit file runs all that it ran before, and more."""
    rule = _more_jobs if path.startswith(".github/workflows/") else _more_hooks if ".pre-commit-config.y" in path else None
    if rule is None or ALIAS.search(before) or ALIAS.search(after):
        return False
    import yaml  # few changes touch such a file

    try:
        was, now = (yaml.safe_load(text) for text in (before, after))
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    return isinstance(was, dict) and isinstance(now, dict) and rule(was, now)


def _others_equal(was: dict[str, Value], now: dict[str, Value], *changed: str) -> bool:
    return {key: value for key, value in was.items() if key not in changed} == {
        key: value for key, value in now.items() if key not in changed
    }


def _paired(was: Value, now: Value, same: Callable[[Value, Value], bool]) -> bool:
    """Whether two lists have the same items, in the same order, by `same`."""
    return isinstance(was, list) and isinstance(now, list) and len(was) == len(now) and all(map(same, was, now))


def _more_jobs(was: dict[str, Value], now: dict[str, Value]) -> bool:
    old, new = was.get("jobs"), now.get("jobs")
    if not (isinstance(old, dict) and isinstance(new, dict) and _others_equal(was, now, "jobs") and set(old) <= set(new)):
        return False
    shown = {str(each.get("name", key)) for key, each in old.items() if isinstance(each, dict)} | set(old)
    actions = set(re.findall(r'"uses": "([^"@]+)', json.dumps(old, default=str)))
    return all(_more_of_job(job, new[key]) for key, job in old.items()) and all(
        _stands_alone(job, actions) and not {key, str(job.get("name", key))} & shown for key, job in new.items() if key not in old
    )


def _more_of_job(was: Value, now: Value) -> bool:
    if was == now:
        return True
    if not (isinstance(was, dict) and isinstance(now, dict) and _others_equal(was, now, "strategy", "steps")):
        return False
    steps = was.get("steps") == now.get("steps") or _paired(was.get("steps"), now.get("steps"), _stricter_step)
    return steps and _more_of_strategy(was.get("strategy"), now.get("strategy"))


def _stricter_step(was: Value, now: Value) -> bool:
    if was == now:
        return True
    if not (isinstance(was, dict) and isinstance(now, dict) and _others_equal(was, now, "run")):
        return False
    runs = [each.get("run") for each in (was, now)]
    lines = [str(run).splitlines() for run in runs]
    return all(isinstance(run, str) and "\\\n" not in run for run in runs) and stricter_lines(lines[0], lines[1])


def _more_of_strategy(was: Value, now: Value) -> bool:
    if was == now:
        return True
    if not (isinstance(was, dict) and isinstance(now, dict) and _others_equal(was, now, "matrix", *SPEED)):
        return False
    old, new = was.get("matrix"), now.get("matrix")
    return old == new or (isinstance(old, dict) and isinstance(new, dict) and _more_combinations(old, new))


def _more_combinations(was: dict[str, Value], now: dict[str, Value]) -> bool:
    """Whether a matrix has all the combinations that it had. A row of `include` that fits an older one would change that one."""
    axes = {key for key in was if key not in ("include", "exclude")}
    if axes != {key for key in now if key not in ("include", "exclude")}:
        return False
    sides = [{key: each.get(key, []) for key in (*axes, "include", "exclude")} for each in (was, now)]
    if not all(isinstance(value, list) for side in sides for value in side.values()):
        return False
    lists = [
        {key: [json.dumps(item, default=str) for item in value] for key, value in side.items() if isinstance(value, list)} for side in sides
    ]
    if not all(set(lists[0][key]) <= set(lists[1][key]) for key in (*axes, "include")) or not set(lists[1]["exclude"]) <= set(
        lists[0]["exclude"]
    ):
        return False
    loaded = [json.loads(row) for row in lists[1]["include"] if row not in lists[0]["include"]]
    return all(
        isinstance(row, dict) and (not axes or any(key in row and json.dumps(row[key], default=str) not in lists[1][key] for key in axes))
        for row in loaded
    )


def _stands_alone(job: Value, actions: set[str]) -> bool:
    """Whether a new job cannot touch what the others do: no rights, no secrets, no actions of people whose actions were not used before."""
    if not isinstance(job, dict) or not set(job) <= JOB or not isinstance(job.get("steps"), list):
        return False
    text = json.dumps(job, default=str)
    used = re.findall(r'"uses": "([^"@]+)', text)
    return AROUND.search(text) is None and all(each in actions or each.startswith("actions/") for each in used)


def _more_hooks(was: dict[str, Value], now: dict[str, Value]) -> bool:
    """Whether all hooks of before are there, with the same settings. A program of the project's own as a new hook is asked about."""
    old, new = (_hooks(each) for each in (was, now))
    if old is None or new is None or not _others_equal(was, now, "repos"):
        return False
    added = [hook for hook in new if hook not in old]
    known = {hook[0] for hook in old}
    kept = [hook for hook in new if hook in old] == old
    return kept and all((where in known and where != "local") or FROM_ELSEWHERE.fullmatch(where) or where == "meta" for where, _ in added)


def _hooks(settings: dict[str, Value]) -> list[tuple[str, str]] | None:
    """The hooks, each with its repository; None if they cannot be read. Packages beside a hook may change freely."""
    repos, found = settings.get("repos"), list[tuple[str, str]]()
    for repo in repos if isinstance(repos, list) else [None]:
        hooks = repo.get("hooks") if isinstance(repo, dict) else None
        if not isinstance(repo, dict) or not isinstance(hooks, list) or not set(repo) <= {"repo", "rev", "hooks"}:
            return None
        for hook in hooks:
            if not isinstance(hook, dict):
                return None
            kept = {key: value for key, value in hook.items() if key not in ("additional_dependencies", "name")} | {"rev": repo.get("rev")}
            found.append((str(repo.get("repo")), json.dumps(kept, sort_keys=True, default=str)))
    return found
