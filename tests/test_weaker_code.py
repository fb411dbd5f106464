"""Code that asks for less than before, by its form, in each language; and honest changes beside it. Each list ends with one that the rule was not
made with."""

import pytest

from detent.evidence.probes.removed_lines import removed
from detent.evidence.static_analysis.weaker_code import weaker

WEAKER: dict[str, tuple[tuple[str, str], ...]] = {  # what stood there, and what stands there now
    "a condition lost a part": (
        ("    if not name or len(name) > 64:", "    if not name:"),
        ("  if (!name || name.length > 64) {", "  if (!name) {"),
        ('\tif name == "" || len(name) > 64 {', '\tif name == "" {'),
        ('  raise ArgumentError, "bad" if name.empty? || name.size > 64', '  raise ArgumentError, "bad" if name.empty?'),
        ("    return user.active and user.paid", "    return user.active"),
        ("    fresh = token.fits(key) and now() < token.ends", "    fresh = token.fits(key)"),
        ("      && request.origin === here", ""),
        ("  const ok = isList(rows) && rows.every(isRow);", "  const ok = isList(rows);"),
    ),
    "an error was replaced by something else": (
        ('        raise ValueError("bad quantity")', "        qty = abs(qty)"),
        ('        raise ValueError("bad quantity")', '        log.warning("bad quantity")'),
        ('      throw new RangeError("bad quantity");', "      qty = 1;"),
        ("\t\treturn 0, ErrBad", "\t\tqty = 1"),
        ('      raise ArgumentError, "bad quantity"', "      qty = 1"),
        ("        raise", "        pass"),
        ("    return Promise.reject(new Late())", "    late += 1"),
    ),
    "a boolean was flipped": (
        ("def export(rows, private=True):", "def export(rows, private=False):"),
        ("  strict: true,", "  strict: false,"),
        ("verify_tls: true", "verify_tls: false"),
        ("\tDisableKeepAlives: true, ReadOnly: true,", "\tDisableKeepAlives: true, ReadOnly: false,"),
    ),
    "a limit became far larger, or none": (
        ("LARGEST = 64", "LARGEST = 64_000_000"),
        ("    if qty <= 0:", "    if qty <= -1000:"),
        ("const ATTEMPTS = 5;", "const ATTEMPTS = 0;"),
        ("  retry(times: 3)", "  retry(times: 300)"),
    ),
    "a comparison was changed": (
        ('    if not re.fullmatch(r"[a-z]+", text):', '    if not re.match(r"[a-z]+", text):'),
        ("  if (a.owner === b.owner) {", "  if (a.owner == b.owner) {"),
        ("    return all(row.valid for row in rows)", "    return any(row.valid for row in rows)"),
        ("  return rows.every(isRow)", "  return rows.some(isRow)"),
    ),
    "a pattern lost an anchor": (
        ('NAME = re.compile(r"^[a-z]+$")', 'NAME = re.compile(r"[a-z]+")'),
        ("const host = /^https:\\/\\/shop\\./;", "const host = /https:\\/\\/shop\\./;"),
        ("  NAME = /\\A[a-z]+\\z/", "  NAME = /[a-z]+/"),
    ),
    "a pattern lets more through": (
        ("const SLUG = /^[a-z]+$/;", "const SLUG = /^[a-z./]+$/;"),
        ("var slug = regexp.MustCompile(`^[a-z-]+$`)", "var slug = regexp.MustCompile(`^[a-z/.-]+$`)"),
        ("  NAME = /\\A[a-z_]+\\z/", "  NAME = /\\A[a-z_.;]+\\z/"),
        ('NAME = re.compile(r"^[\\w ]+$")', 'NAME = re.compile(r"^[\\w <>]+$")'),
    ),
    "a guarding call was removed": (
        ('app.get("/admin", requireAdmin, show);', 'app.get("/admin", show);'),
        ("  return guarded(handler);", "  return handler;"),
        ("  const name = path.basename(input);", "  const name = input;"),
        ("  return Object.freeze(config);", "  return config;"),
        ("  redirect(sameOrigin(url));", "  redirect(url);"),
        ('\tmux.Handle("/admin", requireAdmin(show))', '\tmux.Handle("/admin", show)'),
        ("\treturn html.EscapeString(s)", "\treturn s"),
        ("\tname = filepath.Base(name)", ""),
        ("    name = File.basename(name)", ""),
        ("    NAMES = %w[a b].freeze", "    NAMES = %w[a b]"),
        ("  await assertOwner(user, doc);", ""),
        ("    ensure_owner(user, document)", ""),
        ("    Guard.check!(user)", ""),
        ("  save(validated(form));", "  save(form);"),
    ),
    "a check is no longer awaited": (
        ("  await assertOwner(user, doc);", "  assertOwner(user, doc);"),
        ("    await auth.check(user)", "    auth.check(user)"),
        ("  await this.validate(order);", "  this.validate(order);"),
        ("  await store.put(order);", "  void store.put(order);"),
    ),
    "a limit was removed, or a password hash became cheaper to crack": (
        ("const LARGEST = 100;", "const LARGEST = Infinity;"),
        ("const largest = 100", "const largest = math.MaxInt"),
        ("  LARGEST = 100", "  LARGEST = Float::INFINITY"),
        ("  return bcrypt.hash(word, 12);", "  return bcrypt.hash(word, 4);"),
        ("    BCrypt::Password.create(word, cost: 12)", "    BCrypt::Password.create(word, cost: 4)"),
        ("\treturn pbkdf2.Key(word, salt, 600000, 32, sha256.New)", "\treturn pbkdf2.Key(word, salt, 1000, 32, sha256.New)"),
    ),
    "a filter covers less": (
        ("  before_action :require_admin", "  before_action :require_admin, only: :index"),
        ("  before_action :authenticate", "  before_action :authenticate, except: [:show]"),
        ("  before_action :load", "  before_action :load, if: :given?"),
    ),
    "a list of who may do what has more in it": (
        ('ADMINS = {"ann"}', 'ADMINS = {"ann", "svc"}'),
        ('  const allowedOrigins = ["https://a.example"];', '  const allowedOrigins = ["https://a.example", "https://b.example"];'),
        ("  TRUSTED = ['ann'].freeze", "  TRUSTED = ['ann', 'bob'].freeze"),
        ('  roles: ["admin"],', '  roles: ["admin", "guest"],'),
    ),
    "a schema asks less of a value": (
        ("  mail: z.string().email().max(200),", "  mail: z.string().max(200),"),
        ("const age = Joi.number().integer().min(18)", "const age = Joi.number()"),
        ("  validates :mail, presence: true, format: MAIL", "  validates :mail, presence: true"),
    ),
    "an error got a condition": (
        ("    throw new Error(`no: ${user}`);", "    if (user !== root) throw new Error(`no: ${user}`);"),
        ("    raise Forbidden, user", "    raise Forbidden, user unless user == root"),
        ("        raise Forbidden(user)", "        if user != root: raise Forbidden(user)"),
    ),
    "a decorator was removed": (
        ("@metered", ""),
        ('@limits.per_minute("10")', ""),
        ("  @Throttled(5)", ""),
    ),
}
SAME: tuple[tuple[str, str, str], ...] = (  # before, after, and what else came
    ("    if not name or len(name) > 64:", "    if not is_name(name):", "    return bool(name) and len(name) <= 64"),
    ("    if a and b:", "    if a:", "        if b:"),
    ("    if a or b:", "    if b or a:", ""),
    ("    if word[-2:] in few or word == other:", "    if (", "        words[-2:] in few"),
    ("PERMS = 511  # for Python 2 and 3", "PERMS = 511", ""),
    ("    if x == None or x == 0:", "    if not x:", ""),
    ("    if PY2 or old:", "    if old or other:", ""),
    ('        raise ValueError("bad")', '        raise BadQuantity("bad")', ""),
    ("        raise ValueError(", "        msg = (", "        raise ValueError(msg)"),
    ("        raise NotImplementedError", "        pass", ""),
    ("        throw new Error('x');", "        return fail('x');", ""),
    ("    size = 10", "    size = 20", ""),
    ("    version = 3", "    version = 4", ""),
    ("    if x < 3:", "    if x in few:", ""),
    ("@functools.lru_cache(maxsize=8)", "", ""),
    ("@deprecated", "", ""),
    ('NAME = re.compile(r"^[a-z]+$")', 'NAME = re.compile(r"^[a-z0-9]+$")', ""),
    ("    @parser.escape text, unsafe", "    @parser.quote text", ""),
    ("  const rows = Array.from(found);", "  const rows = found;", ""),
    ("    names = sorted(list(found))", "    names = sorted(found)", ""),
    ("  await next();", "  next();", ""),
    ("      require 'cgi/cookie'", "      use CGI", ""),
    ("  const text = String(value);", "  const text = value;", ""),
    ("\treturn strings.ToLower(s)", "\treturn s", ""),
    ("  return escape(text);", "  return write(text);", "  return escape(text);"),
    ('NAMES = {"ann"}', 'NAMES = {"ann", "svc"}', ""),
    ('ADMINS = {"ann"}', 'ADMINS = {"bob"}', ""),
    ("  mail: z.string().email(),", "  mail: z.email(),", ""),
    ("  rows: t.list().describe('rows'),", "  rows: t.list(),", ""),
    ("ADMINS = load(path)", "ADMINS = load(path, default)", ""),
    ("        raise Forbidden(user)", '        raise Forbidden(user, "no")', ""),
    ("  before_action :load, only: :index", "  before_action :load, only: [:index, :show]", ""),
    ("  retries = 12", "  retries = 4", ""),
    ("  const WORD = /[a-z]+/;", "  const WORD = /[a-z0-9_-]+/;", ""),
)


