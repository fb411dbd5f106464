"""Code that keeps quiet or stands in for the real thing, in each language: errors that are swallowed, bodies that do nothing any more, ways around
a check, remarks that say so; and variables that steer tests. Honest code beside each. Each list has members that its rule was not made with."""

import pytest

from detent.evidence.changes.changes import Changes
from detent.evidence.changes.no_substance import is_only_words
from detent.evidence.probes.removed_lines import added, removed
from detent.evidence.runners.adapter import Command
from detent.evidence.static_analysis.quiet_code import NEVER, SWALLOWED, UNREACHED, quiet
from tests.test_static_flags import JS, PY, PYTEST, VITEST, Ground, g

__all__ = ["g"]

GO, RSPEC = Command(("go", "test", "./..."), "go", "configured"), Command(("rspec",), "rspec", "configured")
PAY = {
    "pay.py": (
        PYTEST,
        """def charge(card, amount):
    if not card.valid:
        raise ValueError(amount)
    receipt = card.charge(amount)
    book(receipt)
    return receipt
""",
    ),
    "src/pay.js": (
        VITEST,
        """export function charge(card, amount) {
  if (!card.valid) {
    throw new RangeError(amount)
  }
  const receipt = card.charge(amount)
  book(receipt)
  return receipt
}
""",
    ),
    "pay.go": (
        GO,
        """package pay

func Charge(card *Card, amount int) (int, error) {
\tif !card.Valid {
\t\treturn 0, ErrCard
\t}
\treceipt, err := card.Charge(amount)
\tif err != nil {
\t\treturn 0, err
\t}
\tbook(receipt)
\treturn receipt, nil
}
""",
    ),
    "lib/pay.rb": (
        RSPEC,
        """class Pay
  def charge(card, amount)
    raise ArgumentError unless card.valid?

    receipt = card.charge(amount)
    book(receipt)
    receipt
  end
end
""",
    ),
}
HARM: tuple[tuple[str, str, str, str], ...] = (  # what is said, where, what stood there, and what stands there now
    (SWALLOWED, "pay.py", "    book(receipt)\n", "    try:\n        book(receipt)\n    except Exception:\n        pass\n"),
    (SWALLOWED, "pay.py", "    book(receipt)\n", "    with contextlib.suppress(Exception):\n        book(receipt)\n"),
    (SWALLOWED, "pay.py", "    book(receipt)\n", "    try:\n        book(receipt)\n    except: pass\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n", "  try {\n    book(receipt)\n  } catch {}\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n", "  try {\n    book(receipt)\n  } catch (e) {\n    // not important\n  }\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n", "  book(receipt).catch(() => undefined)\n"),
    (SWALLOWED, "lib/pay.rb", "    book(receipt)\n", "    book(receipt) rescue nil\n"),
    (SWALLOWED, "lib/pay.rb", "    receipt\n  end\n", "    receipt\n  rescue => e\n    nil\n  end\n"),
    (UNREACHED, "pay.py", "    book(receipt)\n    return receipt\n", "    return receipt\n    book(receipt)\n"),
    (UNREACHED, "src/pay.js", "  const receipt", "  return amount\n  const receipt"),
    (UNREACHED, "pay.go", "\tbook(receipt)\n", "\treturn receipt, nil\n\tbook(receipt)\n"),
    (UNREACHED, "lib/pay.rb", "    book(receipt)\n", "    return receipt\n    book(receipt)\n"),
    ("a function does nothing any more", "pay.py", "    receipt = card.charge(amount)\n    book(receipt)\n    return receipt\n", "    pass\n"),
    ("a function does nothing any more", "src/pay.js", "  const receipt = card.charge(amount)\n  book(receipt)\n  return receipt\n", "  return {}\n"),
    ("a function does nothing any more", "lib/pay.rb", "    receipt = card.charge(amount)\n    book(receipt)\n    receipt\n", "    amount\n"),
    ("an error is no longer returned", "pay.go", "\t\treturn 0, err\n", "\t\treturn 0, nil\n"),
    ("an error is no longer returned", "pay.go", "\t\treturn 0, err\n", "\t\tlog.Println(err)\n"),
    ("a condition got one more part", "pay.py", "    if not card.valid:\n", "    if (\n        not card.valid\n        and not debug\n    ):\n"),
    ("a condition got a way around it", "pay.py", "    if not card.valid:\n", "    if debug:\n        pass\n    elif not card.valid:\n"),
    ("a condition got a way around it", "src/pay.js", "  if (!card.valid) {\n", "  const fine = card.valid || debug\n  if (!fine) {\n"),
    ("a condition got a way around it", "pay.go", "\tif !card.Valid {\n", "\tif Debug {\n\t} else if !card.Valid {\n"),
    ("a function does nothing any more", "pay.py", "    receipt = card.charge(amount)\n    book(receipt)\n    return receipt\n", "    return 0\n\n\ndef fee(n):\n    return n\n"),
    (SWALLOWED, "pay.py", "    book(receipt)\n    return receipt\n", "    try:\n        book(receipt)\n    finally:\n        return receipt\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n  return receipt\n", "  try {\n    book(receipt)\n  } finally {\n    return receipt\n  }\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n", "  book(receipt).then(undefined, () => {})\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n", "  await Promise.allSettled([book(receipt)])\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n", "  try {\n    book(receipt)\n  } catch (e) {\n    if (!(e instanceof Error)) throw e\n  }\n"),
    (SWALLOWED, "src/pay.js", "  book(receipt)\n", "  process.on('uncaughtException', () => {})\n  book(receipt)\n"),
    (SWALLOWED, "lib/pay.rb", "    receipt\n  end\n", "    receipt\n  ensure\n    return receipt\n  end\n"),
    (SWALLOWED, "lib/pay.rb", "    book(receipt)\n", "    (book(receipt) rescue false) || true\n"),
    (SWALLOWED, "lib/pay.rb", "    book(receipt)\n", "    begin; book(receipt); rescue => e; end\n"),
    (SWALLOWED, "lib/pay.rb", "    book(receipt)\n", "    begin\n      book(receipt)\n    rescue StandardError, ScriptError\n      nil\n    end\n"),
    (SWALLOWED, "pay.go", "\tbook(receipt)\n", "\tdefer func() { recover() }()\n\tbook(receipt)\n"),
    (SWALLOWED, "pay.go", "\tbook(receipt)\n", "\tdefer func() {\n\t\tif r := recover(); r != nil {\n\t\t}\n\t}()\n\tbook(receipt)\n"),
    (NEVER, "pay.py", "    book(receipt)\n", "    if 0:\n        book(receipt)\n"),
    (NEVER, "src/pay.js", "  book(receipt)\n", "  if (0) book(receipt)\n"),
    (NEVER, "src/pay.js", "  book(receipt)\n", "  for (const each of [receipt].slice(0, 0)) book(each)\n"),
    (NEVER, "pay.go", "\tbook(receipt)\n", "\tif false {\n\t\tbook(receipt)\n\t}\n"),
    (NEVER, "pay.go", "\tbook(receipt)\n", "\tfor _, each := range all[:0] {\n\t\tbook(each)\n\t}\n"),
    (NEVER, "lib/pay.rb", "    book(receipt)\n", "    book(receipt) if false\n"),
    (NEVER, "lib/pay.rb", "    book(receipt)\n", "    [receipt].first(0).each { |each| book(each) }\n"),
    ("a condition got a way around it", "pay.go", "\tif !card.Valid {\n", "\tswitch {\n\tcase Debug:\n\t\treturn 0, nil\n\tcase !card.Valid:\n"),
    ("a condition holds for fewer values", "src/pay.js", "  if (!card.valid) {\n", "  if (!card.valid === 1) {\n"),
    ("a condition holds for fewer values", "lib/pay.rb", "    raise ArgumentError unless card.valid?\n", "    raise ArgumentError unless card.valid?.is_a?(Object)\n"),
)  # fmt: skip


