"""`detent run --agent claude` and `--agent codex`: the real programs, in the sandbox, with a scripted model behind the one address they reach."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.agents import AgentFailed, Budget, Turn, ask
from detent.app.run_configs import sandbox_of
from detent.config import Settings
from detent.config.settings import SandboxSettings
from detent.errors import DetentError
from tests.agents_rigs import failure, turn
from tests.clients.driven import CYCLE, KEYS, NAMES, Do, Model, Served, serving
from tests.driven import GREEN, lines_until, project, running
from tests.machine import no_walls, walls
from tests.model_server import Reply, cut, error, say
from tests.project import Project, Ran
from tests.responses_server import cut as cut_item
from tests.responses_server import denied

every = pytest.mark.parametrize("name", NAMES)


def quickly(name: str) -> pytest.MarkDecorator:
    """Both clients where there is time, one of them always."""
    return pytest.mark.parametrize("name", [each if each == name else pytest.param(each, marks=pytest.mark.slow) for each in NAMES])


MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "The test is wri"}]}
ENOUGH = 12  # more often than either client tries


def faults(name: str) -> dict[str, Any]:
    """The same trouble, as each service has it."""
    if name == "claude":
        return {
            "busy": error(529, "overloaded_error"),
            "cut": cut(say("The test is wri")),
            "gone": error(403, "permission_error"),
            "no key": error(401, "authentication_error"),
            "limit": error(429, "rate_limit_error", retry_after="5000"),
        }
    return {
        "busy": denied(529, "overloaded_error"),
        "cut": cut_item(MESSAGE),
        "gone": denied(403, "permission_error"),
        "no key": denied(401, "invalid_request_error", code="invalid_api_key"),
        "limit": denied(429, "usage_limit_reached", resets_in_seconds=5000),
    }


# -- whole runs --------------------------------------------------------------------------------------------------------------

# What an agent could try to get out: the service itself, another host, other paths of the service, the user's keys.
TRIES = """python3 - <<'END'
import glob, http.client, json, os, socket
def reaches(host, port):
    try:
        socket.create_connection((host, port), 2).close()
        return True
    except OSError:
        return False
def answer(path, token):
    try:
        way = http.client.HTTPConnection("127.0.0.1", 7341, timeout=5)
        way.request("POST", path, "{}", {"x-api-key": token})
        return way.getresponse().status
    except OSError as e:
        return str(e)
def read(path):
    try:
        return open(path, errors="replace").read()
    except OSError:
        return ""
token = os.environ.get("ANTHROPIC_API_KEY") or os.environ["DETENT_MODEL_TOKEN"]
seen = [dict(os.environ), [read(f) for f in glob.glob("/proc/*/environ")]]
seen += [read(f) for f in glob.glob(os.path.expanduser("~/**"), recursive=True) + glob.glob(os.path.expanduser("~/.*/*"))][:50]
print("TRIED", json.dumps({
    "service": reaches("127.0.0.1", SERVICE), "host": reaches("192.0.2.1", 443), "way": reaches("127.0.0.1", 7341),
    "files": answer("/v1/files", token), "without": answer("/v1/messages", "no"), "key": SECRET in json.dumps(seen)[:5000000],
}))
END"""


def tries(name: str, served: Served) -> str:
    port = (served.env.get("ANTHROPIC_BASE_URL") or served.env["OPENAI_BASE_URL"]).rpartition(":")[2].removesuffix("/v1")
    half = len(KEYS[name]) // 2
    return TRIES.replace("SERVICE", port).replace("SECRET", f"{KEYS[name][:half]!r} + {KEYS[name][half:]!r}")


def run(p: Project, name: str, served: Served, *flags: str, **env: str) -> Ran:
    return p.run("run", "add numbers", "--agent", name, "--json", *flags, **{**served.env, **env})


def history(p: Project) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = p.run("history", "--json").json["events"]
    return events


def moves(p: Project) -> list[tuple[str, str]]:
    return [(e["on"], e["status"]) for e in history(p)]


def registered(folder: Path, name: str) -> Project:
    """A project in which the client's hooks and server are registered too, for people; a driven client is to need neither."""
    p = project(folder)
    assert p.run("init", "--client", name).code == 0
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "register")
    return p


