"""What a session and its tasks may claim: one commit a task, proved as a whole, and what the session does around them."""

from detent.blocks.proved import AnyEvent, Chain, Proved, whole_work


def task_claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    data = event.run.data
    return whole_work(event, data.task.title if data.task else data.goal)


def session_claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    id = event.sent.facts.get("task", "")
    return whole_work(event, next((t.title for t in event.run.data.tasks if t.id == id), "the session as a whole"))
