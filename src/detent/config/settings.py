"""The structs of all settings: every key with its type and default. Values only; reads nothing."""

import json
from functools import cache
from operator import attrgetter
from typing import Any, Literal, get_type_hints

from msgspec.structs import replace

from detent.kernel.model import KINDS, OwnGate, Value

Texts = tuple[str, ...]
TABLES = ("services", "prices")  # sections whose keys the project chooses
ROWS = "gate"  # written as rows, [[gate]], instead of a section
LEVEL = Literal["", "allow", "note", "ask", "fail"]  # of a kind of flag; unset: the kind's default


class ProjectSettings(Value, frozen=True):
    name: str = ""
    tech_stack: Texts = ()


class TestProject(Value, frozen=True):
    """One row of [[test.project]]: a folder that is tested by itself."""

    __test__ = False
    path: str  # from the root of the repository; "": all of it
    command: str = ""  # unset: detected there
    files: Texts = ()
    timeout: int = 0  # unset: test.timeout
    report: str = ""


class Test(Value, frozen=True):
    __test__ = False
    command: str = ""
    report: str = ""  # unset: by the runner that the command calls
    files: Texts = ()
    timeout: int = 120  # unset: bash.timeout
    env: Texts = ()
    project: tuple[TestProject, ...] = ()  # every [[test.project]]


class Bash(Value, frozen=True):
    timeout: int = 120


class Preflight(Value, frozen=True):
    commands: Texts | None = None  # unset: the full test command, lint and type check where the project configures them


class Pr(Value, frozen=True):
    plan: str = "docs/Plan_Doc/Active_Plan.md"
    entries: str = ""  # a pattern for the plan's lines that are pull requests; unset: by the plan's own form


class Tdd(Value, frozen=True):
    retries: int = 3


class Pipeline(Value, frozen=True):
    keep_documents: bool = False  # a full session's documents are committed to its branch with the release, below docs/sessions/


class GitSettings(Value, frozen=True):
    main: str = ""
    branching: bool = True
    checkpoint: Literal["auto", "agent"] = "auto"
    squash: Literal["", "agent", "auto"] = ""  # unset: agent; where the machine drives the agent, auto
    merge: Literal["", "auto", "branch", "pull-request"] = ""  # unset: auto for pr, branch for tdd
    pr_command: str = ""  # unset: at the forge of the remote
    push: bool = False  # push main too, after Detent has merged into it
    wait_for_ci: bool = False
    remote: str = "origin"


class Debug(Value, frozen=True):
    hypothesize: int = 1
    instrument: int = 3
    reduce_scope: int = 6
    escalate: int = 10


class ReviewSettings(Value, frozen=True):
    agent: str = ""
    block_at: Literal["CRITICAL", "MAJOR", "MINOR", "SUGGESTION", "INFO"] = "MINOR"
    max_rounds: int = 5
    require_independent: bool = False


class Escalate(Value, frozen=True):
    """[agents.escalate]: the agent that takes over after a number of failures."""

    after: int = 0  # 0: never
    to: str = ""


class Agents(Value, frozen=True):
    model: str = "claude-opus-4-5-20251101"
    escalate: Escalate = Escalate()
    roles: dict[str, str] = {}  # every other key of the section, in lower case

    def of(self, role: str) -> str:
        """The configured agent of a role, or ""."""
        return self.roles.get(role.lower(), "")


class EvidenceSettings(Value, frozen=True):
    mutation: Literal["off", "warn", "require"] = "warn"
    clean: bool = False
    seconds: int = 60


MUTATION = {"off": "allow", "warn": "", "require": "fail"}  # [evidence] mutation -> level of the kinds OF_MUTATION
OF_MUTATION = ("vacuous-test", "unnoticed")


class Flags(Value, frozen=True):
    answered_by: Literal["person", "reviewer"] = "person"
    levels: dict[str, str] = {}  # every other key of the section is a kind of flag; unset: the kind's own default


class LimitSettings(Value, frozen=True):
    tokens: int = 0
    usd: float = 0.0
    minutes: int = 0
    turns: int = 0
    files: int = 0


class SandboxSettings(Value, frozen=True):
    level: Literal["auto", "none", "bubblewrap", "sandbox-exec", "podman", "docker", "container", "outer"] = "auto"
    pull: Literal["auto", "none"] = "auto"
    cpus: int = 4
    memory: str = "8g"
    network: bool = False
    mounts: Texts = ()
    image: str = ""


class Workspace(Value, frozen=True):
    setup: str = ""
    copy: Texts = ()


class QueueSettings(Value, frozen=True):
    url: str = ""
    slots: int = 3
    timeout: int = 21600
    silence: int = 21600
    strategy: Literal["plain", "tdd", "pr"] = "plain"
    retry_from: Literal["kept", "main"] = "kept"
    free_disk: int = 1000
    usd: float = 0.0  # per night, over all executions; 0: no limit
    tokens: int = 0
    hours: float = 0.0
    window: str = ""  # when executions may start, such as 22:00-07:00; empty: always


