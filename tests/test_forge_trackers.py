"""GitHub's and GitLab's issues as trackers, where they differ from the others: claims between machines, limits, what people write there."""

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from detent.errors import DetentError, Unreached
from detent.forge import ForgeError, token_of, where_of
from detent.git.place import find_place
from detent.tracker import NewItem, Tracker, TrackerChange, UnknownItem
from tests.forge_github import GitHub
from tests.forge_gitlab import GitLab
from tests.forge_server import USERS, Said, served
from tests.repos import make_repo
from tests.trackers import FORGES, at_forge, kind_at

EVE, BEN = USERS["token-x"], USERS["token-b"]


class Rig:
    def __init__(self, kind: str, folder: Path, forge: GitHub | GitLab) -> None:
        self.kind, self.folder, self.forge = kind, folder, forge
        self.tracker = self.as_("token-a")

    def as_(self, token: str, **wanted: str) -> Tracker:
        return at_forge(self.kind, self.folder, self.forge.url, token, **wanted)

    def labels(self, id: str) -> list[str]:
        labels: list[str] = self.forge.issues[int(id)]["labels"]
        return labels

    def is_open(self, id: str) -> bool:
        return self.forge.issues[int(id)]["state"] in ("open", "opened")

    @property
    def comments(self) -> list[str]:
        return [row["body"] for row in (self.forge.comments if isinstance(self.forge, GitHub) else self.forge.notes).values()]


@pytest.fixture(params=sorted(FORGES))
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    forge = FORGES[request.param][0]()
    with served(forge):
        yield Rig(request.param, tmp_path, forge)


# -- claims --------------------------------------------------------------------------------------------------------------------


@pytest.mark.sample(1)
def test_two_machines_never_take_one_issue(rig: Rig) -> None:
    ids = [rig.tracker.add(NewItem(f"item {n}")).id for n in range(8)]
    start = rig.folder / "start"
    words = [(token, f"detent/{token}") for token in ("token-a", "token-b")]
    argv = [sys.executable, "-m", "tests.forge_claimer", rig.kind]
    machines = []
    for token, who in words:
        order = ids if token == "token-a" else ids[:1] + ids[:0:-1]
        more = [str(rig.folder), rig.forge.url, token, who, str(start), *order]
        machines.append(subprocess.Popen([*argv, *more], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent))
    assert [machine.stdout.readline() for machine in machines if machine.stdout] == ["ready\n", "ready\n"]
    start.touch()
    got = [machine.communicate()[0].split() for machine in machines]
    assert sorted(got[0] + got[1]) == sorted(ids)  # each by one of them, and by one alone
    for (_, who), mine in zip(words, got, strict=True):
        assert {rig.tracker.items(id)[0].assignee for id in mine} <= {who}
    assert len([c for c in rig.comments if "detent:claim" in c]) == len(ids)


def test_of_two_claims_the_older_one_counts_and_the_other_is_taken_back(rig: Rig) -> None:
    id = rig.tracker.add(NewItem("sums")).id
    assert rig.as_("token-b").claim(id, "detent/b")
    assert not rig.tracker.claim(id, "detent/a")
    rig.forge.say(int(id), rig.comments[0].replace("detent/b", "detent/c"), BEN)  # as of one who was killed before it could take it back
    assert rig.tracker.items(id)[0].assignee == "detent/b"
    rig.tracker.change(id, TrackerChange("open", assignee=""))
    assert not rig.comments and rig.tracker.claim(id, "detent/a")


def test_a_claim_of_somebody_who_may_not_write_to_the_project_is_none(rig: Rig) -> None:
    id = rig.tracker.add(NewItem("sums")).id
    rig.tracker.claim(id, "detent/a")
    forged, _ = rig.comments[0].replace("detent/a", "detent/eve"), rig.tracker.change(id, TrackerChange("open", assignee=""))
    rig.forge.say(int(id), forged, EVE)
    assert rig.tracker.items(id)[0].assignee == "" and rig.tracker.claim(id, "detent/a")


def test_what_a_person_is_assigned_to_is_theirs_and_what_we_are_assigned_to_is_free(rig: Rig) -> None:
    theirs, ours = rig.forge.put("theirs", assignees=["zoe"]), rig.forge.put("ours", assignees=["ann"])
    assert [item.assignee for item in rig.tracker.items()] == ["zoe", ""]
    assert not rig.tracker.claim(str(theirs), "detent/a") and rig.tracker.claim(str(ours), "detent/a")
    assert {item.id: item.assignee for item in rig.tracker.items()} == {str(theirs): "zoe", str(ours): "detent/a"}


