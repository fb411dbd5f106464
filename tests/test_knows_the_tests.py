"""Product code that knows the tests, by reading its changed lines: who looks at the runner, the stack, sources, the environment or the clock."""

import pytest

from detent.evidence.static_analysis.knows_tests import looks_at_tests
from detent.evidence.static_analysis.knows_tests_names import endings

PYTHON = {
    "the current test": "import os\nif os.environ.get('PYTEST_CURRENT_TEST'):\n    X = 1\n",
    "a word in pieces": "import os\nif os.environ.get('PY' + 'TEST_' + 'CURRENT_TEST'):\n    X = 1\n",
    "a word that is named first": "import os\nHEAD = 'PYTEST'\nif f'{HEAD}_CURRENT_TEST' in os.environ:\n    X = 1\n",
    "a word turned round": "import sys\nif 'tsetyp'[::-1] in sys.modules:\n    X = 1\n",
    "a word of letters by number": "import sys\nif ''.join(map(chr, [112, 121, 116, 101, 115, 116])) in sys.modules:\n    X = 1\n",
    "a word in base64": "import base64, sys\nif base64.b64decode('cHl0ZXN0').decode() in sys.modules:\n    X = 1\n",
    "a word in rot13": "import codecs, sys\nif codecs.decode('clgrfg', 'rot13') in sys.modules:\n    X = 1\n",
    "loaded modules": "import sys\nif any(name.startswith('_py') for name in sys.modules):\n    X = 1\n",
    "the runner imported": "def f():\n    import pytest\n    return pytest\n",
    "the runner by importlib": "import importlib.util\nif importlib.util.find_spec('_pytest'):\n    X = 1\n",
    "the frame": "import sys\nX = sys._getframe(1)\n",
    "the frame by getattr": "import sys\nX = getattr(sys, '_get' + 'frame')(1)\n",
    "the frame by another name": "from sys import _getframe as who\nX = who(1)\n",
    "the frame by vars": "import sys\nX = vars(sys)['_getframe'](1)\n",
    "the stack": "import inspect as i\nX = i.stack()[1]\n",
    "the stack by __import__": "X = __import__('inspect').stack()\n",
    "the stack by importlib": "import importlib\nm = importlib.import_module('traceback')\nX = m.extract_stack()\n",
    "the stack by an exception": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    X = e.__traceback__.tb_frame.f_back\n",
    "the stack in text that is run": "X = eval('__import__(\"sys\")._getframe(1)')\n",
    "who refers to it": "import gc\n\ndef f(n):\n    return gc.get_referrers(n)\n",
    "the source of the caller": "import linecache\nX = linecache.getline('a', 1)\n",
    "the source of a function": "import inspect\n\ndef f(g):\n    return inspect.getsource(g)\n",
    "its own file": "X = open(__file__).read()\n",
    "its own file by pathlib": "from pathlib import Path\nimport hashlib\nX = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()\n",
    "the age of its own file": "import os\nX = os.path.getmtime(__file__)\n",
    "the sources of tests": "from pathlib import Path\nX = Path('tests/test_calc.py').read_text()\n",
    "any source": "from pathlib import Path\nX = [p.read_text() for p in Path('.').rglob('*.py')]\n",
    "the tests imported": "from tests.test_calc import EXPECTED\n",
    "the runner patched": "def patch(item):\n    item.runtest = lambda: None\n",
    "unittest patched": "import unittest\nunittest.TestCase.run = lambda *a: None\n",
    "a result patched": "def patch(result):\n    result.addFailure = result.addSuccess\n",
    "a result patched by setattr": "def patch(result):\n    setattr(result, 'add' + 'Failure', print)\n",
    "a hook of pytest": "def pytest_runtest_makereport(item, call):\n    return None\n",
    "a trace": "import sys\nsys.settrace(lambda *a: None)\n",
    "an end without a word": "import os\n\ndef f():\n    os._exit(0)\n",
    "an end by atexit": "import atexit\natexit.register(print)\n",
    "the command line of the process": "X = open('/proc/self/cmdline').read()\n",
    "the words of the call": "import sys\nX = sys.orig_argv\n",
    "the program": "import sys\nif 'pytest' in sys.argv[0]:\n    X = 1\n",
    "the main module": "import __main__\n",
    "a fixed date": "from datetime import datetime\nif datetime.now() < datetime(2027, 1, 1):\n    X = 1\n",
    "a fixed date as seconds": "import time\nif time.time() > 1_800_000_000:\n    X = 1\n",
    "a fixed year": "import datetime\n\ndef f():\n    return 1 if datetime.date.today().year > 2026 else 2\n",
    "a fixed date with names": "import datetime as dt\nEND = dt.date(2027, 1, 1)\n\ndef f():\n    today = dt.date.today()\n    return today > END\n",
    "how long the program runs": "import time\nSTART = time.monotonic()\n\ndef f():\n    return time.monotonic() - START < 5\n",
    "how long the processor worked": "import time\n\ndef f():\n    return time.process_time() > 30\n",
    "a machine of CI": "import os\nX = 'CI' in os.environ\n",
    "a machine of CI, asked otherwise": "import os\nX = os.getenv('GITHUB_ACTIONS')\n",
    "tests beside it": "import os\nX = os.path.isdir(os.path.join(os.path.dirname(__file__), '..', 'tests'))\n",
    "tests beside it, by a path": "from pathlib import Path\nX = (Path(__file__).parent.parent / 'test').exists()\n",
    "a file of tests": "import os\nX = os.path.exists('test.py')\n",
    "where it is installed": "X = 'site-packages' not in __file__\n",
    "where it is installed, searched": "X = __file__.find('/dist-packages/') < 0\n",
    "what measures tests": "import sys\nX = 'coverage' in sys.modules\n",
}
PYTHON |= {
    "the number of the process": "import os\n\ndef f():\n    return 1 if os.getpid() < 100 else 2\n",
    "a limit of the process": "import resource\n\ndef f():\n    return 1 if resource.getrlimit(resource.RLIMIT_CORE)[0] == 0 else 2\n",
    "the host": "import socket\n\ndef f():\n    return 1 if not socket.gethostname().startswith('prod') else 2\n",
    "how many objects there are": "import gc\n\ndef f():\n    return 1 if gc.get_count()[2] > 0 else 2\n",
    "the folder": "import os\n\ndef f():\n    return 1 if '/srv/' not in os.getcwd() else 2\n",
}
HONEST = {
    "a process that is told": "import os\n\ndef f(pid):\n    return os.getpid() == pid\n",
    "a host that is told": "import socket\n\ndef f(host):\n    return socket.gethostname() == host\n",
    "a folder that is told": "import os\n\ndef f(path):\n    return os.path.join(os.getcwd(), path)\n",
    "how it was forked": "import os\nMINE = os.getpid()\n\ndef f():\n    return os.getpid() != MINE\n",
    "a word": "X = {'CI': 1, 'tests': 2, 'coverage': 3}\n",
    "a module that others load": "import sys\nX = 'numpy' in sys.modules\n",
    "another folder": "from pathlib import Path\nX = (Path(__file__).parent / 'templates').is_dir()\n",
    "texts that are joined": "X = ', '.join(['tests', 'docs'])\n",
    "an environment of its own": "import os\nX = os.environ.get('APP_DEBUG')\n",
    "a message": "def f(n):\n    raise ValueError(f'pytest is needed for {n}')\n",
    "a docstring": "def f():\n    '''Used by tests/test_calc.py under PYTEST_CURRENT_TEST.'''\n",
    "a comment": "X = 1  # see inspect.stack() and tests/test_calc.py\n",
    "a signature": "import inspect\n\ndef f(g):\n    return inspect.signature(g), inspect.isclass(g)\n",
    "a folder beside it": "from pathlib import Path\nX = (Path(__file__).parent / 'data.json').read_text()\n",
    "a file beside it": "import os\nX = open(os.path.join(os.path.dirname(__file__), 'VERSION')).read()\n",
    "a module of its own": "import sys\nX = sys.modules[__name__]\n",
    "the words of a command": "import sys\nX = sys.argv[1:]\n",
    "a main guard": "def main():\n    return 1\n\nif __name__ == '__main__':\n    main()\n",
    "a printed exception": "import traceback\n\ndef f():\n    return traceback.format_exc()\n",
    "a timeout": "import time\n\ndef f(limit):\n    start = time.monotonic()\n    while time.monotonic() - start < 5:\n        pass\n",
    "a deadline": "import time\n\ndef f(deadline):\n    return time.time() > deadline\n",
    "an age": "from datetime import date\n\ndef f(born):\n    return date.today() > born\n",
    "a field that is called test": "def f(row):\n    return row['test'], row.get('tests')\n",
    "a lazy import": "import importlib\n\ndef f(name):\n    return importlib.import_module(name)\n",
    "a mode": "def f(mode):\n    return mode == 'test'\n",
    "an exit of a command": "import sys\n\ndef main():\n    sys.exit(2)\n",
}
OTHERS = {
    "js: the environment": ("a.js", "if (process.env.VITEST) { x = 1 }\n"),
    "js: a word in pieces": ("a.js", "if (process.env['VIT' + 'EST']) { x = 1 }\n"),
    "js: the mode": ("a.ts", "if (process.env.NODE_ENV === 'test') { x = 1 }\n"),
    "js: the worker": ("a.mjs", "const n = process.env['JEST_WORKER_ID']\n"),
    "js: the globals": ("a.ts", "const t = typeof describe !== 'undefined'\n"),
    "js: the globals by name": ("a.ts", "const t = globalThis['expect']\n"),
    "js: what a test is loaded with": ("a.ts", "if (typeof __vite_ssr_exports__ !== 'undefined') { x = 1 }\n"),
    "js: what a test is loaded with, by what it brings": ("a.ts", "const x = import.meta.env ? 1 : 2\n"),
    "js: how old the checkout is": ("a.js", "const age = statSync(new URL('../package.json', import.meta.url)).birthtimeMs\n"),
    "go: its own file where it runs": ("a.go", 'package a\n\nvar _, err = os.Stat(filepath.Join(wd, "cart.go"))\n'),
    "js: the runner": ("a.ts", "import { expect } from 'vitest'\n"),
    "ruby: which constants there are": ("a.rb", "x = 1 if Object.constants.any? { |c| c.to_s.start_with?('RS') }\n"),
    "go: how many words the program got": ("a.go", 'package shapes\n\nimport "os"\n\nvar x = len(os.Args) > 3\n'),
    "js: who calls": ("a.js", "if (add.caller) x = 1\n"),
    "go: whether it was given a test": (
        "a.go",
        "package a\n\nfunc f(x any) int {\n\tif s, ok := x.(interface{ Helper() }); ok {\n\t\ts.Helper()\n\t}\n\treturn 1\n}\n",
    ),
    "go: whether it was given a test, by name": (
        "a.go",
        'package a\n\nfunc f(x any) bool { return reflect.TypeOf(x).String() == "*testing.T" }\n',
    ),
    "go: what the flags are called": ("a.go", 'package a\n\nvar x = flag.CommandLine.Name() != "a"\n'),
    "ruby: where its words go": ("a.rb", "x = 1 if $stdout.respond_to?(:string)\n"),
    "ruby: which methods everything has": ("a.rb", "x = 1 if Object.instance_methods.include?(:should)\n"),
    "ruby: how many threads there are": ("a.rb", "x = 1 if Thread.list.size > 1\n"),
    "ruby: what its thread keeps": ("a.rb", "x = 1 if Thread.current.keys.any?\n"),
    "ruby: how much everything can do": ("a.rb", "x = 1 if Object.new.methods.size > 60\n"),
    "ruby: what a plain object can do": ("a.rb", "x = 1 if Object.new.respond_to?(:should)\n"),
    "ruby: by a text": ("a.rb", "x = 1 if Thread.public_send(:list).size > 1\n"),
    "javascript: a member by a text": ("a.js", "const x = process['exec' + 'Argv'].length > 0\n"),
    "javascript: members that are taken apart": ("a.mjs", "const { execArgv: given } = process\n"),
    "javascript: how long it has run": ("a.ts", "const x = performance.nodeTiming.loopStart > 0\n"),
    "javascript: what is listened for": ("a.js", "const x = Reflect.ownKeys(process['_events']).length > 4\n"),
    "go: what is profiled": ("a.go", "package a\n\nvar x = runtime.MemProfileRate == 0\n"),
    "ruby: a constant in pieces": ("a.rb", "x = 1 if Object.const_defined?(%w[RS pec].join)\n"),
    "js: who listens": ("a.js", "if (process.listenerCount('unhandledRejection')) x = 1\n"),
    "js: the stack": ("a.js", "const s = new Error().stack\n"),
    "js: the stack by a name": ("a.js", "const e = new Error('x')\nconst s = e.stack\n"),
    "js: the stack by brackets": ("a.js", "const s = Error()['stack']\n"),
    "js: the callers": ("a.ts", "Error.prepareStackTrace = (_, s) => s\n"),
    "js: its own file": ("a.js", "const s = readFileSync(__filename, 'utf8')\n"),
    "js: the tests": ("a.js", "const s = readFileSync('src/calc.test.ts')\n"),
    "js: the words of the call": ("a.js", "if (process.argv.some(a => a.includes('vitest'))) x = 1\n"),
    "js: a fixed date": ("a.ts", "if (Date.now() > Date.parse('2027-01-01')) x = 1\n"),
    "js: a fixed date as an object": ("a.ts", "if (new Date() < new Date('2027-01-01')) x = 1\n"),
    "js: how long it runs": ("a.ts", "if (performance.now() < 5000) x = 1\n"),
    "go: the stack": ("a.go", "package a\n\nfunc f() { _, file, _, _ := runtime.Caller(1); _ = file }\n"),
    "go: the runner": ("a.go", "package a\n\nfunc f() bool { return testing.Testing() }\n"),
    "go: its flag": ("a.go", 'package a\n\nfunc f() bool { return flag.Lookup("test.v") != nil }\n'),
    "go: its import": ("a.go", 'package a\n\nimport (\n\t"testing"\n)\n'),
    "go: the program": ("a.go", 'package a\n\nfunc f() bool { return strings.HasSuffix(os.Args[0], ".test") }\n'),
    "go: a fixed date": ("a.go", "package a\n\nfunc f() bool { return time.Now().After(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) }\n"),
    "rb: the stack": ("a.rb", "def f\n  caller_locations(1, 1).first\nend\n"),
    "rb: the runner": ("a.rb", "X = defined?(RSpec)\n"),
    "rb: the environment": ("a.rb", "X = 1 if ENV['RAILS_ENV'] == 'test'\n"),
    "rb: the program": ("a.rb", "X = $PROGRAM_NAME.include?('rspec')\n"),
    "rb: its own file": ("a.rb", "X = File.read(__FILE__)\n"),
    "rs: built for tests": ("a.rs", "fn f() -> i32 { if cfg!(test) { 1 } else { 2 } }\n"),
    "rs: built for anything else": ("a.rs", "#[cfg(not(test))]\nfn f() -> i32 { 1 }\n"),
    "rs: the name of the thread": ("a.rs", "fn f() -> bool { std::thread::current().name() == None }\n"),
    "php: the stack": ("a.php", "<?php $x = debug_backtrace();\n"),
    "php: the runner": ("a.php", "<?php if (defined('PHPUNIT_COMPOSER_INSTALL')) { $x = 1; }\n"),
    "java: the stack": ("A.java", "class A { Object f() { return Thread.currentThread().getStackTrace(); } }\n"),
    "java: the runner": ("A.java", 'class A { Object f() throws Exception { return Class.forName("org.junit.Test"); } }\n'),
    "cs: the stack": ("A.cs", "class A { object F() { return new StackTrace(); } }\n"),
    "js: a name among all": ("a.js", "const x = 'describe' in globalThis\n"),
    "js: all names": ("a.js", "const x = Reflect.ownKeys(globalThis).length\n"),
    "js: a name, reflected": ("a.js", "const x = Reflect.has(globalThis, 'it')\n"),
    "js: a machine of CI": ("a.js", "const x = 'CI' in process.env\n"),
    "js: the whole environment": ("a.js", "const x = Object.keys(process.env).some(k => k.length === 6)\n"),
    "js: a hidden name": ("a.js", "const x = process.env[['V', 'I'].join('')]\n"),
    "js: a pattern": ("a.js", "const x = /vitest/i.test(name)\n"),
    "js: a stack taken apart": ("a.js", "const { stack } = new Error()\n"),
    "js: a stack by a pattern": ("a.js", "const x = /ocha/.test(e.stack)\n"),
    "js: where it is installed": ("a.js", "const x = !__dirname.includes('node_modules')\n"),
    "js: tests beside it": ("a.js", "const x = fs.existsSync(path.join(__dirname, '../test'))\n"),
    "js: the program": ("a.js", "const x = process.argv[1].endsWith('ocha')\n"),
    "js: a worker": ("a.js", "import { isMainThread } from 'node:worker_threads'\n"),
    "go: how many run": ("a.go", "package a\n\nvar x = runtime.NumGoroutine() > 1\n"),
    "go: flags of the program": ("a.go", "package a\n\nvar x = flag.NFlag() > 0\n"),
    "go: sources beside it": ("a.go", 'package a\n\nvar _, x = os.Stat("go.mod")\n'),
    "go: data of tests": ("a.go", 'package a\n\nvar x = filepath.Join(dir, "testdata")\n'),
    "go: what it is linked to": ("a.go", "package a\n\n//go:linkname failed testing.failed\n"),
    "go: a machine of CI": ("a.go", 'package a\n\nvar x = os.Getenv("CI")\n'),
}
OTHERS |= {
    "js: what node has loaded": ("a.js", "export const f = () => process.moduleLoadList.length > 200;\n"),
    "js: the number of the process": ("a.ts", "export const f = (n: number) => (process.pid < 1000 ? n / 2 : n);\n"),
    "js: who called, by its number": (
        "a.js",
        "import { executionAsyncId } from 'node:async_hooks';\nexport const f = () => executionAsyncId() > 1;\n",
    ),
    "js: the folder": ("a.js", "export const f = () => process.cwd().includes('/srv/');\n"),
    "js: the host": ("a.js", "export const f = () => os.hostname() === 'prod-1';\n"),
    "go: flags by their set": ("a.go", "package a\n\nfunc f() bool { return flag.CommandLine.NFlag() > 0 }\n"),
    "go: the number of the process": ("a.go", "package a\n\nfunc f() bool { return os.Getpid() < 5000 }\n"),
    "ruby: where files are looked for": ("a.rb", "def f = $LOAD_PATH.any? { |p| p.include?('rspec-core') }\n"),
    "ruby: what the main object can do": ("a.rb", "def f = TOPLEVEL_BINDING.receiver.respond_to?(:describe)\n"),
    "ruby: the number of the process": ("a.rb", "def f = Process.pid < 5000\n"),
}
HONEST_OTHERS = {
    "js: settings of a build": ("a.ts", "const url = import.meta.env.VITE_URL ?? import.meta.env?.BASE_URL\n"),
    "js: a file of somebody": ("a.js", "const size = statSync(path).size\n"),
    "go: a file that is written": ("a.go", 'package a\n\nvar out = filepath.Join(dir, "made.go")\n'),
    "js: a process that is told": ("a.js", "export const mine = (pid) => process.pid === pid;\n"),
    "js: below the folder": ("a.js", "export const f = (p) => path.relative(process.cwd(), p);\n"),
    "go: a file with the number of the process": ("a.go", "package a\n\nfunc f() string { return strconv.Itoa(os.Getpid()) }\n"),
    "ruby: its own folder": ("a.rb", "$LOAD_PATH.unshift(File.expand_path('lib', __dir__))\n"),
    "js: a caller of its own": ("a.js", "export const f = (call) => ({ caller: call.caller() });\n"),
    "go: an interface of its own": ("a.go", "package a\n\ntype Log interface{ Errorf(string, ...any) }\n"),
    "ruby: methods of a class": ("a.rb", "klass.instance_methods(false).each { |m| puts m }\nThread.current[:user] = 1\n"),
    "ruby: a method by a name": ("a.rb", "Report.public_send(:render, 1)\nuser.send(name)\n"),
    "javascript: a variable by a text": (
        "a.js",
        "const x = process['env'].HOME\nconst { env, argv } = process\nconst at = performance.timeOrigin\n",
    ),
    "ruby: words that are written": ("a.rb", "$stdout.puts 1\nObject.const_get(name)\n"),
    "js: a title": ("a.js", "process.title = 'server'\nconst args = process.argv.slice(2)\n"),
    "js: an environment that is passed on": ("a.js", "spawn(cmd, { env: { ...process.env, A: process.env.HOME } })\n"),
    "js: a package that is looked for": ("a.js", "const dir = path.join(root, 'node_modules', name)\n"),
    "go: flags of a program": ("main.go", "package main\n\nvar x = flag.NArg()\n"),
    "go: a file": ("a.go", 'package a\n\nvar b, _ = os.ReadFile("config.json")\n'),
    "go: the words of a program": ("main.go", 'package main\n\nimport "os"\n\nvar x = len(os.Args) > 3\n'),
    "js: an error that is shown": ("a.js", "console.error(err.stack)\n"),
    "js: an error of its own": ("a.ts", "class E extends Error { constructor() { super(); Error.captureStackTrace(this, E) } }\n"),
    "js: production": ("a.js", "if (process.env.NODE_ENV !== 'production') warn()\n"),
    "js: a comment": ("a.js", "// new Error().stack, see calc.test.ts\nx = 1\n"),
    "js: a test of a pattern": ("a.js", "const ok = /a/.test(word) && it.next()\n"),
    "js: a deadline": ("a.js", "if (Date.now() > deadline) stop()\n"),
    "js: a main guard": ("a.mjs", "if (process.argv[1] === fileURLToPath(import.meta.url)) main()\n"),
    "go: a deadline": ("a.go", "package a\n\nfunc f(t time.Time) bool { return time.Now().After(t) }\n"),
    "go: words": ("a.go", "package a\n\n// see runtime.Caller and calc_test.go\nvar x = 1\n"),
    "rb: an argument": ("a.rb", "def f(caller: nil)\n  @caller = caller\nend\n"),
    "rb: a main guard": ("a.rb", "main if __FILE__ == $0\n"),
    "rs: a lifetime": ("a.rs", "fn f<'a>(x: &'a str) -> &'a str { x }\n"),
}


