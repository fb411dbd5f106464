"""The claims of a session and its tasks: one commit per task, proved as a whole, and the session's own commits."""

from detent.blocks.proved import AnyEvent, Chain, Proved, whole_work


def task_claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    data = event.run.data
    return whole_work(event, data.task.title if data.task else data.goal)


def session_claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    id = event.sent.facts.get("task", "")
    return whole_work(event, next((t.title for t in event.run.data.tasks if t.id == id), "the session as a whole"))
