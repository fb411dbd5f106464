"""A stand-in for GitLab's REST API, by its documentation: issues, notes, links, members, merge requests and pipelines, with quick actions."""

import re
from typing import Any

from tests.forge_server import CREATED, USERS, Call, Said, Server, User, route

PROJECT = "acme/tools/shop"
AT = "/projects/acme%2Ftools%2Fshop"
NUMBER = 4
NO = Said(404, {"message": "404 Not found"})
CLOSES = re.compile(r"^\s*/close\s*$", re.MULTILINE)
Row = dict[str, Any]


class GitLab(Server):
    def __init__(self) -> None:
        super().__init__("/api/v4")
        self.issues: dict[int, Row] = {}
        self.notes: dict[int, Row] = {}
        self.links: dict[int, list[tuple[int, str]]] = {}
        self.pulls: dict[int, Row] = {}
        self.reviewers: list[Row] = []
        self.checks: dict[str, str] = {}  # pipeline status by source, for any commit
        self.protected: set[str] = set()
        self.next = 0
        issue = f"{AT}/issues/{{}}"
        self.routes = [
            route("GET", "/user", lambda c: Said(200, {"id": c.user.id, "username": c.user.login})),
            route("GET", f"{AT}/members/all/{{}}", self._member),
            route("GET", f"{AT}/issues", self._list),
            route("POST", f"{AT}/issues", self._create),
            route("GET", issue, lambda c: self._one(c)),
            route("PUT", issue, self._put),
            route("GET", f"{issue}/notes", lambda c: Said(200, [self._note(r) for r in self._said(int(c.words[0]))])),
            route("POST", f"{issue}/notes", self._say),
            route("DELETE", f"{issue}/notes/{{}}", lambda c: Said(204) if self.notes.pop(int(c.words[1]), None) else NO),
            route("GET", f"{issue}/links", self._links),
            route("GET", f"{AT}/merge_requests", self._pulls),
            route("POST", f"{AT}/merge_requests", self._open),
            route("GET", f"{AT}/merge_requests/{{}}", lambda c: Said(200, {**self.pulls[int(c.words[0])], "sha": "5" * 40})),
            route("PUT", f"{AT}/merge_requests/{{}}", self._put_pull),
            route("GET", f"{AT}/merge_requests/{{}}/notes", lambda c: Said(200, [self._note(r) for r in self._said(-int(c.words[0]))])),
            route("POST", f"{AT}/merge_requests/{{}}/notes", self._say_pull),
            route("GET", f"{AT}/merge_requests/{{}}/reviewers", lambda c: Said(200, self.reviewers)),
            route("GET", f"{AT}/pipelines", lambda c: Said(200, [{"source": k, "status": v} for k, v in self.checks.items()])),
            route("GET", f"{AT}/repository/branches/{{}}", self._branch),
        ]

    def put(self, title: str, body: str | None = None, labels: tuple[str, ...] = (), **more: Any) -> int:
        """File an issue as a person; its number."""
        self.next += 1
        row = {"iid": self.next, "title": title, "description": body, "state": "opened", "labels": list(labels), "assignees": [], **more}
        self.issues[self.next] = {**row, "project_id": NUMBER, "created_at": CREATED}
        self._carry_out(self.issues[self.next], body or "")
        return self.next

    def say(self, number: int, body: str, user: User) -> None:
        self.next += 1
        self.notes[self.next] = {"id": self.next, "issue": number, "body": body, "user": user}
        self._carry_out(self.issues.get(number, {}), body)

    def _carry_out(self, row: Row, text: str) -> None:
        if CLOSES.search(text):
            row["state"] = "closed"

    # -- requests ------------------------------------------------------------------------------------------------------------

    def _shown(self, row: Row) -> Row:
        assignees = [{"username": who} for who in row["assignees"]]
        return {**row, "assignees": assignees, "user_notes_count": len(self._said(row["iid"]))}

    def _list(self, call: Call) -> Said:
        labels, state = {w for w in call.query.get("labels", "").split(",") if w}, call.query.get("state", "all")
        rows = [r for r in self.issues.values() if labels <= set(r["labels"]) and state in ("all", r["state"])]
        rows = [r for r in rows if call.query.get("milestone", r.get("milestone", "")) == r.get("milestone", "")]
        return Said(200, [self._shown(r) for r in (rows if call.query.get("sort") == "asc" else rows[::-1])])

    def _create(self, call: Call) -> Said:
        if not call.body.get("title"):
            return Said(400, {"error": "title is missing"})
        labels = tuple(word for word in call.body.get("labels", "").split(",") if word)
        number = self.put(call.body["title"], call.body.get("description"), labels)
        return Said(201, self._shown(self.issues[number]))

    def _one(self, call: Call) -> Said:
        row = self.issues.get(int(call.words[0]))
        return Said(200, self._shown(row)) if row else NO

    def _put(self, call: Call) -> Said:
        row, asked = self.issues.get(int(call.words[0])), call.body
        if row is None:
            return NO
        row.update({k: v for k, v in asked.items() if k in ("title", "description")})
        row["labels"] = [name for name in row["labels"] if name not in asked.get("remove_labels", "").split(",")]
        row["labels"] += [name for name in asked.get("add_labels", "").split(",") if name and name not in row["labels"]]
        row["state"] = {"close": "closed", "reopen": "opened"}.get(asked.get("state_event", ""), row["state"])
        self._carry_out(row, asked.get("description", ""))
        return Said(200, self._shown(row))

    def _said(self, number: int) -> list[Row]:
        return [row for row in self.notes.values() if row["issue"] == number]

    def _note(self, row: Row) -> Row:
        who = {"id": row["user"].id, "username": row["user"].login}
        return {"id": row["id"], "body": row["body"], "system": False, "author": who, "position": row.get("position")}

    def _say(self, call: Call) -> Said:
        if int(call.words[0]) not in self.issues:
            return NO
        self.say(int(call.words[0]), call.body["body"], call.user)
        return Said(201, self._note(self.notes[self.next]))

    def _member(self, call: Call) -> Said:
        user = next((u for u in USERS.values() if u.id == int(call.words[0])), None)
        return Said(200, {"id": user.id, "access_level": 30}) if user and user.writes else NO

    def _links(self, call: Call) -> Said:
        links = self.links.get(int(call.words[0]), [])
        return Said(200, [{**self._shown(self.issues[n]), "link_type": sort} for n, sort in links])

    # -- merge requests ------------------------------------------------------------------------------------------------------

    def review(self, state: str, body: str, user: User) -> None:
        if state == "CHANGES_REQUESTED":
            self.reviewers.append({"user": {"id": user.id, "username": user.login}, "state": "requested_changes"})
        self.say(-max(self.pulls), body, user)

    def line(self, path: str, line: int, body: str, user: User) -> None:
        self.say(-max(self.pulls), body, user)
        self.notes[self.next]["position"] = {"new_path": path, "new_line": line}

    def merge(self, number: int) -> None:
        pull = self.pulls[number]
        pull["state"] = "merged"
        for closed in re.findall(r"\bCloses #(\d+)", pull["description"]):
            self.issues[int(closed)]["state"] = "closed"

    def _pulls(self, call: Call) -> Said:
        rows = [row for row in self.pulls.values() if row["state"] == call.query["state"]]
        return Said(200, [row for row in rows if call.query["source_branch"] == row["source_branch"]])

    def _open(self, call: Call) -> Said:
        if any(row["source_branch"] == call.body["source_branch"] and row["state"] == "opened" for row in self.pulls.values()):
            return Said(409, {"message": ["Another open merge request already exists for this source branch"]})
        number = len(self.pulls) + 1
        url = f"https://gitlab.example/{PROJECT}/-/merge_requests/{number}"
        self.pulls[number] = {**call.body, "iid": number, "state": "opened", "web_url": url}
        return Said(201, self.pulls[number])

    def _put_pull(self, call: Call) -> Said:
        self.pulls[int(call.words[0])].update(call.body)
        return Said(200, self.pulls[int(call.words[0])])

    def _say_pull(self, call: Call) -> Said:
        self.say(-int(call.words[0]), call.body["body"], call.user)
        return Said(201, self._note(self.notes[self.next]))

    def _branch(self, call: Call) -> Said:
        name = call.words[0]
        return Said(200, {"name": name, "protected": name in self.protected, "can_push": name not in self.protected})
