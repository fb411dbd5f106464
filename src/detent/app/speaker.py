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
BUILDERS = frozenset(
    {"make", "gmake", "just", "ninja", "rake", "git", "xargs", "find", "parallel", "stdbuf", "ionice", "chrt", "taskset", "flock", "watch", "entr",
     "unshare", "prlimit", "systemd-run", "dbus-run-session", "xvfb-run", "busybox", "yarn", "bundle", "poetry", "pdm", "hatch", "tox", "nox"}
)  # they run what others wrote down  # fmt: skip
KEEPERS = ("systemd", "init", "launchd")  # whom orphans belong to
CLOCKS = ("cron", "crond", "atd", "anacron", "fcron")  # they start what nobody sits at
SCRATCH = ("/tmp/", "/var/tmp/", "/dev/shm/", "/dev/fd/", "/proc/self/")
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
    """By what a process is seen to be cut loose from whoever started it, in words: above it are only programs that run others, and then nobody.
    A person's shell stands below a login, a terminal or an editor, or is itself the first process of a session or a container."""
    line = list(_line(pid, proc))
    above = [each for each in line[1:] if each != 1 and _comm(each, proc) not in (*KEEPERS, *CLOCKS)]
    if not above or _parent(above[-1], proc) < 1:
        return ""
    made = [_is_made(each, proc) for each in above]
    known = all(each or _runs_others(pid, proc) for pid, each in zip(above, made, strict=True))
    by_hand = _is_plain_shell(above[-1], proc) and not any(_comm(each, proc) in CLOCKS for each in line)
    return f"no process is above {_names(above[-1], proc)[0]}, which started it" if known and any(made) and not by_hand else ""


def _is_made(pid: int, proc: Path) -> bool:
    """Whether a process gives others a terminal or a session, or runs lines that it was handed or that lie where anybody may write them."""
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
        return interpreter  # what it runs came in by its input
    return "-m" not in words[1:3] and (not script.startswith("/") or script.startswith(SCRATCH))


def _runs_others(pid: int, proc: Path) -> bool:
    names = _names(pid, proc)
    return any(SHELLS.fullmatch(name) or LAUNCHERS.fullmatch(name) or name in BUILDERS for name in names)


def _is_plain_shell(pid: int, proc: Path) -> bool:
    """Whether a process is a shell that somebody types into."""
    words = _words(pid, proc)
    return (
        bool(words)
        and SHELLS.fullmatch(_stem(words[0])) is not None
        and all(re.fullmatch(r"--[a-z-]+|-[abd-zA-Z]*", word) for word in words[1:])
    )


def _is_interpreter(pid: int, proc: Path) -> bool:
    return re.fullmatch(r"python[0-9.]*|perl|ruby|node|bun|deno|php|lua", _stem(next(iter(_words(pid, proc)), ""))) is not None


def _names(pid: int, proc: Path) -> list[str]:
    """What a process is called, by its program and by the script that it runs; some give themselves a line as their name."""
    return [_stem(word.partition(" ")[0]) for word in _programs(_words(pid, proc))] or [_comm(pid, proc)]


def _comm(pid: int, proc: Path) -> str:
    return _read(proc / str(pid) / "comm").strip()


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
