"""The agents and limits that a run is driven with: as it was started, and as people changed them since. No gate depends on them.

Read from the events of the run and its children.
"""

from typing import NamedTuple

import msgspec

from detent.app.opened import App
from detent.app.run_configs import CONFIGURED
from detent.config import Settings
from detent.config.settings import Agents, LimitSettings
from detent.config.sources import load
from detent.kernel.model import Value


class Renewed(Value, frozen=True):
    """The sections of the settings that are read again when a person resumes a run."""

    agents: Agents = Agents()
    limits: LimitSettings = LimitSettings()


class Driving(NamedTuple):
    """The agent of a run, and its settings with the renewed sections."""

    agent: str
    settings: Settings

    @property
    def named(self) -> str:
        """The agent that a person named; empty where the configuration decides."""
        return self.agent if self.agent != CONFIGURED else ""


def driving(app: App, run: str) -> Driving:
    """The agent and settings of a run now. A child has those of its parent."""
    first = app.door.load(run).run
    root = first if not first.parent else app.door.load(first.parent).run
    agent, settings = root.data.setup.agent, msgspec.json.decode(root.data.setup.settings, type=Settings)
    events = (e for each in app.worlds.runs.family(root.id) for e in app.worlds.runs.history(each.id))
    answers = sorted((e for e in events if e.sent.by == "human" and e.status == "SUCCESS"), key=lambda e: e.at)
    for facts in (e.sent.facts for e in answers):
        agent = facts.get("agent", agent)
        if "settings" in facts:
            new = msgspec.json.decode(facts["settings"], type=Renewed)
            settings = msgspec.structs.replace(settings, agents=new.agents, limits=new.limits)
    return Driving(agent, settings)


def renewed(app: App, run: str, agent: str = "") -> dict[str, str]:
    """The facts for the event of resuming a run: the agent if another one is named, and the renewed sections if the checkout's differ."""
    now, root = driving(app, run), app.place.root

    def read(path: str) -> str | None:
        file = root / path
        return file.read_text("utf-8", "replace") if file.is_file() else None

    here = load(read, app.world.outer)
    new, old = (Renewed(s.agents, s.limits) for s in (here, now.settings))
    changed = {"settings": msgspec.json.encode(new).decode()} if new != old else {}
    return {**changed, **({"agent": agent} if agent and agent != now.agent else {})}
