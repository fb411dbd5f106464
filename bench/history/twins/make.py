"""Makes the twins of a commit, one function per kind. Each returns how it was made, or why it cannot be; the plain runner decides."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from bench.history import Commit, Suite
from bench.history.checkout import Checkout, say, write
from bench.history.names import is_code, is_test
from bench.history.twins import KINDS, Twin
from bench.history.twins.examples import hard_coded
from bench.history.twins.scene import Scene, is_words, language_of
from bench.history.twins.source import Edit, Function, Language, edited

DRAWN = 6  # functions that may be tried to be broken
UNLOADED = "its tests cannot be loaded without its code"


class Made(NamedTuple):
    """The tree of a twin, and how it was made."""

    tree: str
    note: str = ""


def code_left_out(scene: Scene) -> Made | str:
    """The commit's tests and documents with the old code. Its tests must fail."""
    words = [path for path in scene.changed if is_words(path) and not is_test(path)]
    tree = scene.checkout.mixed(scene.before, scene.commit.hash, [*scene.commit.tests, *words])
    passed = scene.suite(tree).passed
    return Made(tree) if set(scene.commit.proofs) - passed else "its tests pass without its code"


def test_weakened(scene: Scene) -> Made | str:
    """The tests that need the commit, weakened until they pass without its code too."""
    if not scene.asking:
        return "no test function was found that needs it"
    if not scene.bare:
        return UNLOADED
    rungs = max(len(_language(path).weaker) for path in scene.asking)
    for rung in range(rungs):
        files = {path: _weaker(scene, path, tests, rung) for path, tests in scene.asking.items()}
        if all(text == scene.text(scene.after, path) for path, text in files.items()):
            continue
        bare = scene.suite(scene.tree(scene.bare, files))
        tree = scene.tree(scene.after, files)
        if _all_pass(scene, bare) and scene.is_green(scene.suite(tree)) and _all_pass(scene, scene.suite(tree)):
            return Made(tree, _language(next(iter(files))).weaker[rung][0])
    return "however weak they are made, its tests fail without its code"


def _language(path: str) -> Language:
    language = language_of(path)
    assert language is not None
    return language


def _weaker(scene: Scene, path: str, tests: list[Function], rung: int) -> str:
    language, text = _language(path), scene.text(scene.after, path)
    return language.tidied(text, edited(text, [edit for test in tests for edit in language.weaker[rung][1](text, test)]))


def _all_pass(scene: Scene, suite: Suite) -> bool:
    """Whether none of the tests that need the commit fails, and some of them run."""
    proofs = set(scene.commit.proofs)
    return bool(proofs & suite.passed) and not proofs & suite.failed


def test_deleted(scene: Scene) -> Made | str:
    """The commit without the tests that need it: cut out of their files, or with all its test files left out."""
    cut = {path: _language(path).without(scene.text(scene.after, path), tests) for path, tests in scene.own.items()}
    files = {path: text if _has_more(path, text) else None for path, text in cut.items()}
    trees = {"test files as they were": scene.checkout.mixed(scene.after, scene.commit.parent, scene.commit.tests)}
    if files:
        trees = {"cut out of their files": scene.tree(scene.after, files), **trees}
    for note, tree in trees.items():
        suite = scene.suite(tree)
        if scene.is_green(suite) and (kept := new_in_code(scene.suite(scene.before), suite)):
            return f"a test inside its code needs it: {kept[0]}"
        if scene.is_green(suite) and not scene.proofs_of(tree):
            return Made(tree, note)
    return "without its own tests an older one fails, or another one needs it too"


def new_in_code(before: Suite, after: Suite) -> list[str]:
    """The passing tests inside files of code (doctests) that came with the code. They prove it, wherever the other tests are."""
    came = after.passed - set(before.cases)
    return sorted(case for case in came if is_code(after.groups.get(case, "")) and not is_test(after.groups[case]))


