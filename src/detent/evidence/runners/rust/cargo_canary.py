"""The canary of a `cargo test` run: a test target of its own in the package's `tests/`. Pure: writes nothing.

Each target is a separate program, so it notices what is done to all of them (how they are built, linked and started), not what one
does to itself. It needs only the standard library.
"""

import re

from detent.evidence.runners.adapter import Canary, Command, Files, is_below
from detent.evidence.runners.canary_files import NONE, parent, places
from detent.evidence.runners.canary_output import cargo as tidy

LISTED = re.compile(r"^\s*autotests\s*=\s*false", re.MULTILINE)
TEXT = """#[test]
fn {passes}() {{
    for wrong in [1, 2] {{
        let held = std::panic::catch_unwind(move || match wrong {{
            1 => assert!("{says}".is_empty()),
            _ => assert_eq!("{says}", ""),
        }})
        .is_err();
        if !held {{
            panic!("{says}: what is wrong was let pass by assertion {{wrong}}");
        }}
    }}
}}

#[test]
fn {fails}() {{
    assert_eq!("{says}", "");
}}
"""


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    """The canary of such a run, or why there is none."""
    paths = [each for each in selectors if not each.startswith("-")]

    def is_run(path: str) -> bool:
        home = parent(path)
        is_target = path.endswith(".rs") and home.rpartition("/")[2] == "tests" and files.exists(_manifest(home))
        return is_target and (not paths or any(is_below(path, each) for each in paths))

    found = places(files, near, is_run)
    if any(LISTED.search(files.read(_manifest(place.folder)) or "") for place in found):
        return "the project lists its test targets, so a new one is not built"
    canary_files = tuple(place.canary_file(lambda stem: f"{stem}.rs", TEXT) for place in found)
    if not canary_files:
        return NONE
    targets = [f"--test={canary_file.word}" for canary_file in canary_files] if any(_is_target(each) for each in selectors) else []
    by_name = any(each.startswith("-name=") for each in selectors)
    names = [f"-name={each}" for canary_file in canary_files for each in (canary_file.passes, canary_file.fails)] if by_name else []
    also = [canary_file.path for canary_file in canary_files] if paths else []
    return Canary(base, (*selectors, *also, *targets, *names), canary_files, tidy, failing=(101,))


def _manifest(tests: str) -> str:
    return f"{parent(tests)}/Cargo.toml".lstrip("/")


def _is_target(selector: str) -> bool:
    return selector.startswith("--") and selector != "--exact"
