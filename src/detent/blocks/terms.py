"""The options with which a person or program starts a run. Values only."""

from collections.abc import Mapping
from typing import NamedTuple


class Terms(NamedTuple):
    """The options of a new run."""

    request: str = ""  # what is wanted; for `pr`, the path of the plan
    adopt: bool = False  # take over uncommitted changes
    baseline: bool = False  # accept the tests that currently fail
    lean: bool = False  # `pipeline`: the short path
    policies: Mapping[str, str] = {}  # answers given in advance; about flags in every workflow, others in `pipeline`
    agent: str = ""  # the agent that the machine drives, in a workspace of its own; empty: an agent calls by itself, in this checkout
    context: str = ""  # `execute`: what the user adds to the prompt
    again: bool = False  # `execute`: a person wants this attempt, whatever happened to earlier ones
    start: str = ""  # `execute`: where an attempt after a failed one begins, "kept" or "main"; empty: as [queue] retry_from says
    continues: str = ""  # `execute`: the execution whose pull request it updates
    research: bool = False  # `pipeline`: a person wants the Researcher to work, whatever SpecAgent says
    ui: bool = False  # `pipeline`: the same for the Designer
    parallel: int = 1  # `pipeline`: how many tasks may run at once
