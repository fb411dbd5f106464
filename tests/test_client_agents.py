"""`detent run --agent claude` and `--agent codex`: the real programs, in the sandbox, with a scripted model behind the one address they reach."""

from pathlib import Path

import pytest

from tests.clients.driven import NAMES, Model, Served, serving
from tests.driven import GREEN, project
from tests.project import Project, Ran

every = pytest.mark.parametrize("name", NAMES)
USAGE = ("input_tokens", "output_tokens")


def run(p: Project, name: str, served: Served, **env: str) -> Ran:
    return p.run("run", "add numbers", "--agent", name, "--json", **{**served.env, **env})


def moves(p: Project) -> list[tuple[str, str]]:
    return [(e["on"], e["status"]) for e in p.run("history", "--json").json["events"]]


def transcripts(p: Project) -> str:
    return "\n".join(Path(e["transcript"]).read_text() for e in p.run("history", "--json").json["events"] if e["transcript"])


@every
def test_a_whole_cycle_is_driven_through_the_real_client_in_the_sandbox(tmp_path: Path, name: str) -> None:
    p, model = project(tmp_path / "p"), Model()
    with serving(name, model, tmp_path) as served:
        ran = run(p, name, served)
        keys = served.keys()
    assert ran.code == 0, ran
    done = ran.json
    assert [c["subject"] for c in done["commits"]][:3] == ["plan: adds", "test: adds", "feat: adds"]
    assert p.git("show", "detent/add-numbers:calc.py") + "\n" == GREEN
    assert all(done["usage"][field] > 0 for field in USAGE), done["usage"]