def _has_more(path: str, text: str) -> bool:
    language = _language(path)
    return bool(language.tests(text) or language.functions(text))


def another_broken(scene: Scene) -> Made | str:
    """A function that the commit does not touch and that tests run, broken in one result or condition. Drawn with a fixed seed."""
    lot = Random(scene.commit.hash)
    paths = [path for path in scene.paths(scene.after) if is_code(path) and language_of(path)]
    places = [(path, *each) for path in paths for each in _breakable(scene, path)]
    lot.shuffle(places)
    for path, function, edits in places[:DRAWN]:
        language, text = _language(path), scene.text(scene.after, path)
        if not _missed(scene, {path: language.tidied(text, edited(text, [language.hollow(text, function)]))}):
            continue  # no test runs it
        files = {path: language.tidied(text, edited(text, [lot.choice(edits)]))}
        missed = _missed(scene, files)
        if missed is not None:
            return Made(scene.tree(scene.after, files), f"{path} {function.name}: {missed or 'no'} older tests notice it")
    return "no function that tests run and the commit leaves alone could be broken"


def _breakable(scene: Scene, path: str) -> list[tuple[Function, list[Edit]]]:
    """The functions that the commit does not touch, each with the ways to break it."""
    text, language = scene.text(scene.after, path), _language(path)
    found = [(each, language.breaks(text, each)) for each in _unchanged(scene, path)]
    return [(function, edits) for function, edits in found if edits]


def _missed(scene: Scene, files: dict[str, str]) -> int | None:
    """How many tests stop passing with other texts; None if nothing can be loaded or built."""
    suite = scene.suite(scene.tree(scene.after, files))
    return len(scene.sound.passed - suite.passed) if suite.passed and not suite.problem else None


def _unchanged(scene: Scene, path: str) -> list[Function]:
    language, old, new = _language(path), scene.text(scene.before, path), scene.text(scene.after, path)
    known = {each.of(old) for each in language.functions(old)}
    return [each for each in language.functions(new) if each.of(new) in known]


def values_hard_coded(scene: Scene) -> Made | str:
    if not scene.bare:
        return UNLOADED
    found = hard_coded(scene)
    return found if isinstance(found, str) else Made(*found)


MAKERS: dict[str, Callable[[Scene], Made | str]] = dict(
    zip(KINDS, (code_left_out, test_weakened, test_deleted, values_hard_coded, another_broken), strict=True)
)


def twins_of(checkout: Checkout, commit: Commit, kinds: tuple[str, ...]) -> list[Twin]:
    """The twins of one commit, made once by the same code and kept."""
    file = checkout.folder / "twins" / f"{commit.hash}-{_makers()}.json"
    known = {each.kind: each for each in msgspec.json.decode(file.read_bytes(), type=list[Twin])} if file.exists() else {}
    scene: Scene | None = None
    for kind in kinds:
        if kind not in known:
            scene = scene or Scene(checkout, commit)
            known[kind] = _twin(scene, kind)
            say(f"{checkout.name}: {commit.hash[:10]} {kind}: {known[kind].why_not or known[kind].note or 'made'}")
            write(file, list(known.values()))
    return [known[kind] for kind in kinds]


def _makers() -> str:
    """A fingerprint of the code that makes twins."""
    return sha256(b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()[:12]


def _twin(scene: Scene, kind: str) -> Twin:
    commit = scene.commit
    made = MAKERS[kind](scene)
    if isinstance(made, str):
        return Twin(kind, commit.hash, why_not=made)
    if made.tree in (scene.before, scene.after):
        return Twin(kind, commit.hash, why_not="it would not differ")
    name = scene.checkout.committed(made.tree, commit.parent, commit.title, f"refs/bench/twins/{commit.hash}/{kind}")
    tests = tuple(path for path in scene.checkout.changed(scene.before, made.tree) if is_test(path))
    return Twin(kind, commit.hash, msgspec.structs.replace(commit, hash=name, tests=tests, proofs=()), made.note)
