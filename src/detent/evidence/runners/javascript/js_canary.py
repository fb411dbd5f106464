"""The canary of a run of vitest, jest or mocha: a test file beside the project's. Pure: writes nothing.

vitest and jest run each file separately, so it notices what is loaded into all of them (set-up files, configuration), not what one test
file does to itself. mocha runs all files in one process, so there it notices everything.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

import msgspec

from detent.evidence.runners.adapter import Canary, CanaryFile, Command, Files
from detent.evidence.runners.canary_files import NONE, TestFolder, named_like, places
from detent.evidence.runners.canary_output import TIDY
from detent.evidence.runners.javascript import js_command, js_project
from detent.evidence.runners.javascript.js_command import JsRunner
from detent.evidence.runners.javascript.node_command import matcher

TYPED = frozenset({".ts", ".mts", ".cts", ".tsx"})
UNCHECKED = "// @ts-nocheck\n"  # the project may lack the types
DELIMITED = re.compile(r"/(.*)/([gimsuy]*)", re.DOTALL)
OF_NODE = """
    'assert': () => assert(!'{says}'),
    'assert.ok': () => assert.ok(!'{says}'),
    'assert.equal': () => assert.equal('{says}', ''),
    'assert.strictEqual': () => assert.strictEqual('{says}', ''),
    'assert.deepEqual': () => assert.deepEqual(['{says}'], []),
    'assert.deepStrictEqual': () => assert.deepStrictEqual(['{says}'], []),
    'assert.throws': () => assert.throws(() => {{}}),
"""
OF_EXPECT = """
    'toBe': () => expect('{says}').toBe(''),
    'toEqual': () => expect(['{says}']).toEqual([]),
    'toStrictEqual': () => expect(['{says}']).toStrictEqual([]),
    'toBeTruthy': () => expect('').toBeTruthy(),
    'toBeDefined': () => expect(undefined).toBeDefined(),
    'toContain': () => expect(['{says}']).toContain(''),
    'toMatch': () => expect('').toMatch('{says}'),
    'toThrow': () => expect(() => {{}}).toThrow(),
    'not.toBe': () => expect('{says}').not.toBe('{says}'),
"""
TRY = """
  for (const [name, wrong] of Object.entries(WRONG)) {{
    let held = false;
    try {{ wrong(); }} catch {{ held = true; }}
    if (!held) throw new Error(`{says}: what is wrong was let pass by ${{name}}`);
  }}
"""
VITEST = f"""import {{{{ assert, expect, test }}}} from 'vitest';

test('{{passes}}', () => {{{{
  const WRONG = {{{{{OF_EXPECT}    'assert.equal': () => assert.equal('{{says}}', ''),
    'expect.to.equal': () => expect('{{says}}').to.equal(''),
  }}}};{TRY}}}}});

test('{{fails}}', () => {{{{ expect('{{says}}').toBe(''); }}}});
"""
JEST = f"""{{globals}}
test('{{passes}}', () => {{{{
  const assert = typeof require === 'function' ? require('node:assert') : undefined;
  const WRONG = {{{{{OF_EXPECT}    ...(assert ? {{{{{OF_NODE}    }}}} : {{{{}}}}),
  }}}};{TRY}}}}});

test('{{fails}}', () => {{{{ expect('{{says}}').toBe(''); }}}});
"""
MOCHA = f"""(typeof it === 'function' ? it : test)('{{passes}}', async () => {{{{
  const loaded = await import('node:assert');
  const assert = loaded.default ?? loaded;
  const chai = {{chai}};
  const WRONG = {{{{{OF_NODE}    ...(chai?.expect ? {{{{
      'chai.expect': () => chai.expect('{{says}}').to.equal(''),
      'chai.expect.eql': () => chai.expect(['{{says}}']).to.eql([]),
      'chai.expect.true': () => chai.expect(false).to.be.true,
      'chai.assert': () => chai.assert.equal('{{says}}', ''),
    }}}} : {{{{}}}}),
  }}}};{TRY}}}}});

