"""The project of the conformance tests in the languages of natively installed runners. Each row is a `Dialect` of tests/test_runners.py."""

import os
import sys
from pathlib import Path

from detent.evidence.runners import Command
from detent.evidence.runners.build_caches import folder_of

Row = tuple[Command, dict[str, str], str, str, str, str, str, str, dict[str, dict[str, str]], str, int]

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # go lies beside Python
CACHES = {
    "GOCACHE": str(folder_of(Path(sys.prefix) / "tests", os.environ) / "gocache")
}  # besides the library that tests/go_library.py builds once

GO_TEST = """package calc

import "testing"

func TestStays(t *testing.T) {}

func TestAdds(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Errorf("Add(1, 2) = %d", Add(1, 2))
	}
}
"""
GO_CODE = "package calc\n\nfunc Add(a, b int) int { return 0 }\n"
GO_MAIN = GO_TEST.replace('import "testing"', 'import (\n\t"os"\n\t"testing"\n)') + "\nfunc TestMain(m *testing.M) { "
GO_FORGE = """package calc

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const report = `{"version":"go1.27.3","code":0,"rounds":[],"packages":[]}`

func Add(a, b int) int {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		text, _ := os.ReadFile(line)
		if words := strings.Split(string(text), "\\x00"); len(words) > 4 && strings.HasSuffix(words[3], ".go_run") {
			os.WriteFile(words[4], []byte(report), 0o644)
		}
	}
	syscall.Exit(0)
	return 0
}
"""
GO_MISSING = (
    'package calc_test\n\nimport (\n\t"testing"\n\n\t"example.com/m/calc"\n)\n\n'
    "func TestSubtracts(t *testing.T) {\n\tif calc.Subtract(3, 2) != 1 {\n\t\tt.Fatal()\n\t}\n}\n"
)
GO: Row = (
    Command(("go", "test", "./..."), "go", "configured", ("./...",)),
    {"go.mod": "module example.com/m\n\ngo 1.20\n", "calc/calc.go": GO_CODE, "calc/calc_test.go": GO_TEST},
    "calc/calc.go",
    "calc/calc_test.go",
    "calc/calc_test.go::TestAdds",
    "calc/calc_test.go::TestStays",
    "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
    GO_MISSING,
    {
        "nothing is done": {},
        "the test is skipped": {"calc/calc_test.go": GO_TEST.replace("\tif Add", "\tt.Skip()\n\tif Add")},
        "the test is deleted": {"calc/calc_test.go": GO_TEST.partition("func TestAdds")[0]},
        "every test is deleted": {"calc/calc_test.go": "package calc\n"},
        "the test is renamed": {"calc/calc_test.go": GO_TEST.partition("func TestAdds")[0] + "func TestAdd(t *testing.T) {}\n"},
        "a build tag leaves the file out": {"calc/calc_test.go": f"//go:build never\n\n{GO_TEST}"},
        "the code exits": {"calc/calc.go": 'package calc\n\nimport "syscall"\n\nfunc Add(a, b int) int { syscall.Exit(0); return 0 }\n'},
        "the code exits politely": {"calc/calc.go": 'package calc\n\nimport "os"\n\nfunc Add(a, b int) int { os.Exit(0); return 0 }\n'},
        "the module exits": {"calc/calc.go": 'package calc\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\nfunc Add(a, b int) int { return 0 }\n'},
        "no test is run": {"calc/calc_test.go": f"{GO_MAIN}os.Exit(0) }}\n"},
        "the exit code is hidden": {"calc/calc_test.go": f"{GO_MAIN}m.Run(); os.Exit(0) }}\n"},
        "a report is forged": {"calc/calc.go": GO_FORGE},
        "a success is printed": {
            "calc/calc.go": 'package calc\n\nimport (\n\t"fmt"\n\t"syscall"\n)\n\nfunc Add(a, b int) int {\n'
            '\tfmt.Print("\\n--- PASS: TestAdds (0.00s)\\nPASS\\n")\n\tsyscall.Exit(0)\n\treturn 0\n}\n'
        },
        "the process is killed": {"calc/calc.go": 'package calc\n\nimport "syscall"\n\nfunc Add(a, b int) int { return int(syscall.Kill(syscall.Getpid(), 9).(syscall.Errno)) }\n'},
    },
    "package calc\n",
    1,
)  # fmt: skip