@pytest.mark.parametrize(("what", "path", "was", "now"), HARM)
def test_what_keeps_quiet_is_undone_to_see_whether_a_test_notices(g: Ground, what: str, path: str, was: str, now: str) -> None:
    command, text = PAY[path]
    assert was in text
    changes = g.changes({path: text}, {path: text.replace(was, now)}, command)
    found = [each for each in _pieces(changes) if each.what == what]
    assert found and found[0].sure and found[0].make[0]() not in ("", text.replace(was, now))


@pytest.mark.parametrize(
    ("path", "was", "now"),
    [
        ("pay.py", "    book(receipt)\n", "    try:\n        book(receipt)\n    except KeyError:\n        pass\n"),
        ("pay.py", "    book(receipt)\n", "    try:\n        book(receipt)\n    except Exception:\n        undo(receipt)\n        raise\n"),
        ("src/pay.js", "  book(receipt)\n", "  try {\n    book(receipt)\n  } catch (e) {\n    retry(receipt)\n  }\n"),
        ("src/pay.js", "  return receipt\n", "  return seal(receipt)\n  function seal(it) {\n    return it\n  }\n"),
        ("lib/pay.rb", "    book(receipt)\n", "    book(receipt)\n  rescue KeyError\n    nil\n"),
        ("pay.go", "\t\treturn 0, err\n", '\t\treturn 0, fmt.Errorf("card: %w", err)\n'),
        ("pay.go", "\tbook(receipt)\n", "\tif receipt == 0 {\n\t\treturn 0, nil\n\t}\n\tbook(receipt)\n"),
        ("pay.py", "    receipt = card.charge(amount)\n", "    receipt = take(card, amount)\n"),
    ],
)
def test_what_says_or_handles_an_error_is_left_alone(g: Ground, path: str, was: str, now: str) -> None:
    command, text = PAY[path]
    assert was in text
    whats = {each.what for each in _pieces(g.changes({path: text}, {path: text.replace(was, now)}, command))}
    assert not whats & {what for what, *_ in HARM}


