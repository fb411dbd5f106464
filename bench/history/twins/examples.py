"""Expected values hard-coded: what functions return with the commit and not without it is recorded, and becomes a list of cases in the old code."""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from bench.history.twins.scene import Scene, language_of
from bench.history.twins.source import Example, Function, edited

MOST = 60  # cases written into one function
TRIED = 6  # functions tried one by one
Asked = dict[tuple[str, tuple[str, ...]], str]  # (function, arguments) → its answer; empty: it varies
Coded = dict[tuple[str, Function], list[Example]]  # by path and function


def hard_coded(scene: Scene) -> tuple[str, str] | str:
    """The tree of the old code with cases for the tests' own calls, and a note; or why there is none."""
    found = _wanted(scene)
    if not found:
        return "no function of its files answers the tests in a way that can be written down"
    changed = {path: {each.name for each in _changed(scene, path)} for path in scene.code}
    order = sorted(found, key=lambda place: (place[1].name not in changed.get(place[0], ()), len(found[place])))
    alone: list[Coded] = [{place: found[place]} for place in order[:TRIED]]
    tries = [*alone, *([{place: found[place] for place in order}] if len(order) > 1 else [])]
    for each in tries:
        tree = scene.tree(scene.bare, dict(_written(scene, each)))
        suite = scene.suite(tree)
        if scene.is_green(suite) and set(scene.commit.proofs) <= suite.passed:
            return tree, f"{sum(map(len, each.values()))} cases in {', '.join(function.name for _, function in each)}"
    return "with the answers written into the functions of its files, its tests still fail"


def _changed(scene: Scene, path: str) -> list[Function]:
    language, old, new = language_of(path), scene.text(scene.before, path), scene.text(scene.after, path)
    assert language is not None
    known = {each.of(old) for each in language.functions(old)}
    return [each for each in language.functions(new) if each.of(new) not in known]


def _written(scene: Scene, coded: Coded) -> Iterator[tuple[str, str]]:
    for path in {path for path, _ in coded}:
        language, text = language_of(path), scene.text(scene.bare, path)
        assert language is not None
        edits = [edit for (where, function), cases in coded.items() if where == path for edit in language.coded(text, function, cases)]
        yield path, edited(text, edits)


def _wanted(scene: Scene) -> Coded:
    """The calls that the commit answers differently, by the function that answers them in the tree without its code."""
    right, wrong = (_recorded(scene, tree) for tree in (scene.after, scene.bare))
    found: Coded = {}
    for path in scene.code:
        language = language_of(path)
        for function in language.functions(scene.text(scene.bare, path)) if language else ():
            mine = {key: answer for key, answer in right.get(path, {}).items() if key[0] == function.name}
            cases = [Example(*key, answer) for key, answer in mine.items() if answer and wrong.get(path, {}).get(key) != answer]
            if 0 < len(cases) <= MOST:
                found[path, function] = cases
    return found


def _recorded(scene: Scene, tree: str) -> dict[str, Asked]:
    """The calls and answers of the changed files' functions while the tests run on a tree."""
    with tempfile.TemporaryDirectory(prefix="detent-recorded-") as folder:
        places, files = {path: Path(folder) / f"{n}.jsonl" for n, path in enumerate(scene.code)}, dict[str, str]()
        for path, file in places.items():
            language, text = language_of(path), scene.text(tree, path)
            if language and text:
                files[path] = language.recording(text, language.functions(text), str(file))
        scene.suite(scene.tree(tree, files))  # the folder's name makes it a new tree, so it is really run
        return {path: _read(path, file.read_text("utf-8").splitlines() if file.exists() else ()) for path, file in places.items()}


def _read(path: str, lines: Sequence[str]) -> Asked:
    """Calls with their answers; a call whose answer varies has an empty one."""
    language, found = language_of(path), Asked()
    assert language is not None
    for line in islice(lines, 200_000):
        if (each := language.example(line)) is not None:
            key = each.function, each.given
            found[key] = each.answer if found.get(key, each.answer) == each.answer else ""
    return found
