"""Repeats the calls that tests make, without any test: in a plain Python or node, as they are, as if on another machine, and with other values.

Code that returns something else there checks who is calling; code with a single answer for all other values knows only the tests' examples.
"""

import ast
import json
import re
import shlex
from collections.abc import Callable
from posixpath import dirname, join, normpath

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.mutate.test_calls import TestCall, asked, others
from detent.evidence.mutate.test_calls_javascript import asked_in_javascript
from detent.evidence.outcomes.card import Trial
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.plain_answers import EQUAL_TOO, CallResult
from detent.evidence.probes.plain_node import ask_node
from detent.evidence.probes.plain_python import ask_python
from detent.evidence.running.collect import Collector
from detent.evidence.running.installed import python_behind
from detent.kernel.model import Flag

DRAWN = 8  # calls with other values, per function
MOST_MET = 2  # how many of them may hit a table entry by chance
MOST_SHOWN = 5
EFFECTS = re.compile(
    r"kill|terminat|signal|delete|remove|unlink|drop|send|post|write|save|exec|run|spawn|open|connect|exit|sleep|wait", re.IGNORECASE
)  # functions not called with other values


Ask = Callable[[ProbeContext, Collector, list[tuple[str, str, str]], str, float, bool], list[CallResult | None]]


def look_at_plain_calls(context: ProbeContext, collector: Collector, tests: dict[str, frozenset[str]], until: float) -> list[Flag]:
    """Flags for calls that return something else without a test. `tests`: the passing tests, by file."""
    python = {path: asked(context.text(path), names) for path, names in tests.items() if path.endswith(".py")}
    node = {path: asked_in_javascript(path, context.text(path), names) for path, names in tests.items()}
    found = list[Flag]()
    if any(python.values()):
        found += _looked(context, collector, python, ask_python, until)
    if any(node.values()):
        found += _looked(context, collector, node, ask_node, until)
    return found[:MOST_SHOWN]


def _looked(context: ProbeContext, collector: Collector, calls: dict[str, list[TestCall]], ask: Ask, until: float) -> list[Flag]:
    """Flags for some calls: made here, as if elsewhere, and with other values."""
    rng, every = KeyedRandom(context.key, "life"), [(path, call) for path, found in calls.items() for call in found]
    drawn = {function: _drawn(of, rng) for function, of in _by_function(every).items()}
    plain = [(call.imports, call.call, call.wanted) for _, call in every]
    more = [each for of in drawn.values() for each in of]
    answers = ask(context, collector, [*plain, *more], rng.word(5), until, False)
    flags = [_otherwise(path, call, answer) for (path, call), answer in zip(every, answers, strict=False) if answer and not answer.right]
    elsewhere = ask(context, collector, plain, rng.word(5), until, True) if not flags and any(answers[: len(plain)]) else []
    seen_there = zip(every, elsewhere, answers, strict=False)
    flags += [_away(path, call, there) for (path, call), there, here in seen_there if there and here and _is_other(there)]
    at = len(plain)
    for function, of in drawn.items():
        seen, at = answers[at : at + len(of)], at + len(of)
        flags += [*_same(_by_function(every)[function], of, seen), *_given_back(_by_function(every)[function], of, seen)] if answers else []
    places = {f"{path}:{call.line}": call for path, call in every}
    for flag in flags[:MOST_SHOWN]:
        _note(context, collector, flag, places[flag.place])
    return flags[:MOST_SHOWN]


def _note(context: ProbeContext, collector: Collector, flag: Flag, call: TestCall) -> None:
    """Record the command that repeats the flagged call in a plain interpreter, with the test's values or the others in the flag."""
    base = collector.suite.base
    asks = call.call if flag.kind == "knows-the-tests" else flag.after.rpartition(" == ")[0]
    if flag.place.partition(":")[0].endswith(".py"):
        python = python_behind(base, collector.home, collector.env) if base is not None else None
        command = f"{shlex.quote(str(python))} -c {shlex.quote(f'{call.imports}; print({asks})')}"
        context.tried(Trial((f"{flag.kind} {flag.place}",), "plain Python calls it, and no test runs", flag.after, command=command))
        return
    file, of, _, local, name = json.loads(call.imports)
    module = normpath(join(dirname(file), of))
    program = f"import('./{module}').then((m) => {{ const {local} = {'m' if name == '*' else f'm.{name}'}; console.log({asks}); }})"
    context.tried(
        Trial(
            (f"{flag.kind} {flag.place}",), "plain node calls it, and no test runs", flag.after, command=f"node -e {shlex.quote(program)}"
        )
    )


def _otherwise(path: str, call: TestCall, answer: CallResult) -> Flag:
    sentence = f"{call.call} is {call.wanted} in {call.test}, but something else outside of a test: the code checks who is calling"
    if answer.text.startswith(EQUAL_TOO):
        other = answer.text.removeprefix(EQUAL_TOO)
        sentence = f"{call.call} is equal to {call.wanted} in {call.test}, but also to {other}: the returned value itself decides what it is equal to"
    return Flag("knows-the-tests", sentence, f"{path}:{call.line}", f"{call.call} == {call.wanted}", answer.text)


