"""What an execution may claim: the work on an item; where it was rebased, or what was done for its review came to it, that commit too.

Of an inner run only the end was tested again, so nothing is claimed for it here.
"""

from detent.blocks.proved import AnyEvent, Chain, Proved, claim, step_of, whole_work
from detent.workflows.execute.execute_data import PLAIN


def claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    data = event.run.data
    if event.on == "joined" or (event.on == "rebased" and data.setup.strategy == PLAIN):
        return [claim(event, (step_of(event, "work", data.item.title, event.found.tree),), "", event.sent.facts["commit"])]
    return whole_work(event, data.item.title)