@pytest.mark.slow
@every
def test_a_whole_cycle_is_driven_and_nothing_but_the_model_is_reached(tmp_path: Path, name: str) -> None:
    p, model = registered(tmp_path / "p", name), Model({**CYCLE})
    with serving(name, model, tmp_path) as served, tempfile.TemporaryDirectory(prefix="scratch-") as scratch:
        if not no_walls():
            model.turns["PLAN"] = [Do(command=tries(name, served)), *CYCLE["PLAN"][1:]]
        ran = run(p, name, served, TMPDIR=scratch)
        left = [path.name for path in Path(scratch).iterdir()]
        keys, requests = served.keys(), served.requests()
    assert ran.code == 0, ran
    done = ran.json
    assert [c["subject"] for c in done["commits"]][:3] == ["plan: adds", "test: adds", "feat: adds"]
    assert [on for on, _ in moves(p)] == ["start", "planned", "red", "green", "refactor", "complete", "offered"]
    assert p.git("show", "detent/add-numbers:calc.py") + "\n" == GREEN
    assert done["usage"]["input_tokens"] > 0 and done["usage"]["output_tokens"] > 0
    assert (done["usage"]["usd"] > 0) is (name == "claude"), "Codex does not say what a turn cost"
    for tried in [text for text in model.results if "TRIED" in text] or ["nothing"] * (not no_walls()):
        assert json.loads(tried.partition("TRIED ")[2].splitlines()[0]) == {
            "service": False, "host": False, "way": True, "files": 403, "without": 403, "key": False,
        }, tried  # fmt: skip
    assert keys == {KEYS[name]}, "the key is added outside, to every call"
    kept = [Path(e["transcript"]) for e in history(p) if e["transcript"]]
    assert len(kept) == 5 and all('"kind": "line"' in file.read_text() for file in kept)
    assert KEYS[name] not in "".join(file.read_text() for file in kept) + ran.out + ran.err
    assert "one agent of a run that a machine drives" in json.dumps(requests[0]), "the role is told"
    assert left == [] or no_walls(), "the homes that it had are gone; what a client leaves in a temporary folder goes with its room"


@pytest.mark.slow
@quickly("claude")
def test_a_busy_service_and_a_cut_stream_are_failed_turns_and_a_model_that_may_not_be_asked_halts_the_run(
    tmp_path: Path, name: str
) -> None:
    p, bad = project(tmp_path / "p"), faults(name)
    tried = {"claude": (4, 4), "codex": (9, 3)}[name]  # how often each client itself tries again
    model = Model(PLAN=[bad["busy"]] * tried[0] + [bad["cut"]] * tried[1] + [bad["gone"]] * ENOUGH)
    with serving(name, model, tmp_path) as served:
        ran = run(p, name, served)
    assert (ran.code, ran.json["outcome"]) == (10, "halted"), ran
    assert moves(p) == [
        ("start", "SUCCESS"), ("agent-failed", "FAILURE"), ("agent-failed", "FAILURE"), ("no-model", "HALTED"),
    ], ran  # fmt: skip
    ends = [json.loads(Path(e["transcript"]).read_text().splitlines()[-1]) for e in history(p) if e["transcript"]]
    assert [end.get("sort", "") for end in ends] == ["RateLimit", "Network", "ModelUnavailable"], ends
    assert "(529)" in ends[0]["message"] and "the connection to the model's service failed" in ends[1]["message"], ends


