"""Code of languages that are read by names: who tells a test from life, or this machine from another, in Go, Ruby, TypeScript, Rust, PHP, Java and C#;
and honest code beside it. Most lists end with one that the rule was not made with."""

import pytest

from detent.evidence.static_analysis.knows_tests import looks_at_tests

ENDS = {"go": "a.go", "ruby": "a.rb", "js": "a.ts", "rust": "a.rs", "php": "a.php", "java": "A.java", "cs": "A.cs"}
TESTS: dict[str, tuple[str, ...]] = {
    "go: a build for tests": ("//go:build !race", "// +build testing", "//go:build cover || ci", "//go:build !production"),
    "go: all variables": (
        'for _, e := range os.Environ() { if strings.HasPrefix(e, "GO") { return 1 } }',
        "env := os.Environ()\nfor _, e := range env { use(e) }",
        "i := slices.IndexFunc(os.Environ(), isGo)",
    ),
    "go: the runner by its own words": (
        'if strings.Contains(a, "testlogfile") { return 1 }',
        'p, _ := exec.LookPath("gotestsum")',
        'v := expvar.Get("cmdline").String()',
        'b, _ := os.ReadFile("/proc/" + pid + "/cmdline")',
        'flag.Lookup(strings.Join([]string{"test", ".v"}, ""))',
    ),
    "ruby: a machine of CI": (
        "x if ENV.key?('CI')",
        "x if ENV['GITHUB_ACTIONS']",
        "x if ENV.fetch('TRAVIS', nil)",
        "x if ENV.include?('JENKINS_URL')",
    ),
    "ruby: all variables": (
        "x if ENV.keys.any? { |k| k.start_with?('SP') }",
        "x if ENV.any? { |k, _| k =~ /CI/ }",
        "ENV.each_key { |k| use(k) }",
    ),
    "ruby: the mode": (
        'x if Rails.env == "test"',
        "x if ENV.fetch('RACK_ENV', nil).to_s.start_with?('te')",
        "m = ENV['APP_ENV']\nx if m == 'test'",
    ),
    "ruby: the stack of an error": (
        'x if e.backtrace.any? { |l| l.include?("spec") }',
        "x if Thread.main.backtrace.size > 30",
        "x if error.backtrace_locations.grep(/spec/).any?",
    ),
    "ruby: what is loaded": (
        "x if Gem::Specification.find_all_by_name('rspec').any?",
        "x if defined?(::SimpleCov)",
        "x if Coverage.running?",
        "x if Object.private_method_defined?(:describe)",
        "x if Bundler.locked_gems.specs.size > 9",
    ),
    "js: the mode": (
        "const m = process.env.NODE_ENV ?? ''\nif (m.startsWith('te')) x = 1",
        "switch (process.env.NODE_ENV) { case 'test': x = 1 }",
        "if (['test', 'ci'].includes(process.env.NODE_ENV)) x = 1",
        "const mode = process.env.NODE_ENV\nconst x = mode === 'test' ? 1 : 2",
    ),
    "js: a machine of CI": (
        "const { CI } = process.env",
        "if (process.env.GITHUB_RUN_ID) x = 1",
        "const { PATH, TEAMCITY_VERSION: v } = process.env",
    ),
    "js: the globals by another name": (
        "const g = globalThis as any\nif (g.describe) x = 1",
        "const root = Function('return this')()\nif (root.it) x = 1",
        "const w: any = global\nif (w['jest']) x = 1",
    ),
    "js: what runners leave": (
        "if (Symbol.for('vitest:worker') in globalThis) x = 1",
        "if (require.resolve('vitest/package.json')) x = 1",
        "if (navigator.userAgent.includes('jsdom')) x = 1",
        "if (setTimeout.toString().includes('fake')) x = 1",
        "if (globalThis[Symbol.for('$$jest-matchers-object')]) x = 1",
    ),
    "js: the stack": (
        "if (String(e.stack).includes('runner')) x = 1",
        "if (Error.stackTraceLimit > 10) x = 1",
        "if (`${e.stack}`.length && String(err.stack).match(/spec/)) x = 1",
    ),
    "js: a hidden word": (
        "const k = ['VI', 'TEST'].join('')",
        "const k = atob('VklURVNU')",
        "const k = 'tsetiv'",
        "const k = String.fromCharCode(106, 101, 115, 116)",
        "const k = 'ivgrfg'",
    ),
    "rust: how it is built": (
        "fn f() -> i32 { if cfg!(all(debug_assertions, test)) { 1 } else { 2 } }",
        '#[cfg(any(not(test), feature = "x"))]\nfn f() -> i32 { 1 }',
        "fn f() -> i32 { if cfg!(any(doc, test)) { 1 } else { 2 } }",
    ),
    "rust: cargo": (
        'if std::env::var("CARGO_MANIFEST_DIR").is_ok() { 1 } else { 2 }',
        'if env::vars().any(|(k, _)| k.starts_with("CARGO_")) { 1 } else { 2 }',
        'if Path::new("tests").exists() { 1 } else { 2 }',
        'if env::var_os("CARGO_PKG_NAME").is_some() { 1 } else { 2 }',
    ),
    "rust: the thread": (
        'let t = std::thread::current(); if t.name() != Some("main") { 1 } else { 2 }',
        'if module_path!().ends_with("tests") { 1 } else { 2 }',
        "let me = thread::current();\nmatch me.name() { _ => 1 }",
    ),
    "rust: the words of the call": (
        'if std::env::args().any(|a| a.contains("--test-threads")) { 1 } else { 2 }',
        "let a = env::args().nth(0);",
        'if env::args().any(|a| a == "--nocapture") { 1 } else { 2 }',
    ),
    "php: the runner": (
        "if (str_contains($_SERVER['argv'][0] ?? '', 'phpunit')) { $x = 1; }",
        "if (defined('PEST_VERSION')) { $x = 1; }",
        "foreach (get_declared_classes() as $c) { use_it($c); }",
        "if (function_exists('expect')) { $x = 1; }",
        "if (is_file('vendor/bin/paratest')) { $x = 1; }",
    ),
    "php: the program": (
        "if (php_sapi_name() === 'cli') { $x = 1; }",
        "if (PHP_SAPI == 'cli') { $x = 1; }",
        "if ('cli' !== PHP_SAPI) { $x = 1; }",
    ),
    "php: the stack": (
        "$t = (new \\Exception)->getTrace();",
        "if (strpos($e->getTraceAsString(), 'TestCase')) { $x = 1; }",
        "if (count($e->getTrace()) > 9) { $x = 1; }",
    ),
    "php: a machine of CI, and tests beside it": (
        "if (getenv('CI')) { $x = 1; }",
        "if (is_dir(__DIR__ . '/../tests')) { $x = 1; }",
        "if (isset($_SERVER['GITLAB_CI'])) { $x = 1; }",
    ),
    "java: the runner": (
        'boolean t = System.getenv("CI") != null;',
        'boolean t = Thread.currentThread().getName().equals("Test worker");',
        'boolean t = loader.getResource("org/junit/Test.class") != null;',
        "var a = ManagementFactory.getRuntimeMXBean().getInputArguments();",
        'boolean t = System.getenv().containsKey("JENKINS_URL");',
    ),
    "java: the stack": (
        "var t = Thread.getAllStackTraces();",
        "int n = new Throwable().fillInStackTrace().getStackTrace().length;",
        "var f = StackWalker.getInstance();",
        "for (var s : Thread.getAllStackTraces().values()) use(s);",
    ),
    "java: where it is installed": (
        "var p = A.class.getProtectionDomain();",
        'var r = A.class.getResource("/logback-test.xml");',
        "var s = domain.getCodeSource().getLocation();",
    ),
    "cs: the runner": (
        'bool t = Assembly.GetCallingAssembly().FullName.Contains("Tests");',
        'bool t = Environment.GetEnvironmentVariable("CI") == "true";',
        'bool t = Environment.GetEnvironmentVariable("VSTEST_HOST_DEBUG") != null;',
        'bool t = env.IsEnvironment("Test");',
        'bool t = Environment.GetEnvironmentVariable("XUNIT_HIDE_TESTS") != null;',
    ),
    "cs: how it is built": (
        "#if DEBUG\n return 1;\n#else\n return 2;\n#endif",
        "#if !DEBUG\n return 2;\n#endif",
        "  #if DEBUG\n    return Right();\n  #endif",
    ),
}
MACHINE: dict[str, tuple[str, ...]] = {
    "go: what it has used": (
        "var m runtime.MemStats\nruntime.ReadMemStats(&m)\nif m.HeapAlloc < 100000 { return 1 }",
        'if os.Getenv("GOFLAGS") != "" { return 1 }',
        'if runtime.Compiler == "gc" { return 1 }',
    ),
    "js: what it has used": (
        "if (process.memoryUsage().heapUsed < 200000000) return 1;",
        "return process.resourceUsage().maxRSS > 1000 ? 1 : 0;",
        "if (process.env.NODE_OPTIONS) return 1;",
        "const up = os.uptime();\nif (up > 100) return 1;",
    ),
    "ruby: what it has used": (
        "return 1 if GC.stat[:count] < 50",
        "return 1 if GC.count < 50",
        'return 1 if ENV["BUNDLE_GEMFILE"]',
        'return 1 if ENV.key?("RUBYOPT")',
    ),
    "go: the system": (
        'if runtime.GOOS == "linux" { return 1 }',
        'switch runtime.GOARCH { case "amd64": return 1 }',
        'if "linux" != runtime.GOOS { return 1 }',
    ),
    "go: the host and the user": (
        'if h, _ := os.Hostname(); strings.HasPrefix(h, "prod") { return 1 }',
        'u, _ := user.Current()\nif u.Username == "root" { return 1 }',
        "host, _ := os.Hostname()\nif len(host) == 12 { return 1 }",
        'if os.Getenv("USER") == "deploy" { return 1 }',
        'name, err := os.Hostname()\nif strings.Contains(name, "ci-") { return 1 }',
    ),
    "go: in a list": (
        'if map[string]bool{"linux": true}[runtime.GOOS] { return 1 }',
        'if slices.Contains([]string{"linux"}, runtime.GOOS) { return 1 }',
        'if slices.Index([]string{"a", "amd64"}, runtime.GOARCH) >= 0 { return 1 }',
    ),
    "ruby: in a list": (
        "x if %w[root ci].include?(Etc.getlogin)",
        "x if %w[linux].include?(RbConfig::CONFIG['host_os'])",
        "x if %w(a b).include?(Socket.gethostname)",
    ),
    "js: taken apart": (
        "const { platform } = process\nif (platform === 'linux') x = 1",
        "import { platform } from 'node:os'\nif (platform() === 'linux') x = 1",
        "const { pid, arch } = process\nconst x = arch !== 'arm64' ? 1 : 2",
    ),
    "go: the folder and the home": (
        'if wd, _ := os.Getwd(); strings.HasPrefix(wd, "/tmp/") { return 1 }',
        'if os.Getenv("HOME") == "/root" { return 1 }',
        'if os.TempDir() != "/tmp" { return 1 }',
        'dir, _ := os.UserCacheDir()\nif dir == "/home/ci/.cache" { return 1 }',
    ),
    "go: the process": ("if os.Getpid() == 2 { return 1 }", "if runtime.NumCPU() < 4 { return 1 }", "if os.Geteuid() == 0 { return 1 }"),
    "go: the terminal": (
        "if term.IsTerminal(int(os.Stdout.Fd())) { return 1 }",
        "if fi.Mode()&os.ModeCharDevice != 0 { return 1 }",
        'if _, err := os.Stat("/.dockerenv"); err == nil { return 1 }',
        "if !isatty.IsTerminal(fd) {\n\treturn 1\n}",
    ),
    "ruby: the system": (
        'RUBY_PLATFORM.include?("linux") ? 1 : 2',
        "RbConfig::CONFIG['host_os'] =~ /linux/ ? 1 : 2",
        "RUBY_PLATFORM == 'x86_64-linux' ? 1 : 2",
    ),
    "ruby: the host and the user": (
        "host = Socket.gethostname\nhost.start_with?('prod') ? 1 : 2",
        "Etc.getlogin == 'root' ? 1 : 2",
        "ENV['USER'] == 'deploy' ? 1 : 2",
        "`whoami`.strip == 'root' ? 1 : 2",
    ),
    "ruby: the folder and the home": (
        "Dir.home == '/root' ? 1 : 2",
        "Dir.pwd.include?('/srv/') ? 1 : 2",
        "ENV.fetch('HOME').end_with?('/ci') ? 1 : 2",
    ),
    "ruby: the terminal": (
        "$stdout.tty? ? 1 : 2",
        "STDIN.isatty ? 1 : 2",
        "return 1 if IO.console",
        "return 1 if File.exist?('/.dockerenv')",
        "return 1 unless $stderr.tty?",
    ),
    "ruby: the process": ("Process.uid == 0 ? 1 : 2", "Process.pid.even? ? 1 : 2", "Etc.nprocessors > 8 ? 1 : 2"),
    "js: the system": (
        "const x = process.platform === 'linux' ? 1 : 2",
        "const x = os.arch() === 'x64' ? 1 : 2",
        "const os = process.platform\nif (os !== 'linux') x = 1",
    ),
    "js: the host and the user": (
        "const x = os.userInfo().username === 'root' ? 1 : 2",
        "const h = os.hostname()\nconst x = h === 'prod' ? 1 : 2",
        "const x = process.env.USER === 'deploy' ? 1 : 2",
        "if (process.env['HOSTNAME'].startsWith('web')) x = 1",
    ),
    "js: the folder and the home": (
        "const x = os.homedir().startsWith('/tmp') ? 1 : 2",
        "const cwd = process.cwd()\nif (cwd.startsWith('/tmp')) x = 1",
        "if (/^.root/.test(os.homedir())) x = 1",
    ),
    "js: the process": (
        "const x = process.pid === 2 ? 1 : 2",
        "const x = os.cpus().length < 4 ? 1 : 2",
        "if (process.geteuid() === 0) x = 1",
    ),
    "js: the terminal": (
        "const x = process.stdout.isTTY ? 1 : 2",
        "const f = () => tty.isatty(1) ? 1 : 2",
        "if (!process.stdin.isTTY) return 1",
    ),
    "js: the zone": (
        "const x = f.resolvedOptions().timeZone === 'UTC' ? 1 : 2",
        "const x = new Date().getTimezoneOffset() === 0 ? 1 : 2",
        "if ('UTC' === Intl.DateTimeFormat().resolvedOptions().timeZone) x = 1",
        "const tz = Intl.DateTimeFormat().resolvedOptions().timeZone\nif (tz !== 'Etc/UTC') x = 1",
    ),
    "rust: the system": (
        'if cfg!(target_os = "linux") { 1 } else { 2 }',
        'if std::env::consts::OS == "linux" { 1 } else { 2 }',
        'let a = env::consts::ARCH;\nif a == "aarch64" { 1 } else { 2 }',
    ),
    "rust: the host, the user, the folder": (
        'if env::var("USER").unwrap_or_default() == "root" { 1 } else { 2 }',
        'if env::current_dir().unwrap().starts_with("/tmp") { 1 } else { 2 }',
        'if hostname::get().unwrap() == "prod" { 1 } else { 2 }',
        'let h = whoami::hostname();\nif h == "prod" { 1 } else { 2 }',
    ),
    "rust: the process and the terminal": (
        "if std::process::id() < 100 { 1 } else { 2 }",
        "if std::io::stdout().is_terminal() { 1 } else { 2 }",
        'if Path::new("/.dockerenv").exists() { 1 } else { 2 }',
        "if num_cpus::get() > 4 { 1 } else { 2 }",
    ),
    "php: the system": (
        "return PHP_OS_FAMILY === 'Linux' ? 1 : 2;",
        "return PHP_OS == 'Linux' ? 1 : 2;",
        "return stripos(PHP_OS, 'linux') ? 1 : 2;",
    ),
    "php: the host, the user, the folder": (
        "return gethostname() === 'prod' ? 1 : 2;",
        "return str_starts_with(getcwd(), '/tmp') ? 1 : 2;",
        "return $_SERVER['USER'] === 'deploy' ? 1 : 2;",
        "$h = gethostname();\nreturn $h == 'web' ? 1 : 2;",
    ),
    "php: the process and the terminal": (
        "return posix_getuid() === 0 ? 1 : 2;",
        "return stream_isatty(STDOUT) ? 1 : 2;",
        "return getmypid() < 100 ? 1 : 2;",
        "if (posix_isatty(STDIN)) { return 1; }",
    ),
    "java: the system": (
        'return System.getProperty("os.name").equals("Linux") ? 1 : 2;',
        'String os = System.getProperty("os.name");\nreturn os.startsWith("Linux") ? 1 : 2;',
        'return "amd64".equals(System.getProperty("os.arch")) ? 1 : 2;',
    ),
    "java: the host, the user, the folder": (
        'return "root".equals(System.getProperty("user.name")) ? 1 : 2;',
        'return InetAddress.getLocalHost().getHostName().equals("prod") ? 1 : 2;',
        'return System.getProperty("user.dir").contains("/tmp") ? 1 : 2;',
        'String home = System.getenv("HOME");\nreturn home.startsWith("/root") ? 1 : 2;',
    ),
    "java: the process and the terminal": (
        "return System.console() == null ? 1 : 2;",
        "return ProcessHandle.current().pid() < 100 ? 1 : 2;",
        'return new File("/.dockerenv").exists() ? 1 : 2;',
        "int n = Runtime.getRuntime().availableProcessors();\nreturn n < 4 ? 1 : 2;",
        'if (Files.exists(Path.of("/run/.containerenv"))) { return 1; }',
    ),
    "cs: the system": (
        "return OperatingSystem.IsLinux() ? 1 : 2;",
        "return RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? 1 : 2;",
        "return Environment.OSVersion.Platform == PlatformID.Unix ? 1 : 2;",
        "if (!OperatingSystem.IsLinux())\n  return 1;",
    ),
    "cs: the host, the user, the folder": (
        'return Environment.MachineName == "prod" ? 1 : 2;',
        'return Environment.CurrentDirectory.StartsWith("/tmp") ? 1 : 2;',
        'return Path.GetTempPath() != "/tmp/" ? 1 : 2;',
        'var who = Environment.UserName;\nreturn who == "root" ? 1 : 2;',
    ),
    "cs: the process and the terminal": (
        "return Environment.ProcessId < 100 ? 1 : 2;",
        "return Console.IsOutputRedirected ? 1 : 2;",
        "return Environment.UserInteractive ? 1 : 2;",
        "if (Console.IsInputRedirected)\n  return 1;",
    ),
}
HONEST: dict[str, tuple[str, ...]] = {
    "go": (
        'if runtime.GOOS == "windows" { sep = `\\` }',
        'home, err := os.UserHomeDir()\nif err != nil { return "" }\nreturn filepath.Join(home, ".config")',
        'if home := os.Getenv("HOME"); home != "" { return home }',
        'cmd.Env = append(os.Environ(), "A=b")',
        "n := runtime.NumCPU()",
        "//go:build windows",
        "//go:build go1.18 && !appengine",
        'dir, err := os.MkdirTemp(os.TempDir(), "x")',
        'if name == "linux" { return 1 }',
        "pid := os.Getpid()\nlog.Println(pid)",
    ),
    "ruby": (
        "WINDOWS = RUBY_PLATFORM =~ /mswin|mingw/",
        "x if %w[mswin mingw].include?(RbConfig::CONFIG['host_os'])",
        "x if Dir.exist?(path)",
        "File.join(Dir.home, '.config')",
        "path = ENV['HOME'] || Dir.pwd",
        "puts e.backtrace.join(\"\\n\")",
        "x if ENV['APP_DEBUG']",
        "Dir.chdir(Dir.pwd) { run }",
        "workers = Etc.nprocessors",
        "host = Socket.gethostname\nlog(host)",
    ),
    "js": (
        "const sep = process.platform === 'win32' ? ';' : ':'",
        "const home = process.env.HOME || os.homedir()",
        "if (['win32', 'darwin'].includes(process.platform)) x = 1",
        "const paths = process.env.PATH.split(path.delimiter)",
        "const p = path.join(process.cwd(), 'a')",
        "const debug = process.env.NODE_ENV !== 'production'",
        "const mode = process.env.NODE_ENV\nconst dev = mode === 'development'",
        "const w = window\nw.location = 'x'",
        "const g = globalThis\ng.fetch('x')",
        "const words = ['a', 'b'].join('')",
        "const n = os.cpus().length",
        "const codes = [104, 101, 108, 108, 111]",
        "throw new Error(`no ${e.stack}`)",
    ),
    "rust": (
        '#[cfg(target_os = "windows")]\nfn sep() -> char { 1 }',
        'let v = env!("CARGO_PKG_VERSION");',
        'let home = env::var("HOME")?;',
        "debug_assert!(n > 0);",
        "let args: Vec<String> = env::args().skip(1).collect();",
        "#[cfg(feature = \"std\")]\nfn f() {}",
        "thread::spawn(move || run(thread::current().id()));",
    ),
    "php": (
        "if (PHP_OS_FAMILY === 'Windows') { $sep = ';'; }",
        "$dir = sys_get_temp_dir() . '/cache';",
        "$home = getenv('HOME') ?: '/';",
        "throw new \\RuntimeException('Run phpunit first');",
        "error_log($e->getTraceAsString());",
        "if (is_dir($path)) { $x = 1; }",
    ),
    "java": (
        'if (System.getProperty("os.name").startsWith("Windows")) { x = 1; }',
        'String home = System.getProperty("user.home");\nreturn Path.of(home, ".config");',
        "e.printStackTrace();",
        "int n = Runtime.getRuntime().availableProcessors();",
        'var r = A.class.getResource("/data.json");',
        'if (name.equals("linux")) { x = 1; }',
    ),
    "cs": (
        "if (OperatingSystem.IsWindows()) { x = 1; }",
        "var dir = Path.Combine(Path.GetTempPath(), name);",
        "log.Info(Environment.MachineName);",
        "#if NET8_0_OR_GREATER\n return 1;\n#endif",
        "var v = Assembly.GetExecutingAssembly().GetName().Version;",
        'var e = Environment.GetEnvironmentVariable("APP_MODE");',
    ),
}  # fmt: skip


