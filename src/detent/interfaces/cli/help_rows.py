"""The texts of `detent --help`: commands in groups, with a sentence and an example each; and aliases that people type. Words only."""

from typing import NamedTuple


class HelpRow(NamedTuple):
    """A command's sentence and example."""

    says: str
    example: str


GROUPS: dict[str, dict[str, HelpRow]] = {
    "Everyday": {
        "check": HelpRow("Show what a change proves; needs no run.", "detent check main.."),
        "init": HelpRow("Look at this project and set it up.", "detent init --client claude"),
        "start": HelpRow("Start a run for an agent that calls by itself.", "detent start docs/plan.md"),
        "run": HelpRow("Start a run and drive the agent too.", 'detent run "add a longest length" --agent claude'),
        "status": HelpRow("Show where the run is.", "detent status --watch"),
        "decisions": HelpRow("Show the questions that are open.", "detent decisions"),
        "answer": HelpRow("Answer what a run asks you.", "detent answer FLAGS accept"),
        "resume": HelpRow("Continue a run that waits for you.", 'detent resume --guidance "keep the old name"'),
        "steer": HelpRow("Tell a run something while it works.", 'detent steer "leave the parser alone"'),
        "revise": HelpRow("Change a session's documents midway.", "detent revise --show"),
        "abort": HelpRow("End a run for good.", "detent abort"),
        "serve": HelpRow("Watch and answer runs on a web page.", "detent serve"),
        "demo": HelpRow("Watch a scripted agent cheat and get caught.", "detent demo"),
    },
    "For agents": {
        "get-task": HelpRow("Print the briefing for the next step.", "detent get-task"),
        "submit-work": HelpRow("Hand in one attempt and get a verdict.", 'detent submit-work --summary "…" --expectation FAIL'),
        "request-scope-reduction": HelpRow("Plan a task again, as smaller ones.", "detent request-scope-reduction"),
        "escalate-for-external-help": HelpRow("Stop, and show a person a report.", "detent escalate-for-external-help --report report.md"),
        "mcp": HelpRow("Serve these calls as tools over MCP.", "detent mcp"),
        "hook": HelpRow("Answer an event of a client's hook.", "detent hook claude"),
    },
    "Queue": {
        "items": HelpRow("File, list and close work items.", 'detent items add "Round prices to cents"'),
        "queue": HelpRow("Queue items, and see how they are doing.", "detent queue add --ready"),
        "work": HelpRow("Execute what is queued, on this machine.", "detent work --slots 3"),
        "review": HelpRow("Have a fresh agent read a branch.", "detent review it-7-round-prices"),
        "report": HelpRow("Show what landed, what waits, what it cost.", "detent report"),
        "land": HelpRow("Merge finished branches, each tested first.", "detent land"),
    },
    "Inspect and repair": {
        "runs": HelpRow("List the runs of this repository.", "detent runs --all"),
        "show": HelpRow("Show one run, event by event.", "detent show pr-1a2b3c"),
        "history": HelpRow("Show what happened to the run.", "detent history -n 20"),
        "verify": HelpRow("Prove commits again from git alone.", "detent verify main..HEAD"),
        "doctor": HelpRow("Find what will not work, and how to fix it.", "detent doctor"),
        "rollback": HelpRow("Go back to an earlier event, as a new run.", "detent rollback 12"),
        "repair-notes": HelpRow("Write notes and evidence again.", "detent repair-notes"),
        "graph": HelpRow("Draw a workflow as a table or a diagram.", "detent graph pr"),
        "bench": HelpRow("Measure the gates with cheating agents.", "detent bench gates"),
        "uninstall": HelpRow("List and remove all Detent wrote here.", "detent uninstall"),
    },
}
COMMANDS = {name: row for rows in GROUPS.values() for name, row in rows.items()}
MEANT = {  # what people type -> the command they mean
    **dict.fromkeys(("log", "logs", "journal", "events"), "history"),
    **dict.fromkeys(("stop", "kill", "cancel", "end", "quit"), "abort"),
    **dict.fromkeys(("list", "ls", "ps"), "runs"),
    **dict.fromkeys(("ui", "web", "page", "dashboard", "open"), "serve"),
    **dict.fromkeys(("submit", "done", "finish", "commit"), "submit-work"),
    **dict.fromkeys(("task", "next", "briefing", "get"), "get-task"),
    **dict.fromkeys(("test", "tests", "diff", "audit", "lint", "proof"), "check"),
    **dict.fromkeys(("setup", "install", "config", "configure", "register"), "init"),
    **dict.fromkeys(("new", "begin", "create", "plan", "tdd", "pr", "pipeline"), "start"),
    **dict.fromkeys(("continue", "unblock"), "resume"),
    **dict.fromkeys(("approve", "accept", "reject", "reply", "decide"), "answer"),
    **dict.fromkeys(("issues", "todo", "todos", "tasks", "item", "add"), "items"),
    **dict.fromkeys(("worker", "workers", "execute"), "work"),
    **dict.fromkeys(("merge", "ship", "push"), "land"),
    **dict.fromkeys(("undo", "reset", "revert", "back"), "rollback"),
    **dict.fromkeys(("remove", "clean", "purge"), "uninstall"),
    **dict.fromkeys(("info", "where", "state"), "status"),
    **dict.fromkeys(("health", "diagnose", "env"), "doctor"),
    **dict.fromkeys(("replay", "prove"), "verify"),
    **dict.fromkeys(("inbox", "questions", "ask"), "decisions"),
    **dict.fromkeys(("example", "examples", "try", "tour"), "demo"),
}
