"""Who is calling: a person in their own shell, or a program in an agent's shell. Looks at processes; decides nothing.

Clients mark the shells of agents by environment variables, and are ancestors of them. Both are checked, also the variables of all
ancestors, so that neither a cleaned environment nor a terminal made by `script` helps. It is a fence, not a wall: a process detached
from its ancestors, with a clean environment, may look like a person's.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

PROC = Path("/proc")
FARTHEST = 64  # ancestors that are checked
# Variables that clients set in shells of agents; not those by which people configure a client (homes, keys, models).
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
PACKAGES = (  # in the path of a script that an interpreter runs
    "/@anthropic-ai/claude-code/", "/claude-code/", "/@openai/codex/", "/@google/gemini-cli/", "/gemini-cli/", "/@qwen-code/", "/opencode-ai/",
    "/@github/copilot/", "/@sourcegraph/amp/", "/@augmentcode/", "/cursor-agent/", "/@kilocode/", "/@charmland/crush/", "/claude_agent_sdk/",
)  # fmt: skip
LAUNCHERS = re.compile(
    r"(?:ba|da|z|fi|k)?sh|env|uvx?|npx|npm|pnpm|bunx?|pipx|mise|direnv|timeout|nice|setsid"
)  # programs that may stand between a client and what it starts
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
)  # programs that give another one a terminal or a session
BUILDERS = frozenset(
    {"make", "gmake", "just", "ninja", "rake", "git", "xargs", "find", "parallel", "stdbuf", "ionice", "chrt", "taskset", "flock", "watch", "entr",
     "unshare", "prlimit", "systemd-run", "dbus-run-session", "xvfb-run", "busybox", "yarn", "bundle", "poetry", "pdm", "hatch", "tox", "nox"}
)  # programs that run commands from a file  # fmt: skip
KEEPERS = ("systemd", "init", "launchd")  # parents of orphans
CLOCKS = ("cron", "crond", "atd", "anacron", "fcron")  # programs that start unattended jobs
SCRATCH = ("/tmp/", "/var/tmp/", "/dev/shm/", "/dev/fd/", "/proc/self/")
SHELLS = re.compile(r"-?(?:ba|da|z|fi|k)?sh")


def agent_variable(env: Mapping[str, str]) -> str:
    """The variable that marks an environment as an agent's; empty if there is none."""
    found = (name for name in sorted(env) if MARKS.fullmatch(name) and env[name].strip().lower() not in OFF)
    named = "AGENT" if env.get("AGENT", "").lower() in AGENT_NAMES else ""
    return next(found, named)


def agent_above(env: Mapping[str, str] | None, pid: int, proc: Path = PROC) -> str:
    """The evidence that a process belongs to an agent, in words; empty if there is none. `env`: its own environment, if known."""
    if env is not None and (mark := agent_variable(env)):
        return f"{mark} is set"
    for above in _line(pid, proc):
        if name := _client(above, proc):
            return f"it runs below {name}"
        if mark := agent_variable(_environment(above, proc)):
            return f"{mark} is set in the process above it"
    return ""


def why_detached(pid: int, proc: Path = PROC) -> str:
    """The evidence that a process was detached from whoever started it, in words: its ancestors only run other programs, and then end.
    A person's shell has a login, a terminal or an editor above it, or is itself the first process of a session or a container."""
    line = list(_line(pid, proc))
    above = [each for each in line[1:] if each != 1 and _comm(each, proc) not in (*KEEPERS, *CLOCKS)]
    if not above or _parent(above[-1], proc) < 1:
        return ""
    made = [_is_made(each, proc) for each in above]
    known = all(each or _runs_others(pid, proc) for pid, each in zip(above, made, strict=True))
    by_hand = _is_plain_shell(above[-1], proc) and not any(_comm(each, proc) in CLOCKS for each in line)
    return f"no process is above {_names(above[-1], proc)[0]}, which started it" if known and any(made) and not by_hand else ""


