"""API shapes of the agents of this machine. No behaviour."""

from detent.interfaces.http.shape import Shape


class AgentRow(Shape, frozen=True, kw_only=True):
    """One agent, as `--agent` names it. `lacks`: why it cannot be asked, and `hint` what helps; empty: it can."""

    agent: str
    lacks: str
    hint: str


class AgentList(Shape, frozen=True, kw_only=True):
    configured: tuple[str, ...]  # named in [agents], by role
    agents: tuple[AgentRow, ...]
