"""The project of the conformance tests in the languages of the system's own runners. Each row is a `Dialect` of tests/test_runners.py."""

import os
import sys
from pathlib import Path

from detent.evidence.runners import Command

Row = tuple[Command, dict[str, str], str, str, str, str, str, str, dict[str, dict[str, str]], str, int]

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # go lies beside Python
CACHES = {"GOCACHE": str(Path(sys.prefix) / "go-build")}  # go builds its own library once; it is kept as long as the environment

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

NATIVE: dict[str, Row] = {"go": GO, "cargo": CARGO}
HEAVY = frozenset({"go", "cargo", "ctest"})  # what is built first takes its time: of the ways to cheat, most are tried by `--all` only
TRIED_ALWAYS = frozenset({"the code exits", "a success is printed", "the test is deleted"})