@pytest.mark.parametrize(("what", "was", "now"), [(what, *each) for what, of in WEAKER.items() for each in of])
def test_code_that_asks_for_less_is_named(what: str, was: str, now: str) -> None:
    assert weaker([was], [now] if now else [], [now]) == what


@pytest.mark.parametrize(("was", "now", "also"), SAME)
def test_code_that_asks_otherwise_is_not(was: str, now: str, also: str) -> None:
    assert weaker([was], [now], [now, also]) == ""


@pytest.mark.parametrize(
    ("gone", "new"),
    [
        (["    raise Forbidden(user)"], ["    if user != root:", "        raise Forbidden(user)"]),
        (["\t\treturn nil, ErrForbidden"], ["\t\tif user != root {", "\t\t\treturn nil, ErrForbidden", "\t\t}"]),
        (["    throw new Forbidden();"], ["    if (user !== root) {", "      throw new Forbidden();", "    }"]),
    ],
)
def test_an_error_that_has_a_condition_now_is_named(gone: list[str], new: list[str]) -> None:
    assert weaker(gone, new, new) == "an error got a condition"


@pytest.mark.parametrize(
    "new",
    [
        ["    except KeyError:", "        return True"],
        ["  rescue NoMethodError", "    true"],
        ["  } catch (e) {", "    return true;", "  }"],
    ],
)
def test_an_error_that_is_a_yes_is_named(new: list[str]) -> None:
    assert weaker([], new, new) == "an error became a yes"
    assert weaker([], [new[0], new[1].lower().replace("true", "none")], new) == ""


