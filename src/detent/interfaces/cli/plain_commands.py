"""The calls that an agent makes at every step, in their plain form, read without click, whose import takes longer than most of the work.

Plain is `--name value`, each name once, no value that begins with a dash. Anything else is None: click reads it, and says what is wrong.
"""

import gc
import sys
from collections.abc import Mapping, Sequence

Form = Mapping[str, Sequence[str] | None]  # the flags by name: what the value may be, with nothing named anything; None for a switch

EXPECTATIONS, DECISIONS = ("PASS", "FAIL"), ("SUCCESS", "FAILURE")
GET_TASK: Form = {"--run": (), "--json": None}
SUBMIT_WORK: Form = {
    "--run": (),
    "--summary": (),
    "--test-command": (),
    "--expectation": EXPECTATIONS,
    "--analysis-decision": DECISIONS,
    "--commit-hash": (),
    "--findings": (),
    "--reply": (),
    "--no-pr-left": None,
    "--attempt-id": (),
    "--json": None,
}


def call(argv: list[str]) -> int | None:
    """The exit code of a call in plain form; None if it is not one."""
    words = read(argv[1:], FORMS[argv[0]]) if argv and argv[0] in FORMS else None
    if words is None or (argv[0] == "submit-work" and not words.get("--summary")):
        return None
    gc.disable()  # the call is over before there is anything to collect
    import_lean()
    from detent.interfaces.cli.ends import ended

    code = ended(argv, lambda: WORK[argv[0]](words))
    gc.freeze()  # nor is anything looked through on the way out
    return code


def import_lean() -> None:
    """msgspec tries typing_extensions first, which alone takes a seventh of a submit's imports; Python itself has what it looks for there."""
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        import msgspec  # noqa: F401

        del sys.modules["typing_extensions"]


def read(argv: Sequence[str], form: Form) -> dict[str, str] | None:
    """The flags by name, a switch with its own name as the value; None if this is not plain."""
    given: dict[str, str] = {}
    words = iter(argv)
    for name in words:
        if name not in form or name in given:
            return None
        may_be = form[name]
        given[name] = name if may_be is None else next(words, "-")
        if may_be is not None and (given[name].startswith("-") or (may_be and given[name] not in may_be)):
            return None
    return given


def _get_task(words: Mapping[str, str]) -> int:
    from detent.interfaces.cli.runner import next_briefing
    from detent.interfaces.cli.tell import tell_briefing

    return tell_briefing(next_briefing(words.get("--run")), "--json" in words)


def _submit_work(words: Mapping[str, str]) -> int:
    from detent.interfaces.cli.runner import SubmitFields, submit
    from detent.interfaces.cli.tell import tell_verdict

    fields = {name: words.get(f"--{name.replace('_', '-')}", "") for name in SubmitFields.__struct_fields__ if name != "no_pr_left"}
    return tell_verdict(submit(SubmitFields(**fields, no_pr_left="--no-pr-left" in words)), "--json" in words)


FORMS = {"get-task": GET_TASK, "submit-work": SUBMIT_WORK}
WORK = {"get-task": _get_task, "submit-work": _submit_work}