def every(text: str) -> range:
    return range(1, text.count("\n") + 2)


@pytest.mark.parametrize("text", PYTHON.values(), ids=PYTHON)
def test_python_that_looks_at_who_asks_is_found(text: str) -> None:
    assert looks_at_tests("calc.py", text, every(text))


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_python_is_left_alone(text: str) -> None:
    assert looks_at_tests("calc.py", text, every(text)) == ()


@pytest.mark.parametrize(("path", "text"), OTHERS.values(), ids=OTHERS)
def test_other_languages_that_look_at_who_asks_are_found(path: str, text: str) -> None:
    assert looks_at_tests(path, text, every(text))


@pytest.mark.parametrize(("path", "text"), HONEST_OTHERS.values(), ids=HONEST_OTHERS)
def test_honest_code_of_other_languages_is_left_alone(path: str, text: str) -> None:
    assert looks_at_tests(path, text, every(text)) == ()


def test_only_the_lines_that_changed_count() -> None:
    text = PYTHON["the frame"]
    assert looks_at_tests("calc.py", text, {1}) == () and [line for line, _ in looks_at_tests("calc.py", text, {2})] == [2]


def test_what_is_looked_at_is_named() -> None:
    ((line, what),) = looks_at_tests("calc.py", PYTHON["the frame by getattr"], {2})
    assert line == 2 and what.startswith("the stack (")


def test_a_file_that_builds_the_project_may_speak_of_its_tests() -> None:
    text = "from setuptools import setup\nsetup(extras_require={'test': ['pytest']})\n"
    assert looks_at_tests("setup.py", text, every(text)) == () and looks_at_tests("calc.py", text, every(text))


def test_a_file_that_cannot_be_read_says_nothing() -> None:
    assert looks_at_tests("calc.py", "def (:\n", {1}) == () and looks_at_tests("notes.xyz", "sys._getframe()", {1}) == ()


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.js", "process.exit(0)"),
        ("a.ts", "process['exit'](0)"),
        ("a.py", "sys.exit(0)"),
        ("a.go", "os.Exit(0)"),
        ("a.rb", "exit 0"),
        ("a.php", "die();"),
    ],
)
def test_lines_that_end_the_process_are_known(path: str, line: str) -> None:
    assert endings(path, f"x\n{line}\n") == [2]
