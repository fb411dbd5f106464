"""Changes that people ask for on open pull requests of finished executions become a new execution of the item. Polls; no webhook.

A comment on the pull request marks what was handled, so that other machines and people see it.
"""

import json
import re
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from detent.app import App, open_app
from detent.app.executions import made_by, the_items
from detent.app.forges import pulls_of
from detent.app.land_branches import Candidate, change_of, finished, give_back
from detent.app.project import project_settings
from detent.app.queueing import task_of
from detent.config import Settings
from detent.errors import CannotTell, DetentError
from detent.forge import Pull, PullComment, Pulls
from detent.git.commits import main_branch
from detent.git.place import Place
from detent.git.repo import Git
from detent.kernel.model import Sent
from detent.queue.queue_protocol import WorkerTask

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue

HANDLED = re.compile(r"<!-- detent:heard (\[.*?\]) -->")
OURS = "<!-- detent"
EVERY = 60.0  # seconds between polls
LONGEST = 20_000  # characters of comments that the next agent reads


class ReturnedPull(NamedTuple):
    """A pull request that goes back to an agent."""

    branch: str
    item: str
    url: str
    execution: str
    words: tuple[PullComment, ...]


def bring_back(app: App, sent: Sent) -> list[ReturnedPull]:
    """Check the open pull requests of completed executions, and give those with requested changes back to an agent."""
    git = app.world.git
    settings, _ = project_settings(git, app.world.outer)
    if settings.git.merge != "pull-request":
        raise DetentError("this project opens no pull requests", 'set [git] merge = "pull-request" in detent.toml')
    pulls, found, main = pulls_of(settings, app.place, app.world.outer), [], main_branch(git, settings.git.main)
    for each in finished(app, main, settings.git.remote):
        last = the_items().last_of(app, each.item)
        pull = pulls.found(each.branch) if last is not None and last.ended else None  # an item at work already is checked later
        words = unhandled(pulls, pull) if pull is not None else ()
        if last is not None and pull is not None and any(word.asks for word in words):
            agent = app.door.load(last.run).run.data.setup.agent
            note, context = f"Changes were asked for on {pull.url}", _context(git, each, words, git.resolve(main))
            found.append(
                ReturnedPull(
                    each.branch,
                    each.item,
                    pull.url,
                    give_back(app, each, note, context, agent, sent, made_by(app, each.branch)[0].id),
                    words,
                )
            )
            pulls.say(pull, _mark(found[-1]))
    return found


def listening(place: Place, env: Mapping[str, str], settings: Settings, queue: "DurableQueue") -> WorkerTask:
    """A worker's task that also polls pull requests. Errors are left to the next poll."""
    task = task_of(place, env, settings, queue)
    looked = float("-inf")

    def tend() -> None:
        nonlocal looked
        task.tend()
        if time.monotonic() - looked < EVERY:
            return
        looked = time.monotonic()
        with suppress(DetentError, CannotTell):
            app = open_app(place.root, env=env)  # one of this thread's own
            with closing(app.journal):
                bring_back(app, Sent("start", by="system", channel="forge"))

    return task._replace(tend=tend) if settings.git.merge == "pull-request" else task


def unhandled(pulls: Pulls, pull: Pull) -> tuple[PullComment, ...]:
    """The comments of people that are not marked as handled."""
    words = pulls.words(pull)
    handled = {id for word in words for mark in HANDLED.findall(word.text) for id in _ids(mark)}
    return tuple(word for word in words if OURS not in word.text and word.id not in handled)


def _ids(mark: str) -> list[str]:
    try:
        return [str(id) for id in json.loads(mark)]
    except ValueError:
        return []


def _context(git: Git, each: Candidate, words: tuple[PullComment, ...], main: str) -> str:
    comments = "\n\n".join(
        f"{word.who}{f' at {word.place}' if word.place else ''}: {word.text.strip() or '(asks for changes)'}" for word in words
    )
    return (
        f"This item was done before, on the branch {each.branch}, and people who may write to the project looked at its pull request. "
        "Change it as they ask; where your workspace begins at main and not at that branch, do the item again there.\n\n"
        f"{comments[:LONGEST]}\n\n{change_of(git, each, main)}"
    )


def _mark(asked: ReturnedPull) -> str:
    ids = json.dumps([word.id for word in asked.words])
    return f"Detent has given this back to an agent, as `{asked.execution}`.\n\n<!-- detent:heard {ids} -->"