def told(language: str, code: str, lines: tuple[int, ...] = ()) -> tuple[tuple[int, str], ...]:
    text = f"package a\n\n{code}\n" if language == "go" and not code.startswith("//") else f"{code}\n"
    return looks_at_tests(ENDS[language], text, lines or range(1, text.count("\n") + 2))


def each(table: dict[str, tuple[str, ...]]) -> list[object]:
    return [pytest.param(name.partition(":")[0], code, id=f"{name} {n}") for name, codes in table.items() for n, code in enumerate(codes)]


@pytest.mark.parametrize(("language", "code"), each(TESTS))
def test_code_that_tells_a_test_from_life_is_found(language: str, code: str) -> None:
    assert told(language, code)


@pytest.mark.parametrize(("language", "code"), each(MACHINE))
def test_code_that_answers_by_the_machine_is_found(language: str, code: str) -> None:
    assert [what for _, what in told(language, code) if what.startswith("the machine it runs on (")]


@pytest.mark.parametrize(("language", "code"), each(HONEST))
def test_honest_code_that_asks_for_the_machine_is_left_alone(language: str, code: str) -> None:
    assert told(language, code) == ()


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("go", 'var os = runtime.GOOS\n\nfunc f() int {\n\tif runtime.GOOS == "linux" { return 1 }\n\treturn 2\n}'),
        ("js", "const wide = process.stdout.columns\nconst x = process.stdout.isTTY ? 1 : 2"),
        ("ruby", "A = RUBY_PLATFORM\ndef f = RUBY_PLATFORM =~ /linux/ ? 1 : 2"),
    ],
)
def test_a_file_that_asked_for_its_system_before_may_do_so_again(language: str, code: str) -> None:
    text = f"{code}\n"
    last = max(line for line, _ in told(language, code))
    was_new = looks_at_tests(ENDS[language], text, range(1, 99))
    assert was_new and last and not looks_at_tests(ENDS[language], text, range(2, 99))


def test_a_name_stands_for_what_it_was_given_only_near_by() -> None:
    far = "\n" * 40
    assert told("go", 'func f() {\n\thost, _ := os.Hostname()\n\tif host == "a" { return }\n}')
    assert not told(
        "go", f'func f() {{\n\thost, _ := os.Hostname()\n\tlog(host)\n}}\n{far}func g(host string) bool {{ return host == "a" }}'
    )
