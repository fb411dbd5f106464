"""Files and fixtures that shadow a module of the product, the standard library, an installed package or the test runner.

Looks at what the change adds. The rules of each language are in `shadow_python`, `shadow_ruby` and `shadow_mapped`.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath

from detent.evidence.changes.changes import TreeFiles
from detent.evidence.changes.dependencies import declared_dependencies
from detent.evidence.changes.edited_files import EditedFile, is_named_as_test
from detent.evidence.static_analysis import shadow_mapped as mapped
from detent.evidence.static_analysis import shadow_python as python
from detent.evidence.static_analysis import shadow_ruby as ruby
from detent.evidence.static_analysis.package_sources import is_about_sources
from detent.evidence.static_analysis.switches import ENDS as SWITCHING
from detent.evidence.static_analysis.switches import methods_from_tests, names_from_tests, set_for_all, switched, switches_of_go
from detent.kernel.model import Flag

PATH_RULES = re.compile(r"\bsys\.path\b|\bsyspath_prepend\b|\bpythonpath\b|\bPYTHONPATH\b|\b__path__\b|--import-mode|\bmeta_path\b")
JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
BROUGHT = frozenset({"node_modules", "vendor", "third_party", "_vendor"})  # folders with third-party code
JS_RUNNERS = ("vitest", "@vitest", "jest", "@jest", "mocha", "jest-circus", "jest-runner", ".bin", "chai", "tap", "ava")
RUBY = frozenset(
    {
        "set",
        "json",
        "time",
        "date",
        "yaml",
        "erb",
        "logger",
        "forwardable",
        "ostruct",
        "securerandom",
        "tempfile",
        "fileutils",
        "csv",
        "uri",
        "benchmark",
        "bigdecimal",
    }
)
RUBY_RUNNERS = frozenset({"rspec", "minitest", "test-unit", "cucumber", "simplecov"})
JVM = re.compile(r"(.*?)src/test/(java|kotlin|groovy|scala)/(.+)")


def shadows(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """All flags of this kind."""
    ground = _Ground(files)
    for file in files:
        if file.how == "deleted":
            continue
        if file.how == "added":
            yield from _new_file(file, ground)
        elif BROUGHT & set(PurePosixPath(file.path).parts[:-1]) and not ground.installs:
            yield _flag(
                file.path,
                f"{file.path} is third-party code edited in place; no list of packages changed",
                file.line(min(file.all_added, default=1)),
            )
        if file.suffix == ".py" and file.is_test and file.all_added:
            yield from _put_by_python(file, ground)
        if file.suffix in JAVASCRIPT and (file.is_test or file.sort == "config"):
            found = mapped.mocks(file.path, file.after, file.all_added, ground.changed)
            yield from (
                _flag(f"{file.path}:{line}", f"tests use a stand-in for {of}, which this change is about", file.line(line))
                for line, of in found
            )
        if file.path.endswith("_test.go") and file.all_added:
            yield from _put_by_go(file, ground)
        if file.suffix == ".rb" and file.is_test and file.all_added:
            yield from _put_by_ruby(file, ground)
        if file.is_test and file.all_added:
            yield from _switched(file, ground)
        yield from _mapped(file, ground)


class _Ground:
    """The changed files and the repository around them, computed on demand."""

    def __init__(self, files: tuple[EditedFile, ...]) -> None:
        self.files = files
        self.changed = frozenset(file.path for file in files if file.is_product and file.how != "deleted")

    def still_has(self, path: str, name: str, now: str) -> bool:
        """Whether a Python module exists and the change did not move this function out of it (to the module `now`)."""
        same = re.compile(rf"^from \S*\b{re.escape(now)} import .*$", re.MULTILINE)
        moved = any(f.path == path and _defines(f.before, name) and not _defines(same.sub("", f.after), name) for f in self.files)
        return path in self.paths and not moved

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(TreeFiles(self.files[0].changes.git, self.files[0].changes.tree).paths())

    @cached_property
    def declared(self) -> frozenset[str]:
        return declared_dependencies(TreeFiles(self.files[0].changes.git, self.files[0].changes.tree))

    @cached_property
    def modules(self) -> dict[str, str]:
        return python.modules_of(sorted(self.paths))

    @cached_property
    def installs(self) -> bool:
        """Whether a list of packages changed, so that new third-party code is expected."""
        return any(
            is_about_sources(f.path) or re.fullmatch(r"modules\.txt|vendor(?:ed)?\.(?:txt|json|toml)", PurePosixPath(f.path).name)
            for f in self.files
        )

    @cached_property
    def ruled(self) -> bool:
        """Whether the change adds rules about where modules are searched."""
        files = (f for f in self.files if f.is_test or f.sort == "config" or f.suffix in (".toml", ".ini", ".cfg"))
        return any(PATH_RULES.search(f.line(line)) for f in files for line in f.all_added)

    def has_package(self, path: str, name: str) -> bool:
        """Whether a new module belongs to a package that the project already had, so the project may be the test runner itself."""
        changes, above = self.files[0].changes, path.removesuffix(".py").removesuffix("/__init__").removesuffix(name.replace(".", "/"))
        return "." in name and bool(changes.git.read(changes.good, f"{above}{name.partition('.')[0]}/__init__.py"))

    def text(self, path: str) -> str:
        changes = self.files[0].changes
        return changes.text(path)(changes.tree)


def _flag(place: str, sentence: str, after: str = "", runner: bool = False) -> Flag:
    return Flag("shadow", sentence, place, after=after, level="fail" if runner else "ask")


# -- new files ---------------------------------------------------------------------------------------------------------------------


def _new_file(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    where = PurePosixPath(file.path)
    if "node_modules" in where.parts:
        after = where.parts[where.parts.index("node_modules") + 1 :]
        runner = bool(after) and after[0] in JS_RUNNERS
        yield _flag(file.path, f"{file.path} takes the place of an installed package", runner=runner)
    elif file.suffix == ".py":
        yield from _new_python(file, ground)
    elif "__mocks__" in where.parts and file.suffix in JAVASCRIPT:
        yield from _new_mock(file, ground)
    elif file.suffix in JAVASCRIPT and file.is_product:
        yield from _new_twin(file, ground)
    elif found := JVM.fullmatch(file.path):
        if (real := f"{found[1]}src/main/{found[2]}/{found[3]}") in ground.paths:
            yield _flag(file.path, f"{file.path} is loaded in tests instead of {real}")
    elif file.suffix == ".rb":
        yield from _new_ruby(file, ground)


def _new_python(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    """A flag for a module that is found before another one of the same name."""
    where = PurePosixPath(file.path)
    if (
        where.name == "conftest.py"
        or where.name.startswith("test_")
        or where.stem.endswith("_test")
        or not python.says_something(file.after)
    ):
        return
    for name in python.taken_names(file.path, ground.paths, ground.ruled):
        if name.partition(".")[0] in python.RUNNERS and not ground.has_package(file.path, name):
            yield _flag(file.path, f"{file.path} is imported instead of the test runner's own {name}", runner=True)
            return
        real = ground.modules.get(name, "")
        if is_named_as_test(file.path) and real and real != file.path:
            yield _flag(file.path, f"{file.path} is imported in tests instead of {real}")
            return
        if "." not in name and python.is_foreign(name, ground.declared):
            yield _flag(file.path, f"{file.path} is imported instead of {name}, which is not part of this project")
            return


def _new_twin(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    """A flag for a module beside another one of the same name, one in JavaScript and one in TypeScript, or a folder of that name: which of them is
    imported depends on who imports it."""
    stem = file.path.removesuffix(file.suffix)
    whole = stem.removesuffix("/index")
    typed = "ts" in file.suffix
    for end in JAVASCRIPT:
        other = f"{stem}{end}" if typed != ("ts" in end) else f"{whole}{end}" if whole != stem else f"{stem}/index{end}"
        if other != file.path and other in ground.paths and not stem.endswith(".d") and not is_named_as_test(other):
            yield _flag(file.path, f"{file.path} can be imported instead of {other}, which has the same name")
            return


def _new_mock(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    above, _, name = file.path.rpartition("__mocks__/")
    package = re.sub(r"\.\w+$", "", name)
    real = next((each for each in sorted(ground.changed) if re.sub(r"\.\w+$", "", each) == f"{above}{package}"), "")
    if real:
        yield _flag(file.path, f"{file.path} replaces {real} in tests, which this change is about")
    elif not above and (package.lower().replace("-", "_") in ground.declared or package in mapped.BUILT_IN):
        yield _flag(file.path, f"{file.path} replaces the package {package} in tests")


def _new_ruby(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    for root in ("lib/", "spec/", "test/", "spec/support/", "test/support/"):
        name = file.path.removeprefix(root).removesuffix(".rb")
        if not file.path.startswith(root):
            continue
        if name in RUBY_RUNNERS or name in RUBY:
            yield _flag(
                file.path, f"{file.path} is loaded instead of {name}, which is not part of this project", runner=name in RUBY_RUNNERS
            )
        elif root != "lib/" and (real := next((r for r in (f"lib/{name}.rb", f"app/{name}.rb") if r in ground.paths), "")):
            yield _flag(file.path, f"{file.path} can be loaded in tests instead of {real}")
        else:
            continue
        return


# -- what tests replace in the product -----------------------------------------------------------------------------------------------


def _put_by_python(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    for put in python.replacements(file.after, ground.modules, file.all_added):
        real = ground.modules[put.module]
        if not put.names:
            yield _flag(f"{file.path}:{put.line}", f"tests replace the module {put.module}", file.line(put.line))
            continue
        ours = next((f for f in ground.files if f.path == real and f.how != "deleted"), None)
        changed = python.changed_names(ours.after, ours.added) if ours else frozenset()
        missing = not re.search(rf"\b{re.escape(put.names[0])}\b", ground.text(real))
        if (put.names[-1] in changed or missing) and (not put.scope or put.asked):
            sentence = f"tests replace {put.module}.{'.'.join(put.names)}, which this change is about"
            yield _flag(f"{file.path}:{put.line}", sentence, file.line(put.line))


def _put_by_go(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    """Flags for tests that, when loaded, replace code of this change held in a product variable, or add methods that the product uses."""
    beside = [
        f
        for f in ground.files
        if f.path in ground.changed and f.suffix == ".go" and f.path.rpartition("/")[0] == file.path.rpartition("/")[0]
    ]
    ours = {name for f in beside for name in mapped.functions_in_variables(f.after)}
    ours |= {name for f in beside for name in mapped.kept_functions(f.after) if any(re.search(rf"\b{name}\b", f.line(n)) for n in f.added)}
    ours |= {name for f in beside for name in switches_of_go(f.after) if any(re.search(rf"\b{name}\b", f.line(n)) for n in f.added)}
    for line, name in mapped.put_when_loaded(file.after):
        if name in ours and line in file.all_added:
            yield _flag(f"{file.path}:{line}", f"tests replace {name}, which this change is about", file.line(line))

    product = "\n".join(f.after for f in beside)
    for line, name in methods_from_tests(file.after, product):
        if line in file.all_added:
            yield _flag(f"{file.path}:{line}", f"tests define the method {name}, which the product uses and does not have", file.line(line))
    for line, name in names_from_tests(file.after, "\n".join([product, *_go_beside(file, ground)])):
        if line in file.all_added:
            yield _flag(f"{file.path}:{line}", f"tests define {name}, which the product uses and does not define", file.line(line))


def _go_beside(file: EditedFile, ground: _Ground) -> Iterator[str]:
    """The other files of a Go package, as far as the change left them alone."""
    folder = PurePosixPath(file.path).parent
    beside = (path for path in ground.paths if path.endswith(".go") and PurePosixPath(path).parent == folder)
    yield from (ground.text(path) for path in beside if path not in ground.changed and not path.endswith("_test.go"))


def _put_by_ruby(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    """Flags for tests that override methods of this change."""
    ours = [f for f in ground.files if f.path in ground.changed and f.suffix == ".rb"]
    owners = frozenset(name for f in ours for name in ruby.owners(f.after))
    methods = frozenset(name for f in ours for name in ruby.changed_methods(f.after, f.added))
    for line, name in ruby.overridden_methods(file.after, owners, methods):
        if line in file.all_added:
            sentence = f"tests replace {name}, which this change is about"
            yield _flag(f"{file.path}:{line}", sentence, file.line(line))


def _switched(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    """Flags for values that all tests set, on import or in setup, and that this change reads."""
    lines = [f.line(n) for f in ground.files if f.path in ground.changed for n in sorted(f.added)]
    tests = [f.after for f in ground.files if f.is_test and f.how != "deleted"]
    loaded = switched(file.after, lines) if file.suffix in SWITCHING else ()
    for line, name in dict.fromkeys((*loaded, *set_for_all(file.after, lines, tests))):
        if line in file.all_added:
            sentence = f"all tests set {name}, and this change reads it: no test shows what the code does without it"
            yield _flag(f"{file.path}:{line}", sentence, file.line(line))


# -- names that are mapped to other files --------------------------------------------------------------------------------------------


def _defines(text: str, name: str) -> bool:
    return bool(
        re.search(
            rf"^(?:async )?def {re.escape(name)}\(|^{re.escape(name)}\s*=|^(?:from|import) .*\b{re.escape(name)}\b", text, re.MULTILINE
        )
    )


def _mapped(file: EditedFile, ground: _Ground) -> Iterator[Flag]:
    where = PurePosixPath(file.path)
    if re.fullmatch(r"(?:ts|js)config.*\.json|package\.json|composer\.json|deno\.jsonc?", where.name) and not is_named_as_test(file.path):
        for name, target in mapped.stand_ins(file.path, file.before, file.after, lambda path: path in ground.paths, ground.declared):
            yield _flag(f"{file.path}: {name}", f"{file.path} maps {name} to {target}", target)
    elif where.name in ("go.mod", "go.work"):
        for name in mapped.replaced_in_go(file.before, file.after):
            yield _flag(f"{file.path}: {name}", f"{file.path} replaces {name}")
    elif where.name == "pyproject.toml" and file.how == "modified":
        for name, target in mapped.scripts_moved(file.before, file.after, ground.still_has):
            yield _flag(f"{file.path}: {name}", f"the program {name} is {target} now, and what it was before is still there", target)
    elif where.name == "Cargo.toml":
        for name in mapped.replaced_in_cargo(file.before, file.after):
            yield _flag(f"{file.path}: {name}", f"{file.path} replaces the crate {name}")
    elif file.suffix in JAVASCRIPT and file.sort == "config":
        for line in mapped.aliased(file.after, file.all_added):
            yield _flag(f"{file.path}:{line}", f"{file.path} maps a name to a stand-in", file.line(line))
    elif file.suffix == ".rs" and file.is_product:
        for line in sorted(file.added):
            if re.search(r"#\[path\s*=", file.line(line)):
                yield _flag(f"{file.path}:{line}", f"{file.path} loads a module from another file", file.line(line))
