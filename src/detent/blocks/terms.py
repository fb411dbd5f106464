"""How a run is to be started, as a person or a program asked for it. Values only."""

from collections.abc import Mapping
from typing import NamedTuple


class Terms(NamedTuple):
    """How a run is to be started."""

    request: str = ""  # what is wanted; for `pr` the path of the plan
    adopt: bool = False  # take over what is not committed
    baseline: bool = False  # accept the tests that fail now
    lean: bool = False  # the short way of `pipeline`
    policies: Mapping[str, str] = {}  # answers that a person gives beforehand; about flags in every workflow, the others in `pipeline`
    agent: str = ""  # the agent that the machine drives, in a workspace of its own; empty: an agent calls by itself, in this checkout
    context: str = ""  # of `execute`: what the user adds to the prompt
    again: bool = False  # of `execute`: a person wants this attempt, whatever became of earlier ones
    start: str = ""  # of `execute`: what an attempt after a failed one begins from, "kept" or "main"; empty: as [queue] retry_from says
    continues: str = ""  # of `execute`: the execution whose pull request it brings up to date
    research: bool = False  # of `pipeline`: a person wants the Researcher to work, whatever SpecAgent says
    ui: bool = False  # and the Designer
    parallel: int = 1  # of `pipeline`: how many tasks may be at work at once