class Notify(Value, frozen=True):
    """How people are notified about the queue."""

    command: str = ""
    webhook: str = ""
    form: Literal["json", "slack"] = "json"
    desktop: bool = False
    events: Texts = ("person", "paused", "budget", "over")
    every: int = 300

    @property
    def is_set(self) -> bool:
        return bool(self.command or self.webhook or self.desktop)


class TrackerSettings(Value, frozen=True):
    kind: str = "builtin"  # or one that a package brings
    query: str = ""
    ready: str = ""
    branch: str = ""  # unset: the default of the kind of tracker
    commit: str = ""


class Forge(Value, frozen=True):
    kind: Literal["", "github", "gitlab"] = ""  # unset: by the remote's host
    project: str = ""  # unset: as the remote's URL says


class DecisionSettings(Value, frozen=True):
    require: Literal["", "terminal", "anywhere"] = ""  # unset: see docs/configuration.md


class Endpoint(Value, frozen=True):
    """One table of [services]: a service with OpenAI's API."""

    url: str
    key: str = ""  # the variable that holds its key; unset: it needs none
    usage: bool = True  # False: it reports tokens anyway, and rejects the option that asks for it


class TokenPrice(Value, frozen=True):
    """One row of [prices]: dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None  # read from a cache; unset: as input
    written: float | None = None  # written to a cache; unset: as input


class Settings(Value, frozen=True):
    """Every setting, checked."""

    project: ProjectSettings = ProjectSettings()
    test: Test = Test()
    bash: Bash = Bash()
    preflight: Preflight = Preflight()
    gate: tuple[OwnGate, ...] = ()  # every [[gate]]
    pr: Pr = Pr()
    tdd: Tdd = Tdd()
    pipeline: Pipeline = Pipeline()
    git: GitSettings = GitSettings()
    debug: Debug = Debug()
    review: ReviewSettings = ReviewSettings()
    agents: Agents = Agents()
    evidence: EvidenceSettings = EvidenceSettings()
    flags: Flags = Flags()
    limits: LimitSettings = LimitSettings()
    sandbox: SandboxSettings = SandboxSettings()
    workspace: Workspace = Workspace()
    queue: QueueSettings = QueueSettings()
    notify: Notify = Notify()
    tracker: TrackerSettings = TrackerSettings()
    forge: Forge = Forge()
    decisions: DecisionSettings = DecisionSettings()
    services: dict[str, Endpoint] = {}  # by their names
    prices: dict[str, TokenPrice] = {}  # by models

    def of_a_run(self) -> "Settings":
        """The settings to store in a run: without addresses of this machine, which may contain a password."""
        return replace(self, notify=Notify(), queue=replace(self.queue, url=""))

    def flat(self) -> dict[str, str]:
        """Dotted names to text: booleans as true and false, lists as JSON, unset as empty."""
        plain = [name for name in kinds() if name not in levels()]
        pairs = {name: attrgetter(name)(self) for name in plain}
        roles = {f"agents.{role}": agent for role, agent in self.agents.roles.items()}
        return (
            {name: as_text(value) for name, value in pairs.items()}
            | roles
            | {f"flags.{kind}": self.level(kind) for kind in (*KINDS, *self.flags.levels)}
        )

    def level(self, kind: str) -> str:
        """The configured level of a kind of flag; empty: its default. [evidence] mutation sets its two kinds where [flags] does not."""
        by_mutation = MUTATION[self.evidence.mutation] if kind in OF_MUTATION else ""
        return self.flags.levels.get(kind, "") or by_mutation


@cache
def kinds() -> dict[str, Any]:
    """Every key by its dotted name, with the type of its value: str, int, float, bool, Texts or a Literal."""
    sections = {section: of for section, of in get_type_hints(Settings).items() if section not in (*TABLES, ROWS)}
    found = {f"{section}.{key}": kind for section, of in sections.items() for key, kind in get_type_hints(of).items()}
    del found["agents.roles"], found["agents.escalate"], found["flags.levels"], found["test.project"]
    found |= {f"agents.escalate.{key}": kind for key, kind in get_type_hints(Escalate).items()}
    return {name: Texts if kind == Texts | None else kind for name, kind in found.items()} | dict.fromkeys(levels(), LEVEL)


def kind_of(name: str) -> Any:
    """The type of a key's value. Under [agents] any key is a role; under [flags] packages may add kinds."""
    return kinds().get(name, LEVEL if name.startswith("flags.") else str)


@cache
def levels() -> dict[str, str]:
    """The keys of [flags] that are built-in kinds of flags, by their dotted names."""
    return {f"flags.{kind}": kind for kind in KINDS}


def variable(name: str) -> str:
    """The environment variable of a key."""
    return "DETENT_" + name.replace(".", "_").replace("-", "_").upper()


def as_text(value: object) -> str:
    """A value as text, for gates."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(list(value), ensure_ascii=False) if isinstance(value, tuple) else str(value)
