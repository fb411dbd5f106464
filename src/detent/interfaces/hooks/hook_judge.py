"""Judges a hook event by the run's current rules: a sentence on why not and what to do instead, or None.

Always closed: the git dir, Detent's own files, files that configure hooks, and commands for people. The rest is
enforced while it is the agent's turn. It sees only names and texts; the gates at submit are what really holds.
"""

import os

from detent.interfaces.hooks.event import SHELL, HookClient, HookEvent
from detent.interfaces.hooks.standing import HookCheckout
from detent.interfaces.hooks.words import deserves_a_look
from detent.kernel.permit import RED, Permit, looks_like, simple_match, why_not

TESTS_RUN = "The machine runs the tests itself and accepts no results from the shell. When the step is written, hand it in: {}."
PEOPLE_SAY = "{} is for a person, not for an agent. {}"
GIT_DIR = "{} is in the git dir, where agents may not write: it could run programs or forge the record. {}"
STATE = "{} belongs to Detent; agents may not write it. {}"
SWITCH = "{} switches Detent's hooks on; while a run is open, only a person may change it. {}"
BETWEEN = "The run is between two steps: call get_task first, then write what it asks for."


TURN = ("agent", "system")  # actors at whose turn an agent is restricted: itself, or the machine between two steps


class Rules:
    """The current rules of a run, as the journal stores them."""

    def __init__(self, kept: dict[str, object]) -> None:
        self.state, self.actor, self.goal = str(kept["state"]), str(kept["actor"]), str(kept["goal"])
        self.instruction, self.parked = str(kept["instruction"]), str(kept["parked"])
        self.runner = str(kept["runner"])
        self.tests, self.command = _words(kept["tests"]), _words(kept["command"])
        permit = kept["permit"]
        assert isinstance(permit, dict), "the rules hold a permit"
        self.permit = Permit(_words(permit["opened"]), _words(permit["closed"]), str(permit["phase"]))

    @property
    def next(self) -> str:
        if self.actor == "none":
            return "A run that the machine drives is open here; look with `detent status`."
        if self.actor == "human":
            return "It is a person's turn: tell the user what to decide (`detent status`)."
        return f"The next step: {self.instruction}."


def _words(value: object) -> list[str]:
    assert isinstance(value, list), "the rules hold lists"
    return [str(word) for word in value]


def judge(asked: HookEvent, rules: Rules, ground: HookCheckout, client: HookClient, cwd: str) -> str | None:
    """Why the event is refused; None if it is allowed."""
    reason = None
    if asked.kind == SHELL and deserves_a_look(asked.command, rules.command):
        from detent.interfaces.hooks.shell import simple_commands, written

        commands = simple_commands(asked.command)
        reason = _command(commands, rules)
        paths = (*asked.paths, *(path for simple in commands for path in written(simple)))
    else:
        paths = asked.paths
    return reason or next(filter(None, (_path(path, rules, ground, client, cwd) for path in paths)), None)


def _command(commands: list[tuple[list[str], list[str]]], rules: Rules) -> str | None:
    from detent.interfaces.hooks.forbidden import for_people, runs_tests

    for words, _ in commands:
        if theirs := for_people(words):
            return PEOPLE_SAY.format(theirs, rules.next)
        if rules.actor in TURN and runs_tests(words, rules.command):
            return TESTS_RUN.format(rules.instruction)
    return None


def _path(path: str, rules: Rules, ground: HookCheckout, client: HookClient, cwd: str) -> str | None:
    """Why a file may not be written, or None. Files outside the checkout are not restricted, except Detent's state."""
    full = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    real = os.path.realpath(full)
    name = _published(real, ground)
    if name is None:
        for folder in (ground.git_dir, ground.common):
            if _below(real, folder) is not None:
                return GIT_DIR.format(path, rules.next)
        if _below(real, os.path.realpath(_state_dir())) is not None:
            return STATE.format(path, rules.next)
    inside = [name] if name is not None else [p for p in (_below(real, ground.root), _below(full, ground.root)) if p is not None]
    for each in dict.fromkeys(inside):
        if any(simple_match(own, each, True) for own in client.own_files):
            return SWITCH.format(path, rules.next)
        if reason := _inside(each, rules):
            return reason
    return None


def _inside(path: str, rules: Rules) -> str | None:
    if rules.actor not in TURN:  # a person may let the agent fix something; protected files stay protected
        reason = why_not(Permit(["**"], rules.permit.closed), path, lambda p: False, _matches)
        return f"{reason} {rules.next}" if reason else None
    if rules.actor != "agent":
        return BETWEEN
    reason = why_not(rules.permit, path, lambda p: _is_test(p, rules), _matches)
    return f"{reason} {rules.next}" if reason else None


def _is_test(path: str, rules: Rules) -> bool:
    """Whether a file is a test, by the test runner's adapter. A cheap check comes first, since the adapter is slow to load."""
    if rules.tests and not looks_like(path, rules.tests):
        return False
    if rules.tests and rules.permit.phase == RED:
        return True  # good enough here; the gate checks precisely
    from detent.evidence.runners import RUNNERS

    return RUNNERS[rules.runner].is_test(path)


def _matches(glob: str, path: str, any_case: bool) -> bool:
    found = simple_match(glob, path, any_case)
    if found is None:
        from detent.tools.globs import matches

        return matches(glob, path, any_case)
    return found


def _published(real: str, ground: HookCheckout) -> str | None:
    """The name of a published file whose path in the git dir this is, used when the project has a file of that name."""
    name = _below(real, f"{ground.git_dir}/detent/published")
    return name if name and os.path.exists(real) else None


def _below(path: str, folder: str) -> str | None:
    """The path relative to a folder, if it is that folder or in it."""
    if path == folder:
        return "."
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else None


def _state_dir() -> str:
    return f"{os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')}/detent"