def _is_made(pid: int, proc: Path) -> bool:
    """Whether a process makes terminals or sessions, or runs code from its arguments, its input or a scratch folder."""
    if any(name in TERMINAL_MAKERS for name in _names(pid, proc)):
        return True
    words = _words(pid, proc)
    shell, interpreter = SHELLS.fullmatch(_stem(words[0])) if words else None, _is_interpreter(pid, proc)
    if not shell and not interpreter:
        return False
    if any(re.fullmatch(r"-\w*[ce]|-", word) for word in words[1:6]):
        return True
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    if not script:
        return interpreter  # it runs code from its input
    return "-m" not in words[1:3] and (not script.startswith("/") or script.startswith(SCRATCH))


def _runs_others(pid: int, proc: Path) -> bool:
    names = _names(pid, proc)
    return any(SHELLS.fullmatch(name) or LAUNCHERS.fullmatch(name) or name in BUILDERS for name in names)


def _is_plain_shell(pid: int, proc: Path) -> bool:
    """Whether a process is an interactive shell."""
    words = _words(pid, proc)
    return (
        bool(words)
        and SHELLS.fullmatch(_stem(words[0])) is not None
        and all(re.fullmatch(r"--[a-z-]+|-[abd-zA-Z]*", word) for word in words[1:])
    )


def _is_interpreter(pid: int, proc: Path) -> bool:
    return re.fullmatch(r"python[0-9.]*|perl|ruby|node|bun|deno|php|lua", _stem(next(iter(_words(pid, proc)), ""))) is not None


def _names(pid: int, proc: Path) -> list[str]:
    """The names of a process: of its program and of the script it runs; some set a whole line as their name."""
    return [_stem(word.partition(" ")[0]) for word in _programs(_words(pid, proc))] or [_comm(pid, proc)]


def _comm(pid: int, proc: Path) -> str:
    return _read(proc / str(pid) / "comm").strip()


def agent_behind(pid: int, proc: Path = PROC) -> str:
    """The evidence that the process showing a dialog is not a client but a program that an agent started; empty if there is none.

    A client is the direct ancestor of what it starts; a program in between could answer in the person's place.
    """
    between = ""
    for above in _line(pid, proc):
        if name := _client(above, proc):
            return f"{between} runs below {name}" if between else ""
        if mark := agent_variable(_environment(above, proc)):
            return f"{mark} is set in the process above it"
        names = [_stem(word).split(" ")[0].lstrip("-") for word in _programs(_words(above, proc))]
        if names and not any(map(LAUNCHERS.fullmatch, names)):
            between = between or names[0]
    return ""


def _line(pid: int, proc: Path) -> Iterator[int]:
    """A process and its ancestors, the nearest first."""
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
    """The name of the client that a process is, by its name or by what it runs; empty if it is none."""
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
    """The program of a process, and the script if it is an interpreter."""
    if not words:
        return ()
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    interpreted = re.fullmatch(r"(?:node|bun|deno|python[0-9.]*|uv|uvx|npx)", _stem(words[0])) is not None
    return (words[0], script) if interpreted else (words[0],)


def _stem(word: str) -> str:
    return re.sub(r"\.(?:m?js|cjs|py|exe)$", "", os.path.basename(word))


def _environment(pid: int, proc: Path) -> dict[str, str]:
    """The environment that a process began with; empty if it cannot be read."""
    pairs = (line.partition("=") for line in _read(proc / str(pid) / "environ").split("\0"))
    return {name: value for name, _, value in pairs if name}


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


# -- over loopback -------------------------------------------------------------------------------------------------------------


def process_at(port: int, every: Callable[[], list[int]] = lambda: _numbers(PROC)) -> int | None:
    """The process of this user whose end of a loopback connection is a port; 0 if that cannot be seen, None if the connection is gone.
    `every` lists the processes."""
    wanted = _held(port)
    if not wanted:
        return None if wanted is not None else 0
    found = (pid for pid in every() if any(_leads_to(PROC / str(pid) / "fd" / str(fd), wanted) for fd in _numbers(PROC / str(pid) / "fd")))
    if (pid := next(found, 0)) or wanted & (_held(port) or set()):
        return pid
    return None  # it closed meanwhile, so it is not another user's


def _held(port: int) -> set[str] | None:
    """The sockets whose own end is a port; None if that cannot be seen here."""
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
