"""The words that classify shell commands: test runners, commands for people, programs that write files; and a fast filter by them.

Tables only. The filter never lets a command pass that the full parse would refuse.
"""

ALWAYS = (
    "pytest", "py.test", "unittest", "nose2", "nosetests", "tox", "nox", "jest", "vitest", "mocha", "ava", "jasmine", "karma", "ctest",
    "rspec", "minitest", "phpunit", "pest", "bats", "gotestsum",
)  # fmt: skip
FIRST = {  # runs tests if the first word that is not an option is one of these
    "npm": ("test", "t", "tst"), "yarn": ("test",), "pnpm": ("test", "t"), "bun": ("test",), "deno": ("test",), "go": ("test",),
    "cargo": ("test", "t", "nextest"), "dotnet": ("test",), "mix": ("test",), "swift": ("test",), "rails": ("test",), "flutter": ("test",),
    "dart": ("test",), "zig": ("test",), "bazel": ("test",), "composer": ("test",),
}  # fmt: skip
ANY = {  # runs tests if any word is one of these
    "mvn": ("test", "verify", "surefire:test"), "mvnw": ("test", "verify"), "gradle": ("test", "check"), "gradlew": ("test", "check"),
    "make": ("test", "tests", "check"), "just": ("test", "check"), "task": ("test",), "rake": ("test", "spec"), "node": ("--test",),
    "meson": ("test",), "sbt": ("test",),
}  # fmt: skip
SCRIPTS = ("npm", "yarn", "pnpm", "bun")  # `npm run test…`
PEOPLE = ("resume", "answer", "abort", "rollback", "revise", "steer", "init", "uninstall", "queue", "work", "land")
OF_GIT = ("notes", "update-ref", "config")
EACH = ("rm", "rmdir", "unlink", "touch", "tee", "truncate", "shred", "mv", "rename")  # programs that write or remove every file they name
LAST = ("cp", "install", "ln", "rsync")  # programs that write the last file they name
IN_PLACE = ("chmod", "chown", "sed", "perl")  # programs that may change the files after the first argument
OURS = ("detent", "detent-gate")  # the programs that Detent installs
OTHER = ("dd", *OURS, "apply_patch")

TELLING = frozenset(
    part
    for word in (*ALWAYS, *(w for ways in (*FIRST.values(), *ANY.values()) for w in ways), *OF_GIT, *EACH, *LAST, *IN_PLACE, *OTHER)
    for part in word.replace("-", " ").replace(".", " ").replace(":", " ").replace("_", " ").split()
) - {"py"}


def deserves_a_look(text: str, project: list[str]) -> bool:
    """Whether a command needs the full parse: it redirects, or contains one of the words."""
    if ">" in text:
        return True
    unquoted = text.replace("'", "").replace('"', "").replace("\\", "")
    words = "".join(c if c.isalnum() else " " for c in unquoted).split()
    return any(word in TELLING or word.startswith("test") for word in words) or bool(project and project[-1] in text)