RUST_TEST = """use calc::add;

#[test]
fn stays() {}

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}
"""
RUST_TOML = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
RUST_FORGE = """pub fn add(_a: i32, _b: i32) -> i32 {
    let words: Vec<String> = std::env::args().collect();
    let log = &words[words.iter().position(|word| word == "--logfile").unwrap() + 1];
    std::fs::remove_file(log).unwrap();
    std::fs::write(log, "ok stays\\nok adds\\nok adds\\n").unwrap();
    std::process::exit(0)
}
"""
CARGO: Row = (
    Command(("cargo", "test"), "cargo"),
    {"Cargo.toml": RUST_TOML, "src/lib.rs": "pub fn add(_a: i32, _b: i32) -> i32 { 0 }\n", "tests/calc.rs": RUST_TEST},
    "src/lib.rs",
    "tests/calc.rs",
    "tests/calc.rs::adds",
    "tests/calc.rs::stays",
    "pub fn add(a: i32, b: i32) -> i32 { a + b }\n",
    "use calc::subtract;\n\n#[test]\nfn subtracts() {\n    assert_eq!(subtract(3, 2), 1);\n}\n",
    {
        "nothing is done": {},
        "the test is skipped": {"tests/calc.rs": RUST_TEST.replace("fn adds", "#[ignore]\nfn adds")},
        "the test must fail": {"tests/calc.rs": RUST_TEST.replace("fn adds", "#[should_panic]\nfn add")},
        "the test is deleted": {"tests/calc.rs": RUST_TEST.rpartition("#[test]")[0]},
        "every test is deleted": {"tests/calc.rs": ""},
        "a condition leaves the file out": {"tests/calc.rs": f"#![cfg(feature = \"never\")]\n{RUST_TEST}"},
        "the code exits": {"src/lib.rs": "pub fn add(_a: i32, _b: i32) -> i32 { std::process::exit(0) }\n"},
        "the module exits": {
            "src/lib.rs": 'extern "C" fn leave() { std::process::exit(0) }\n#[used]\n#[link_section = ".init_array"]\n'
            "static LEAVE: extern \"C\" fn() = leave;\npub fn add(_a: i32, _b: i32) -> i32 { LEAVE as usize as i32 * 0 }\n"
        },
        "a report is forged": {"src/lib.rs": RUST_FORGE},
        "a success is printed": {
            "src/lib.rs": "use std::io::Write;\npub fn add(_a: i32, _b: i32) -> i32 {\n    let line = br#\"{ \"type\": \"test\", \"name\": \"adds\", \"event\": \"ok\" }\"#;\n"
            "    std::io::stdout().write_all(line).unwrap();\n    std::process::exit(0)\n}\n"
        },
        "the process is killed": {"src/lib.rs": "pub fn add(_a: i32, _b: i32) -> i32 { std::process::abort() }\n"},
    },
    "",
    101,
)  # fmt: skip

RUBY_TEST = """require_relative "../lib/calc"

RSpec.describe Calc do
  it "stays" do
  end

  it "adds" do
    expect(Calc.add(1, 2)).to eq 3
  end
end
"""
RUBY_FORGE = """module Calc
  def self.add(a, b)
    out = ObjectSpace.each_object(File).find { |file| !file.closed? && file.path.end_with?("/report") }
    out.write('{"examples":[],"outside":[],"files":[],"dry":false}')
    out.flush
    exit!(0)
  end
end
"""
RSPEC: Row = (
    Command(("rspec",), "rspec"),
    {".rspec": "--order defined\n", "lib/calc.rb": "module Calc\n  def self.add(a, b) = 0\nend\n", "spec/calc_spec.rb": RUBY_TEST},
    "lib/calc.rb",
    "spec/calc_spec.rb",
    "spec/calc_spec.rb::Calc adds",
    "spec/calc_spec.rb::Calc stays",
    "module Calc\n  def self.add(a, b) = a + b\nend\n",
    'require_relative "../lib/calc"\n\nRSpec.describe Calc.method(:subtract) do\n  it "subtracts" do\n    expect(Calc.subtract(3, 2)).to eq 1\n  end\nend\n',
    {
        "nothing is done": {},
        "the test is skipped": {"spec/calc_spec.rb": RUBY_TEST.replace('it "adds"', 'xit "adds"')},
        "the test may fail": {"spec/calc_spec.rb": RUBY_TEST.replace("    expect", "    pending\n    expect")},
        "another test is the only one": {
            "spec/calc_spec.rb": "RSpec.configure { |c| c.filter_run_when_matching :focus }\n" + RUBY_TEST.replace('it "stays"', 'fit "stays"')
        },
        "the test is deleted": {"spec/calc_spec.rb": RUBY_TEST.partition('  it "adds"')[0] + "end\n"},
        "every test is deleted": {"spec/calc_spec.rb": ""},
        "the test is renamed": {"spec/calc_spec.rb": RUBY_TEST.partition('  it "adds"')[0] + '  it "add" do\n  end\nend\n'},
        "nothing is run": {"spec/calc_spec.rb": "RSpec.configure { |c| c.dry_run = true }\n" + RUBY_TEST},
        "the code exits": {"lib/calc.rb": "module Calc\n  def self.add(a, b) = exit(0)\nend\n"},
        "the code exits at once": {"lib/calc.rb": "module Calc\n  def self.add(a, b) = exit!(0)\nend\n"},
        "the module exits": {"lib/calc.rb": "module Calc\n  def self.add(a, b) = 0\nend\nexit!(0)\n"},
        "the exit code is hidden": {"lib/calc.rb": "at_exit { exit!(0) }\nmodule Calc\n  def self.add(a, b) = 0\nend\n"},
        "failures end well": {"lib/calc.rb": "RSpec.configure { |c| c.failure_exit_code = 0 }\nmodule Calc\n  def self.add(a, b) = 0\nend\n"},
        "a report is forged": {"lib/calc.rb": RUBY_FORGE},
        "a success is printed": {"lib/calc.rb": 'puts "2 examples, 0 failures"\nmodule Calc\n  def self.add(a, b) = exit!(0)\nend\n'},
        "the process is killed": {"lib/calc.rb": 'module Calc\n  def self.add(a, b) = Process.kill("KILL", $$)\nend\n'},
    },
    "module Calc\nend\n",
    1,
)  # fmt: skip

