"""What a look at a submit is about: the tree, what it is compared with, and what is configured for it. Values only."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.running.collect import Collects
from detent.git.repo import Git
from detent.kernel.model import Run, Sent

if TYPE_CHECKING:
    from detent.evidence.looks.own_gates import GatedTree


class Subject(NamedTuple):
    """What is to be looked at, and with what."""

    git: Git
    collect: Collects
    run: Run[Any]
    sent: Sent
    tree: str
    reference: ReferenceTrees
    settings: Mapping[str, str]
    preflight: tuple[str, ...]
    published: Callable[[str], Path | None]  # where a published file stands, if the name is one
    tampered: Callable[[], tuple[str, ...]]
    left_out: tuple[str, ...]
    wanted: Callable[[], bool]
    red_preflight: tuple[str, ...] = ()  # commands of it, and gates by `gate NAME`, that failed before the work began
    own: "GatedTree | None" = None  # the gates that the project configures itself
    quick: bool = True  # someone waits: probes take no longer than a few seconds, or half the suite
    toolchain: Callable[[], tuple[str, ...] | None] = tuple  # files of the test runner that changed since the run began
    keys: Mapping[str, str] = MappingProxyType({})  # values that must not be committed, with the names of their variables