# -- what people write ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("Blocked by #1", ("1",)),
        ("this is **blocked by**: #1, #2 and #3.", ("1", "2", "3")),
        ("Depends on #2\n\ndepends on #1", ("2", "1")),
        ("- [ ] #1\n- [x] #2 with words\n* [ ] something else", ("1", "2")),
        ("waits for https://example.org/acme/shop/issues/2", ("2",)),
        ("see #1, and #2 is not blocked", ()),
        ("```\nblocked by #1\n```\n<!-- blocked by #2 -->", ()),
        ("blocked by #4 (itself)", ()),
        (None, ()),
    ],
)
def test_what_an_issue_waits_for_is_read_as_people_write_it(rig: Rig, body: str | None, needs: tuple[str, ...]) -> None:
    for name in ("a", "b", "c"):
        rig.forge.put(name)
    id = rig.forge.put("d", body)
    assert rig.tracker.items(str(id))[0].depends_on == needs
    assert rig.tracker.items()[-1].depends_on == needs


def test_the_links_of_the_forge_itself_count_too(rig: Rig) -> None:
    a, b, c = (rig.forge.put(name) for name in "abc")
    if isinstance(rig.forge, GitHub):
        rig.forge.blockers[c] = [a]
    else:
        rig.forge.links[c] = [(a, "is_blocked_by"), (b, "relates_to")]
    assert rig.tracker.items(str(c))[0].depends_on == (str(a),)
    assert [item.depends_on for item in rig.tracker.items()] == [(), (), (str(a),)]


def test_a_text_that_a_person_wrote_stays_as_it_is_when_we_add_to_it(rig: Rig) -> None:
    first, second = rig.forge.put("a"), rig.forge.put("b", "Do it.\n\n- step\n")
    rig.tracker.change(str(second), TrackerChange(depends_on=(str(first),)))
    body = rig.forge.issues[second].get("body") or rig.forge.issues[second]["description"]
    assert body.startswith("Do it.\n\n- step\n") and f"Blocked by #{first}." in body
    now = rig.tracker.items(str(second))[0]
    assert (now.description, now.depends_on) == ("Do it.\n\n- step", (str(first),))


def test_labels_say_priority_type_and_whether_an_issue_may_run(rig: Rig) -> None:
    rig.forge.put("a", "x", ("P0", "bug", "go", "ui"))
    rig.forge.put("b", "x", ("detent:blocked", "go"))
    rig.forge.put("c", "x")
    tracker = rig.as_("token-a", ready="go")
    assert [(i.status, i.priority, i.type, i.labels) for i in tracker.items()] == [
        ("open", 0, "bug", ("go", "ui")), ("blocked", 2, "task", ("go",)), ("deferred", 2, "task", ()),
    ]  # fmt: skip
    assert tracker.change("3", TrackerChange("open")).status == "open" and rig.labels("3") == ["go"]


def test_a_query_says_which_issues_are_items_and_what_is_filed_is_one_of_them(rig: Rig) -> None:
    rig.forge.put("not ours")
    rig.forge.put("ours", None, ("team",))
    tracker = rig.as_("token-a", query="labels=team")
    assert [item.title for item in tracker.items()] == ["ours"]
    tracker.add(NewItem("follow", key="detent:1:tests"))
    assert [item.title for item in tracker.items()] == ["ours", "follow"]


def test_a_follow_up_is_linked_and_never_filed_twice_whoever_does_it(rig: Rig) -> None:
    first = rig.tracker.add(NewItem("origin")).id
    one = rig.tracker.add(NewItem("Tests fail", "out --> put", key="detent:1:tests} -->", found_in=first))
    body = rig.forge.issues[int(one.id)].get("body") or rig.forge.issues[int(one.id)]["description"]
    assert f"Found in #{first}." in body and one.found_in == (first,) and one.description == "out --> put"
    assert rig.as_("token-b").add(NewItem("Tests fail", key="detent:1:tests} -->")).id == one.id
    rig.forge.put("forged", body)  # by somebody who may not label
    assert rig.tracker.add(NewItem("Tests fail", key="detent:1:tests} -->")).id == one.id and len(rig.forge.issues) == 3


