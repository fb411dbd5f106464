"""Sessions of nox that only became stricter: a further session, a further version of Python, a stricter call. Pure."""

import ast
import re

from detent.evidence.changes.stricter_commands import RUNS, is_check, stricter_call

SESSION = re.compile(r"(?:nox\.)?session(?:\(.*\))?")
VERSIONS = re.compile(r"(?i)\w*(?:python|version)s?\w*")


def more_sessions(before: str, after: str) -> bool:
    """Whether a noxfile runs all that it ran before, at least as strictly. Any other code that changed may run less."""
    try:
        old, new = ast.parse(before).body, ast.parse(after).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    named = {node.id for each in old for node in ast.walk(each) if isinstance(node, ast.Name)} | {
        each.name for each in old if isinstance(each, ast.FunctionDef)
    }
    kept = 0
    for each in new:
        if kept < len(old) and _same(old[kept], each):
            kept += 1
        elif not (isinstance(each, ast.FunctionDef) and each.name not in named and _is_session(each)):
            return False
    return bool(old) and kept == len(old)


def _same(was: ast.stmt, now: ast.stmt) -> bool:
    if ast.dump(was) == ast.dump(now):
        return True
    if isinstance(was, ast.Assign) and isinstance(now, ast.Assign) and ast.dump(was.targets[0]) == ast.dump(now.targets[0]):
        name = ast.unparse(was.targets[0])
        return (name == "nox.options.sessions" or VERSIONS.fullmatch(name) is not None) and _more_items(was.value, now.value)
    if not (isinstance(was, ast.FunctionDef) and isinstance(now, ast.FunctionDef)):
        return False
    alike = (was.name, ast.dump(was.args), len(was.decorator_list)) == (now.name, ast.dump(now.args), len(now.decorator_list))
    return alike and all(map(_same_decorator, was.decorator_list, now.decorator_list)) and _same_steps(was.body, now.body)


def _same_decorator(was: ast.expr, now: ast.expr) -> bool:
    if ast.dump(was) == ast.dump(now):
        return True
    if not (isinstance(was, ast.Call) and isinstance(now, ast.Call) and ast.dump(was.func) == ast.dump(now.func)):
        return False
    sides = [{each.arg: each.value for each in call.keywords} for call in (was, now)]
    same = {key: ast.dump(value) for key, value in sides[0].items() if key != "python"} == {
        key: ast.dump(value) for key, value in sides[1].items() if key != "python"
    }
    return (
        same
        and list(map(ast.dump, was.args)) == list(map(ast.dump, now.args))
        and _more_items(sides[0].get("python"), sides[1].get("python"))
    )


def _more_items(was: ast.expr | None, now: ast.expr | None) -> bool:
    sides = [each.elts if isinstance(each, ast.List | ast.Tuple) else None for each in (was, now)]
    old, new = ({ast.dump(item) for item in side} if side is not None else None for side in sides)
    return old is not None and new is not None and old <= new


def _same_steps(was: list[ast.stmt], now: list[ast.stmt]) -> bool:
    """Whether the steps of a session are all there, in their order, with nothing but checks beside them."""
    kept = 0
    for each in now:
        calls = [_call(was[kept]) if kept < len(was) else "", _call(each)]
        if kept < len(was) and (ast.dump(was[kept]) == ast.dump(each) or (all(calls) and stricter_call(calls[0], calls[1]))):
            kept += 1
        elif not is_check(calls[1]):
            return False
    return kept == len(was)


def _call(step: ast.stmt) -> str:
    """The command of `session.run("…", …)`, of plain words only; empty for anything else."""
    call = step.value if isinstance(step, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "session.run" or call.keywords:
        return ""
    given = [each.value if isinstance(each, ast.Constant) else None for each in call.args]
    return " ".join(map(str, given)) if given and all(isinstance(each, str) and " " not in each for each in given) else ""


def _is_session(function: ast.FunctionDef) -> bool:
    """Whether a function is a session that only installs packages, and runs tests, checks or documents."""
    if len(function.decorator_list) != 1 or SESSION.fullmatch(ast.unparse(function.decorator_list[0])) is None:
        return False
    steps = [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    return bool(steps) and all(_only_installs(each) or is_check(_call(each)) or RUNS.fullmatch(_call(each)) for each in steps)


def _only_installs(step: ast.stmt) -> bool:
    call = step.value if isinstance(step, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and ast.unparse(call.func) == "session.install"
        and all(isinstance(each, ast.Constant) for each in call.args)
    )