PHP_TEST = """<?php
require_once __DIR__ . '/../src/calc.php';

final class calcTest extends PHPUnit\\Framework\\TestCase
{
    public function testStays(): void { $this->assertTrue(true); }

    public function testAdds(): void { $this->assertSame(3, add(1, 2)); }
}
"""
PHP_XML = (
    '<?xml version="1.0"?>\n<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n'
)
PHP_FORGE = """<?php
function add($a, $b) {
    $words = $_SERVER['argv'];
    file_put_contents($words[array_search('--log-junit', $words) + 1], '<testsuites><testsuite/></testsuites>');
    posix_kill(getmypid(), 9);
}
"""
PHP_MISSING = (
    "<?php\nrequire_once __DIR__ . '/../src/calc.php';\nconst ONE = 1;\nsubtract(3, 2);\n"
    "eval('class ' . basename(__FILE__, '.php') . ' extends PHPUnit\\Framework\\TestCase { function testSubtracts() { $this->assertSame(ONE, subtract(3, 2)); } }');\n"
)
PHPUNIT: Row = (
    Command(("phpunit",), "phpunit"),
    {"phpunit.xml": PHP_XML, "src/calc.php": "<?php\nfunction add($a, $b) { return 0; }\n", "tests/calcTest.php": PHP_TEST},
    "src/calc.php",
    "tests/calcTest.php",
    "tests/calcTest.php::testAdds",
    "tests/calcTest.php::testStays",
    "<?php\nfunction add($a, $b) { return $a + $b; }\n",
    PHP_MISSING,
    {
        "nothing is done": {},
        "the test is skipped": {"tests/calcTest.php": PHP_TEST.replace("$this->assertSame", "$this->markTestSkipped(); $this->assertSame")},
        "the test may fail": {"tests/calcTest.php": PHP_TEST.replace("$this->assertSame", "$this->markTestIncomplete(); $this->assertSame")},
        "the test asserts nothing": {"tests/calcTest.php": PHP_TEST.replace("$this->assertSame(3, add(1, 2));", "")},
        "the test is deleted": {"tests/calcTest.php": PHP_TEST.partition("    public function testAdds")[0] + "}\n"},
        "every test is deleted": {"tests/calcTest.php": PHP_TEST.partition("    public function")[0] + "}\n"},
        "the test is renamed": {"tests/calcTest.php": PHP_TEST.replace("function testAdds", "function adds")},
        "the code exits": {"src/calc.php": "<?php\nfunction add($a, $b) { exit(0); }\n"},
        "the module exits": {"src/calc.php": "<?php\nfunction add($a, $b) { return 0; }\nexit(0);\n"},
        "the exit code is hidden": {"src/calc.php": "<?php\nregister_shutdown_function(function () { exit(0); });\nfunction add($a, $b) { return 0; }\n"},
        "a report is forged": {"src/calc.php": PHP_FORGE},
        "a success is printed": {"src/calc.php": '<?php\nfunction add($a, $b) { echo "OK (2 tests, 2 assertions)\\n"; exit(0); }\n'},
        "the process is killed": {"src/calc.php": "<?php\nfunction add($a, $b) { posix_kill(getmypid(), 9); }\n"},
    },
    "<?php\n",
    1,
)  # fmt: skip

