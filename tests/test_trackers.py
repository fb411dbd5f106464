"""The conformance suite of trackers: the built-in one, beads by its program in all shapes of its answers and by its data file, GitHub, GitLab."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import DetentError
from detent.git.place import find_place
from detent.tracker import STATUSES, TRACKERS, NewItem, Tracker, TrackerChange, TrackerError, UnknownItem, open_of
from tests.forge_server import served
from tests.machine import need
from tests.repos import make_repo, sh
from tests.trackers import FORGES, at_forge, beads_folder, kind_at, made, put_bd

KINDS = ("builtin", "shared", "bd", "bd-raw", "bd-items", "file", "github", "gitlab")


@pytest.fixture(params=KINDS)
def tracker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tracker]:
    if request.param in FORGES:
        with served(forge := FORGES[request.param][0]()):
            yield at_forge(request.param, tmp_path, forge.url)
        return
    shared = request.param == "shared"
    yield made(request.param, tmp_path, request.getfixturevalue("postgres_server").database() if shared else "")


@pytest.mark.sample(4)
def test_an_item_is_there_as_it_was_filed(tracker: Tracker) -> None:
    assert tracker.items() == []
    new = NewItem('--force: it\'s "sums" $(id)', "Sums\nare missing: ünï", 0, "bug", ("a", "b"))
    filed = tracker.add(new)
    assert (filed.title, filed.description, filed.status, filed.priority, filed.type) == (new.title, new.description, "open", 0, "bug")
    assert (filed.labels, filed.assignee, filed.depends_on) == (("a", "b"), "", ())
    assert tracker.items(filed.id) == [filed] and [item.id for item in tracker.items()] == [filed.id]


@pytest.mark.sample(2)
def test_there_is_one_item_of_a_key(tracker: Tracker) -> None:
    first = tracker.add(NewItem("origin"))
    one = tracker.add(NewItem("Tests fail", "the output", key="detent:it-1:tests", found_in=first.id))
    again = tracker.add(NewItem("Tests fail", "another output", key="detent:it-1:tests", found_in=first.id))
    assert again == one and one.found_in == (first.id,) and one.depends_on == () and len(tracker.items()) == 2
    assert tracker.add(NewItem("no key")).id != tracker.add(NewItem("no key")).id
    tracker.change(one.id, TrackerChange("closed"))
    assert tracker.add(NewItem("Tests fail", key="detent:it-1:tests")).id == one.id


@pytest.mark.sample(2)
def test_a_claim_is_for_one_alone_and_can_be_repeated_by_them(tracker: Tracker) -> None:
    id = tracker.add(NewItem("sums")).id
    assert tracker.claim(id, "detent/a") and tracker.claim(id, "detent/a")
    assert not tracker.claim(id, "detent/b")
    now = tracker.items(id)[0]
    assert (now.status, now.assignee) == ("in_progress", "detent/a")
    tracker.change(id, TrackerChange("in_progress", assignee=""))
    assert tracker.claim(id, "detent/b")
    tracker.change(id, TrackerChange("closed", assignee=""))
    assert not tracker.claim(id, "detent/c") or tracker.items(id)[0].status != "closed"


@pytest.mark.sample(2)
def test_of_many_that_claim_at_once_one_gets_it(tracker: Tracker) -> None:
    id = tracker.add(NewItem("sums")).id
    got: list[str] = []
    threads = [threading.Thread(target=lambda who=f"w{n}": got.append(who) if tracker.claim(id, who) else None) for n in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(got) == 1 and tracker.items(id)[0].assignee == got[0]


@pytest.mark.sample(2)
def test_a_change_changes_what_it_names_and_nothing_else(tracker: Tracker) -> None:
    id = tracker.add(NewItem("sums", "text", labels=("a",))).id
    for status in STATUSES:
        assert tracker.change(id, TrackerChange(status)).status == status
    now = tracker.change(id, TrackerChange("open", labels=("timeout",), note="the first note"))
    assert (now.status, now.labels, now.notes, now.description) == ("open", ("a", "timeout"), "the first note", "text")
    again = tracker.change(id, TrackerChange("open", labels=("timeout",), note="the first note"))
    assert again == now
    assert "the second" in tracker.change(id, TrackerChange(note="the second")).notes and "first" in tracker.items(id)[0].notes


@pytest.mark.sample(2)
def test_an_item_can_be_edited_and_reopened(tracker: Tracker) -> None:
    need, id = tracker.add(NewItem("need")).id, tracker.add(NewItem("sums", "text", 3, "bug", ("a", "b"), key="detent:k")).id
    tracker.change(id, TrackerChange(depends_on=(need,)))
    now = tracker.change(
        id, TrackerChange(title="Sums", description="more\ntext", priority=0, type="feature", labels=("c",), drop=("a", "nowhere"))
    )
    assert (now.title, now.description, now.priority, now.type, set(now.labels)) == ("Sums", "more\ntext", 0, "feature", {"b", "c"})
    assert (now.status, now.key, now.depends_on) == ("open", "detent:k", (need,)) and tracker.items(id) == [now]
    now = tracker.change(id, TrackerChange("closed", description="", priority=2, type="task"))
    assert (now.status, now.description, now.priority, now.type, now.title) == ("closed", "", 2, "task", "Sums")
    assert tracker.change(id, TrackerChange("open")).status == "open"


@pytest.mark.slow
def test_items_wait_for_each_other_and_never_in_a_circle(tracker: Tracker) -> None:
    a, b, c = (tracker.add(NewItem(name)).id for name in "abc")
    assert tracker.change(b, TrackerChange(depends_on=(a,))).depends_on == (a,)
    assert tracker.change(c, TrackerChange(depends_on=(a, b))).depends_on == (a, b)
    with pytest.raises(DetentError, match="cycle"):
        tracker.change(a, TrackerChange(depends_on=(c,)))
    with pytest.raises(DetentError):
        tracker.change(a, TrackerChange(depends_on=("nowhere",)))
    assert tracker.items(a)[0].depends_on == ()
    assert open_of(tracker, (a, b)) == [a, b]
    tracker.change(a, TrackerChange("closed"))
    assert open_of(tracker, tracker.items(c)[0].depends_on) == [b]


@pytest.mark.sample(10)
@pytest.mark.parametrize("id", ["nowhere", "", "--all", "a b", "../x", "x\ny"])
def test_an_item_that_is_not_there_is_an_error(tracker: Tracker, id: str) -> None:
    there = tracker.add(NewItem("sums")).id
    for call in (lambda: tracker.items(there, id), lambda: tracker.claim(id, "w"), lambda: tracker.change(id, TrackerChange("closed"))):
        with pytest.raises(UnknownItem, match="there is no item"):
            call()


def test_it_persists_when_it_is_told_to(tracker: Tracker) -> None:
    assert tracker.sync() == ""


@pytest.mark.sample(3)
def test_many_items_are_listed_whole(tracker: Tracker, tmp_path: Path) -> None:
    file = tmp_path / "p" / ".beads" / "issues.jsonl"
    if file.exists():  # bd itself would take long; left alone it lists fifty
        rows = ({"id": f"bd-{n}", "title": f"item {n}", "status": "closed" if n % 2 else "open"} for n in range(60))
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        for n in range(60):
            tracker.add(NewItem(f"item {n}"))
    assert [item.title for item in tracker.items()] == [f"item {n}" for n in range(60)]


# -- a tracker that cannot be reached ----------------------------------------------------------------------------------------


def test_every_kind_is_in_the_registry() -> None:
    assert set(TRACKERS) == {"builtin", "beads", "github", "gitlab"}


def test_beads_that_are_not_there_are_an_error_and_no_empty_list(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"a.txt": "a"})
    with pytest.raises(TrackerError, match="neither the program bd nor"):
        kind_at("beads", find_place(root), {"PATH": "/usr/bin:/bin"})
    with_program = kind_at("beads", find_place(root), {"PATH": f"{put_bd(tmp_path / 'bin')}:/usr/bin:/bin"})
    with pytest.raises(TrackerError, match="no beads database found"):
        with_program.items()


@pytest.mark.parametrize("text", ['{"id": "bd-1", "title": "a"}\n{"id": "bd-2", "ti', "[]", '"x"', "null"])
def test_a_damaged_data_file_is_an_error_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    tracker = made("file", tmp_path)
    file = tmp_path / "p" / ".beads" / "issues.jsonl"
    file.write_text(text)
    with pytest.raises(TrackerError):
        tracker.items()
    with pytest.raises(TrackerError):
        tracker.add(NewItem("x"))
    assert file.read_text() == text


def test_a_damaged_list_of_our_own_is_an_error(tmp_path: Path) -> None:
    tracker = made("builtin", tmp_path)
    tracker.add(NewItem("x"))
    file = tmp_path / "p" / ".git" / "detent" / "items.db"
    for each in file.parent.glob("items.db*"):
        each.unlink()
    file.write_bytes(b"no database" * 500)
    with pytest.raises(TrackerError, match="cannot be reached"):
        tracker.items()


@pytest.mark.parametrize(
    "said", ["", "not json", "[1]", '{"schema_version": 1, "data": [{"title": "no id"}]}', "[" * 100_000, '{"error": "locked"}']
)
def test_nonsense_from_the_program_is_an_error(tmp_path: Path, said: str) -> None:
    root = make_repo(tmp_path / "p", {"a.txt": "a"})
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "said").write_text(said)
    (folder / "bd").write_text(f"#!/bin/sh\ncat '{tmp_path / 'said'}'\n")
    (folder / "bd").chmod(0o755)
    with pytest.raises(TrackerError):
        kind_at("beads", find_place(root), {"PATH": f"{folder}:/usr/bin:/bin"}).items()


def test_a_program_that_lies_in_the_project_is_not_run(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"a.txt": "a"})
    path = put_bd(root / "tools")
    beads_folder(root)
    assert type(kind_at("beads", find_place(root), {"PATH": f"{path}:/usr/bin:/bin"})).__name__ == "BeadsFile"


def test_a_sync_that_fails_is_told_and_one_that_this_bd_does_not_have_is_not_missed(tmp_path: Path) -> None:
    tracker, home = made("bd", tmp_path), tmp_path / "p" / ".beads"
    (home / "no-sync").touch()
    assert tracker.sync() == ""
    (home / "no-sync").unlink()
    (home / "broken-sync").touch()
    assert "the remote does not answer" in tracker.sync()


def test_what_we_do_not_know_of_an_issue_is_kept(tmp_path: Path) -> None:
    tracker = made("file", tmp_path)
    file = tmp_path / "p" / ".beads" / "issues.jsonl"
    file.write_text('{"id":"bd-1","title":"a","design":"keep me","status":"hooked"}\n{"id":"bd-2","title":"gone","status":"tombstone"}\n')
    assert [(item.id, item.status) for item in tracker.items()] == [("bd-1", "deferred")]
    tracker.change("bd-1", TrackerChange("closed"))
    assert '"design": "keep me"' in file.read_text() and "tombstone" in file.read_text()


@pytest.mark.slow
def test_several_processes_file_into_the_built_in_list_at_once(tmp_path: Path) -> None:
    tracker = made("builtin", tmp_path)
    code = (
        "import os,sys\nfrom pathlib import Path\nfrom detent.app.trackers import tracker_of\nfrom detent.config import Settings\n"
        "from detent.git.place import find_place\n"
        "from detent.tracker import NewItem\nt = tracker_of(Settings(), find_place(Path(sys.argv[1])), os.environ)\n"
        "[t.add(NewItem(f'{sys.argv[2]} {n}')) for n in range(20)]\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "p"), str(n)]) for n in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    items = tracker.items()
    assert (
        len(items) == 60
        and len({item.id for item in items}) == 60
        and {item.title for item in items} == {f"{p} {n}" for p in range(3) for n in range(20)}
    )


# -- the real program --------------------------------------------------------------------------------------------------------


def test_the_real_bd_keeps_to_what_its_stand_in_does(tmp_path: Path) -> None:
    need("bd")
    bd = "bd"
    root = make_repo(tmp_path / "p", {"a.txt": "a"})
    sh(root, bd, "init", "--quiet", "--prefix", "bd")
    tracker = kind_at("beads", find_place(root), {**os.environ})
    first = tracker.add(NewItem("--force: sums", "text", 1, "bug", ("a",)))
    follow = tracker.add(NewItem("follow", found_in=first.id, key="detent:x"))
    assert tracker.add(NewItem("follow", key="detent:x")).id == follow.id and tracker.items(follow.id)[0].found_in == (first.id,)
    assert tracker.claim(first.id, "detent/a") and tracker.claim(first.id, "detent/a") and not tracker.claim(first.id, "detent/b")
    assert tracker.change(follow.id, TrackerChange(depends_on=(first.id,))).depends_on == (first.id,)
    assert tracker.change(first.id, TrackerChange("closed", assignee="", note="done", labels=("timeout",))).status == "closed"
    with pytest.raises(UnknownItem):
        tracker.items("bd-nowhere")
