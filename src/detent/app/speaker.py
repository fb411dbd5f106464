"""Who speaks: a person in a shell of their own, or a program in a shell that belongs to an agent. Looks at processes; decides nothing.

Clients mark the shells they give to agents by a variable, and stand above them as processes. Both are looked at, also the variables of the
processes above, so that neither a cleaned environment nor a terminal made by `script` helps. It is a fence, not a wall: a process that was
cut loose from its ancestors, with a clean environment, looks like a person's.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

PROC = Path("/proc")
FARTHEST = 64  # processes above one
# Variables that clients set in shells of agents. What people set themselves to configure a client (homes, keys, models) is none.
MARKS = re.compile(
    r"CLAUDECODE|CLAUDE_CODE_(?:ENTRYPOINT|SESSION\w*|CHILD\w*)|CODEX_(?!HOME$|\w*(?:KEY|TOKEN|PATH|DIR|URL|FILE|MODEL|PROFILE)$)\w+"
    r"|GEMINI_CLI(?:_NO_RELAUNCH)?|QWEN_CODE(?:_NO_RELAUNCH)?|OPENCODE(?:_(?:PID|CALLER|CLIENT|SESSION\w*|PROCESS\w*))?"
    r"|CURSOR_(?!TRACE_ID$|\w*(?:KEY|TOKEN|PATH|DIR|URL|FILE|MODEL|THEME|SIZE)$)\w+|COPILOT_(?:CLI|AGENT\w*|SESSION\w*|RUN\w*)"
    r"|GOOSE_TERMINAL|CLINE_ACTIVE|ROO_ACTIVE|KILO_\w*ACTIVE|AUGMENT_AGENT|ANTIGRAVITY_AGENT|AMP_(?:THREAD|SESSION)\w*|OPENHANDS_(?:SESSION|CONVERSATION)\w*"
    r"|AIDER_(?:SHELL|SESSION)\w*|AI_AGENT|CRUSH|FACTORY_DROID|DETENT_RUN"
)
AGENT_NAMES = ("goose", "amp", "crush", "opencode", "claude", "codex", "gemini", "droid")  # as values of AGENT
NAMES = (
    "claude", "codex", "gemini", "qwen", "opencode", "copilot", "goose", "goosed", "cursor-agent", "aider", "openhands", "amp", "crush",
    "cline", "auggie", "droid", "kilocode", "qodo", "plandex", "mini-swe-agent", "swe-agent", "codebuff", "letta", "continue-cli",
)  # fmt: skip
PACKAGES = (  # in a path among the words of a process that runs a script
    "/@anthropic-ai/claude-code/", "/claude-code/", "/@openai/codex/", "/@google/gemini-cli/", "/gemini-cli/", "/@qwen-code/", "/opencode-ai/",
    "/@github/copilot/", "/@sourcegraph/amp/", "/@augmentcode/", "/cursor-agent/", "/@kilocode/", "/@charmland/crush/", "/claude_agent_sdk/",
)  # fmt: skip
LAUNCHERS = re.compile(
    r"(?:ba|da|z|fi|k)?sh|env|uvx?|npx|npm|pnpm|bunx?|pipx|mise|direnv|timeout|nice|setsid"
)  # between a client and what it starts
OFF = ("", "0", "false", "no", "off")
TERMINAL_MAKERS = (
    "script",
    "expect",
    "unbuffer",
    "socat",
    "setsid",
    "nohup",
    "at",
    "batch",
)  # they give a program a terminal, or a session of its own
KEEPERS = ("systemd", "init", "launchd", "cron", "crond", "atd", "anacron")  # whom orphans belong to
SHELLS = re.compile(r"-?(?:ba|da|z|fi|k)?sh")


def marked(env: Mapping[str, str]) -> str:
    """The variable by which an environment says that it is an agent's; empty if it says nothing."""
    found = (name for name in sorted(env) if MARKS.fullmatch(name) and env[name].strip().lower() not in OFF)
    named = "AGENT" if env.get("AGENT", "").lower() in AGENT_NAMES else ""
    return next(found, named)


def agent_above(env: Mapping[str, str] | None, pid: int, proc: Path = PROC) -> str:
    """By what a process is seen to belong to an agent, in words; empty if nothing says so. `env` is its own, where it is known."""
    if env is not None and (mark := marked(env)):
        return f"{mark} is set"
    for above in _line(pid, proc):
        if name := _client(above, proc):
            return f"it runs below {name}"
        if mark := marked(_environment(above, proc)):
            return f"{mark} is set in the process above it"
    return ""


