"""The table of API calls, one row each, with request and response types. The server and the OpenAPI document are made from it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from detent import __version__
from detent.app import App
from detent.app.registry import workflow_names
from detent.app.report_values import Report
from detent.interfaces.http import executing, inbox, looking, shapes, shapes_agents, shapes_inbox, shapes_revise, speaking
from detent.interfaces.http import run_pages as reading
from detent.interfaces.http import runs_board as board
from detent.interfaces.http import shapes_execute as work
from detent.interfaces.http.heads import NotFound
from detent.interfaces.http.shape import Shape
from detent.interfaces.http.shapes_card import BranchCard
from detent.kernel.model import Verdict


class ApiCall(NamedTuple):
    """One parsed request: its path parameters, and its query or body."""

    app: App
    board: board.RunsBoard
    desk: executing.Desk
    path: dict[str, str]
    asked: Any  # the value that the route's `takes` names

    @property
    def run(self) -> str:
        return self.path["run"]


class Route(NamedTuple):
    """One row of the API. `takes` is read from the query of a GET or the body of a POST."""

    method: str
    path: str
    takes: type[Shape]
    gives: type[Any]
    does: Callable[[ApiCall], Any]
    says: str
    status: int = 200


def _start(call: ApiCall) -> shapes.RunShown:
    return reading.run_shown(call.app, call.board, speaking.start(call.app, call.asked))


def _event_number(call: ApiCall) -> int:
    text = call.path["seq"]
    if not text.isdigit() or len(text) > 12:
        raise NotFound(f"'{text}' is not the number of an event", "events are numbered from 1")
    return int(text)


GET, POST, NONE = "GET", "POST", shapes.Nothing
ROUTES: tuple[Route, ...] = (
    Route(
        GET,
        "/api/runs",
        shapes.RunsAsked,
        shapes.RunList,
        lambda c: board.runs(c.app, c.board, c.asked),
        "The runs of this repository, those that changed last first.",
    ),
    Route(POST, "/api/runs", shapes.StartAsked, shapes.RunShown, _start, "Start a run that the machine drives.", 201),
    Route(
        GET,
        "/api/runs/{run}",
        NONE,
        shapes.RunShown,
        lambda c: reading.run_shown(c.app, c.board, c.run),
        "One run: where it stands, its plan, its budget, its children.",
    ),
    Route(
        GET,
        "/api/runs/{run}/events",
        shapes.EventsAsked,
        shapes.Events,
        lambda c: reading.events(c.app, c.run, c.asked.after, c.asked.limit),
        "The events after a number, in order: for polling.",
    ),
    Route(
        GET,
        "/api/runs/{run}/events/{seq}",
        NONE,
        shapes.EventShown,
        lambda c: reading.event_shown(c.app, c.run, _event_number(c)),
        "One event with its whole output.",
    ),
    Route(
        GET,
        "/api/runs/{run}/tests",
        shapes.TestsAsked,
        shapes.Tests,
        lambda c: looking.tests(c.app, c.run, c.asked.event),
        "The tests of the tree that an event judged, one by one.",
    ),
    Route(
        GET,
        "/api/runs/{run}/diff",
        shapes.DiffAsked,
        shapes.Diff,
        lambda c: looking.diff(c.app, c.run, c.asked.event),
        "What an event's tree changed; without one, the whole branch.",
    ),
    Route(
        GET,
        "/api/runs/{run}/output",
        shapes.OutputAsked,
        shapes.Output,
        lambda c: looking.output(c.app, c.run, c.asked),
        "The running output of a driven run, from a byte offset on.",
    ),
    Route(
        GET,
        "/api/runs/{run}/transcripts",
        shapes.TranscriptsAsked,
        shapes.Transcripts,
        lambda c: looking.transcripts(c.app, c.board.tally, c.run, c.asked),
        "The turns of agents, the newest first.",
    ),
    Route(
        GET,
        "/api/runs/{run}/transcripts/{attempt}",
        shapes.OutputAsked,
        shapes.Output,
        lambda c: looking.transcript(c.app, c.run, c.path["attempt"], c.asked),
        "One turn as it was recorded, as JSON Lines.",
    ),
    Route(
        GET,
        "/api/runs/{run}/proof",
        NONE,
        shapes.Proof,
        lambda c: looking.proof(c.app, c.run),
        "The claims for the run's commits, and how to replay them.",
    ),
    Route(
        GET,
        "/api/runs/{run}/card",
        NONE,
        BranchCard,
        lambda c: looking.card(c.app, c.run),
        "What the run's branch proves, and what to look at, as it was found before it landed.",
    ),
    Route(
        POST,
        "/api/runs/{run}/resume",
        shapes.ResumeAsked,
        Verdict,
        lambda c: speaking.resume(c.app, c.run, c.asked.guidance),
        "Release a run that waits, and continue to drive it.",
    ),
    Route(
        POST,
        "/api/runs/{run}/steer",
        shapes.SteerAsked,
        Verdict,
        lambda c: speaking.steer(c.app, c.run, c.asked.text),
        "Tell the agent something; its next briefing includes it.",
    ),
    Route(
        GET,
        "/api/runs/{run}/papers",
        NONE,
        shapes_revise.Papers,
        lambda c: speaking.papers_of(c.app, c.run),
        "The documents of a session that people may revise, and the stages that they may have done again.",
    ),
    Route(
        POST,
        "/api/runs/{run}/revision",
        shapes_revise.ReviseAsked,
        shapes_revise.RevisionShown,
        lambda c: speaking.revision(c.app, c.run, c.asked),
        "What a revision would change and invalidate; nothing is done.",
    ),
    Route(
        POST,
        "/api/runs/{run}/revise",
        shapes_revise.ReviseAsked,
        Verdict,
        lambda c: speaking.revise_run(c.app, c.run, c.asked),
        "Revise a session's documents, or have a stage done again, and continue to drive it.",
    ),
    Route(
        POST,
        "/api/runs/{run}/rollback",
        shapes_revise.RollbackAsked,
        shapes.RunShown,
        lambda c: reading.run_shown(c.app, c.board, speaking.rollback(c.app, c.run, c.asked.event)),
        "End a run and begin a new one where it stood after an event; what came later stays reachable.",
        201,
    ),
    Route(
        POST,
        "/api/runs/{run}/abort",
        shapes.AbortAsked,
        Verdict,
        lambda c: speaking.abort(c.app, c.run, c.asked.reason),
        "End a run for good.",
    ),
    Route(
        GET,
        "/api/decisions",
        shapes.DecisionsAsked,
        shapes_inbox.Decisions,
        lambda c: inbox.questions(c.app, c.board, c.asked),
        "What people are asked now.",
    ),
    Route(
        GET,
        "/api/decisions/{id}",
        NONE,
        shapes_inbox.DecisionShown,
        lambda c: inbox.show_decision(c.app, c.path["id"]),
        "One open question, what to look at, and the digest an answer is bound to.",
    ),
    Route(
        POST,
        "/api/decisions/{id}",
        shapes.AnswerAsked,
        Verdict,
        lambda c: speaking.answer(c.app, c.path["id"], c.asked),
        "Answer a question, as it was shown.",
    ),
    Route(
        GET,
        "/api/executions",
        work.ExecutionsAsked,
        work.Executions,
        lambda c: executing.executions(c.app, c.desk, c.asked),
        "What runs, what comes next, what waits; with `all`, what has ended too; with `state` and `q`, what fits.",
    ),
    Route(
        POST, "/api/executions", work.ExecuteAsked, work.Executions, lambda c: executing.start(c.app, c.desk, c.asked), "Queue items.", 201
    ),
    Route(
        GET,
        "/api/executions/{id}",
        NONE,
        work.ExecutionRow,
        lambda c: executing.one(c.app, c.desk, c.path["id"]),
        "One execution, by its id or its item.",
    ),
    Route(
        GET,
        "/api/executions/{id}/logs",
        work.LogsAsked,
        work.Logs,
        lambda c: executing.logs(c.app, c.desk, c.path["id"], c.asked),
        "What it wrote after a piece: for polling.",
    ),
    Route(
        POST,
        "/api/executions/{id}/cancel",
        work.CancelAsked,
        work.ExecutionRow,
        lambda c: executing.cancel(c.app, c.desk, c.path["id"], c.asked.reason),
        "Cancel it: its processes end, and its run records it.",
    ),
    Route(
        POST,
        "/api/executions/{id}/retry",
        work.RetryAsked,
        work.ExecutionRow,
        lambda c: executing.retry(c.app, c.desk, c.path["id"], c.asked.start),
        "Try it again: release one that waits; a new attempt, with a fresh agent, of one that has ended.",
    ),
    Route(
        POST,
        "/api/queue",
        work.PauseAsked,
        work.Executions,
        lambda c: executing.hold(c.app, c.desk, c.asked),
        "Pause the queue, or let it continue.",
    ),
    Route(
        GET,
        "/api/report",
        work.ReportAsked,
        Report,
        lambda c: executing.report(c.app, c.desk, c.asked.since),
        "What landed, what waits for whom and why, what failed, and what it took, since a time.",
    ),
    Route(
        GET,
        "/api/items",
        work.ItemsAsked,
        work.ItemList,
        lambda c: executing.items(c.app, c.asked),
        "The work items, the most urgent first.",
    ),
    Route(POST, "/api/items", work.ItemAsked, work.ItemRow, lambda c: executing.add_item(c.app, c.asked), "File an item.", 201),
    Route(
        GET,
        "/api/items/{id}/attempts",
        NONE,
        work.Attempts,
        lambda c: executing.tried(c.app, c.path["id"]),
        "Every attempt at an item, the oldest first, and how it ended.",
    ),
    Route(
        POST,
        "/api/items/{id}/close",
        work.CancelAsked,
        work.ItemRow,
        lambda c: executing.close_item(c.app, c.desk, c.path["id"], c.asked.reason),
        "Close an item.",
    ),
    Route(
        POST,
        "/api/reviews",
        work.ReviewAsked,
        work.Review,
        lambda c: executing.review(c.app, c.asked),
        "Have a branch reviewed by a fresh agent; its issues become items.",
    ),
    Route(
        GET,
        "/api/agents",
        NONE,
        shapes_agents.AgentList,
        lambda c: looking.agents(c.app),
        "The agents that can be asked here, and what the others lack.",
    ),
    Route(GET, "/api/workflows", NONE, shapes.Workflows, lambda c: shapes.Workflows(workflows=workflow_names()), "The workflows by name."),
    Route(
        GET,
        "/api/workflows/{name}",
        NONE,
        shapes.WorkflowShown,
        lambda c: looking.workflow(c.app, c.path["name"]),
        "A workflow's states and the ways between them.",
    ),
)


def health() -> shapes.Health:
    return shapes.Health(status="ok", version=__version__)


def _elsewhere(call: ApiCall) -> None:
    raise NotImplementedError("the server answers these itself")


PLAIN = (  # calls that need no token and no repository
    Route(GET, "/health", NONE, shapes.Health, _elsewhere, "Whether the server runs."),
    Route(POST, "/api/token", shapes.TokenAsked, shapes.Token, _elsewhere, "Exchange the one-time word of a link for the token."),
)
