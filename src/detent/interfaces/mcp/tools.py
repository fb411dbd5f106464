"""The table of tools: description, argument type, result type and annotations. Knows neither protocol nor runs.

Schemas are made from the types that make the answers: Briefing, Verdict, and Looked for `check`.
"""

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from detent.errors import DetentError
from detent.kernel.model import Briefing, Flag, Value, Verdict

Text = str | UnsetType
RunId = Annotated[Text, Meta(description="The run this is about. Leave it out for the run of this checkout.")]
AttemptId = Annotated[
    Text,
    Meta(description="The attempt_id of the briefing you answer. A call repeated with the same one gets the same verdict again."),
]


class GetTask(Value, frozen=True):
    """What get_task takes."""

    run: RunId = UNSET


class SubmitWork(Value, frozen=True):
    """What submit_work takes."""

    summary: Annotated[str, Meta(description="What you did, in a sentence or two.", min_length=1)]
    test_command: Annotated[
        Text,
        Meta(
            description="The project's own test runner with the tests of this step, such as 'pytest tests/test_x.py'. The machine runs it, "
            "and the whole suite. Not together with analysis_decision."
        ),
    ] = UNSET
    expectation: Annotated[
        Literal["PASS", "FAIL"] | UnsetType,
        Meta(description="How the tests must end: FAIL for a RED step, PASS for GREEN and REFACTOR."),
    ] = UNSET
    analysis_decision: Annotated[
        Literal["SUCCESS", "FAILURE"] | UnsetType,
        Meta(description="After NEEDS_ANALYSIS: SUCCESS if the new test failed for the intended reason, else FAILURE."),
    ] = UNSET
    commit_hash: Annotated[Text, Meta(description="The squashed commit, when the briefing asks for it. It must be HEAD.")] = UNSET
    findings: Annotated[
        Text,
        Meta(description="A review's findings, when the briefing asks for them: the JSON itself, or a file in the checkout. [] approves."),
    ] = UNSET
    reply: Annotated[
        Text,
        Meta(
            description="A reply, when the briefing asks for one: the JSON itself, a file in the checkout, or the word ALREADY_SATISFIED or TEST_WRONG."
        ),
    ] = UNSET
    no_pr_left: Annotated[bool | UnsetType, Meta(description="True if the plan has no open entry left.")] = UNSET
    attempt_id: AttemptId = UNSET
    run: RunId = UNSET


class RequestScopeReduction(Value, frozen=True):
    """What request_scope_reduction takes."""

    attempt_id: AttemptId = UNSET
    run: RunId = UNSET


class EscalateForExternalHelp(Value, frozen=True):
    """What escalate_for_external_help takes."""

    markdown_report: Annotated[
        str, Meta(description="For the person: the goal, what you tried, the last error word for word, and what you think is wrong.")
    ]
    attempt_id: AttemptId = UNSET
    run: RunId = UNSET


class Check(Value, frozen=True):
    """What check takes."""

    range: Annotated[
        Text, Meta(description="The commits to look at: 'A..B', or one commit. Leave it out for everything that this branch adds to main.")
    ] = UNSET
    worktree: Annotated[
        bool | UnsetType,
        Meta(description="True to look at the files in the checkout now, committed or not, against HEAD. Not together with range."),
    ] = UNSET
    budget: (
        Annotated[
            float,
            Meta(
                description="Seconds for trying small changes to the code, besides the test runs; 60 unless configured.",
                ge=1,
                le=600,
            ),
        ]
        | UnsetType
    ) = UNSET


class Looked(Value, frozen=True, omit_defaults=False):
    """What a change proves: the proof card of `detent check`, with long lists cut."""

    answer: Literal["clean", "flagged", "failed", "could-not-verify"]
    instruction: str
    range: str
    base: str
    commits: int
    files: int
    declared: str
    proved: tuple[str, ...]
    pins: tuple[str, ...]
    kept: int
    known_failures: tuple[str, ...]
    failed: tuple[str, ...]
    flags: tuple[Flag, ...]
    unclear: str
    left_out: str
    beside: str
    command: str
    sandbox: str
    test_runs: float
    seconds: float
    known_before: bool


Arguments = GetTask | SubmitWork | RequestScopeReduction | EscalateForExternalHelp | Check


