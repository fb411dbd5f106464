"""Safeguards that a change takes out of older code, or makes weaker, in each language; and honest changes beside them. Most lists end with one that
the rule was not made with."""

import pytest

from detent.evidence.probes.removed_lines import removed
from detent.evidence.static_analysis.safeguards import lost

LOST: dict[str, tuple[tuple[str, str], ...]] = {  # what stood there, and what stands there now
    "a lock was removed": (
        ("synchronized (this) { n++; }", "n++;"),
        ("lock (_gate) { _n++; }", "_n++;"),
        ("@mutex.synchronize do", "begin"),
        ("Interlocked.Increment(ref _n);", "_n++;"),
        ("private volatile boolean done;", "private boolean done;"),
        ("let n = AtomicUsize::new(0);", "let mut n = 0;"),
    ),
    "a bound (min, max, clamp) was removed": (
        ("size = min(size, 100)", "size = int(size)"),
        ("return rows.slice(0, Math.min(size, 100));", "return rows.slice(0, size);"),
        ("size = [size, 100].min", "size = size.to_i"),
        ("let size = size.clamp(1, 100);", "let size = size;"),
    ),
    "an account without rights was removed": (
        ("USER app", ""),
        ("  runAsNonRoot: true", ""),
        ('    security_opt: ["no-new-privileges:true"]', ""),
    ),
    "a constraint of the database was removed": (
        ("  qty INT NOT NULL CHECK (qty > 0),", "  qty INT NOT NULL,"),
        ("    t.string :email, null: false, unique: true", "    t.string :email, null: false"),
        ("    owner = Column(Integer, nullable=False)", "    owner = Column(Integer)"),
    ),
    "a security header was removed": (
        ("    add_header X-Frame-Options DENY;", ""),
        ("res.setHeader('Content-Security-Policy', policy)", ""),
        ("response['Strict-Transport-Security'] = 'max-age=1'", ""),
    ),
    "a release of what was opened was removed": (
        ("\tdefer f.Close()", ""),
        ("    finally:", "    if True:"),
        ("    with open(path) as file:", "    file = read(path)"),
        ("    with open(path) as file:", "    file = Path(path).open()"),
        ("    finally:", "    with suppress(Exception):"),
        ("    } finally {", "    }"),
    ),
    "unescaped HTML was added": (
        ("<p>{{ text }}</p>", "<p>{{ text|safe }}</p>"),
        ("<p><%= text %></p>", "<p><%- text %></p>"),
        ("<p>{{ text }}</p>", "<p>{{{ text }}}</p>"),
        ('<p th:text="${text}">', '<p th:utext="${text}">'),
    ),
    "an account with all rights was added": (
        ("USER $NAME", "USER root"),
        ("privileged: false", "privileged: true"),
        ("GRANT SELECT", "GRANT ALL"),
    ),
    "a time limit was removed": (
        (".timeout(Duration::from_secs(5))", ""),
        ("conn.setReadTimeout(5000);", "conn.setReadTimeout(0);"),
        ("http.open_timeout = 5", "http.open_timeout = nil"),
        ("curl_setopt($c, CURLOPT_TIMEOUT, 5);", ""),
        ("client.Timeout = TimeSpan.FromMinutes(1);", ""),
    ),
    "a limit on what clients may send was removed": (
        ("r.Body = http.MaxBytesReader(w, r.Body, 1<<20)", ""),
        ("b, err := io.ReadAll(io.LimitReader(r, max))", "b, err := io.ReadAll(r)"),
        ("app.use(express.json({ limit: '100kb' }));", "app.use(express.json());"),
        ("router.use(rateLimit({ max: 5 }))", ""),
    ),
    "a secure random number was removed": (
        ("$t = bin2hex(random_bytes(16));", "$t = uniqid();"),
        ("RandomNumberGenerator.Fill(k);", "new Random().NextBytes(k);"),
        ("OsRng.fill_bytes(&mut k);", "rng.fill_bytes(&mut k);"),
        ("getrandom(&mut seed)?;", "seed = [7; 32];"),
    ),
    "a constant-time comparison was removed": (
        ("if subtle.ConstantTimeCompare(a, b) != 1 {", "if string(a) != string(b) {"),
        ("Rack::Utils.secure_compare(a, b)", "a == b"),
        ("return hash_equals($a, $b);", "return $a == $b;"),
        ("a.ct_eq(&b).into()", "a == b"),
        ("return crypto.timingSafeEqual(a, b)", "return a.equals(b)"),
    ),
    "escaping of input was removed": (
        ("return htmlspecialchars($s, ENT_QUOTES);", "return $s;"),
        ("return HtmlEncoder.Default.Encode(s);", "return s;"),
        ("let s = encode_text(&s);", "let s = s;"),
        ("return WebUtility.UrlEncode(s);", "return s;"),
    ),
    "a check that a path stays in its folder was removed": (
        ("p := filepath.Clean(name)", "p := name"),
        ("return p.normalize().startsWith(root);", "return true;"),
        ("let p = fs::canonicalize(p)?;", "let p = p;"),
    ),
    "a guard against prototype pollution was removed": (
        ("const o = Object.create(null);", "const o = {};"),
        ("if (key === '__proto__') continue;", ""),
        ('if (k == "__proto__") { continue }', ""),
    ),
    "a permission check was removed": (
        ("[Authorize]", ""),
        ("before_action :authenticate_user!", ""),
        ("app.use(helmet());", ""),
        ('@RolesAllowed("admin")', ""),
    ),
    "input validation was removed": (
        ("dec.DisallowUnknownFields()", ""),
        ("validates :email, presence: true", ""),
        ("const opts = schema.parse(input);", "const opts = input;"),
        ("ArgumentException.ThrowIfNullOrEmpty(x);", ""),
    ),
    "an overflow check was removed": (
        ("n.checked_add(1).ok_or(E)?", "n + 1"),
        ("return Math.addExact(a, b);", "return a + b;"),
        ("checked { return a + b; }", "return a + b;"),
        ("return Math.toIntExact(n);", "return (int) n;"),
    ),
    "unchecked certificates was added": (
        ("x", "curl_setopt($c, CURLOPT_SSL_VERIFYPEER, false);"),
        ("x", ".danger_accept_invalid_certs(true)"),
        ("x", "handler.ServerCertificateCustomValidationCallback = (a, b, c, d) => true;"),
        ("'verify' => true,", "'verify' => false,"),
        ("x", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'"),
        ("x", "builder.setSSLHostnameVerifier(NoopHostnameVerifier.INSTANCE);"),
    ),
    "an old version of TLS was added": (
        ("MinVersion: tls.VersionTLS12,", "MinVersion: tls.VersionTLS10,"),
        ("o.P = SslProtocols.Tls12;", "o.P = SslProtocols.Tls11;"),
        ("minVersion: 'TLSv1.2',", "minVersion: 'TLSv1',"),
    ),
    "a shell command built from text was added": (
        ('exec.Command("git", "log", ref)', 'exec.Command("sh", "-c", "git log "+ref)'),
        ("system('git', 'log', ref)", 'system("git log #{ref}")'),
        ("execFile('git', ['log', ref]);", "exec(`git log ${ref}`);"),
        ('Command::new("git").arg(r)', 'Command::new("/bin/bash").arg("-c")'),
    ),
    "a query built from strings was added": (
        ("x", '$st = $db->query("SELECT * FROM t WHERE id = $id");'),
        ("x", 'var q = $"select a from t where id = {id}";'),
        ("User.where(name: n)", "User.where(\"name = '#{n}'\")"),
        ("x", 'let q = format!("DELETE FROM t WHERE id = {id}");'),
    ),
    "data run as code (eval, unsafe deserialization) was added": (
        ("$o = json_decode($s);", "$o = unserialize($s);"),
        ("s.TypeNameHandling = TypeNameHandling.None;", "s.TypeNameHandling = TypeNameHandling.All;"),
        ("x", "new ObjectInputStream(in).readObject();"),
    ),
    "a way around a permission check was added": (
        ("params.require(:user)", "params[:user].permit!"),
        ("http.csrf();", "http.csrf().disable();"),
        ("x", "[AllowAnonymous]"),
        ("x", "skip_before_action :authenticate_user!"),
    ),
    "unchecked memory access was added": (
        ("v.get(i)?", "unsafe { v.get_unchecked(i) }"),
        ("str::from_utf8(b)?", "unsafe { str::from_utf8_unchecked(b) }"),
        ("x", "return *(*string)(unsafe.Pointer(&b))"),
    ),
    "a safeguard was weakened": (
        ("Digest::SHA256.hexdigest(s)", "Digest::MD5.hexdigest(s)"),
        ('Cipher.getInstance("AES/GCM/NoPadding")', 'Cipher.getInstance("AES/ECB/PKCS5Padding")'),
        ("assert!(n > 0);", "debug_assert!(n > 0);"),
        ("let x: u8 = n.try_into()?;", "let x = n as u8;"),
        ("obj.public_send(name)", "obj.send(name)"),
        ("os.WriteFile(p, b, 0o600)", "os.WriteFile(p, b, 0o644)"),
        ("hashlib.sha512(b)", "hashlib.md5(b)"),
    ),
}
OF_OTHERS: dict[str, tuple[tuple[str, str], ...]] = {  # in Go, Ruby and JavaScript, what is worse stands in its place
    "a safeguard was weakened (a random number": (('\t"crypto/rand"', '\t"math/rand"'),),
    "a safeguard was weakened (a template": (('\t"html/template"', '\t"text/template"'),),
    "a safeguard was weakened (a token": (
        ("  const user = jwt.verify(token, key);", "  const user = jwt.decode(token);"),
        ("\ttoken, err := jwt.Parse(s, key)", "\ttoken, _, err := parser.ParseUnverified(s, claims)"),
        ("    JWT.decode(token, key, true)", "    JWT.decode(token, nil, false)"),
    ),
    "a safeguard was weakened (an error": (("    record.save!", "    record.save"), ("    Order.create!(row)", "    Order.create(row)")),
    "a safeguard was weakened (a conversion": (("    Integer(text)", "    text.to_i"),),
    "a query limited to the user's own data was removed": (
        ("    current_user.documents.find(params[:id])", "    Document.find(params[:id])"),
        ("    current_account.orders.where(open: true)", "    Order.where(open: true)"),
    ),
    "the algorithms that a token may have was removed": (('jwt.verify(t, key, { algorithms: ["RS256"] })', "jwt.verify(t, key)"),),
    "a permission check was removed": (
        ("router.use(requireLogin);", ""),
        ("    authorize document", ""),
        ("    authorize! :read, document", ""),
        ("    documents = policy_scope(Document)", "    documents = Document.all"),
        ("app.use(ensureSignedIn())", ""),
    ),
}
LOST |= OF_OTHERS
KEPT: tuple[tuple[str, str], ...] = (
    ("synchronized (this) { n++; }", "lock.lock(); try { n++; } finally { lock.unlock(); }"),
    ("conn.setReadTimeout(5000);", "conn.setReadTimeout(9000);"),
    ("return htmlspecialchars($s, ENT_QUOTES);", "return htmlspecialchars($s, ENT_QUOTES | ENT_HTML5);"),
    ("if subtle.ConstantTimeCompare(a, b) != 1 {", "if subtle.ConstantTimeCompare(a, c) != 1 {"),
    ("x", "this.unlock(name)"),
    ("x", "block(name)"),
    ("x", "const m = re.exec(text)"),
    ("x", 'raise "please update the config of #{name}"'),
    ("x", "h = Digest::MD5.hexdigest(s)"),
    ("x", "obj.send(name)"),
    ("x", "os.WriteFile(p, b, 0o644)"),
    ("x", "debug_assert!(n > 0);"),
    ("x", "const minVersion = 'TLSv1.2'"),
    ("x", "setTimeout(() => done(), 5)"),
    ("setTimeout(() => done(), 5)", "done()"),
    ("app.use(require('./routes'))", "app.use(routes)"),
    ("    check(rows)", "    look(rows)"),
    ('\t"math/rand"', '\t"math/rand/v2"'),
    ("    text.to_i", "    Integer(text)"),
    ("setTimeout(function () { done() }, 5)", "done()"),
    ("    with open(path) as file:", "    with Path(path).open() as file:"),
    ("    with open(path) as file:", "    text = Path(path).read_text(encoding='utf-8')"),
    ("    with open(path, 'wb') as file:", "    path.write_bytes(data)"),
    ("    finally:", "    with closing(db):"),
    ("    } finally {", "    try (Reader in = open(path)) {"),
    ("    finally:", "    async with pool.taken() as worker:"),
    ("let x = n as u8;", "let x: u8 = n.try_into()?;"),
)


def pairs() -> list[object]:
    return [pytest.param(what, gone, new, id=f"{what} {n}") for what, rows in LOST.items() for n, (gone, new) in enumerate(rows)]


@pytest.mark.parametrize(("what", "gone", "new"), pairs())
def test_a_safeguard_that_goes_is_told(what: str, gone: str, new: str) -> None:
    came = [new] if new else []
    assert lost([gone], came, came).startswith(what)


@pytest.mark.parametrize(("gone", "new"), KEPT)
def test_honest_changes_of_such_lines_are_not_told(gone: str, new: str) -> None:
    assert lost([gone], [new], [new]) == ""


@pytest.mark.parametrize("what", ["a lock was removed", "a constant-time comparison was removed", "a safeguard was weakened"])
def test_a_safeguard_that_went_is_put_back_to_see_who_notices(what: str) -> None:
    for gone, new in LOST[what]:
        patch, text = f"--- a/a.x\n+++ b/a.x\n@@ -2 +2 @@\n-  {gone}\n+  {new}\n", f"a\n  {new}\nb\n"
        (piece, *_) = [each for each in removed(patch.encode(), lambda path: True, {"a.x": text}.__getitem__) if each.guard]
        assert piece.sure and f"  {gone}" in piece.make[0]()


def test_a_safeguard_that_stands_elsewhere_in_the_change_is_not_lost() -> None:
    assert lost(["OsRng.fill_bytes(&mut k);"], [], ["let k = key(OsRng);"]) == ""


def test_what_is_no_longer_opened_needs_no_release() -> None:
    gone = ["    with open('README.txt') as fp:", "        readme = fp.read()"]
    assert lost(gone, [], ["    name='iniconfig',"]) == ""
    assert lost(gone, [], ["    readme = open('README.txt').read()"]) == "a release of what was opened was removed"
    assert (
        lost(gone, ["    readme = slurp('README.txt')"], ["    readme = slurp('README.txt')"]) == "a release of what was opened was removed"
    )
