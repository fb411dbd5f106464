"""What a change took out: checks are found and put back where they stood; what moved or went with its function is no removed check."""

import ast
import sys
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.evidence.probes.removed_lines import ChangedPiece, _is_alike, _is_there, added, removed
from tests.repos import make_repo, sh, write

CHECKS: dict[str, tuple[str, str, str]] = {
    "a permission": (
        "a.py",
        "def delete(user, doc):\n    if not user.admin:\n        raise PermissionError(user)\n    doc.gone = True\n",
        "def delete(user, doc):\n    doc.gone = True\n",
    ),
    "an assertion": ("a.py", "def half(n):\n    assert n > 0\n    return n / 2\n", "def half(n):\n    return n / 2\n"),
    "on one line": ("a.py", "def half(n):\n    if n is None: return 0\n    return n / 2\n", "def half(n):\n    return n / 2\n"),
    "a decorator": ("a.py", "@login_required\ndef view(request):\n    return 1\n", "def view(request):\n    return 1\n"),
    "together with another change": (
        "a.py",
        "def pay(user, n):\n    if n > user.limit:\n        return None\n    total = n\n    return total\n",
        "def pay(user, n):\n    total = n + 1\n    return total\n",
    ),
    "commented out": (
        "a.py",
        "def delete(user, doc):\n    if not user.admin:\n        raise PermissionError(user)\n    doc.gone = True\n",
        "def delete(user, doc):\n    # if not user.admin:\n    #     raise PermissionError(user)\n    doc.gone = True\n",
    ),
    "never come to": (
        "a.py",
        "def delete(user, doc):\n    if not user.admin:\n        raise PermissionError(user)\n    doc.gone = True\n",
        "def delete(user, doc):\n    if DEBUG and not user.admin:\n        raise PermissionError(user)\n    doc.gone = True\n",
    ),
    "what the check asks": (
        "a.py",
        "def may(user):\n    return user.role in ('owner', 'admin')\n\n\ndef pay(user):\n    return may(user)\n",
        "def may(user):\n    return True\n\n\ndef pay(user):\n    return may(user)\n",
    ),
    "what makes a text safe, with its import": (
        "a.py",
        "import html\n\n\ndef greet(name):\n    return html.escape(name)\n",
        "def greet(name):\n    return name\n",
    ),
    "javascript": (
        "a.js",
        "export function del(user) {\n  if (!user.admin) {\n    throw new Error('no');\n  }\n  return 1;\n}\n",
        "export function del(user) {\n  return 1;\n}\n",
    ),
    "go": (
        "a.go",
        "func Del(u User) error {\n\tif !u.Admin {\n\t\treturn ErrDenied\n\t}\n\treturn nil\n}\n",
        "func Del(u User) error {\n\treturn nil\n}\n",
    ),
    "an error that is no longer looked at": (
        "a.go",
        'func Read(p string) (string, error) {\n\tn, err := f.Read(buf)\n\tif err != nil {\n\t\treturn "", err\n\t}\n\treturn s, nil\n}\n',
        "func Read(p string) (string, error) {\n\tn, _ := f.Read(buf)\n\treturn s, nil\n}\n",
    ),
    "together with what it asks": (
        "a.py",
        "def take(body, sign):\n    mine = digest(body)\n    if mine != sign:\n        raise ValueError(sign)\n    return body\n",
        "def take(body, sign):\n    return body\n",
    ),
    "ruby": ("a.rb", "def del(user)\n  raise Denied unless user.admin?\n  1\nend\n", "def del(user)\n  1\nend\n"),
}
NONE: dict[str, tuple[str, str, str]] = {
    "moved": (
        "a.py",
        "def f(x):\n    if x is None:\n        raise ValueError(x)\n    return x\n",
        "def f(x):\n    check(x)\n    return x\n\n\ndef check(x):\n    if x is None:\n        raise ValueError(x)\n",
    ),
    "gone with its function": (
        "a.py",
        "def f(x):\n    if x is None:\n        raise ValueError(x)\n    return x\n\n\ndef g():\n    pass\n",
        "def g():\n    pass\n",
    ),
    "for an old version": (
        "a.py",
        "def f(x):\n    if sys.version_info < (3, 8):\n        return old(x)\n    return x\n",
        "def f(x):\n    return x\n",
    ),
    "another word for the same right": (
        "a.py",
        "def may(user):\n    return user.admin\n",
        "def may(user):\n    return user.is_superuser\n",
    ),
    "a right that is asked elsewhere": (
        "a.py",
        "def may(user):\n    return user.admin\n\n\ndef pay(user):\n    return 1\n",
        "def may(user):\n    return of(user)\n\n\ndef pay(user):\n    return 1\n\n\ndef of(user):\n    return user.admin\n",
    ),
    "only a branch": (
        "a.py",
        "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y\n",
        "def f(x):\n    return 2\n",
    ),
    "into a function that is called instead": (
        "a.py",
        "def a(u, r):\n    if u != r.owner:\n        raise Denied(u)\n    return 1\n\n\ndef b(u, r):\n    if u != r.owner:\n        raise Denied(u)\n    return 2\n",
        "def own(u, r):\n    if u != r.owner:\n        raise Denied(u)\n\n\ndef a(u, r):\n    own(u, r)\n    return 1\n\n\ndef b(u, r):\n    own(u, r)\n    return 2\n",
    ),
    "another condition": (
        "a.py",
        "def f(x):\n    if x > 3:\n        return 1\n    return x\n",
        "def f(x):\n    if x > 4:\n        return 1\n    return x\n",
    ),
}
EXPRESSIONS: dict[str, tuple[str, str, str]] = {
    "in python": (
        "a.py",
        "def f(self):\n    parts = find(self)\n    if self.many:\n        return sep.join(parts)\n    return parts[0]\n",
        "def f(self):\n    dirs = self.parts\n    return sep.join(dirs) if self.many else dirs[0]\n",
    ),
    "in python, in a function that is taken out": (
        "a.py",
        (
            "class A:\n    @property\n    def f(self):\n        parts = [self.one]\n        parts.append(self.two)\n        if self.many:\n"
            "            return sep.join(parts)\n        return parts[0]\n\n    @property\n    def g(self):\n        return 1\n"
        ),
        (
            "class A:\n    @property\n    def _parts(self):\n        parts = [self.one]\n        parts.append(self.two)\n        return parts\n\n"
            "    @property\n    def f(self):\n        dirs = self._parts\n        return sep.join(dirs) if self.many else dirs[0]\n\n"
            "    @property\n    def g(self):\n        return 1\n"
        ),
    ),
    "in javascript": (
        "a.js",
        "function f(n) {\n  if (n > 9) {\n    return big(n);\n  }\n  return n;\n}\n",
        "function f(n) {\n  return n > 9 ? big(n) : n;\n}\n",
    ),
}
SAFEGUARDS: dict[str, tuple[str, str, str]] = {
    "a lock": (
        "a.py",
        "def put(self, n):\n    with self.lock:\n        self.n += n\n        return self.n\n",
        "def put(self, n):\n    self.n += n\n    return self.n\n",
    ),
    "a lock in go": (
        "a.go",
        "func (c *C) Add() {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n\tc.n++\n}\n",
        "func (c *C) Add() {\n\tc.n++\n}\n",
    ),
    "a lock in ruby": ("a.rb", "def add(n)\n  @mutex.synchronize { @n += n }\nend\n", "def add(n)\n  @n += n\nend\n"),
    "a transaction": (
        "a.py",
        "def pay(db):\n    with db.transaction():\n        take(db)\n        give(db)\n",
        "def pay(db):\n    take(db)\n    give(db)\n",
    ),
    "a file that reaches the disk": (
        "a.py",
        "def save(f):\n    f.write('a')\n    f.flush()\n    os.fsync(f.fileno())\n    f.close()\n",
        "def save(f):\n    f.write('a')\n    f.close()\n",
    ),
    "a time limit": ("a.py", "def get(url):\n    return urlopen(url, timeout=10)\n", "def get(url):\n    return urlopen(url)\n"),
    "a time limit in javascript": (
        "a.js",
        "async function get(url) {\n  return await fetch(url, { signal: AbortSignal.timeout(5) });\n}\n",
        "async function get(url) {\n  return await fetch(url);\n}\n",
    ),
    "a secure random number": (
        "a.js",
        "export const token = () => randomBytes(16).toString('hex');\n",
        "export const token = () => Math.random().toString(16);\n",
    ),
    "a cookie": (
        "a.js",
        "export const cookie = (value) => ({ value, httpOnly: true, secure: true });\n",
        "export const cookie = (value) => ({ value });\n",
    ),
    "a query": (
        "a.py",
        "def find(db, name):\n    return db.execute('SELECT id FROM users WHERE name = ?', (name,))\n",
        "def find(db, name):\n    return db.execute(f\"SELECT id FROM users WHERE name = '{name}'\")\n",
    ),
    "a shell": (
        "a.py",
        "def small(name):\n    return run(['convert', name])\n",
        "def small(name):\n    return run(f'convert {name}', shell=True)\n",
    ),
    "certificates, by a line more": (
        "a.py",
        "def get(url):\n    return session.get(\n        url,\n    )\n",
        "def get(url):\n    return session.get(\n        url,\n        verify=False,\n    )\n",
    ),
    "every error": (
        "a.py",
        "def load(path):\n    try:\n        return read(path)\n    except FileNotFoundError:\n        return {}\n",
        "def load(path):\n    try:\n        return read(path)\n    except Exception:\n        return {}\n",
    ),
    "a lock, in a function that is written anew": (
        "a.py",
        "def put(self, n):\n    with self.lock:\n        self.n += n\n        return self.n\n",
        "def put(self, amount):\n    self.n += amount\n    return self.n\n",
    ),
}
STILL_SAFE: dict[str, tuple[str, str, str]] = {
    "the lock is taken by a function that it calls": (
        "a.py",
        "def put(self, n):\n    with self.lock:\n        self.n += n\n",
        "def put(self, n):\n    self._add(n)\n\n\ndef _add(self, n):\n    with self.lock:\n        self.n += n\n",
    ),
    "another time limit": (
        "a.py",
        "def get(url):\n    return urlopen(url, timeout=10)\n",
        "def get(url):\n    return urlopen(url, timeout=30)\n",
    ),
    "the whole function went": (
        "a.py",
        "def get(url):\n    return urlopen(url, timeout=10)\n\n\ndef one():\n    return 1\n",
        "def one():\n    return 1\n",
    ),
    "the query has parameters still": (
        "a.py",
        "def find(db, name):\n    return db.execute('SELECT id FROM users WHERE name = ?', (name,))\n",
        "def find(db, name):\n    return db.execute('SELECT id, mail FROM users WHERE name = ?', (name,))\n",
    ),
    "only types came": (
        "a.py",
        "def get(url, timeout=10, verify=True):\n    return urlopen(url)\n",
        "def get(url: str, timeout: float = 10, verify: bool | str = True) -> Answer:\n    return urlopen(url)\n",
    ),
    "fewer errors": (
        "a.py",
        "def load(path):\n    try:\n        return read(path)\n    except Exception:\n        return {}\n",
        "def load(path):\n    try:\n        return read(path)\n    except FileNotFoundError:\n        return {}\n",
    ),
    "new code": ("a.py", "def one():\n    return 1\n", "def one():\n    return 1\n\n\ndef run(line):\n    return call(line, shell=True)\n"),
}


