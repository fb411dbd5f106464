"""The HTTP API, asked as a program would: who is let in, what it tells, how it streams, and what people say through it."""

import asyncio
import json
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.routing import Route as At

from detent.interfaces.http.asgi import build
from detent.interfaces.http.openapi import page
from tests.driven import CYCLE, PLANS, Json
from tests.patience import LONG
from tests.postgres import Server
from tests.project import Project
from tests.sessions import TEAM
from tests.webbed import Served, script, served, web_project, worktree


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Served, str]]:
    """A project with a run that is done, and its server."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        p = web_project(tmp_path_factory.mktemp("done") / "p")
        found = p.run(
            "run", "add numbers", "--agent", script(p, *[{**e, "say": ["hello\x1b[31m"], "usage": {"usd": 0.5}} for e in CYCLE]), "--json"
        )
        assert found.json["outcome"] == "done", found
        with served(p) as to:
            yield p, to, found.json["run"]


class Answer(NamedTuple):
    status: int
    headers: Any
    body: bytes


@contextmanager
def asked(to: Served, path: str, method: str = "GET", body: bytes = b"", /, **headers: str) -> Iterator[HTTPResponse]:
    """One request, header by header; an empty one is left out."""
    with closing(HTTPConnection("127.0.0.1", to.port, timeout=LONG)) as connection:
        connection.putrequest(method, path, skip_host=True)
        wanted = {"Host": f"127.0.0.1:{to.port}", "Authorization": f"Bearer {to.token}", **headers}
        for name, value in {**wanted, "Content-Length": str(len(body))}.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(body)
        with closing(connection.getresponse()) as answer:
            yield answer


def raw(to: Served, path: str = "/api/runs", method: str = "GET", body: bytes = b"", /, **headers: str) -> Answer:
    with asked(to, path, method, body, **headers) as answer:
        return Answer(answer.status, answer.headers, answer.read())


# -- who is let in -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_this_address_with_the_token_and_from_no_other_site_is_let_in(done: tuple[Project, Served, str]) -> None:
    to = done[1]
    assert raw(to).status == 200
    for headers, status in (
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer x"}, 401),
        ({"Authorization": f"Basic {to.token}"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": f"evil.example:{to.port}"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": f"https://127.0.0.1:{to.port}"}, 403),
        ({"Origin": "null"}, 403),
    ):
        answer = raw(to, **headers)
        told = json.loads(answer.body)
        assert answer.status == status and told["error"] and told["hint"], (headers, answer)
    for path in ("/api/stream", "/api/decisions", "/api/openapi.json", "/api/nothing"):
        assert raw(to, path, Authorization="").status == 401, path
    assert raw(to, "/", Host="evil.example").status == 421, "the page itself is not for other names either"
    assert raw(to, Host=f"localhost:{to.port}", Origin=f"http://localhost:{to.port}").status == 200
    assert raw(to, "/health", Authorization="").status == 200


@pytest.mark.slow
def test_nothing_of_the_page_may_run_that_is_not_its_own(done: tuple[Project, Served, str]) -> None:
    for path in ("/", "/inbox", "/runs/x", "/health"):
        headers = raw(done[1], path, Authorization="").headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy, path
        assert "frame-ancestors 'none'" in policy and "trusted-types 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Access-Control-Allow-Origin"] is None and headers["Set-Cookie"] is None
    index = raw(done[1], "/").body.decode()
    assert "<style" not in index and "style=" not in index and "<script>" not in index
    for path in ("/static/../serve.py", "/static/%2e%2e%2fserve.py", "/static/.hidden", "/static/nothing.js"):
        assert raw(done[1], path).status == 404, path


def test_the_link_hands_over_the_token_once_and_the_token_is_the_users_own(done: tuple[Project, Served, str]) -> None:
    p, to, _ = done
    word = to.link.partition("#once=")[2]
    assert word and to.token not in to.link
    assert to.ask("/api/token", {"once": "x"}, Authorization="")[0] == 401
    assert to.ask("/api/token", {"once": word}, Authorization="") == (200, {"token": to.token})
    assert to.ask("/api/token", {"once": word}, Authorization="")[0] == 401
    file = Path(p.env["XDG_STATE_HOME"]) / "detent" / "web-token"
    assert file.read_text().strip() == to.token and stat.S_IMODE(file.stat().st_mode) == 0o600
    with served(p) as again:
        assert again.token == to.token and again.link != to.link
        raw(again, "/api/runs?q=secret", Authorization="Bearer wrong")
        again.child.terminate()
        assert again.child.stderr is not None and again.child.stderr.read() == "", "nothing of a request is logged"


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    file = tmp_path / "detent" / "web-token"
    file.parent.mkdir()
    file.write_text("x" * 43)
    file.chmod(0o644)
    ran = p.run("serve", "--port", "0", "--no-open", XDG_STATE_HOME=str(tmp_path))
    assert ran.code == 2 and "can be read by others" in ran.err


def test_another_address_needs_a_flag_and_what_it_means_is_said(done: tuple[Project, Served, str]) -> None:
    p = done[0]
    ran = p.run("serve", "--host", "0.0.0.0", "--port", "0", "--no-open")
    assert ran.code == 2 and "--open-to-network" in ran.err
    with served(p, "--host", "0.0.0.0", "--open-to-network") as to:
        assert raw(to).status == 200 and raw(to, Host="evil.example").status == 421
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = p.run("serve", "--port", str(taken.getsockname()[1]), "--no-open")
        assert ran.code == 2 and "--port" in ran.err


# -- what it tells -----------------------------------------------------------------------------------------------------------


def test_a_run_is_told_with_all_there_is_about_it(done: tuple[Project, Served, str]) -> None:
    p, to, run = done
    board = to.get("/api/runs")
    assert board["counts"]["ended"] == board["total"] and board["project"] == p.root.name
    row = next(r for r in board["runs"] if r["run"] == run)
    assert (row["title"], row["state"], row["outcome"], row["done"], row["parts"]) == ("add numbers", "COMPLETE", "done", 1, 1)
    assert row["usage"]["usd"] == 2.5 and row["usage"]["turns"] == len(CYCLE)
    shown = to.get(f"/api/runs/{run}")
    assert [part["status"] for part in shown["plan"]] == ["done"]
    assert {"at": "RED", "to": "GREEN", "times": 1} in shown["path"]
    assert [c["subject"] for c in shown["commits"]] == p.git("log", "--reverse", "--format=%s", f"main..{row['branch']}").splitlines()
    proof = to.get(f"/api/runs/{run}/proof")
    assert proof["verify"].startswith("detent verify ") and any('"red"' in c["claim"] for c in proof["commits"])
    assert "\x1b[31m" in to.get(f"/api/runs/{run}/output")["text"]
    turns = to.get(f"/api/runs/{run}/transcripts")["transcripts"]
    assert [t["state"] for t in reversed(turns)] == [e["state"] for e in CYCLE] and not any(t["open"] for t in turns)
    said = to.get(f"/api/runs/{run}/transcripts/{turns[0]['attempt']}")["text"]
    assert json.loads(said.splitlines()[0])["kind"] == "asked"


def test_events_are_polled_and_name_their_tests_and_their_diff(done: tuple[Project, Served, str]) -> None:
    _, to, run = done
    every = to.get(f"/api/runs/{run}/events")
    assert [e["seq"] for e in every["events"]] == list(range(1, every["last"] + 1))
    assert to.get(f"/api/runs/{run}/events?after=2&limit=1")["events"] == every["events"][2:3]
    assert to.get(f"/api/runs/{run}/events?after={every['last']}")["events"] == []
    red = next(e for e in every["events"] if e["on"] == "red")
    assert red["evidence"]["counts"]["failed"] + red["evidence"]["counts"]["errors"] == 1 and red["attempt"]
    tests = to.get(f"/api/runs/{run}/tests?event={red['seq']}")
    worst, *rest = tests["tests"]
    assert worst["id"].startswith("tests/test_add.py") and worst["outcome"] in ("failed", "error") and worst["new"]
    assert "add" in worst["message"] and [t["outcome"] for t in rest] == ["passed"]
    assert "test_add.py" in to.get(f"/api/runs/{run}/events/{red['seq']}")["output"]
    step, whole = to.get(f"/api/runs/{run}/diff?event={red['seq']}"), to.get(f"/api/runs/{run}/diff")
    assert "+def test_add" in step["text"] and "calc.py b" not in step["text"]
    assert "+def add(a, b):" in whole["text"] and whole["left_out"] == 0


def test_the_tables_are_told_as_states_and_ways(done: tuple[Project, Served, str]) -> None:
    to = done[1]
    for name in to.get("/api/workflows")["workflows"]:
        flow = to.get(f"/api/workflows/{name}")
        states = {s["name"] for s in flow["states"]}
        assert all(a["at"] in states and a["to"] in states | {"back"} for a in flow["arrows"]) and any(s["start"] for s in flow["states"])


@pytest.mark.slow
def test_pages_searches_and_groups(done: tuple[Project, Served, str]) -> None:
    p, to, run = done
    for n in ("first", "second", "third"):
        agent = script(p, {"state": "PLAN", "fail": {"sort": "ModelUnavailable"}}, name=n)
        assert p.run("run", f"the {n} wish", "--agent", agent, "--json").json["outcome"] == "halted"
        p.run("abort")
    first = to.get("/api/runs?limit=2")
    assert first["total"] == 4 and first["next"] == 2 and len(first["runs"]) == 2
    rest = to.get("/api/runs?limit=2&offset=2")
    assert rest["next"] is None and {r["run"] for r in first["runs"] + rest["runs"]} >= {run}
    assert [r["title"] for r in to.get("/api/runs?q=WISH%20second")["runs"]] == ["the second wish"]
    assert to.get("/api/runs?group=waiting")["runs"] == [] and to.get("/api/runs?workflow=pr")["runs"] == []


def test_what_is_wrong_is_said_in_a_sentence_with_the_way_out(done: tuple[Project, Served, str]) -> None:
    to, run = done[1], done[2]
    for path, status in (
        ("/api/runs/nothing", 404),
        ("/api/runs/nothing/stream", 404),
        (f"/api/runs/{run}/events/999", 404),
        (f"/api/runs/{run}/events/x", 404),
        (f"/api/runs/{run}/transcripts/..%2f..%2fjournal", 404),
        ("/api/decisions/nothing:UD-1", 404),
        ("/api/workflows/nothing", 404),
        ("/api/nothing", 404),
        ("/api/runs?limit=many", 400),
        ("/api/runs?limit=0", 400),
        ("/api/runs?q=%00", 400),
        ("/api/runs/%00", 404),
        (f"/api/runs/{run}/events?after=99999999999999999999", 400),
        (f"/api/runs/{run}/diff?event={'9' * 30}", 400),
        (f"/api/runs/{run}/output?after=-{'9' * 30}", 400),
        (f"/static/{'a' * 300}.js", 404),
        ("/static/%00", 404),
        ("/api/runs?colour=blue", 400),
        (f"/api/runs/{run}/tests", 400),
    ):
        found, told = to.ask(path)
        assert found == status and told["error"] and told["hint"], (path, found, told)
    for path, body, status in (
        ("/api/runs", b"{", 400),
        ("/api/runs", b"[" * 100_000, 400),
        ("/api/runs", b'{"request": 1}', 400),
        ("/api/runs", b'{"requests": "x"}', 400),
        ("/api/runs", b'{"request": "' + b"x" * 1_000_001 + b'"}', 400),
        ("/api/runs", b'{"workflow": "tdd", "lean": true, "request": "x"}', 422),
        ("/api/runs", b'{"request": "a\\u0000b"}', 400),
        ("/api/items", b'{"title": "a\\u0000b"}', 400),
        ("/api/items", b'{"title": "' + b"x" * 200_000 + b'"}', 400),
        ("/api/items", b'{"title": "x", "priority": -1000000000000000000000000000000}', 400),
        ("/api/items", b'{"title": "x", "priority": 5}', 400),
        ("/api/items/nothing/close", b"{}", 404),
        ("/api/executions/nothing/cancel", b"{}", 404),
        (f"/api/runs/{run}/steer", b"{}", 400),
        (f"/api/decisions/{run}:x", b"{}", 400),
    ):
        answer = raw(to, path, "POST", body, **{"Content-Type": "application/json"})
        told = json.loads(answer.body)
        assert answer.status == status and told["error"] and told["hint"], (path, body[:40], answer.status, told)
    assert raw(to, "/api/runs", "POST", b"{}", **{"Content-Type": "text/plain"}).status == 400, "a form of another site cannot speak JSON"
    assert raw(to, f"/api/runs/{run}", "DELETE").status == 405


def test_the_openapi_page_holds_every_route_and_every_reference_leads_somewhere(done: tuple[Project, Served, str]) -> None:
    told = done[1].get("/api/openapi.json")
    assert told == json.loads(json.dumps(page()))
    assert told["openapi"].startswith("3.1") and told["info"]["title"] and told["info"]["version"]
    built = build(Path(), "", {}, asyncio.Event())
    served_here = {
        (r.path, m) for r in built.routes if isinstance(r, At) for m in r.methods or () if r.path.startswith(("/api/", "/health"))
    }
    own = {(path, method.upper()) for path, operations in told["paths"].items() for method in operations}
    assert {(p, m) for p, m in served_here if m != "HEAD"} - own == {("/api/openapi.json", "GET")} and own <= served_here
    for path, operations in told["paths"].items():
        for method, operation in operations.items():
            codes = set(operation["responses"])
            assert codes >= {"400", "401", "403", "404", "409", "421", "422", "500"} and codes & {"200", "201"}, (path, method)
            assert all(answer["description"] and answer["content"] for answer in operation["responses"].values())
            names = [(p["in"], p["name"]) for p in operation["parameters"]]
            assert len(names) == len(set(names)) and all("schema" in p for p in operation["parameters"])
            assert {n for where, n in names if where == "path"} == set(re.findall(r"{(\w+)}", path))
            assert ("requestBody" in operation) == (method == "post") and operation["summary"]
            assert (("header", "Last-Event-ID") in names) == path.endswith("/stream")
    assert told["paths"]["/api/token"]["post"]["security"] == [] == told["paths"]["/health"]["get"]["security"]

    def refs(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from ([value["$ref"]] if "$ref" in value else [])
            for each in value.values():
                yield from refs(each)
        elif isinstance(value, list):
            for each in value:
                yield from refs(each)

    schemas = told["components"]["schemas"]
    assert {r.rpartition("/")[2] for r in refs(told)} <= set(schemas) and "Verdict" in schemas


# -- streams -----------------------------------------------------------------------------------------------------------------


def frames(answer: HTTPResponse) -> Iterator[dict[str, str]]:
    """The events of a stream, as they come."""
    now: dict[str, str] = {}
    while line := answer.readline().decode():
        name, _, value = line.rstrip("\n").partition(": ")
        if name and value:
            now[name] = value
        elif now:
            yield now
            now = {}


def events_of(answer: HTTPResponse) -> Iterator[dict[str, str]]:
    return (f for f in frames(answer) if f.get("event") == "event")


@pytest.mark.slow
def test_a_stream_goes_on_after_the_event_that_was_seen_last(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    agent = script(p, PLANS, {"state": "RED", "wait": 600})
    with served(p) as to:
        status, made = to.ask("/api/runs", {"request": "add numbers", "agent": agent})
        assert status == 201, made
        run = made["run"]["run"]
        seen: list[Json] = []
        with asked(to, f"/api/runs/{run}/stream?after=0") as answer:
            for frame in events_of(answer):
                seen.append(json.loads(frame["data"]))
                assert frame["id"] == str(seen[-1]["seq"])
                if len(seen) == 2:
                    break
        assert [e["on"] for e in seen] == ["start", "planned"]
        to.ask(f"/api/runs/{run}/steer", {"text": "mind the gap"})
        with asked(to, f"/api/runs/{run}/stream", **{"Last-Event-ID": "2"}) as answer:
            again = next(events_of(answer))
        assert (again["id"], json.loads(again["data"])["summary"]) == ("3", "mind the gap")
        status, verdict = to.ask(f"/api/runs/{run}/abort", {"reason": "enough"})
        assert (status, verdict["status"]) == (200, "SUCCESS")
        assert to.get(f"/api/runs/{run}")["run"]["outcome"] == "aborted"
    events = p.run("history", "--run", run, "--json").json["events"]
    assert {e["channel"] for e in events if e["by"] == "human"} == {"web"}


# -- people ------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_in_a_shared_database_are_served_and_streamed_the_same(tmp_path: Path, postgres_server: Server) -> None:
    p = web_project(tmp_path / "p")
    p.env["DETENT_QUEUE_URL"] = postgres_server.database()
    with served(p) as to, asked(to, "/api/stream") as stream:
        heard = frames(stream)
        ran = p.run("run", "add numbers", "--agent", script(p, *CYCLE), "--json")
        assert ran.json["outcome"] == "done", ran
        run = ran.json["run"]
        assert next(frame for frame in heard if run in frame.get("data", "")), "another process wrote it, and the page hears of it"
        assert [(r["run"], r["state"]) for r in to.get("/api/runs")["runs"]] == [(run, "COMPLETE")]
        events = to.get(f"/api/runs/{run}/events")["events"]
        assert [e["on"] for e in events][:3] == ["start", "planned", "red"], events


@pytest.mark.slow
def test_an_answer_is_bound_to_what_was_shown_and_drives_the_run_on(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p")
    run = p.run("run", "--workflow", "pipeline", "a till", "--agent", script(p, *TEAM), "--json").json["run"]
    with served(p) as to:
        open_now = to.get("/api/decisions")["decisions"]
        assert [(q["decision"], q["kind"]) for q in open_now] == [("UD-APPROVE-DESIGN", "approval")]
        shown = to.get(f"/api/decisions/{open_now[0]['id']}")
        assert [a["path"] for a in shown["artifacts"]] == ["spec.md", "acceptance.json", "architecture.md"]
        assert "prices are added" in shown["artifacts"][0]["text"] and shown["to"] == ["spec", "research", "architecture", "design"]
        workspace = Path(to.get(f"/api/runs/{run}")["workspace"])
        spec = next(workspace.glob(".agents-work/*/spec.md"))
        spec.write_text(spec.read_text() + "\nand everything is free\n")
        status, told = to.ask(f"/api/decisions/{open_now[0]['id']}", {"shown": shown["shown"], "value": "approved"})
        assert status == 409 and "has changed since" in told["error"]
        spec.write_text(spec.read_text().removesuffix("\nand everything is free\n"))
        status, verdict = to.ask(f"/api/decisions/{open_now[0]['id']}", {"shown": shown["shown"], "value": "approved", "note": "fine"})
        assert (status, verdict["status"]) == (200, "SUCCESS")
        with asked(to, f"/api/runs/{run}/stream?after=0") as answer:
            assert any(json.loads(f["data"])["state"] == "REVIEW_STRATEGY" for f in events_of(answer)), "it was driven on"
        assert to.ask(f"/api/decisions/{open_now[0]['id']}", {"shown": shown["shown"], "value": "approved"})[0] == 404
        told = next(q for q in to.get("/api/decisions?all=true")["decisions"] if q["status"] == "answered")
        assert told["answered_by"].endswith("web")
        to.ask(f"/api/runs/{run}/abort", {})


@pytest.mark.slow
def test_where_a_terminal_is_required_the_page_may_not_speak(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", config="[git]\nremote=''\n[sandbox]\nlevel='none'\n[decisions]\nrequire='terminal'\n")
    p.write({"docs/Plan_Doc/Active_Plan.md": "- feat: add numbers\n"})
    p.git("add", "-A")
    p.git("commit", "-qm", "a plan")
    run = p.task()["run"]
    with served(p) as to:
        status, told = to.ask(f"/api/runs/{run}/abort", {})
        assert status == 422 and "terminal" in told["error"]
        assert to.get(f"/api/runs/{run}")["run"]["group"] == "working"
        to.ask("/api/items", {"title": "Add prices"})
        assert to.ask("/api/executions", {"items": ["it-1"], "agent": "command:true"})[0] == 201
        for path, body in (
            ("/api/executions", {"items": ["it-1"], "again": True}),
            ("/api/executions/it-1/cancel", {}),
            ("/api/executions/it-1/retry", {}),
            ("/api/queue", {"paused": True}),
            ("/api/items/it-1/close", {}),
        ):
            status, told = to.ask(path, body)
            assert status == 422 and "terminal" in told["error"], path
        assert [e["state"] for e in to.get("/api/executions")["executions"]] == ["ready"] and not to.get("/api/executions")["paused"]


@pytest.mark.slow
def test_runs_of_every_checkout_of_the_repository_are_on_one_board(tmp_path: Path) -> None:
    p = web_project(tmp_path / "p", {"docs/Plan_Doc/Active_Plan.md": "- feat: add numbers\n"})
    other = worktree(p, "other")
    runs = {p.task()["run"], other.task()["run"]}
    with served(p) as to:
        assert {r["run"] for r in to.get("/api/runs")["runs"]} == runs