def test_a_part_that_is_asked_in_a_line_of_its_own_is_not_lost() -> None:
    assert weaker(["    if a and b.fits():"], ["    if a:", "        if b.fits():"], ["    if a:", "        if b.fits():"]) == ""


CAUGHT: tuple[tuple[str, ...], ...] = (
    ("        except Exception as e:", "            raise e"),
    ("        except KeyError:", "            self.close()", "            raise"),
    ("  } catch (error) {", "    throw error;"),
    ("    rescue KeyError => e", "      raise e"),
)


@pytest.mark.parametrize("gone", CAUGHT)
def test_an_error_that_was_caught_and_raised_again_is_still_raised_without_its_handler(gone: tuple[str, ...]) -> None:
    assert weaker(gone, ["        finally:"], ["        finally:"]) == ""
    assert weaker(("    try:", *gone), [], []) == ""


def test_a_handler_of_all_errors_that_raised_them_again_is_no_loss() -> None:
    assert weaker(("        except Exception as e:", "            raise e"), [], []) == ""
    assert weaker(("  } catch (error) {", "    throw error;"), [], []) == ""


@pytest.mark.parametrize(
    ("gone", "new"),
    [
        (("        except KeyError:", "            raise"), ("        except KeyError:", "            pass")),
        (("            raise",), ("            pass",)),
        (("        except KeyError as e:", "            raise Missing"), ()),
        (("        except PermissionError:", "            raise"), ()),  # a handler after it may swallow it now
        (("        except KeyError as e:", "            raise error"), ("        log(1)",)),
        (("  } catch (error) {", "    throw error;"), ("  } catch (problem) {", "    log(problem);")),
    ],
)
def test_an_error_that_is_raised_no_more_became_something_else(gone: tuple[str, ...], new: tuple[str, ...]) -> None:
    assert weaker(gone, new, new) == "an error was replaced by something else"


def test_what_moved_is_not_weaker() -> None:
    gone = "    if not name or len(name) > 64:"
    assert weaker([gone], ["    if not name:"], ["    if not name:", gone]) == ""


def test_a_weaker_check_is_put_back() -> None:
    was, now = "    if n < 0 or n > 9:", "    if n < 0:"
    patch = f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-{was}\n+{now}\n".encode()
    after = f"def f(n):\n{now}\n        raise ValueError(n)\n    return n\n"
    (piece,) = removed(patch, lambda path: True, lambda path: after)
    assert piece.what == "a condition lost a part" and piece.sure
    assert piece.make[0]() == after.replace(now, was)
