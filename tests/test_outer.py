"""Where nobody can make a namespace: what is said, the ways on, and the level by which a person answers for the container."""

import json
import subprocess
from pathlib import Path

import pytest

from detent.app.run_configs import must_hold
from detent.config import Settings
from detent.config.settings import SandboxSettings
from detent.sandbox import choose
from detent.sandbox.sandbox_probe import probe
from detent.sandbox.ways_on import ALLOW, LACKS, lack, ways_on
from tests.driven import ALONE, CYCLE, PLANS, driven, project, run, scripted
from tests.machine import need, no_walls
from tests.project import Project, Ran

DOCS = Path(__file__).parent.parent / "docs" / "sandbox.md"
OUTER = f"{ALONE}[sandbox]\nlevel = 'outer'\n"
LEVEL = "DETENT_SANDBOX_LEVEL"


@pytest.fixture
def p(tmp_path: Path) -> Project:
    made = project(tmp_path / "p")
    made.env.pop(LEVEL, None)
    return made


def without_namespaces(p: Project, *args: str, **env: str) -> Ran:
    """A command where no namespace can be made: here, or in a world in which that is forbidden."""
    world = [] if no_walls() else ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]
    return Ran(subprocess.run([*world, *p.argv(*args)], cwd=p.root, env={**p.env, **env}, capture_output=True, text=True, check=False))


@pytest.mark.slow
def test_a_refusal_says_what_the_machine_lacks_and_the_three_ways_on(p: Project) -> None:
    need("bubblewrap")
    refused = without_namespaces(p, "run", "add numbers", "--agent", scripted(p, PLANS), "--json")
    assert refused.code == 2, refused
    assert refused.json["error"].startswith("bubblewrap does not work here, and nothing is run without it: ")
    assert any(means in refused.json["error"] for means in LACKS.values()), refused.json["error"]
    assert refused.json["hint"] == ways_on()
    assert all(line in ways_on() for line in ALLOW.values()) and 'level = "podman"' in ways_on() and 'level = "outer"' in ways_on()
    spoken = without_namespaces(p, "run", "add numbers", "--agent", scripted(p, PLANS))
    assert [line[2:] for line in spoken.err.splitlines()[1:]] == ways_on().splitlines()
    assert p.run("runs", "--all", "--json").json["runs"] == []


@pytest.mark.slow
def test_the_doctor_says_the_same_and_the_rest_of_detent_works_on(p: Project) -> None:
    need("bubblewrap")
    ran = without_namespaces(p, "doctor", "--json")
    row = next(c for c in ran.json["checks"] if c["name"] == "sandbox")
    assert ran.code == 0 and not row["ok"] and not row["needed"]
    assert "`detent run` will not start an agent" in row["says"] and row["fix"] == ways_on()
    shown = without_namespaces(p, "doctor").out
    assert all(f"\n{' ' * 17}{line}\n" in shown for line in ways_on().splitlines()), shown


def test_the_docs_have_the_line_for_each_kind_of_container() -> None:
    text = DOCS.read_text("utf-8")
    assert [who for who, line in ALLOW.items() if f"| {who} | `{line}` |" not in text] == []


def test_what_bubblewrap_says_is_told_in_words_and_what_is_not_known_as_it_is() -> None:
    said = "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces."
    assert lack(said) == "the kernel lets no program make user namespaces here (No permissions to create new namespace)"
    assert lack("bwrap: Can't mount proc on /newroot/proc: Operation not permitted").startswith("this container hides parts of /proc")
    assert lack("something else") == "something else"


# -- the container is the wall -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_person_who_committed_it_or_set_it_in_the_environment_is_believed_and_every_verdict_says_so(tmp_path: Path) -> None:
    p = project(tmp_path / "p", OUTER)
    p.env.pop(LEVEL, None)
    with driven(p, *CYCLE) as d:
        assert d.go()["outcome"] == "done"
        proofs = [e.verdict.evidence.sandbox for e in d.events if e.verdict.evidence is not None]
    assert proofs and set(proofs) == {"outer"}
    other = project(tmp_path / "q")
    assert run(other, "--agent", scripted(other, *CYCLE), "--json", **{LEVEL: "outer"}).code == 0


@pytest.mark.slow
def test_a_file_that_nobody_committed_is_not_believed(p: Project) -> None:
    p.git("rm", "-q", "detent.toml")
    p.git("commit", "-q", "-m", "no settings")
    p.git("reset", "-q")
    (p.root / ".git" / "info" / "exclude").write_text("detent.toml\n")
    p.write({"detent.toml": OUTER})
    refused = run(p, "--agent", scripted(p, PLANS), "--json")
    assert refused.code == 2 and "is in a file that is not committed" in refused.json["error"], refused
    assert "commit that file, or set DETENT_SANDBOX_LEVEL=outer" in refused.json["hint"]
    assert p.run("runs", "--all", "--json").json["runs"] == []


def test_it_is_not_tried_since_it_would_not_hold_and_programs_run_as_they_are(tmp_path: Path) -> None:
    sandbox = choose("outer", {"HOME": str(tmp_path)})
    assert (sandbox.name, must_hold(Settings(sandbox=SandboxSettings(level="outer")), {"HOME": str(tmp_path)})) == ("outer", "outer")
    assert probe(sandbox, {}) == ("programs are not isolated at all",)


def test_the_doctor_tells_the_rules_and_names_the_keys_that_lie_about(p: Project, tmp_path: Path) -> None:
    def row() -> dict[str, str]:
        told = p.run("doctor", "--json", HOME=str(tmp_path / "home"), **{LEVEL: "outer"}).json["checks"]
        return dict(next(c for c in told if c["name"] == "sandbox"))

    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    found = row()
    assert not found["ok"] and "~/.ssh" in found["says"] and found["fix"] == "remove what agents must not reach"
    assert "its files, its keys, its network" in found["says"]
    assert json.dumps(found).count("outer") == 1
