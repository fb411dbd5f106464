"""A fast parser for the calls that agents make at every step: importing click takes longer than most of their work.

It reads only `--name value`, each name once, with no value that begins with a dash. Anything else is left to click.
"""

import gc
import sys
from collections.abc import Mapping, Sequence

Form = Mapping[str, Sequence[str] | None]  # flag -> allowed values, empty for any; None for a switch

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
    """Run a call in plain form, and return its exit code; None if it is not one."""
    words = read(argv[1:], FORMS[argv[0]]) if argv and argv[0] in FORMS else None
    if words is None or (argv[0] == "submit-work" and not words.get("--summary")):
        return None
    gc.disable()  # the process ends before there is anything to collect
    import_lean()
    from detent.interfaces.cli.ends import run_call

    code = run_call(argv, lambda: WORK[argv[0]](words))
    gc.freeze()  # and no collection at exit either
    return code


def import_lean() -> None:
    """Import msgspec without typing_extensions, which takes a seventh of a submit's imports; msgspec falls back to typing."""
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        import msgspec  # noqa: F401

        del sys.modules["typing_extensions"]


def read(argv: Sequence[str], form: Form) -> dict[str, str] | None:
    """The flags by name, a switch having its own name as value; None if the call is not in plain form."""
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
