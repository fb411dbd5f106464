"""The workflow `guide` as one value: its table, and what Detent needs to know besides."""

from pathlib import Path
from typing import TYPE_CHECKING

from detent.app.workflow import Late, Workflow
from detent.errors import DetentError
from detent.kernel.model import Sent
from detent_guide.guide.guide_data import GuideData
from detent_guide.guide.guide_table import GUIDE

if TYPE_CHECKING:
    from detent.app import App
    from detent.app.beginning import Beginning
    from detent.blocks.terms import Terms


def _start(app: "App", sent: Sent, terms: "Terms") -> str:
    from detent.app.beginning import begin_run  # few calls start a run, and all calls import this file

    request = terms.request.strip()
    if not request:
        raise DetentError("a guide needs a subject", 'say it: detent start --workflow guide "how to add numbers"')

    def data(at: "Beginning") -> GuideData:
        return GuideData(request=request, setup=at.setup, base=at.base, good_tree=at.tree, branch=at.branch)

    return begin_run(app, sent, terms, GUIDE.name, data)


WORKFLOW = Workflow(
    table=GUIDE,
    folder=Path(__file__).parent,
    effects=Late("detent_guide.guide.guide_effects", "EFFECTS"),
    jobs=Late("detent_guide.guide.guide_effects", "JOBS"),
    start=_start,
    title=lambda run: str(run.data.request),
    merge="branch",
)