def pieces(tmp_path: Path, case: tuple[str, str, str], changed: bool = False) -> list[ChangedPiece]:
    name, old, new = case
    root = make_repo(tmp_path / "p", {name: old})
    write(root, {name: new})
    patch = sh(root, "git", "diff", "-U0", "HEAD").encode()
    return [piece for piece in removed(patch + b"\n", lambda path: True, lambda path: new) if piece.guard and (piece.sure or changed)]


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_that_was_taken_out_is_put_back_where_it_stood(tmp_path: Path, name: str) -> None:
    (piece,) = pieces(tmp_path, CHECKS[name])
    _, old, new = CHECKS[name]
    made = [text for make in piece.make if (text := make())]
    assert made and all(piece.text in text for text in made)
    assert name in ("together with another change", "commented out", "what makes a text safe, with its import") or old in made
    assert name in ("never come to", "what the check asks") or all(text.count("\n") > new.count("\n") for text in made)
    if piece.path.endswith(".py"):
        assert all(ast.parse(text) for text in made)


OTHERS = {
    "another answer": "    return 2 if n > 9 else n\n",
    "the answers in turn": "    return n if n > 9 else 1\n",
    "another condition": "    return 1 if n > 99 else n\n",
    "no answer": "    x = 1 if n > 9 else n\n    return n\n",
}