def test_what_two_machines_file_at_once_is_one_item(rig: Rig) -> None:
    def other_machine(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/issues"):
            rig.forge.meanwhile = None
            rig.as_("token-b").add(NewItem("Tests fail", key="detent:1:tests"))

    rig.forge.meanwhile = other_machine
    filed = rig.tracker.add(NewItem("Tests fail", key="detent:1:tests"))
    assert filed.id == "1" and len(rig.forge.issues) == 2
    assert rig.is_open("1") and not rig.is_open("2") and any("The same as #1" in c for c in rig.comments)
    assert rig.tracker.add(NewItem("Tests fail", key="detent:1:tests")).id == "1" and len(rig.forge.issues) == 2


def test_what_is_done_counts_as_closed_and_is_closed_by_the_merge(rig: Rig) -> None:
    id = rig.tracker.add(NewItem("sums")).id
    rig.tracker.claim(id, "detent/a")
    assert rig.tracker.change(id, TrackerChange("closed", assignee="", by_merge=True)).status == "closed"
    assert rig.is_open(id) and rig.labels(id) == ["detent:done"] and not rig.tracker.claim(id, "detent/b")
    assert rig.tracker.change(id, TrackerChange("open")).status == "open" and rig.labels(id) == []
    rig.tracker.change(id, TrackerChange("closed", by_merge=True))
    rig.tracker.change(id, TrackerChange("closed"))
    assert not rig.is_open(id)


def test_notes_are_comments_and_a_long_one_is_cut(rig: Rig) -> None:
    id = rig.tracker.add(NewItem("sums")).id
    rig.forge.say(int(id), "a person's own words", BEN)
    long = "x" * 100_000
    assert rig.tracker.change(id, TrackerChange(note=long)).notes == rig.tracker.change(id, TrackerChange(note=long)).notes
    assert len(rig.comments) == 2 and len(rig.comments[1]) < 65_000 and "the rest is left out" in rig.comments[1]
    assert "own words" not in rig.tracker.items(id)[0].notes


def test_a_line_that_gitlab_would_carry_out_is_only_shown(tmp_path: Path) -> None:
    with served(forge := GitLab()):
        tracker = at_forge("gitlab", tmp_path, forge.url)
        item = tracker.add(NewItem("sums", "do this:\n/close\n"))
        tracker.change(item.id, TrackerChange(note="/close"))
        now = tracker.items(item.id)[0]
        assert now.status == "open" and now.description == "do this:\n/close" and now.notes == "/close"


def test_a_pull_request_can_be_waited_for_and_is_no_item(tmp_path: Path) -> None:
    with served(forge := GitHub()):
        pull, id = forge.put("a change", pull_request={"url": "x"}), forge.put("sums", "depends on #1")
        tracker = at_forge("github", tmp_path, forge.url)
        assert [item.id for item in tracker.items()] == [str(id)] and tracker.items(str(pull))[0].type == "pull-request"
        with pytest.raises(DetentError, match="1 is a pull request, not an issue"):
            tracker.claim(str(pull), "detent/a")


def test_an_id_may_be_written_with_its_hash(rig: Rig) -> None:
    id = rig.tracker.add(NewItem("sums")).id
    assert rig.tracker.items(f"#{id}")[0].id == id


# -- pages, tags and limits ----------------------------------------------------------------------------------------------------


def test_all_pages_are_read(rig: Rig) -> None:
    rig.forge.most = 7
    for n in range(40):
        rig.forge.put(f"item {n}", None, ("detent:in-progress",))
    assert [item.title for item in rig.tracker.items()] == [f"item {n}" for n in range(40)]


def test_what_has_not_changed_is_not_sent_again(rig: Rig) -> None:
    rig.forge.put("sums")
    before = rig.tracker.items()
    assert rig.forge.times("GET", 304) == 0
    assert rig.as_("token-a").items() == before and rig.forge.times("GET", 200) == rig.forge.times("GET", 304)
    rig.forge.put("more")
    assert len(rig.tracker.items()) == 2


def test_an_answer_that_somebody_else_wrote_down_is_not_believed(rig: Rig) -> None:
    rig.forge.put("sums")
    before = rig.tracker.items()
    kept = list((rig.folder / "p" / ".git" / "detent" / "forge").glob("*.json"))
    for file in kept:
        file.write_text(file.read_text().replace("sums", "evil"))
    assert kept and rig.tracker.items() == before


RESET = "in half an hour"


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("said", "words", "seconds"),
    [
        (Said(429, {"message": "slow down"}, {"Retry-After": "90"}), "accepts no more requests until", 90),
        (Said(403, {"message": "API rate limit exceeded"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": RESET}), "no more requests", 1800),
        (Said(429, {"message": "Retry later"}, {"RateLimit-Remaining": "0", "RateLimit-Reset": RESET}), "no more requests", 1800),
        (Said(403, {"message": "You have exceeded a secondary rate limit"}), "secondary rate limit", 60),
        (Said(429, b"Retry later", {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}), "accepts no more requests", 60),
        (Said(502, b"<html>Bad gateway</html>"), "has an internal error", 60),
        (Said(503, {"message": "maintenance"}, {"Retry-After": "7"}), "no more requests", 7),
    ],
)  # fmt: skip
def test_a_limit_is_told_with_the_time_to_ask_again(rig: Rig, said: Said, words: str, seconds: int) -> None:
    soon = str(int(time.time()) + 1800)  # seen from the test, which may run long after it was collected
    said = said._replace(headers={name: soon if value == RESET else value for name, value in said.headers.items()})
    rig.forge.faults = [said]
    with pytest.raises(Unreached, match=words) as told:
        rig.tracker.items()
    wait = (datetime.fromisoformat(told.value.until) - datetime.now(UTC)).total_seconds()
    assert seconds - 30 <= wait <= seconds + 1 and "by itself" in told.value.hint
    asked = len(rig.forge.seen)
    if said.status == 502:
        assert rig.tracker.items() == []
        return
    with pytest.raises(Unreached, match="accepts no more requests until"):
        rig.as_("token-a").items()
    assert len(rig.forge.seen) == asked and rig.as_("token-b").items() == []  # nothing is sent while it holds


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Said(401, {"message": "Bad credentials"}), "does not accept the token"),
        (Said(403, {"message": "Resource not accessible by personal access token"}), "does not allow this to the token.*not accessible"),
        (Said(422, {"message": "Validation Failed", "errors": [{"code": "invalid"}]}), "does not accept this.*Validation Failed invalid"),
        (Said(200, b"<html>log in</html>"), "is not JSON"),
        (Said(200, b""), "is not JSON"),
        (Said(200, {"a": 1}), "is not a list"),
        (Said(200, [{"title": "no number", "state": "open"}]), "cannot be read"),
        (Said(200, b"[" * 200_000), "is not JSON"),
        (Said(302, None, {"Location": "https://evil.example/issues"}), "another host .*the token is not sent there"),
        (Said(200, [], {"Link": '<https://evil.example/?page=2>; rel="next"'}), "another host"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_never_an_empty_list(rig: Rig, said: Said, words: str) -> None:
    rig.forge.faults = [said]
    with pytest.raises(ForgeError, match=words) as told:
        rig.tracker.items()
    assert told.value.until == "" and told.value.hint


def test_a_project_that_the_token_may_not_see_is_not_an_item_that_is_not_there(rig: Rig) -> None:
    rig.forge.put("sums")
    with pytest.raises(UnknownItem):
        rig.tracker.items("7")
    rig.forge.hidden = True
    with pytest.raises(ForgeError, match="has nothing there, or the token may not see it"):
        rig.tracker.items("7")
    with pytest.raises(ForgeError, match="may not see it"):
        rig.tracker.items()


def test_a_forge_that_does_not_answer_is_asked_again_later(rig: Rig, tmp_path: Path) -> None:
    nobody = at_forge(rig.kind, tmp_path, "http://127.0.0.1:9")
    with pytest.raises(Unreached, match="cannot be reached") as told:
        nobody.items()
    assert told.value.until


def test_a_project_that_moved_is_followed_on_the_same_host(rig: Rig) -> None:
    rig.forge.put("sums")
    listed = rig.tracker.items()
    at = next(seen.path for seen in rig.forge.seen if seen.path.endswith("/issues"))
    rig.forge.faults = [Said(301, None, {"Location": f"{rig.forge.url}{at}?per_page=100"})]
    assert rig.as_("token-b").items() == listed
    rig.forge.faults = [Said(307, None, {"Location": f"{rig.forge.url}{at}"})] * 9
    with pytest.raises(ForgeError, match="keeps redirecting"):
        rig.tracker.items()


# -- where and who -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, "names no host"),
        ({"URL": "ftp://127.0.0.1"}, "is not a web address"),
        ({"URL": "http://forge.example/api"}, "is not encrypted, so no token is sent there"),
        ({"URL": "http://127.0.0.1:9"}, "there is no token for"),
        ({"URL": "http://127.0.0.1:9", "TOKEN": "two\nlines"}, "not one line"),
        ({"URL": "http://127.0.0.1:9", "TOKEN": "ümlaut"}, "not one line"),
    ],
)
@pytest.mark.parametrize("kind", sorted(FORGES))
def test_where_a_forge_is_and_who_asks_has_to_be_known(tmp_path: Path, kind: str, env: dict[str, str], words: str) -> None:
    place = find_place(make_repo(tmp_path / "p", {"a.txt": "a"}))
    names = {"URL": FORGES[kind][2], "TOKEN": FORGES[kind][3]}
    with pytest.raises(DetentError, match=words) as told:
        kind_at(kind, place, {"PATH": "/usr/bin:/bin", **{names[name]: value for name, value in env.items()}})
    assert told.value.hint


@pytest.mark.parametrize("kind", sorted(FORGES))
def test_the_login_of_the_forges_own_program_is_used(tmp_path: Path, kind: str) -> None:
    program = {"github": "gh", "gitlab": "glab"}[kind]
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / program).write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\necho token-a\n')
    (folder / program).chmod(0o755)
    with served(forge := FORGES[kind][0]()):
        forge.put("sums")
        place = find_place(make_repo(tmp_path / "p", {"a.txt": "a"}))
        tracker = kind_at(kind, place, {"PATH": f"{folder}:/usr/bin:/bin", FORGES[kind][2]: forge.url})
        assert [item.title for item in tracker.items()] == ["sums"]
    assert (tmp_path / "asked").read_text().split()[-1] == "127.0.0.1"