@pytest.mark.slow
@every
def test_a_usage_limit_parks_the_run_until_the_time_that_the_service_names(tmp_path: Path, name: str) -> None:
    p, model = project(tmp_path / "p"), Model(PLAN=[faults(name)["limit"]] * ENOUGH)
    with serving(name, model, tmp_path) as served:
        with running(p, "run", "add numbers", "--agent", name, "--events", **served.env) as child:
            lines = lines_until(child, event="wait")
        assert "parked until 20" in lines[-1]["text"]
        assert len(served.requests()) == 1, "nobody tries again before that time"
    assert moves(p)[-1][0] == "limited"
    assert str(p.task()["not_before"]).startswith("20")


@pytest.mark.slow
@quickly("claude")
def test_a_key_that_is_not_accepted_ends_the_command_at_once_with_what_to_do(tmp_path: Path, name: str) -> None:
    p, model = project(tmp_path / "p"), Model(PLAN=[faults(name)["no key"]] * ENOUGH)
    with serving(name, model, tmp_path) as served:
        ran = run(p, name, served)
        assert len(served.requests()) <= 2
    assert ran.code == 2 and "did not accept the key in" in ran.json["error"], ran
    assert "_API_KEY" in ran.json["hint"]


@quickly("codex")
def test_without_the_program_or_without_a_login_no_run_is_made(tmp_path: Path, name: str) -> None:
    p = project(tmp_path / "p")
    with serving(name, Model(), tmp_path) as served:
        keys = {key: "" for key in served.env if key.endswith("_API_KEY")}
        bare = run(p, name, served, PATH=p.env["PATH"])
        unpaid = run(p, name, served, **keys)
    assert bare.code == 2 and bare.json["error"].startswith(f"{name} is not installed (npm install -g @"), bare
    assert unpaid.code == 2 and unpaid.json["error"] == f"{name} has neither a login nor a key", unpaid
    assert p.run("runs", "--all", "--json").json["runs"] == []


# -- single turns ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def inside(folder: Path, served: Served, **changes: object) -> Turn:
    """A turn in the sandbox, as a run has it; without one where there can be none."""
    settings = Settings(sandbox=SandboxSettings(level="none" if no_walls() else "auto"))
    inside = sandbox_of(settings, True, served.env, folder)
    env = {"PATH": served.env["PATH"], "LANG": "C.UTF-8"}
    return turn(folder, env=env, start=inside.agent, apart=inside.apart, **changes)


def failed(call: Callable[[], object]) -> AgentFailed:
    found = failure(call)
    assert isinstance(found, AgentFailed), found
    return found


@quickly("codex")
def test_no_call_is_passed_on_once_the_calls_of_the_budget_are_used_up(folder: Path, name: str) -> None:
    with serving(name, Model({"ANY": [Do(command="true"), "done"]}), folder.parent) as served:
        found = failed(lambda: ask(name, inside(folder, served, budget=Budget(turns=1)), served.env))
        assert (found.sort, len(served.requests())) == ("Budget", 1), found
    assert "turns" in found.message


@pytest.mark.slow
def test_claude_code_ends_where_the_tokens_or_the_dollars_of_the_budget_end(folder: Path) -> None:
    for budget in (Budget(tokens=100), Budget(usd=0.001)):
        with serving("claude", Model({"ANY": [Do(command="true"), "done"]}), folder.parent) as served:
            found = failed(lambda b=budget: ask("claude", inside(folder, served, budget=b), served.env))  # type: ignore[misc]
            assert (found.sort, len(served.requests())) == ("Budget", 1), found
            assert found.usage.tokens > 1000


def test_a_limit_in_dollars_is_refused_with_codex_which_does_not_say_what_it_costs(folder: Path) -> None:
    with serving("codex", Model({"ANY": ["done"]}), folder.parent) as served:
        found = failure(lambda: ask("codex", inside(folder, served, budget=Budget(usd=1.0)), served.env))
        assert type(found) is DetentError and "[limits] tokens" in (found.hint or "") and not served.requests()


