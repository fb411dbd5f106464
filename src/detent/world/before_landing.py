"""The check before a finished branch lands: it is held up by a failure of the whole branch, or by flags that nobody has accepted.

Every job that lands or pushes a branch calls this first. With `[flags] answered_by = "reviewer"` the reviewer answers for flags.
"""

import json

import msgspec

from detent.blocks.open_flags import list_flags
from detent.door import AnyRun
from detent.errors import CannotTell
from detent.evidence.outcomes.card import Card, Checked, keep_card, kept_card
from detent.git.commits import main_branch, short
from detent.git.repo import Git
from detent.kernel.decide import FLAGS
from detent.kernel.model import Flag, Sent
from detent.kernel.redact import redactor, secrets_of
from detent.world.reviewer import Limited, ReviewQuestion, Took, ask_reviewer, bounded_diff, fenced, kept_review
from detent.world.whole_branch import checked_branch, look_over
from detent.world.work_tree import RepoWorld, outcome, without_keys


def held_up(world: RepoWorld, run: AnyRun, failed: str = "red-merge") -> Sent | None:
    """The outcome that keeps a run's branch from landing now, or None. An inner run's branch is landed by its parent."""
    if run.parent:
        return None
    tip = _tip(world, run)
    tree = world.git.tree(tip)
    card = looked_at(world, run, tree)
    _kept(world, run, tip, card)
    if card.unclear and not _is_in_main(world, run, tip):
        raise CannotTell(card.unclear)
    if card.failed and not _is_in_main(world, run, tip):
        return outcome(failed, "\n".join(card.failed))
    return _flagged(world, run, card) if card.asks and run.accepted != tree else None


def card_of(world: RepoWorld, run: AnyRun) -> Checked:
    """The card of a run's branch at its tip: the stored one, or a new one."""
    tip = _tip(world, run)
    tree, known = world.git.tree(tip), kept_card(world.place.common_dir, run.id)
    if known is not None and known.card.tip == tree and not known.card.unclear:
        return known
    return _kept(world, run, tip, looked_at(world, run, tree))


def _kept(world: RepoWorld, run: AnyRun, tip: str, card: Card) -> Checked:
    """Store the card with its range, for people who look at the run."""
    found = checked_branch(world, run, tip, card)
    keep_card(world.place.common_dir, run.id, found)
    return found


def _tip(world: RepoWorld, run: AnyRun) -> str:
    if tip := world.git.resolve(f"{run.data.branch or 'HEAD'}^{{commit}}"):
        return tip
    raise CannotTell(f"the branch {short(run.data.branch)} is gone")


def looked_at(world: RepoWorld, run: AnyRun, tree: str) -> Card:
    """The card of a branch, with both versions added to flags about whole files."""
    card, redact = look_over(world, run, tree), redactor(secrets_of(world.outer))
    shown = tuple(flag if flag.before or flag.after else without_keys(_with_versions(world.git, card, flag), redact) for flag in card.flags)
    return msgspec.structs.replace(card, flags=shown)


def _with_versions(git: Git, card: Card, flag: Flag) -> Flag:
    if not card.base or ":" in flag.place or not flag.place:
        return flag
    from difflib import unified_diff  # few branches have such a flag

    before, after = ((git.read(tree, flag.place) or b"").decode("utf-8", "replace").splitlines(True) for tree in (card.base, card.tip))
    lines = list(unified_diff(before, after, n=0))[2:]
    removed, added = ("".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
    return msgspec.structs.replace(flag, before=removed, after=added)


def _is_in_main(world: RepoWorld, run: AnyRun, tip: str) -> bool:
    """Whether main already has the run's own branch. Then failures do not hold it up, but flags still do."""
    git, main = world.git, main_branch(world.git, world.config_of(run).ways.main)
    return run.data.branch not in ("", main) and git.is_ancestor(tip, git.resolve(main))


def _flagged(world: RepoWorld, run: AnyRun, card: Card) -> Sent:
    """The outcome for flags: a question to a person, or the answer of the configured reviewer."""
    facts = {FLAGS: msgspec.json.encode(card.flags).decode(), "tree": card.tip}
    if world.config_of(run).settings.get("flags.answered_by") != "reviewer":
        return outcome("flagged", **facts)
    accepts, reason, took = _reviewer_says(world, run, card)
    who = world.config_of(run).reviewer
    if accepts:
        return outcome("flags-accepted", f"{who} accepts the flags: {reason}", tree=card.tip, who=who, **took)
    return outcome("flagged", f"The reviewer ({who}) does not accept them: {reason}", **facts, **took)


# -- the reviewer --------------------------------------------------------------------------------------------------------------


def _reviewer_says(world: RepoWorld, run: AnyRun, card: Card) -> tuple[bool, str, Took]:
    """Whether the reviewer accepts the flags, why, and its usage. Asked once per tree; at a usage limit the question goes to a person."""
    file = world.place.common_dir / "detent" / "reviews" / f"{run.id}-flags-{card.tip}.json"
    try:
        text, took = kept_review(file, lambda: ask_reviewer(world.git, world.runs.reviewer(run), _question(world, run, card)), repeats=True)
    except Limited as e:
        return False, str(e), dict(e.sent.facts)
    answer = json.loads(text)
    return answer["accept"], answer["reason"], took


def _question(world: RepoWorld, run: AnyRun, card: Card) -> ReviewQuestion:
    from detent.blocks.briefs import flags_prompt  # imported late: few landings ask a reviewer

    parts = {"flags": list_flags(card.asks, 60), "diff": bounded_diff(world.git, card.base, card.tip) if card.base else ""}
    head = f"# Flags of the branch {short(run.data.branch)}\n\nThe files as it leaves them are in your folder."
    prompt = "\n\n".join((head, f"## The flags\n\n{parts['flags']}", fenced("The diff", "diff", parts["diff"])))
    goal, attempt = "Say whether these flags are acceptable", f"{run.id}.flags.{card.tip}"
    return ReviewQuestion(run.id, run.state, card.tip, goal, prompt, flags_prompt(), read_word, attempt, parts)


def read_word(words: str) -> str:
    """The reviewer's answer as JSON: the last object with `accept` in its reply. CannotTell if there is none."""
    from detent.gates.plain_values import spans_of

    found = [value for _, _, value in spans_of(words) if "accept" in value]
    answer = found[-1] if found else {}
    accept, reason = answer.get("accept"), answer.get("reason")
    if not isinstance(accept, bool) or not isinstance(reason, str) or not reason.strip():
        raise CannotTell('the reviewer gave no answer about the flags: {"accept": true or false, "reason": "…"} was expected')
    return json.dumps({"accept": accept, "reason": reason.strip()})