def cut_loose(pid: int, proc: Path = PROC) -> str:
    """By what a process is seen to be cut loose from whoever started it, in words: above it are a program that makes terminals or a line that was
    handed to an interpreter, and then nobody. A person's shell stands below a login, a terminal, or is the first process of a container."""
    above = [each for each in _line(pid, proc) if each != 1 and _read(proc / str(each) / "comm").strip() not in KEEPERS]
    if len(above) < 2 or _parent(above[-1], proc) < 1:
        return ""
    names = [_stem(next(iter(_words(each, proc)), "")) for each in above[1:]]
    made = [name in TERMINAL_MAKERS or _is_handed_over(each, name, proc) for each, name in zip(above[1:], names, strict=True)]
    known = all(mine or SHELLS.fullmatch(name) or LAUNCHERS.fullmatch(name) for mine, name in zip(made, names, strict=True))
    return f"no process is above {names[-1]}, which started it" if made[-1] and known else ""


def _is_handed_over(pid: int, name: str, proc: Path) -> bool:
    """Whether a process is an interpreter that runs a line it was given."""
    interpreter = SHELLS.fullmatch(name) or re.fullmatch(r"python[0-9.]*|perl|ruby|node|bun", name)
    return interpreter is not None and any(re.fullmatch(r"-\w*[ce]", word) for word in _words(pid, proc)[1:3])


def agent_behind(pid: int, proc: Path = PROC) -> str:
    """By what the process that shows a person a dialog is seen to be no client, but a program that an agent started; empty if nothing says so.

    A client is itself above what it starts; whatever else stands between the two says by itself what a person would.
    """
    between = ""
    for above in _line(pid, proc):
        if name := _client(above, proc):
            return f"{between} runs below {name}" if between else ""
        if mark := marked(_environment(above, proc)):
            return f"{mark} is set in the process above it"
        names = [_stem(word).split(" ")[0].lstrip("-") for word in _programs(_words(above, proc))]
        if names and not any(map(LAUNCHERS.fullmatch, names)):
            between = between or names[0]
    return ""


def _line(pid: int, proc: Path) -> Iterator[int]:
    """A process and those above it, the nearest first."""
    for _ in range(FARTHEST):
        yield pid
        pid = _parent(pid, proc)
        if pid <= 1:
            return


def _parent(pid: int, proc: Path) -> int:
    try:
        return int((proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _client(pid: int, proc: Path) -> str:
    """The client that a process is, by its own name or by what it runs; empty if it is none."""
    name = _read(proc / str(pid) / "comm").strip()
    words = _words(pid, proc)[:4]
    if name in NAMES:
        return name
    program = (_stem(word) for word in _programs(words))
    package = (part.strip("/") for part in PACKAGES for word in words[:3] if part in word)
    return next((word for word in program if word in NAMES), "") or next(package, "")


def _words(pid: int, proc: Path) -> list[str]:
    return [word for word in _read(proc / str(pid) / "cmdline").split("\0") if word]


def _programs(words: list[str]) -> Iterable[str]:
    """What a process runs: its program, and the script of an interpreter."""
    if not words:
        return ()
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    interpreted = re.fullmatch(r"(?:node|bun|deno|python[0-9.]*|uv|uvx|npx)", _stem(words[0])) is not None
    return (words[0], script) if interpreted else (words[0],)


def _stem(word: str) -> str:
    return re.sub(r"\.(?:m?js|cjs|py|exe)$", "", os.path.basename(word))


def _environment(pid: int, proc: Path) -> dict[str, str]:
    """The environment that a process began with, where it may be read."""
    pairs = (line.partition("=") for line in _read(proc / str(pid) / "environ").split("\0"))
    return {name: value for name, _, value in pairs if name}


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


# -- over loopback -------------------------------------------------------------------------------------------------------------


def process_at(port: int, every: Callable[[], list[int]] = lambda: _numbers(PROC)) -> int | None:
    """The process of this user that has a port as its end of a connection over loopback; 0 if that cannot be seen, None if nobody has it any more.
    `every`: the processes that there are."""
    wanted = _held(port)
    if not wanted:
        return None if wanted is not None else 0
    found = (pid for pid in every() if any(_leads_to(PROC / str(pid) / "fd" / str(fd), wanted) for fd in _numbers(PROC / str(pid) / "fd")))
    if (pid := next(found, 0)) or wanted & (_held(port) or set()):
        return pid
    return None  # who left while all were looked at is no other user


def _held(port: int) -> set[str] | None:
    """The sockets that have a port as their own end; None if that cannot be seen here."""
    tables = [_read(PROC / table) for table in ("net/tcp", "net/tcp6")]
    return {f"socket:[{inode}]" for table in tables for inode in _sockets(table, port)} if any(tables) else None


def _numbers(folder: Path) -> list[int]:
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:  # another user's, or gone
        return []


def _leads_to(link: Path, wanted: set[str]) -> bool:
    try:
        return os.readlink(link) in wanted
    except OSError:
        return False


def _sockets(table: str, port: int) -> Iterator[str]:
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 9 and fields[1].rpartition(":")[2] == f"{port:04X}" and fields[9] != "0":
            yield fields[9]