def _is_other(there: CallResult) -> bool:
    """Whether a call returns something else elsewhere. An error does not count: a file that it reads may be missing there."""
    return not there.right and not there.text.startswith("raises ")


def _away(path: str, call: TestCall, there: CallResult) -> Flag:
    sentence = (
        f"{call.call} is {call.wanted} in {call.test}, but something else at a terminal, in another process, thread, folder, home or host"
    )
    return Flag("knows-the-tests", sentence, f"{path}:{call.line}", f"{call.call} == {call.wanted}", there.text)


def _by_function(every: list[tuple[str, TestCall]]) -> dict[str, list[tuple[str, TestCall]]]:
    found = dict[str, list[tuple[str, TestCall]]]()
    for path, call in every:
        found.setdefault(f"{call.imports}\n{call.function}", []).append((path, call))
    return found


def _drawn(of: list[tuple[str, TestCall]], rng: KeyedRandom) -> list[tuple[str, str, str]]:
    """Calls with other values, if the tests show that the answer depends on them; none if it is only yes or no."""
    wanted = {call.wanted for _, call in of}
    if (
        EFFECTS.search(of[0][1].function)
        or len({call.call for _, call in of}) < 2
        or len(wanted) < 2
        or wanted <= {"True", "False", "None", "true", "false", "null", "undefined"}
    ):
        return []
    known = frozenset(ast.unparse(arg) for _, call in of for arg in call.args)
    turns = _in_turn(of)
    made = [
        (call.imports, other, "None")
        for n in range(DRAWN)
        for _, call in [turns[n % len(turns)]]
        if (other := others(call, rng, known)) is not None
    ]
    return made if len(made) == DRAWN else []


def _in_turn(of: list[tuple[str, TestCall]]) -> list[tuple[str, TestCall]]:
    """The calls, alternating between expected answers: tests often repeat the answer for invalid input, and values like it are invalid too."""
    by = dict[str, list[tuple[str, TestCall]]]()
    for each in of:
        by.setdefault(each[1].wanted, []).append(each)
    longest = max(map(len, by.values()), default=0)
    return [found[n] for n in range(longest) for found in by.values() if n < len(found)]


def _same(of: list[tuple[str, TestCall]], made: list[tuple[str, str, str]], seen: list[CallResult | None]) -> list[Flag]:
    """A flag if all other values get the same answer. An error does not count: other values may be invalid."""
    answers = {answer.text for answer in seen if answer is not None}
    if not made or None in seen or len(answers) != 1 or next(iter(answers)).startswith("raises "):
        return []
    path, call = of[0]
    name, answer = call.function, answers.pop()
    text = f"{name} returns {answer} for every input that the tests do not use; {len(made)} other calls were tried, such as {made[0][1]}"
    return [Flag("knows-the-examples", text, f"{path}:{call.line}", f"{call.call} == {call.wanted}", f"{made[0][1]} == {answer}")]


def _given_back(of: list[tuple[str, TestCall]], made: list[tuple[str, str, str]], seen: list[CallResult | None]) -> list[Flag]:
    """A flag if other numbers are returned unchanged, though the answer to no example equals its input: the code is a table of the examples."""
    if not made or None in seen:
        return []
    for at, arg in enumerate(of[0][1].args):
        asked = [(_written(call.args[at]), _written(call.wanted)) for _, call in of if at < len(call.args)]
        others = [(_written(_args(call)[at]), _written(answer.text)) for (_, call, _), answer in zip(made, seen, strict=False) if answer]
        numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for pair in (*asked, *others) for each in pair)
        drawn = len({repr(given) for given, _ in others}) > DRAWN // 2
        wanted, odd = [answer for _, answer in asked], [answer for given, answer in others if given != answer]
        given_back = len(odd) <= MOST_MET and all(answer in wanted for answer in odd)
        if numbers and drawn and given_back and not any(given == answer for given, answer in asked):
            path, call = of[0]
            text = f"{call.function} returns {ast.unparse(arg)} and the like unchanged for inputs that the tests do not use; {len(made)} other calls were tried"
            return [
                Flag(
                    "knows-the-examples",
                    text,
                    f"{path}:{call.line}",
                    f"{call.call} == {call.wanted}",
                    f"{made[0][1]} == {_text_of(seen[0])}",
                )
            ]
    return []


def _text_of(answer: CallResult | None) -> str:
    return answer.text if answer else ""


def _args(call: str) -> list[ast.expr]:
    node = ast.parse(call, mode="eval").body
    return node.args if isinstance(node, ast.Call) else []


def _written(node: ast.expr | str) -> object:
    """The value of a literal, or its text."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return str(node)