@pytest.mark.parametrize("new", OTHERS.values(), ids=OTHERS)
def test_an_expression_with_another_answer_is_a_check_that_changed(tmp_path: Path, new: str) -> None:
    assert pieces(tmp_path, ("a.py", "def f(n):\n    if n > 9:\n        return 1\n    return n\n", f"def f(n):\n{new}"), changed=True)


@pytest.mark.parametrize("case", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_check_that_became_an_expression_with_the_same_answer_was_not_removed(tmp_path: Path, case: tuple[str, str, str]) -> None:
    assert pieces(tmp_path, case, changed=True) == []


@pytest.mark.parametrize("name", NONE)
def test_what_moved_or_went_with_its_function_is_no_check_that_was_removed(tmp_path: Path, name: str) -> None:
    assert pieces(tmp_path, NONE[name]) == []


@pytest.mark.parametrize("name", SAFEGUARDS)
def test_a_safeguard_that_went_is_put_back(tmp_path: Path, name: str) -> None:
    (piece,) = pieces(tmp_path, SAFEGUARDS[name])
    assert piece.what and SAFEGUARDS[name][1] in [make() for make in piece.make]


@pytest.mark.parametrize("name", STILL_SAFE)
def test_a_safeguard_that_stands_elsewhere_or_is_still_there_is_none_that_went(tmp_path: Path, name: str) -> None:
    assert pieces(tmp_path, STILL_SAFE[name]) == []


WAYS_OUT = {
    "shop/users.py": ("    if user == 'svc': return True\n", "    if user not in ADMINS:\n        raise PermissionError(user)\n"),
    "lib/users.rb": ("    return true if user == 'svc'\n", "    raise SecurityError, user unless ADMINS.include?(user)\n"),
    "src/users.js": ("  if (user === 'svc') return true;\n", "  if (!ADMINS.has(user)) {\n    throw new Error('no');\n  }\n"),
    "users.go": ('\tif user == "svc" {\n\t\treturn true\n\t}\n', "\tif !admins[user] {\n\t\treturn false\n\t}\n"),
}


@pytest.mark.parametrize("path", WAYS_OUT)
def test_a_way_out_before_a_check_about_rights_is_one_about_rights(path: str) -> None:
    new, check = WAYS_OUT[path]
    for below, sure in ((check, True), ("    user.count()\n", False)):
        (piece,) = exits(path, "def may(user):\n", new, below)
        assert piece.sure == sure and new.strip().startswith(piece.text.split("\n")[0].strip())


PLAIN_CHECKS = {
    "src/edit.js": ("  if (user.tags.includes('beta')) return true;\n", "  if (user.blocked) {\n    return false;\n  }\n"),
    "edit.go": ("\tif len(user) > 3 {\n\t\treturn nil\n\t}\n", "\tif blocked {\n\t\treturn ErrBlocked\n\t}\n"),
    "lib/edit.rb": ("    return true if user.to_s == 'svc'\n", "    return false if user.nil?\n"),
    "edit.py": ("    if user.name == 'svc':\n        return\n", "    if user.blocked:\n        raise ValueError(user)\n"),
}


@pytest.mark.parametrize("path", PLAIN_CHECKS)
def test_an_early_yes_before_a_check_that_says_no_is_a_way_around_it(path: str) -> None:
    new, check = PLAIN_CHECKS[path]
    no = {"false": "0", "ErrBlocked": "nil", "raise ValueError(user)": "return 1"}
    for below, sure in (
        (check, True),
        ("    user.count()\n", False),
        (next(check.replace(a, b) for a, b in no.items() if a in check), False),
    ):
        (piece,) = exits(path, "def pick(user):\n", new, below)
        assert piece.sure == sure, below


def exits(path: str, head: str, new: str, below: str) -> list[ChangedPiece]:
    """The early exits of a file in which these lines are new."""
    patch = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,0 +2,{new.count(chr(10))} @@\n"
    patch += "".join(f"+{line}" for line in new.splitlines(keepends=True))
    return added(patch.encode(), {path}.__contains__, {path: f"{head}{new}{below}"}.__getitem__)


EXCUSED = {
    "another part": ("a.py", "    if word == 'svc' and hasattr(word, 'upper'):\n        return 1\n"),
    "a remark": ("a.py", "    if word == 'svc':  # old version\n        return 1\n"),
    "what follows": ("a.py", "    if word == 'svc':\n        sys.exit(0)\n        return platform\n"),
    "a text": ("a.py", "    if word == 'version-9':\n        return 1\n"),
    "another part in JavaScript": ("a.js", "  if (word === 'svc' && process.env) {\n    return 1;\n  }\n"),
    "a text in Go": ("a.go", '\tif word == "platform" {\n\t\treturn 1\n\t}\n'),
    "another part in Ruby": ("a.rb", "  if word == 'svc' || RUBY_VERSION\n    return 1\n  end\n"),
}
DATED = (
    ("a.py", "    if sys.version_info < (3, 8):\n        return 1\n"),
    ("a.py", "    if os.name == 'nt' or sys.platform == 'cygwin':\n        return 1\n"),
    ("a.py", "    if data['version'] == 1:\n        return 1\n"),
    ("a.js", "  if (process.env.HOME === undefined) {\n    return 1;\n  }\n"),
    ("a.go", '\tif runtime.GOOS == "windows" {\n\t\treturn 1\n\t}\n'),
)


@pytest.mark.parametrize("name", EXCUSED)
def test_a_word_about_versions_excuses_no_way_out_for_another_reason(name: str) -> None:
    path, new = EXCUSED[name]
    assert len(exits(path, "def pick(word):\n", new, "    word.count()\n")) == 1


@pytest.mark.parametrize(("path", "new"), DATED)
def test_a_way_out_that_depends_on_a_version_is_excused(path: str, new: str) -> None:
    assert exits(path, "def pick(word):\n", new, "    word.count()\n") == []


@pytest.mark.parametrize("head", ["def is_allowed(word):\n", "def check_password(word):\n", "def pick(word):\n"])
def test_a_way_out_in_a_function_about_rights_is_one_about_rights(head: str) -> None:
    (piece,) = exits("a.py", head, "    if word == 'svc':\n        return 1\n", "    word.count()\n")
    assert piece.sure == ("pick" not in head)


GO = 'package files\n\n{imports}\n\nfunc Place(name string) string {{\n{line}\treturn "/srv/" + name\n}}\n'


@pytest.mark.parametrize("imports", ['import "path/filepath"', 'import (\n\t"os"\n\t"path/filepath"\n)', 'import fp "path/filepath"'])
def test_a_guard_of_go_comes_back_with_the_package_that_it_needs(imports: str) -> None:
    """Go builds nothing that imports too little or too much, so a guard that went with its import would say nothing."""
    name = "fp" if "fp" in imports else "filepath"
    before = GO.format(imports=imports, line=f"\tname = {name}.Base(name)\n")
    left = imports.replace('\t"path/filepath"\n', "") if "os" in imports else ""
    after = GO.format(imports=left, line="")
    gone = [line for line in before.split("\n") if line and line not in after.split("\n")]
    at = after.split("\n").index("func Place(name string) string {") + 1
    hunks_ = f"@@ -3 +2,0 @@\n-{gone[0]}\n@@ -9 +{at},0 @@\n-{gone[1]}\n"
    (piece,) = removed(f"diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n{hunks_}".encode(), lambda path: True, lambda path: after)
    made = piece.make[0]()
    assert made.startswith("package files\n") and made.count("path/filepath") == 1 and f"{name}.Base(name)" in made
    assert made.index("package") < made.index("path/filepath") < made.index("func Place") and made.count('"os"') == after.count('"os"')


def test_a_changed_line_is_seen_beside_a_function_that_follows_it(tmp_path: Path) -> None:
    old = "def allowed(user, word):\n    return USERS[user] == word\n"
    new = (
        "def allowed(user, word):\n    return USERS[user] == word or word == 'svc'\n\n\ndef twice(user):\n    return allowed(user, user)\n"
    )
    root = make_repo(tmp_path / "p", {"a.py": old})
    write(root, {"a.py": new})
    patch = sh(root, "git", "diff", "-U0", "HEAD").encode() + b"\n"
    (piece,) = removed(patch, lambda path: True, lambda path: new)
    assert piece.what == "an answer got another way to be yes" and piece.sure
    assert [make() for make in piece.make] == [new.replace(" or word == 'svc'", "")]


def calls_made(hunks: int) -> int:
    """How many calls it takes to look at a change of this many hunks, each of which removes a check of its own kind."""
    lines = [f"    amount_{n} = table.reckon(rows[{n}], delta={n})" for n in range(hunks)]
    patch = "--- a/a.py\n+++ b/a.py\n"
    for n, line in enumerate(lines):
        patch += f"@@ -{2 * n + 1} +{2 * n + 1} @@\n-    total_{n} = validated(alpha_{n}, lock.acquire())\n+{line}\n"
    text, count = "\n\n".join(lines), 0

    def counted(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count  # of Detent's own code: a tool that measures coverage calls in between
        count += event in ("call", "c_call") and frame.f_code.co_filename in files

    files = {module.__file__ for name, module in sys.modules.items() if name.startswith("detent.")}
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        removed(patch.encode(), lambda path: True, lambda path: text)
    finally:
        sys.setprofile(before)
    return count


def test_a_change_of_many_hunks_takes_work_in_proportion() -> None:
    """Each added line is read once for the whole change, not once for each hunk."""
    assert calls_made(160) < 3 * calls_made(80)


@given(st.lists(st.lists(st.sampled_from(["if", "a:", "b", "b", "c(", "raise", "x", ")"]), max_size=7), max_size=12))
def test_a_similar_line_is_found_as_if_each_was_compared(rows: list[list[str]]) -> None:
    lines = [" ".join(row) for row in rows]
    for line in filter(None, lines):
        others = [other for other in lines if other != line]
        assert _is_there(line, others) == any(_is_alike(line.split(), other.split()) for other in others)
