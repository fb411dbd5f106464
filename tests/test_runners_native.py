"""Projects of other languages from end to end: the `pr` workflow over the real command line, real git and the real runner."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.native_dialects import BUILD, MAVEN_FILES
from tests.project import PLAN, START, Project
from tests.repos import write


class Story(NamedTuple):
    """A step in one language: what is there, a test for what is not, code that is wrong and code that is right."""

    files: dict[str, str]
    red: dict[str, str]
    says: str  # what the runner says of the missing name
    wrong: dict[str, str]
    right: dict[str, str]
    command: str


GO_TEST = 'package calc\n\nimport "testing"\n\n'
GO = Story(
    {
        "go.mod": "module example.com/m\n\ngo 1.20\n",
        "calc.go": "package calc\n\nfunc Zero() int { return 0 }\n",
        "start_test.go": f"{GO_TEST}func TestStart(t *testing.T) {{\n\tif Zero() != 0 {{\n\t\tt.Fatal()\n\t}}\n}}\n",
    },
    {"add_test.go": f"{GO_TEST}func TestAdd(t *testing.T) {{\n\tif Add(1, 2) != 3 {{\n\t\tt.Fatal(\"no sum\")\n\t}}\n}}\n"},
    "undefined: Add",
    {"add.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n"},
    {"add.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n"},
    "go test -run TestAdd ./...",
)  # fmt: skip
CARGO = Story(
    {
        "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn zero() -> i32 { 0 }\n",
        "tests/start.rs": "#[test]\nfn start() { assert_eq!(calc::zero(), 0); }\n",
        ".gitignore": "Cargo.lock\n",
    },
    {"tests/add.rs": "#[test]\nfn adds() { assert_eq!(calc::add(1, 2), 3); }\n"},
    "cannot find function `add` in crate `calc`",
    {"src/lib.rs": "pub fn zero() -> i32 { 0 }\npub fn add(a: i32, b: i32) -> i32 { a - b }\n"},
    {"src/lib.rs": "pub fn zero() -> i32 { 0 }\npub fn add(a: i32, b: i32) -> i32 { a + b }\n"},
    "cargo test --test add",
)
RUBY = 'require_relative "../lib/calc"\n\nRSpec.describe Calc do\n'
RSPEC = Story(
    {
        ".rspec": "--order defined\n",
        "lib/calc.rb": "module Calc\n  def self.zero = 0\nend\n",
        "spec/start_spec.rb": f'{RUBY}  it("starts") {{ expect(Calc.zero).to eq 0 }}\nend\n',
    },
    {"spec/add_spec.rb": f'{RUBY}  it("adds") {{ expect(Calc.add(1, 2)).to eq 3 }}\nend\n'},
    "undefined method `add'",
    {"lib/calc.rb": "module Calc\n  def self.zero = 0\n  def self.add(a, b) = a - b\nend\n"},
    {"lib/calc.rb": "module Calc\n  def self.zero = 0\n  def self.add(a, b) = a + b\nend\n"},
    "rspec spec/add_spec.rb",
)
PHP = "<?php\nrequire_once __DIR__ . '/../src/calc.php';\n\nfinal class {0} extends PHPUnit\\Framework\\TestCase\n{{\n"
PHPUNIT = Story(
    {
        "phpunit.xml": '<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
        "src/calc.php": "<?php\nfunction zero() { return 0; }\n",
        "tests/StartTest.php": PHP.format("StartTest") + "    public function testStart(): void { $this->assertSame(0, zero()); }\n}\n",
    },
    {"tests/AddTest.php": PHP.format("AddTest") + "    public function testAdds(): void { $this->assertSame(3, add(1, 2)); }\n}\n"},
    "Call to undefined function add()",
    {"src/calc.php": "<?php\nfunction zero() { return 0; }\nfunction add($a, $b) { return $a - $b; }\n"},
    {"src/calc.php": "<?php\nfunction zero() { return 0; }\nfunction add($a, $b) { return $a + $b; }\n"},
    "phpunit tests/AddTest.php",
)
C_LISTS = "add_executable({0}_test {0}_test.c)\ntarget_link_libraries({0}_test calc)\nadd_test(NAME {0} COMMAND {0}_test)\n"
C_MAIN = '#include <assert.h>\n#include "../calc.h"\nint main(void) {{ assert({0}); return 0; }}\n'
CTEST = Story(
    {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(calc C)\nenable_testing()\nadd_library(calc calc.c)\nadd_subdirectory(tests)\n",
        "calc.h": "int zero(void);\n",
        "calc.c": "int zero(void) { return 0; }\n",
        "tests/CMakeLists.txt": C_LISTS.format("start"),
        "tests/start_test.c": C_MAIN.format("zero() == 0"),
    },
    {"tests/CMakeLists.txt": C_LISTS.format("start") + C_LISTS.format("add"), "tests/add_test.c": C_MAIN.format("add(1, 2) == 3")},
    "undefined reference to `add'",
    {"calc.h": "int zero(void);\nint add(int a, int b);\n", "calc.c": "int zero(void) { return 0; }\nint add(int a, int b) { return a - b; }\n"},
    {"calc.c": "int zero(void) { return 0; }\nint add(int a, int b) { return a + b; }\n"},
    "ctest -R add",
)  # fmt: skip
JAVA = "import org.junit.*;\n\npublic class {0} {{\n    @Test public void works() {{ Assert.assertEquals({1}); }}\n}}\n"
JAVA_STORY = Story(
    {
        "src/main/java/Calc.java": "public class Calc { public static int zero() { return 0; } }\n",
        "src/test/java/StartTest.java": JAVA.format("StartTest", "0, Calc.zero()"),
    },
    {"src/test/java/AddTest.java": JAVA.format("AddTest", "3, Add.add(1, 2)")},
    "cannot find symbol",
    {"src/main/java/Add.java": "public class Add { public static int add(int a, int b) { return a - b; } }\n"},
    {"src/main/java/Add.java": "public class Add { public static int add(int a, int b) { return a + b; } }\n"},
    "mvn test -Dtest=AddTest",
)
MAVEN = JAVA_STORY._replace(files={**MAVEN_FILES, **JAVA_STORY.files})
GRADLE = JAVA_STORY._replace(files={"build.gradle": BUILD, **JAVA_STORY.files}, command="gradle test --tests AddTest")

STORIES = {"go": GO, "cargo": CARGO, "rspec": RSPEC, "phpunit": PHPUNIT, "ctest": CTEST, "maven": MAVEN, "gradle": GRADLE}
QUICK = ("rspec",)  # one is enough for each day


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in STORIES])
@pytest.mark.timeout(600)
def test_a_cycle_of_red_and_green(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    story = STORIES[name]
    inside = {"detent.toml": '[sandbox]\nlevel = "bubblewrap"\n'}
    project = Project(tmp_path / "p", {PLAN: START[PLAN], ".gitignore": "", **inside, **story.files}).planned("RED", "GREEN")

    write(project.root, story.red)
    verdict = project.submit(test_command=story.command, expectation="FAIL")
    assert verdict["status"] == "NEEDS_ANALYSIS", verdict
    assert story.says in verdict["output"]
    assert project.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"

    write(project.root, story.wrong)
    verdict = project.submit(test_command=story.command, expectation="PASS")
    assert (verdict["status"], verdict["state"]) == ("FAILURE", "DEBUGGING"), verdict
    write(project.root, story.right)
    verdict = project.submit(test_command=story.command, expectation="PASS")
    assert verdict["status"] == "SUCCESS", verdict
    assert project.git("status", "--porcelain") == "", "nothing is left in the tree"