@pytest.mark.parametrize(
    ("kind", "remote", "url", "project"),
    [
        ("github", "git@github.com:acme/shop.git", "https://api.github.com", "acme/shop"),
        ("github", "https://user:secret@github.com/acme/shop", "https://api.github.com", "acme/shop"),
        ("github", "ssh://git@GitHub.com:22/acme/shop.git/", "https://api.github.com", "acme/shop"),
        ("github", "https://acme.ghe.com/acme/shop.git", "https://api.acme.ghe.com", "acme/shop"),
        ("github", "git@git.acme.example:acme/shop.git", "https://git.acme.example/api/v3", "acme/shop"),
        ("gitlab", "git@gitlab.com:acme/tools/shop.git", "https://gitlab.com/api/v4", "acme/tools/shop"),
        ("gitlab", "https://git.acme.example/acme/shop.git", "https://git.acme.example/api/v4", "acme/shop"),
    ],
)
def test_the_api_and_the_project_follow_from_the_remote(kind: str, remote: str, url: str, project: str) -> None:
    where = where_of(kind, remote, "", {})
    assert (where.url, where.project, where.is_configured) == (url, project, False)


@pytest.mark.parametrize(
    ("kind", "remote", "project"),
    [
        ("github", "/srv/git/shop.git", ""),
        ("github", "", "acme/shop"),
        ("github", "git@github.com:shop.git", ""),
        ("github", "git@github.com:a/b/c.git", ""),
        ("github", "git@github.com:acme/shop.git", "acme/../user"),
        ("gitlab", "file:///srv/shop.git", ""),
        ("gitlab", "git@gitlab.com:acme/shop.git", "../.."),
    ],
)
def test_a_remote_that_names_no_project_is_told_with_the_way_out(kind: str, remote: str, project: str) -> None:
    with pytest.raises(DetentError) as told:
        where_of(kind, remote, project, {})
    assert told.value.hint and "secret" not in told.value.message


