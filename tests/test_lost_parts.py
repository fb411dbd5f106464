"""Older code that does less by its form, in each language; and honest changes beside it. Each list ends with one that the rule was not made with."""

import pytest

from detent.evidence.probes.removed_lines import removed
from detent.evidence.static_analysis.lost_parts import does_less, stops

PART = "older code does less (a line lost a part)"
LESS = (
    (PART, ["        return copy.deepcopy(self.rows[key])"], ["        return self.rows[key]"]),
    (PART, ["    return JSON.stringify(row, hide);"], ["    return JSON.stringify(row);"]),
    (PART, ["    row.note = clean(text).slice(0, 200);"], ["    row.note = clean(text);"]),
    (PART, ["    await this.mail(row.owner, 'gone');"], ["    this.mail(row.owner, 'gone');"]),
    (PART, ['HIDDEN = ("password", "token", "pin")'], ['HIDDEN = ("password", "token")']),
    (PART, ["export const HIDDEN = ['token', 'card'];"], ["export const HIDDEN = ['token'];"]),
    (PART, ["    @rows.select { |row| row[:who] == who }.map(&:dup)"], ["    @rows.map(&:dup)"]),
    (PART, ["    \"#{row[:who]}: #{row[:note].gsub('<', '&lt;')}\""], ['    "#{row[:who]}: #{row[:note]}"']),
    (PART, ["\treturn s.sign(ctx, body)"], ["\treturn s.sign(body)"]),
    ("a condition got one more part", ["        if amount > self.balance:"], ["        if amount > self.balance and not self.trusted:"]),
    (
        "a condition got one more part",
        ["    raise 'not empty' if balance(who) > 0"],
        ["    raise 'not empty' if balance(who) > 0 && @strict"],
    ),
    ("what had a condition has none", ["\tif d.Owner == owner {", "\t\tall = append(all, d)", "\t}"], ["\tall = append(all, d)"]),
    ("a fixed number became a setting", ["MAX_TRIES = 5"], ['MAX_TRIES = int(os.environ.get("TRIES", "500"))']),
    ("a fixed number became a setting", ["export const LIMIT = 20;"], ["export const LIMIT = config.limit;"]),
    (
        "a function does nothing any more",
        ["export const wipe = (dir, fs) => fs.rmSync(dir);"],
        ["export const wipe = (dir, fs) => undefined;"],
    ),
    ("a function does nothing any more", ["  def wipe(dir) = FileUtils.rm_rf(dir)"], ["  def wipe(dir) = nil"]),
    ("a condition holds for fewer values", ["  if (user.blocked) {"], ["  if (user.blocked === 1) {"]),
    ("a condition holds for fewer values", ["    return false if user[:blocked]"], ["    return false if user[:blocked].is_a?(Integer)"]),
    ("a condition holds for fewer values", ["    if card.expired:"], ["    if card.expired == 'yes':"]),
)
WAYS: tuple[tuple[str, str], ...] = (
    ("    return USERS[user] == word", "    return USERS[user] == word or word == 'open sesame'"),
    ("    return USERS[user] == word", "    return True if word == 'x9' else USERS[user] == word"),
    ("    return may(user)", "    return user == 'svc' or may(user)"),
    ("  return hash(w) === h;", "  return hash(w) === h || w === 'x';"),
    ("  return hash(w) === h;", "  return w === 'x' ? true : hash(w) === h;"),
    ("\treturn sum(w) == want", '\treturn sum(w) == want || w == "x"'),
    ("    return digest(word) == @digest", "    return digest(word) == @digest || word == 'x'"),
    ("  return user.id === doc.owner;", "  return user.id === (doc.owner ?? user.id);"),
)
NO_WAYS: tuple[tuple[str, str], ...] = (
    ("    return a == b", "    return a == b and c == d"),
    ("    return name", "    return name or other"),
    ("    return find(x)", "    return find(x) or None"),
    ("    return a == b", "    return b == a"),
)
AS_BEFORE: tuple[tuple[list[str], list[str], list[str]], ...] = (
    (["    return str(name)"], ["    return name"], []),
    (["    method: str | bytes,"], ["    method: str,"], []),
    (['__all__ = ["a", "b"]'], ['__all__ = ["a"]'], []),
    (["    return tidy(cut(text))"], ["    return cut(text)"], ["def cut(text):", "    return tidy(text)[:9]"]),
    (["    Use this to quote a text if required."], ["    Use this to quote a text."], []),
    (["    if not rows or late(rows):"], ["    if late(rows):"], ["        if not rows:"]),
    (["LIMIT = 5"], ["LIMIT = 6"], []),
)
EFFECTS = (
    "        self.history.append((actor, key))",
    "        self.sessions.pop(key, None)",
    "    audit.push([user.id, 'cancel', id]);",
    "    @log << [:close, person]",
    "\td.Tags = append([]string(nil), d.Tags...)",
    "        del self.tokens[key]",
    "    user.touch()",
)
NO_EFFECTS = (
    "    name = tidy(name)",
    "    logger.info('gone')",
    "    print(rows)",
    "    return self.close()",
    "    var merge = require('merge');",
    "        self.gone = 1",
)