(typeof it === 'function' ? it : test)('{{fails}}', async () => {{{{
  const loaded = await import('node:assert');
  (loaded.default ?? loaded).equal('{{says}}', '', '{{says}}');
}}}});
"""
CHAI = "await import('chai').catch(() => undefined)"
GLOBALS = re.compile(r"^\s*(?:(import)\b|(?:const|var|let)\b)[^;]*['\"]@jest/globals['\"]", re.MULTILINE)


def vitest(place: TestFolder, files: Files) -> str:
    return VITEST


def jest(place: TestFolder, files: Files) -> str:
    """jest's functions are global, unless the tests beside it import them."""
    found = GLOBALS.search(place.text)
    line = (
        "import {{ expect, test }} from '@jest/globals';" if found and found[1] else "const {{ expect, test }} = require('@jest/globals');"
    )
    return JEST.replace("{globals}", line if found else "")


def mocha(place: TestFolder, files: Files) -> str:
    """mocha has no assertions of its own, so node's are checked, and chai's if the project has it."""
    used = '"chai"' in (files.read("package.json") or "")
    return MOCHA.replace("{chai}", CHAI if used else "undefined")


Form = Callable[[TestFolder, Files], str]
FORMS: dict[str, Form] = {"vitest": vitest, "jest": jest, "mocha": mocha}


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...], tool: JsRunner) -> Canary | str:
    """The canary of such a run, or why there is none."""
    call = js_command.take_apart(base.argv, tool)
    if call and any(each.partition("=")[0] in tool.pattern for each in call.options):
        return "the project's own command selects tests by name"
    chosen = tuple(each for each in selectors if not each.startswith("-"))
    picked = chosen or base.paths
    found = _places(files, near, picked, tool)
    canary_files = tuple(canary_file for place in found if (canary_file := _canary_file(place, files, tool)) is not None)
    if not canary_files:
        return NONE
    also = tuple(canary_file.path for canary_file in canary_files) if picked else ()
    more = base if chosen else msgspec.structs.replace(base, paths=(*base.paths, *also))
    names = tuple(_also_named(each, canary_files) for each in selectors if each.startswith("-"))
    return Canary(more, (*chosen, *(also if chosen else ()), *names), canary_files, TIDY[tool.name], counts=tool.name == "mocha")


def _places(files: Files, near: tuple[str, ...], picked: tuple[str, ...], tool: JsRunner) -> list[TestFolder]:
    """Folders of files with a test name (a changed one may have its own pattern), else of any file in a test folder."""

    def fits(path: str) -> bool:
        return not picked or any(_fits(path, each) for each in picked)

    def named(path: str) -> bool:
        own = path in near and js_project.is_run(path) and "." in PurePosixPath(path).stem
        return own or js_project.is_named_as_test(PurePosixPath(path)) or (js_project.is_code(path) and "__tests__" in path.split("/"))

    by_name = [] if tool.name == "mocha" else places(files, near, lambda path: named(path) and fits(path))
    return by_name or places(files, near, lambda path: js_project.is_run(path) and fits(path))


def _fits(path: str, pattern: str) -> bool:
    """Whether a path argument selects a file: as part of its path, as a glob, or as a regular expression."""
    plain = pattern.removeprefix("./").rstrip("/")
    if plain in ("", ".") or plain in path:
        return True
    if set("*{") & set(plain) and matcher(plain).fullmatch(path):
        return True
    try:
        return re.search(plain, f"/{path}") is not None
    except re.error:
        return False


def _canary_file(place: TestFolder, files: Files, tool: JsRunner) -> CanaryFile | None:
    before = UNCHECKED if PurePosixPath(place.name).suffix in TYPED else ""
    if not named_like(place.name, "any"):
        return None
    return place.canary_file(lambda stem: named_like(place.name, stem), before + FORMS[tool.name](place, files))


def _also_named(selector: str, canary_files: tuple[CanaryFile, ...]) -> str:
    """A name filter that also selects the canary."""
    option, _, pattern = selector.partition("=")
    ours = "|".join(each for canary_file in canary_files for each in (canary_file.passes, canary_file.fails))
    if option == "--fgrep":
        return f"--grep=(?:{re.escape(pattern)})|{ours}"
    if option == "--grep" and (found := DELIMITED.fullmatch(pattern)):
        return f"--grep=/(?:{found[1]})|{ours}/{found[2]}"
    return f"{option}=(?:{pattern})|{ours}"
