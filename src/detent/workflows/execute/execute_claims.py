"""The claims of an execution: the work on its item, and again the commit that a rebase or a join made of it.

After a rebase of an inner run's commits only the last one was tested, so nothing is claimed for them here.
"""

from detent.blocks.proved import AnyEvent, Chain, Proved, claim, step_of, whole_work
from detent.workflows.execute.execute_data import PLAIN


def claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    data = event.run.data
    if event.on == "joined" or (event.on == "rebased" and data.setup.strategy == PLAIN):
        return [claim(event, (step_of(event, "work", data.item.title, event.found.tree),), "", event.sent.facts["commit"])]
    return whole_work(event, data.item.title)