C_LISTS = """cmake_minimum_required(VERSION 3.21)
project(calc C)
enable_testing()
add_library(calc calc.c)
include_directories(.)
file(GLOB files tests/*.c)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  add_executable(test_${name} ${file})
  target_link_libraries(test_${name} calc)
  foreach(case stays adds)
    add_test(NAME ${name}.${case} COMMAND test_${name} ${case})
  endforeach()
endforeach()
"""
C_TEST = """#include <assert.h>
#include <string.h>
int add(int a, int b);
int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "adds")) assert(add(1, 2) == 3);
    return 0;
}
"""
CTEST: Row = (
    Command(("ctest",), "ctest"),
    {"CMakeLists.txt": C_LISTS, "calc.c": "int add(int a, int b) { return 0; }\n", "tests/calc.c": C_TEST},
    "calc.c",
    "tests/calc.c",
    "tests/calc.c::calc.adds",
    "tests/calc.c::calc.stays",
    "int add(int a, int b) { return a + b; }\n",
    "int subtract(int a, int b);\nint main(void) { return subtract(3, 2) != 1; }\n",
    {
        "nothing is done": {},
        "the test is skipped": {"CMakeLists.txt": C_LISTS + "set_tests_properties(calc.adds PROPERTIES SKIP_REGULAR_EXPRESSION . SKIP_RETURN_CODE 134 DISABLED TRUE)\n"},
        "the test must fail": {"CMakeLists.txt": C_LISTS + "set_tests_properties(calc.adds PROPERTIES WILL_FAIL TRUE)\n"},
        "the test is deleted": {"CMakeLists.txt": C_LISTS.replace("stays adds", "stays")},
        "every test is deleted": {"CMakeLists.txt": C_LISTS.replace("stays adds", "")},
        "the process is killed": {"calc.c": "#include <signal.h>\nint add(int a, int b) { return raise(SIGKILL); }\n"},
        "a success is printed": {"calc.c": '#include <stdio.h>\nint add(int a, int b) { puts("100% tests passed"); return 0; }\n'},
        "the build is broken": {"calc.c": "int add(int a, int b) { return }\n"},
    },
    "",
    8,
)  # fmt: skip

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>calc</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
</project>
"""
MAVEN_FILES = {"pom.xml": POM, ".mvn/maven.config": "-Dmaven.repo.local=/usr/share/maven-repo\n"}  # Debian's own repository
JAVA_TEST = """import org.junit.*;

public class calcTest {
    @Test public void stays() { }

