"""All flags of static analysis: product code that knows the tests, shadowed modules, changes to what judges, and what any code review would raise.
Runs nothing.

The look at a step and the look at a branch use the same function.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType

from detent.evidence.changes.changes import Changes
from detent.evidence.changes.edited_files import EditedFile, product, read_edits
from detent.evidence.changes.projects import BesideProduct
from detent.evidence.static_analysis.forgiving_tests import forgiving
from detent.evidence.static_analysis.knows_tests import SPEAKS_OF_TESTS, looks_at_tests
from detent.evidence.static_analysis.knows_tests_names import NAME_OF, endings
from detent.evidence.static_analysis.leaks import leaks
from detent.evidence.static_analysis.review_flags import review_flags
from detent.evidence.static_analysis.runs_by_itself import judging_scripts, runs_by_itself
from detent.evidence.static_analysis.shadow import shadows
from detent.evidence.static_analysis.steering import steered
from detent.evidence.static_analysis.suppressions import left_out, suppressed
from detent.evidence.static_analysis.text_as_code import text_as_code
from detent.evidence.static_analysis.unfinished import says_unfinished
from detent.evidence.static_analysis.used_tests import used_by_product
from detent.kernel.model import Flag

MOST_SHOWN = 5  # flags per kind: nobody reads long lists
NO_KEYS: Mapping[str, str] = MappingProxyType({})


def static_flags(changes: Changes, keys: Mapping[str, str] = NO_KEYS) -> tuple[Flag, ...]:
    """The flags that reading a change raises, the first few of each kind. `keys`: secrets that must not be committed."""
    files = read_edits(changes)
    looks = (
        *(says_unfinished(files, _beside(files)), steered(files)),
        *(_knows_tests(files), shadows(files), used_by_product(files), suppressed(files), left_out(files), judging_scripts(files)),
        *(forgiving(files), text_as_code(files), leaks(files), runs_by_itself(files), review_flags(files, keys)),
    )
    shown, left = Counter[str](), list[Flag]()
    for flag in chain.from_iterable(looks):
        shown[flag.kind] += 1
        if shown[flag.kind] <= MOST_SHOWN or flag.level == "fail":
            left.append(flag)
    return tuple(left)


def can_end_itself(changes: Changes) -> Iterator[Flag]:
    """Flags, if only an exit code is read, for new code that can end the process so that later tests do not run."""
    for file in product(read_edits(changes)):
        for line in sorted(set(endings(file.path, file.after)) & file.added)[:1] if file.added else ():
            sentence = "only the exit code of the tests is read, and this line can end their process before they finish"
            yield Flag("weak-evidence", sentence, f"{file.path}:{line}", after=file.line(line), level="ask")


def _beside(files: tuple[EditedFile, ...]) -> Callable[[str], bool]:
    """Whether a file lies beside the product, in a folder that nothing of the product speaks of."""
    if not files:
        return lambda path: False
    changes = files[0].changes
    return BesideProduct(changes.git, changes.tree, lambda path: changes.sort(path) in ("production", "unknown"))


def _knows_tests(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for changed product lines that check who is calling, without lines that only moved."""
    seen = [(file, line, what) for file in product(files) if file.added for line, what in looks_at_tests(file.path, file.after, file.added)]
    if not seen:
        return
    beside = _beside(files)
    seen = [each for each in seen if not (each[2].startswith(SPEAKS_OF_TESTS) and beside(each[0].path))]
    moved = Counter(what for file in product(files) if file.removed for _, what in looks_at_tests(file.path, file.before, file.removed))
    for file, line, what in seen:
        if moved[what] > 0:
            moved[what] -= 1
            continue
        verb = "holds" if what.startswith(NAME_OF) else "looks at"
        yield Flag("knows-the-tests", f"this line of the product {verb} {what}", f"{file.path}:{line}", after=file.line(line))
