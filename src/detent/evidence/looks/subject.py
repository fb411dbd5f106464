"""The subject of a look: the judged tree, the trees it is compared with, and the configuration. Values only."""

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
    """What a look is about, and what is needed for it."""

    git: Git
    collect: Collects
    run: Run[Any]
    sent: Sent
    tree: str
    reference: ReferenceTrees
    settings: Mapping[str, str]
    preflight: tuple[str, ...]
    published: Callable[[str], Path | None]  # the path of a published file; None for any other name
    tampered: Callable[[], tuple[str, ...]]
    left_out: tuple[str, ...]
    wanted: Callable[[], bool]
    red_preflight: tuple[str, ...] = ()  # preflight commands, and gates as `gate NAME`, that failed before the work began
    own: "GatedTree | None" = None  # the project's own gates
    quick: bool = True  # someone waits, so probes take only a few seconds or half the suite
    toolchain: Callable[[], tuple[str, ...] | None] = tuple  # files of the test runner that changed since the run began
    keys: Mapping[str, str] = MappingProxyType({})  # secrets that must not be committed, with their variable names