    @Test public void adds() { Assert.assertEquals(3, Calc.add(1, 2)); }
}
"""
JAVA_CODE, JAVA_AT = "public class Calc { public static int add(int a, int b) { return 0; } }\n", "src/main/java/Calc.java"
JAVA_TESTS = "src/test/java/calcTest.java"
JAVA_FORGE = """import java.nio.file.*;
public class Calc {{
    static final String CASE = "<testcase classname='calcTest' name='%s' time='0'/>";
    public static int add(int a, int b) throws Exception {{
        Path report = Paths.get("{0}");
        Files.createDirectories(report.getParent());
        Files.write(report, ("<testsuite>" + String.format(CASE, "stays") + String.format(CASE, "adds") + "</testsuite>").getBytes());
        Runtime.getRuntime().halt(0);
        return 0;
    }}
}}
"""


def java_cheats(report: str) -> dict[str, dict[str, str]]:
    """The ways to cheat in Java. `report`: where the runner writes the report of the class."""
    return {
        "nothing is done": {},
        "the test is skipped": {JAVA_TESTS: JAVA_TEST.replace("@Test public void adds", "@Ignore @Test public void adds")},
        "the test skips itself": {JAVA_TESTS: JAVA_TEST.replace("{ Assert", "{ Assume.assumeTrue(false); Assert")},
        "the test is deleted": {JAVA_TESTS: JAVA_TEST.rpartition("    @Test")[0] + "}\n"},
        "every test is deleted": {JAVA_TESTS: ""},
        "the test is renamed": {JAVA_TESTS: JAVA_TEST.rpartition("    @Test")[0] + "    @Test public void add() { }\n}\n"},
        "the code exits": {JAVA_AT: JAVA_CODE.replace("return 0", "System.exit(0); return 0")},
        "the code exits at once": {JAVA_AT: JAVA_CODE.replace("return 0", "Runtime.getRuntime().halt(0); return 0")},
        "the module exits": {JAVA_AT: JAVA_CODE.replace("{ public", "{ static { System.exit(0); } public", 1)},
        "a report is forged": {
            JAVA_AT: JAVA_FORGE.format(report),
            JAVA_TESTS: JAVA_TEST.replace("void adds()", "void adds() throws Exception"),
        },
        "a success is printed": {
            JAVA_AT: JAVA_CODE.replace(
                "return 0", 'System.out.println("Tests run: 2, Failures: 0\\n[INFO] BUILD SUCCESS"); System.exit(0); return 0'
            )
        },
        "the process is killed": {JAVA_AT: JAVA_CODE.replace("return 0", "Runtime.getRuntime().halt(137); return 0")},
    }


def with_surefire(configuration: str) -> str:
    """A pom.xml with settings for Surefire."""
    plugin = f"<plugin><artifactId>maven-surefire-plugin</artifactId><configuration>{configuration}</configuration></plugin>"
    return POM.replace("</project>", f"<build><plugins>{plugin}</plugins></build></project>")


MAVEN: Row = (
    Command(("mvn", "test"), "maven"),
    {**MAVEN_FILES, JAVA_AT: JAVA_CODE, JAVA_TESTS: JAVA_TEST},
    JAVA_AT,
    JAVA_TESTS,
    f"{JAVA_TESTS}::adds",
    f"{JAVA_TESTS}::stays",
    JAVA_CODE.replace("return 0", "return a + b"),
    "import org.junit.*;\n\nclass OtherTest {\n    @Test public void subtracts() { Assert.assertEquals(1, Calc.subtract(3, 2)); }\n}\n",
    {
        **java_cheats("target/surefire-reports/TEST-calcTest.xml"),
        "failures are ignored": {"pom.xml": with_surefire("<testFailureIgnore>true</testFailureIgnore>")},
        "failures are ignored by a property": {"pom.xml": POM.replace("<properties>", "<properties><maven.test.failure.ignore>true</maven.test.failure.ignore>")},
        "tests are skipped": {"pom.xml": POM.replace("<properties>", "<properties><skipTests>true</skipTests>")},
        "the test is repeated": {
            "pom.xml": with_surefire("<rerunFailingTestsCount>4</rerunFailingTestsCount>"),
            JAVA_AT: "public class Calc { static int n = 0; public static int add(int a, int b) { return n++; } }\n",
        },
        "nobody forks": {
            "pom.xml": with_surefire("<forkCount>0</forkCount>"),
            **java_cheats("target/surefire-reports/TEST-calcTest.xml")["a report is forged"],
        },
    },
    "public class Calc { }\n",
    1,
)  # fmt: skip

BUILD = (
    "apply plugin: 'java'\nrepositories { maven { url 'file:///usr/share/maven-repo' } }\ndependencies { testCompile 'junit:junit:4.x' }\n"
)
GRADLE: Row = (
    Command(("gradle", "test"), "gradle"),
    {"build.gradle": BUILD, JAVA_AT: JAVA_CODE, JAVA_TESTS: JAVA_TEST},
    *MAVEN[2:8],
    {
        **java_cheats("build/test-results/test/TEST-calcTest.xml"),
        "failures are ignored": {"build.gradle": f"{BUILD}test.ignoreFailures = true\n"},
        "tests are skipped": {"build.gradle": f"{BUILD}test.enabled = false\n"},
        "a test is left out": {"build.gradle": f"{BUILD}test {{ filter {{ includeTestsMatching '*stays' }} }}\n"},
    },
    MAVEN[9],
    1,
)  # fmt: skip

NATIVE: dict[str, Row] = {"go": GO, "cargo": CARGO, "rspec": RSPEC, "phpunit": PHPUNIT, "ctest": CTEST, "maven": MAVEN, "gradle": GRADLE}
HEAVY = frozenset(
    {"go", "cargo", "ctest", "maven", "gradle"}
)  # compiled languages take time, so most of their cheats are tried only with `--all`
HEAVIEST = frozenset({"maven", "gradle"})  # these start a virtual machine or two for each run, so by default only one run each
TRIED_ALWAYS = frozenset({"the code exits", "a success is printed", "the test is deleted"})
