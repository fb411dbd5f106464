"""With what the machine drives a run: as it was started, and as a person changed it since. Who works and for how much; no gate asks for either.

Read off the events of the run and its children, as budgets are.
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
    """The sections that count as they stand when a person resumes a run."""

    agents: Agents = Agents()
    limits: LimitSettings = LimitSettings()


class Driving(NamedTuple):
    """Who works, and the settings of the run with those sections as they were read last."""

    agent: str
    settings: Settings

    @property
    def named(self) -> str:
        """The agent that a person named; empty where the configuration decides."""
        return self.agent if self.agent != CONFIGURED else ""


def driving(app: App, run: str) -> Driving:
    """What holds for a run now. A child is driven with what its parent is driven with."""
    first = app.door.load(run).run
    root = first if not first.parent else app.door.load(first.parent).run
    agent, settings = root.data.setup.agent, msgspec.json.decode(root.data.setup.settings, type=Settings)
    events = (e for each in app.worlds.runs.family(root.id) for e in app.worlds.runs.history(each.id))
    said = sorted((e for e in events if e.sent.by == "human" and e.status == "SUCCESS"), key=lambda e: e.at)
    for facts in (e.sent.facts for e in said):
        agent = facts.get("agent", agent)
        if "settings" in facts:
            new = msgspec.json.decode(facts["settings"], type=Renewed)
            settings = msgspec.structs.replace(settings, agents=new.agents, limits=new.limits)
    return Driving(agent, settings)


def renewed(app: App, run: str, agent: str = "") -> dict[str, str]:
    """What a person changes by resuming a run, for its event: the agent, if one is named, and the sections as they lie in the checkout now."""
    now, root = driving(app, run), app.place.root

    def read(path: str) -> str | None:
        file = root / path
        return file.read_text("utf-8", "replace") if file.is_file() else None

    here = load(read, app.world.outer)
    new, old = (Renewed(s.agents, s.limits) for s in (here, now.settings))
    changed = {"settings": msgspec.json.encode(new).decode()} if new != old else {}
    return {**changed, **({"agent": agent} if agent and agent != now.agent else {})}