@pytest.mark.parametrize(
    ("kind", "remote", "env", "token"),
    [
        ("github", "git@github.com:a/b", {"GITHUB_TOKEN": "g", "GH_TOKEN": "h"}, "h"),
        ("github", "git@git.evil.example:a/b", {"GITHUB_TOKEN": "g"}, ""),
        ("github", "git@git.evilgithub.com:a/b", {"GITHUB_TOKEN": "g"}, ""),
        ("github", "git@git.acme.example:a/b", {"GITHUB_TOKEN": "g", "GH_ENTERPRISE_TOKEN": "e"}, "e"),
        ("github", "git@git.acme.example:a/b", {"GITHUB_TOKEN": "g", "GH_HOST": "git.acme.example"}, "g"),
        ("gitlab", "git@gitlab.com:a/b", {"GITLAB_TOKEN": "l"}, "l"),
        ("gitlab", "git@git.evil.example:a/b", {"GITLAB_TOKEN": "l"}, ""),
        ("gitlab", "git@git.acme.example:a/b", {"GITLAB_TOKEN": "l", "GITLAB_HOST": "https://git.acme.example"}, "l"),
    ],
)
def test_a_token_goes_to_the_host_that_it_is_for_and_to_no_other(kind: str, remote: str, env: dict[str, str], token: str) -> None:
    where = where_of(kind, remote, "", env)
    if token:
        assert token_of(where, env, lambda program, words: "") == token
        return
    with pytest.raises(ForgeError, match="there is no token for") as told:
        token_of(where, env, lambda program, words: "")
    assert f"auth login --hostname {where.host}" in told.value.hint
    assert token_of(where, env, lambda program, words: f"{program} {words[-1]}\n".replace(" ", "-")).endswith(where.host)
