"""A stand-in for GitLab's REST API: issues, notes, links and members, as its documentation describes them. It carries out quick actions too."""

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
        ]

    def put(self, title: str, body: str | None = None, labels: tuple[str, ...] = (), **more: Any) -> int:
        """An issue that a person filed; its number."""
        self.next += 1
        row = {"iid": self.next, "title": title, "description": body, "state": "opened", "labels": list(labels), "assignees": [], **more}
        self.issues[self.next] = {**row, "project_id": NUMBER, "created_at": CREATED}
        self._carry_out(self.issues[self.next], body or "")
        return self.next

    def say(self, number: int, body: str, user: User) -> None:
        self.next += 1
        self.notes[self.next] = {"id": self.next, "issue": number, "body": body, "user": user}
        self._carry_out(self.issues[number], body)

    def _carry_out(self, row: Row, text: str) -> None:
        if CLOSES.search(text):
            row["state"] = "closed"

    # -- what is asked -------------------------------------------------------------------------------------------------------

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
        return {"id": row["id"], "body": row["body"], "system": False, "author": {"id": row["user"].id, "username": row["user"].login}}

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