CUT_SHORT = [
    (Reply(blocks=({"type": "text", "text": "I was"},), stop="max_tokens"), "Truncated"),
    (Reply(blocks=({"type": "text", "text": "I was"},), stop="refusal"), "Refused"),
    (Reply(blocks=()), "Stuck"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("reply", "sort"), CUT_SHORT)
def test_claude_code_is_not_believed_when_its_last_message_is_none(folder: Path, reply: Reply, sort: str) -> None:
    with serving("claude", Model({}, ANY=[reply] * ENOUGH), folder.parent) as served:
        assert failed(lambda: ask("claude", inside(folder, served), served.env)).sort == sort


def test_codex_is_not_believed_when_it_says_nothing(folder: Path) -> None:
    with serving("codex", Model({"ANY": [""]}), folder.parent) as served:
        assert failed(lambda: ask("codex", inside(folder, served), served.env)).sort == "Stuck"


@walls
@quickly("codex")
def test_a_client_that_dies_without_a_result_has_crashed_whatever_it_wrote(folder: Path, name: str) -> None:
    kill = "kill -9 $PPID; for p in /proc/[0-9]*; do case $(cat $p/comm 2>/dev/null) in claude|codex*) kill -9 ${p#/proc/};; esac; done; sleep 5"
    with serving(name, Model({"ANY": [Do(command=kill), "done"]}), folder.parent) as served:
        t = inside(folder, served)
        found = failed(lambda: ask(name, t, served.env))
    assert found.sort == "Crashed" and "ended without a result" in found.message, found
    assert t.transcript is not None and '"kind": "line"' in t.transcript.read_text()


@quickly("codex")
def test_the_model_of_the_spec_is_asked_and_a_long_prompt_comes_whole(folder: Path, name: str) -> None:
    long = "x" * 300_000 + " the end of it"
    named = {"claude": "claude-haiku-4-5", "codex": "gpt-5.5"}[name]
    with serving(name, Model({"ANY": ["done"]}), folder.parent) as served:
        reply = ask(f"{name}:{named}", inside(folder, served, prompt=long), served.env)
        (body,) = served.requests()
        assert reply.text == "done" and reply.usage.tokens - reply.usage.output_tokens == served.read(), "as the service counts"
    assert body["model"] == named and "the end of it" in json.dumps(body)


@pytest.mark.slow
def test_the_login_of_claude_code_pays_and_stays_outside(folder: Path, tmp_path: Path) -> None:
    look = Do(command="env; cat ~/.claude/.credentials.json")
    with serving("claude", Model({"ANY": [look, "done"]}), folder.parent) as served:
        login = tmp_path / "login"
        login.mkdir()
        (login / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"accessToken": KEYS["claude"], "expiresAt": 4102444800000}}))
        env = {**served.env, "ANTHROPIC_API_KEY": "", "CLAUDE_CONFIG_DIR": str(login)}
        assert ask("claude", inside(folder, served, prompt="look"), env).text == "done"
        told = json.dumps(served.requests()[-1])
    assert KEYS["claude"] not in told and f"ANTHROPIC_BASE_URL=http://127.0.0.1:{'' if no_walls() else 7341}" in told


@pytest.mark.slow
@quickly("claude")
def test_doctor_says_of_each_client_whether_it_is_there_and_what_pays(tmp_path: Path, name: str) -> None:
    p = project(tmp_path / "p")

    def row(**env: str) -> dict[str, Any]:
        (found,) = [c for c in p.run("doctor", "--json", **env).json["checks"] if c["name"] == name]
        return dict(found)

    with serving(name, Model(), tmp_path) as served:
        keys = {key: "" for key in served.env if key.endswith("_API_KEY")}
        missing, unpaid, fit = row(PATH=p.env["PATH"]), row(**{**served.env, **keys}), row(**served.env)
    assert (missing["ok"], missing["needed"], missing["says"]) == (False, False, "not installed") and "npm install -g" in missing["fix"]
    assert "neither login nor key" in unpaid["says"] and "_API_KEY" in unpaid["fix"]
    assert fit["says"].endswith("_API_KEY") and "paid by the key in" in fit["says"] and fit["fix"] == ""
    assert fit["says"][0].isdigit(), "its version"