class McpTool(NamedTuple):
    """One tool: its texts, its types, and annotations for clients."""

    title: str
    description: str
    takes: type[Arguments]
    gives: type[Briefing] | type[Verdict] | type[Looked]
    destructive: bool = False
    idempotent: bool = False
    read_only: bool = False


TOOLS: Mapping[str, McpTool] = {
    "get_task": McpTool(
        "Get the next task",
        "Call this first, and again after every verdict. It first does the machine's own moves (branch, review, merge), then returns "
        "a complete briefing: the goal, what may be written, and the one call to make afterwards. Calling it again changes nothing. "
        "If there is no run, nothing is started: ask the user to start one. If it says that a person has to act, stop and tell the user.",
        GetTask,
        Briefing,
        idempotent=True,
    ),
    "submit_work": McpTool(
        "Submit one attempt",
        "The only way to have work verified; never run the tests yourself. Either hand in code, with test_command and expectation: the machine "
        "runs the tests on what is in the checkout and decides. Or, after NEEDS_ANALYSIS, hand in your analysis_decision. The briefing says "
        "which, and names the other fields where it needs them. The verdict says what was found and what to call next; REFUSED and LOCKED "
        "changed nothing, ERROR means that nothing could be judged. It takes as long as the tests do.",
        SubmitWork,
        Verdict,
    ),
    "request_scope_reduction": McpTool(
        "Plan the task again as smaller ones",
        "The way out when a task is too big: your changes go back to the last good commit (a snapshot is kept), and the next briefing asks for "
        "a plan in smaller, testable tasks. Locked until enough attempts have failed; then the briefing suggests it.",
        RequestScopeReduction,
        Verdict,
        destructive=True,
    ),
    "escalate_for_external_help": McpTool(
        "Ask a person for help",
        "The last way out when you are stuck: halts the run and shows your report to a person, whose guidance is in a later briefing. After "
        "it, stop and wait. Locked until enough attempts have failed.",
        EscalateForExternalHelp,
        Verdict,
    ),
    "check": McpTool(
        "Look at a change as a reviewer would",
        "Look at your own work before a person does: which tests fail without the change and pass with it, what broke, what no test notices, "
        "and what a person will be asked about. It hands in nothing and changes no run, so it does not replace submit_work; it also works "
        "where no run is open. The tests run in clean checkouts, several times: it takes a few runs of the suite and the budget.",
        Check,
        Looked,
        idempotent=True,
        read_only=True,
    ),
}  # fmt: skip


def read_arguments(name: str, given: Mapping[str, Any]) -> Arguments:
    """The arguments of a call; DetentError if they are wrong. An empty value counts as left out."""
    if name not in TOOLS:
        raise DetentError(f"there is no tool '{name}'", f"the tools are {', '.join(TOOLS)}")
    takes = TOOLS[name].takes
    known = takes.__struct_fields__
    for field in given:
        if field not in known:
            near = difflib.get_close_matches(field, known, 1)
            raise DetentError(f"{name} takes no '{field}'", f"did you mean '{near[0]}'?" if near else f"it takes {_shown(takes)}")
    try:
        return msgspec.convert({k: v for k, v in given.items() if v not in (None, "")}, takes)
    except msgspec.ValidationError as e:
        raise DetentError(f"{name} was not called: {e}", f"it takes {_shown(takes)}") from e


def _shown(takes: type[Arguments]) -> str:
    """The arguments of a tool on one line, such as `summary (needed), expectation (FAIL or PASS), run`."""
    whole = schema(takes)
    needed = dict.fromkeys(whole.get("required", ()), "needed")
    chosen = {field: " or ".join(part["enum"]) for field, part in whole["properties"].items() if "enum" in part}
    return ", ".join(f"{field} ({note})" if (note := {**needed, **chosen}.get(field)) else field for field in whole["properties"])


def schema(type_: type) -> dict[str, Any]:
    """The JSON schema of a type, without references, which some clients do not follow, and with a type for every value."""
    whole = msgspec.json.schema(type_)
    flat: dict[str, Any] = _inlined(whole, whole.pop("$defs"))
    del flat["description"]
    return flat


def _inlined(part: Any, named: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inlined(each, named) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        inner = _inlined(named[part["$ref"].rpartition("/")[2]], named)
        return {**inner, **{k: v for k, v in part.items() if k != "$ref"}}
    typed = {"type": "string"} if "enum" in part else {}
    return typed | {k: _inlined(v, named) for k, v in part.items() if not (k == "title" and isinstance(v, str))}