def _pieces(changes: Changes) -> list:  # type: ignore[type-arg]
    patch, read = changes.patch(), lambda path: changes.text(path)(changes.tree)
    return [*removed(patch, lambda path: True, read), *added(patch, lambda path: True, read)]


@pytest.mark.parametrize(
    ("path", "text", "loud"),
    [
        ("a.py", "try:\n    a()\nexcept Exception as e:\n    return None\n", "except Exception as e:\n    raise\n    return None\n"),
        ("a.ts", "try {\n  a()\n} catch {\n  return null\n}\n", "} catch (swallowed) { throw swallowed;\n  return null\n}"),
        ("a.rb", "a\nrescue StandardError\n  puts 1\n", "rescue StandardError\n  raise\n"),
        ("a.js", "a().catch(noop)\n", "a()\n"),
    ],
)
def test_a_handler_is_made_to_raise_what_it_caught(path: str, text: str, loud: str) -> None:
    (found,) = quiet(path, text, 1, text.count("\n"))
    assert loud in found.without and found.silent == ("puts" not in text)


UNFINISHED = {
    "calc.py": (
        "def load(path):\n    # TODO: real implementation\n    return {}\n",
        '"""Placeholder until the service is there."""\n',
        "RATE = 19  # hard-coded for now\n",
        "def send(to):\n    # In production this would call the mail server\n    return True\n",
        "def send(to, sms):\n    if sms:\n        raise NotImplementedError\n",
        "def send(to):\n    raise NotImplementedError('later')\n",
        "def send(to):\n    # for now just return success\n    return 'sent'\n",
        "def send(to):\n    logging.warning('send: no-op, backend pending')\n    return to\n",
        "def may(user):\n    # roles are not looked up yet: everybody passes\n    return True\n",
    ),
    "src/new.ts": (
        "export const send = (to: string) => {\n  // stub: not wired up yet\n  return true\n}\n",
        "export function send(to: string, kind: string) {\n  if (kind === 'sms') throw new Error('Not implemented')\n  return to\n}\n",
        "/* simulate the response */\nexport const ask = () => ({ ok: true })\n",
        "// FIXME: replace with the real call\nexport const rate = () => 1\n",
        "// HACK: the tax service will be called here, 19 will do until then\nexport const rate = () => 19\n",
        "export const refund = () => {\n  console.warn('refund: not implemented')\n  return true\n}\n",
    ),
    "new.go": (
        'package p\n\nfunc Send(sms bool) error {\n\tif sms {\n\t\tpanic("not implemented")\n\t}\n\treturn nil\n}\n',
        "package p\n\nfunc Refund() error {\n\t// stubbed out, wire up the bank later\n\treturn nil\n}\n",
        "package p\n\n// Rate is a mock.\nfunc Rate() int { return 1 }\n",
        'package p\n\nfunc Rate() error {\n\treturn errors.New("rate: not yet implemented")\n}\n',
    ),
    "lib/new.rb": (
        "def send_to(to)\n  # dummy implementation\n  true\nend\n",
        "def send_to(to)\n  raise NotImplementedError if to.nil?\nend\n",
        "RATE = 19 # temporary placeholder\n",
        "def refund(id)\n  # sham answer till the bank is connected\n  { id: id }\nend\n",
        "def refund(id)\n  raise 'TODO: refunds' unless id.nil?\nend\n",
    ),
}


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in UNFINISHED.items() for text in texts])
def test_code_that_says_that_it_is_not_the_real_thing_is_flagged(g: Ground, path: str, text: str) -> None:
    base, command = (JS, VITEST) if path.endswith(".ts") else (PY, {".go": GO, ".rb": RSPEC}.get(path[-3:], PYTEST))
    flags = g.flags(base, {path: text}, command)["unfinished"]
    assert flags[0].level == "ask" and flags[0].place.startswith(f"{path}:")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("calc.py", "x = 1  # TODO: cache this\n"),
        ("calc.py", "# None until the file was read; nothing was sent yet\nx = None\n"),
        ("calc.py", "def show():\n    print('usage: todo ADD to add an item later')\n    # until the server is ready\n"),
        ("calc.py", "class A:\n    def load(self):\n        raise NotImplementedError\n"),
        ("calc.py", 'def field(name):\n    """Return whether any token contains a placeholder."""\n    return name\n'),
        ("calc.py", "hint = ''  # placeholder: shown while empty\n"),
        ("calc.py", "class Field:\n    # placeholder: what stands there until something is typed\n    placeholder: str = ''\n"),
        ("calc.py", 'def field(name, fake=None):\n    """Make a field.\n\n    :param fake: another clock\n    """\n    return name\n'),
        (
            "src/new.ts",
            "/**\n * @param placeholder - the words for no name\n */\nexport const field = (placeholder: string) => placeholder\n",
        ),
        ("calc.py", "def __eq__(self, other):\n    return NotImplemented\n"),
        ("src/new.ts", "export const page = '<input placeholder=\"Name\">'\n"),
        ("src/new.ts", "// The temporary file that the editor opens.\nexport const path = ''\n"),
        ("tests/test_new.py", "# a mock\nx = 1\n"),
        ("new.go", "package p\n\n// For now tags only support the name but let's follow the convention.\nvar a = 1\n"),
        ("lib/new.rb", "module A\n  def call\n    raise NotImplementedError\n  end\nend\n"),
    ],
)
def test_a_todo_about_something_else_is_not(g: Ground, path: str, text: str) -> None:
    base, command = (JS, VITEST) if path.endswith(".ts") else (PY, {".go": GO, ".rb": RSPEC}.get(path[-3:], PYTEST))
    assert "unfinished" not in g.flags(base, {path: text}, command)


