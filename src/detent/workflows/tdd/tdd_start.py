"""Starting a run of `tdd` for a request, in a checkout or a workspace."""

from detent.app import App
from detent.app.beginning import Beginning, begin_run
from detent.blocks.terms import Terms
from detent.errors import DetentError
from detent.gates.testlist import FILE
from detent.kernel.model import Sent
from detent.workflows.tdd.tdd_data import TddData, first_data


def start_tdd(app: App, sent: Sent, terms: Terms) -> str:
    """Create a run of `tdd` and return its id."""
    if not terms.request.strip():
        raise DetentError("there is no feature request", 'say what is wanted: detent run "add …"')

    def data(at: Beginning) -> TddData:
        text = (app.world.git.read(at.base, FILE) or b"").decode("utf-8", "replace")
        return first_data(terms.request.strip(), text, at.setup, at.base, at.tree, at.branch)

    return begin_run(app, sent, terms, "tdd", data)
