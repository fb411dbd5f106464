"""One call of `detent hook CLIENT`: reads the event, prints the answer. Refuses what it cannot judge while there is a journal; silent without a run.

Runs before every command and edit of an agent, so it imports next to nothing.
"""

import os
import sys

from detent.interfaces.hooks.event import BEGIN, OTHER, STOP, HookClient, HookEvent, Json
from detent.interfaces.hooks.hook_clients import CLIENTS
from detent.interfaces.hooks.light_json import dumps, loads
from detent.interfaces.hooks.standing import HookCheckout, Standing, find_ground, find_standing, thorough_rules

LARGEST = 20_000_000  # bytes of an event, which may contain a whole file
STOPPING = ("Stop", "AfterAgent", "stop")  # clients' names of the event that an agent wants to stop
STOPS = 3  # times in a row, without a submit, that an agent is sent back to work
BEGUN = "This checkout is held by Detent, run {}. Call get_task (MCP server `detent`, or `detent get-task`) before anything else, and do what it says."
UNFINISHED = "The work is not finished: the run is in {}. {}Next: {}. If you are stuck, tell the user; this is reminder {} of {}."
BROKEN = "Detent cannot tell what state its run is in ({}), so it allows nothing. A person has to check: `detent doctor`."


def answer(name: str) -> int:
    """Read the event and print the answer. Exit 2, with the reason on stderr, if the event cannot be read."""
    client = CLIENTS[name]
    raw = sys.stdin.buffer.read(LARGEST + 1)
    try:
        event = _event(raw)
    except Exception as e:  # noqa: BLE001 - fails closed
        return _unreadable(client, e)
    reply = reply_to(client, event)
    if reply:
        sys.stdout.write(dumps(reply) + "\n")
        sys.stdout.flush()
    return 0


def _event(raw: bytes) -> Json:
    if len(raw) > LARGEST:
        raise ValueError("the event is larger than 20 MB")
    event = loads(raw.decode())
    if not isinstance(event, dict):
        raise ValueError("the event is not an object")
    return event


def _unreadable(client: HookClient, fault: Exception) -> int:
    try:
        ground = _ground(client, {})
        open_ = ground is not None and find_standing(ground) is not None
    except Exception:  # noqa: BLE001 - fails closed, whatever is wrong with the journal
        open_ = True
    if open_:
        print(f"Detent cannot read this event ({fault}), so it is refused.", file=sys.stderr)
    return 2 if open_ else 0


def reply_to(client: HookClient, event: Json) -> Json | None:
    """The answer in the client's format; None is silence, which allows."""
    stopping = event.get("hook_event_name") in STOPPING or "stopReason" in event
    try:
        ground = _ground(client, event)
        if ground is None:
            return None
        _seen(client, ground)
        standing = find_standing(ground)
        if standing is None:
            return None
        asked = client.read(event)
        return None if asked.kind == OTHER else _judged(client, event, asked, ground, standing)
    except Exception as e:  # noqa: BLE001 - fails closed, except that an agent may always stop
        reason = " ".join(str(e).split()) or type(e).__name__
        return None if stopping else client.refuse(BROKEN.format(reason))


def _judged(client: HookClient, event: Json, asked: HookEvent, ground: HookCheckout, standing: Standing) -> Json | None:
    from detent.interfaces.hooks.hook_judge import TURN, Rules, judge

    kept = loads(standing.rules or thorough_rules(ground, standing.run))
    assert isinstance(kept, dict), "the rules are an object"
    rules = Rules(kept)
    if asked.kind == BEGIN:
        return None if rules.actor == "none" else client.tell(BEGUN.format(standing.run))
    if asked.kind == STOP:
        if rules.actor not in TURN or rules.parked or (times := _stops(ground, standing)) > STOPS:
            return None
        goal = f"{rules.goal.rstrip('.')}. " if rules.goal else ""
        return client.go_on(UNFINISHED.format(rules.state, goal, rules.instruction, times, STOPS))
    cwd = event.get("cwd")
    reason = judge(asked, rules, ground, client, cwd if isinstance(cwd, str) else os.getcwd())
    return client.refuse(f"Refused by Detent ({rules.state}). {reason}") if reason else None


def _ground(client: HookClient, event: Json) -> HookCheckout | None:
    """The checkout of the session: from the client's project variable, the event's cwd, or the current folder."""
    for start in (os.environ.get(client.home, "") if client.home else "", event.get("cwd"), os.getcwd()):
        if isinstance(start, str) and start and (ground := find_ground(start)):
            return ground
    return None


def _seen(client: HookClient, ground: HookCheckout) -> None:
    """Mark that this client's hooks run; read by app/hooks_seen.py."""
    file = f"{ground.git_dir}/detent/clients/{client.name}.seen"
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT, 0o644))
        os.utime(file)
    except OSError:
        pass  # not registered here, or not writable


def _stops(ground: HookCheckout, standing: Standing) -> int:
    """How often the agent has wanted to stop since the run's last event, this time included."""
    file, key = f"{ground.git_dir}/detent/stops", f"{standing.run} {standing.seq} "
    try:
        with open(file, encoding="utf-8") as kept:
            was = kept.read()
    except (OSError, UnicodeDecodeError):
        was = ""
    times = int(was[len(key) :]) + 1 if was.startswith(key) and was[len(key) :].isdigit() else 1
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w", encoding="utf-8") as out:
        out.write(f"{key}{times}")
    return times