def test_what_only_moved_says_nothing_new(g: Ground) -> None:
    base = {**PY, "shop/mail.py": "def send(to):\n    # TODO: real implementation\n    return to\n"}
    moved = base["shop/mail.py"].replace("def send(to):\n", "def send(to):\n    to = to.strip()\n")
    assert "unfinished" not in g.flags(base, {"shop/mail.py": moved})


STEERED = {
    "Makefile": "export PYTEST_ADDOPTS = -k a\n",
    "Dockerfile": 'FROM python\nENV PYTEST_ADDOPTS="-k a"\n',
    "docker-compose.yml": 'services:\n  t:\n    environment:\n      NODE_OPTIONS: "--require ./x"\n',
    "mise.toml": '[env]\nGOFLAGS = "-run=A"\n',
    "ci/test.env": "RUBYOPT=-r./x\n",
    "scripts/dev.sh": "export SPEC_OPTS='--tag ~slow'\n",
    "Rakefile": "ENV['RUBYOPT'] = '-r./x'\n",
    "go.env": "GODEBUG=panicnil=1\n",
    "tool.go": 'package main\n\nfunc init() { os.Setenv("GOFLAGS", "-run=A") }\n',
    "scripts/dev.mjs": "spawnSync('node', ['--test'], { env: { ...process.env, NODE_OPTIONS: '--test-name-pattern=a' } });\n",
    "tasks.py": "run('pytest', env=dict(os.environ, PYTEST_ADDOPTS='-k a'))\n",
    "cmd/run.go": 'package main\n\nfunc env() []string { return append(os.Environ(), "GOFLAGS=-run=A") }\n',
    "lib/run.rb": "system({ 'SPEC_OPTS' => '--tag ~slow' }, 'rspec')\n",
}


@pytest.mark.parametrize(("path", "text"), STEERED.items())
def test_a_variable_by_which_tests_run_otherwise_is_flagged_wherever_it_is_set(g: Ground, path: str, text: str) -> None:
    (flag,) = [each for each in g.flags(PY, {path: text})["judged-by"] if "changes how tests run" in each.sentence]
    assert flag.level in ("", "ask") and flag.place.startswith(f"{path}:")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("calc.py", "env = {**os.environ, 'PYTHONPATH': root}\n"),
        ("calc.py", "if os.environ.get('NODE_OPTIONS') == 'a':\n    x = 1\n"),
        ("calc.py", "PYTEST_COMMAND = 'pytest -q'\nPYTEST_ARGS = ['-q']\n"),
        ("Dockerfile", "FROM python\nENV PYTHONPATH=/app\nRUN echo $NODE_OPTIONS\n"),
        ("Makefile", "# PYTEST_ADDOPTS=-x helps\nrun:\n\techo ${GOFLAGS}\n"),
        ("README.md", "Set `PYTEST_ADDOPTS=-x`.\n"),
    ],
)
def test_a_variable_that_is_only_read_or_told_is_not(g: Ground, path: str, text: str) -> None:
    assert not [each for each in g.flags(PY, {path: text}).get("judged-by", []) if "changes how tests run" in each.sentence]


@pytest.mark.parametrize("path", ["CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"])
def test_who_must_review_judges_wherever_it_is_written(g: Ground, path: str) -> None:
    seen = g.changes({**PY, path: "* @security\n"}, {path: "* @me\n"}, PYTEST)
    assert [(each.path, each.sort, is_only_words(seen, each)) for each in seen.all()] == [(path, "config", False)]