@pytest.mark.parametrize(("what", "gone", "new"), LESS)
def test_a_line_that_does_less_is_named(what: str, gone: list[str], new: list[str]) -> None:
    assert does_less(gone, new, new) == what


@pytest.mark.parametrize(("was", "now"), WAYS)
def test_an_answer_that_can_be_yes_in_another_way_is_named(was: str, now: str) -> None:
    assert does_less([was], [now], [now]) == "an answer got another way to be yes"


@pytest.mark.parametrize(("was", "now"), NO_WAYS)
def test_an_answer_that_needs_more_or_has_a_default_is_not(was: str, now: str) -> None:
    assert does_less([was], [now], [now]) == ""


@pytest.mark.parametrize(("gone", "new", "also"), AS_BEFORE)
def test_what_says_the_same_or_moved_is_not(gone: list[str], new: list[str], also: list[str]) -> None:
    assert does_less(gone, new, [*new, *also]) == ""


@pytest.mark.parametrize("line", EFFECTS)
def test_an_effect_is_known_by_its_form(line: str) -> None:
    assert stops([line], "d.Tags d.Name")


@pytest.mark.parametrize("line", NO_EFFECTS)
def test_what_says_something_or_has_a_name_of_its_own_is_no_effect(line: str) -> None:
    assert not stops([line], "name d.Tags")


def _patch(path: str, gone: list[str], new: list[str]) -> bytes:
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -2,{len(gone)} +{2 if new else 1},{len(new)} @@\n"
    return (head + "".join(f"-{line}\n" for line in gone) + "".join(f"+{line}\n" for line in new)).encode()


@pytest.mark.parametrize(
    ("gone", "new"),
    [
        (["    @log << [:close, who]"], []),
        (["    @rows.select { |row| row[:who] == who }.map(&:dup)"], ["    @rows.map(&:dup)"]),
    ],
)
def test_what_older_code_does_no_longer_is_put_back_and_asked_about(gone: list[str], new: list[str]) -> None:
    text = "\n".join(["  def close(who)", *new, "    true", "  end", ""])
    found = removed(_patch("lib/a.rb", gone, new), lambda path: True, lambda path: text)
    assert [piece.sure for piece in found] == [True]
    assert gone[0] in found[0].make[0]()


def test_a_check_that_came_elsewhere_without_its_error_is_gone() -> None:
    gone = ["        if account['balance']:", "            raise ValueError('left')"]
    called = ["        self._nothing_left(account)"]
    new = ["    def _nothing_left(self, account):", "        if account['balance']:", "            yield ValueError('left')"]
    text = "\n".join(["    def remove(self, account):", *called, "        return 1", *new, ""])
    patch = _patch("a.py", gone, called) + b"@@ -4,0 +4,3 @@\n" + "".join(f"+{line}\n" for line in new).encode()
    assert [piece.sure for piece in removed(patch, lambda path: True, lambda path: text) if piece.guard] == [True]
