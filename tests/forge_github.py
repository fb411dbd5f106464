"""A stand-in for GitHub's REST API: issues, their labels, comments and blockers, as its documentation describes them."""

from typing import Any

from tests.forge_server import CREATED, Call, Said, Server, User, route

PROJECT = "acme/shop"
AT = f"/repos/{PROJECT}"
NO = Said(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})
Row = dict[str, Any]


class GitHub(Server):
    def __init__(self) -> None:
        super().__init__("")
        self.issues: dict[int, Row] = {}
        self.comments: dict[int, Row] = {}
        self.blockers: dict[int, list[int]] = {}
        self.next = 0
        issue = f"{AT}/issues/{{}}"
        self.routes = [
            route("GET", "/user", lambda c: Said(200, {"login": c.user.login, "id": c.user.id})),
            route("GET", AT, lambda c: Said(200, {"full_name": PROJECT})),
            route("GET", f"{AT}/issues", self._list),
            route("POST", f"{AT}/issues", self._create),
            route("GET", issue, lambda c: self._one(c)),
            route("PATCH", issue, self._patch),
            route("POST", f"{issue}/labels", self._label),
            route("DELETE", f"{issue}/labels/{{}}", self._unlabel),
            route("GET", f"{issue}/comments", lambda c: Said(200, [self._comment(r) for r in self._said(int(c.words[0]))])),
            route("POST", f"{issue}/comments", self._say),
            route("DELETE", f"{AT}/issues/comments/{{}}", self._take_back),
            route("GET", f"{issue}/dependencies/blocked_by", self._blocked_by),
        ]

    def put(self, title: str, body: str | None = None, labels: tuple[str, ...] = (), **more: Any) -> int:
        """An issue that a person filed; its number."""
        self.next += 1
        row = {"number": self.next, "title": title, "body": body, "state": "open", "labels": list(labels), "assignees": [], **more}
        self.issues[self.next] = row
        return self.next

    def say(self, number: int, body: str, user: User) -> None:
        self.next += 1
        self.comments[self.next] = {"id": self.next, "issue": number, "body": body, "user": user}

    # -- what is asked -------------------------------------------------------------------------------------------------------

    def _shown(self, row: Row) -> Row:
        number = row["number"]
        waits = [n for n in self.blockers.get(number, []) if self.issues[n]["state"] == "open"]
        shown = {**row, "labels": [{"name": name} for name in row["labels"]], "created_at": CREATED, "comments": len(self._said(number))}
        shown["assignees"] = [{"login": who} for who in row["assignees"]]
        shown["url"] = f"{self.url}{AT}/issues/{number}"
        return {**shown, "issue_dependencies_summary": {"blocked_by": len(waits), "total_blocked_by": len(waits)}}

    def _list(self, call: Call) -> Said:
        asked = call.query
        labels, state = {w for w in asked.get("labels", "").split(",") if w}, asked.get("state", "open")
        rows = [r for r in self.issues.values() if labels <= set(r["labels"]) and state in ("all", r["state"])]
        rows = [r for r in rows if asked.get("milestone", str(r.get("milestone", ""))) == str(r.get("milestone", ""))]
        return Said(200, [self._shown(r) for r in (rows if asked.get("direction") == "asc" else rows[::-1])])

    def _create(self, call: Call) -> Said:
        if not call.body.get("title"):
            return Said(422, {"message": "Validation Failed", "errors": [{"resource": "Issue", "code": "missing_field", "field": "title"}]})
        labels = call.body.get("labels", []) if call.user.writes else []
        number = self.put(call.body["title"], call.body.get("body"), tuple(labels))
        return Said(201, self._shown(self.issues[number]))

    def _one(self, call: Call) -> Said:
        row = self.issues.get(int(call.words[0]))
        return Said(200, self._shown(row)) if row else NO

    def _patch(self, call: Call) -> Said:
        row = self.issues.get(int(call.words[0]))
        if row is None:
            return NO
        row.update({k: v for k, v in call.body.items() if k in ("title", "body", "state")})
        return Said(200, self._shown(row))

    def _label(self, call: Call) -> Said:
        row = self.issues.get(int(call.words[0]))
        if row is None:
            return NO
        row["labels"] += [name for name in call.body["labels"] if name not in row["labels"]]
        return Said(200, [{"name": name} for name in row["labels"]])

    def _unlabel(self, call: Call) -> Said:
        row = self.issues.get(int(call.words[0]))
        if row is None or call.words[1] not in row["labels"]:
            return Said(404, {"message": "Label does not exist"})
        row["labels"].remove(call.words[1])
        return Said(200, [{"name": name} for name in row["labels"]])

    def _said(self, number: int) -> list[Row]:
        return [row for row in self.comments.values() if row["issue"] == number]

    def _comment(self, row: Row) -> Row:
        user: User = row["user"]
        who = {"login": user.login, "type": "User"}
        return {"id": row["id"], "body": row["body"], "user": who, "author_association": "MEMBER" if user.writes else "NONE"}

    def _say(self, call: Call) -> Said:
        if int(call.words[0]) not in self.issues:
            return NO
        self.say(int(call.words[0]), call.body["body"], call.user)
        return Said(201, self._comment(self.comments[self.next]))

    def _take_back(self, call: Call) -> Said:
        return Said(204) if self.comments.pop(int(call.words[0]), None) else NO

    def _blocked_by(self, call: Call) -> Said:
        return Said(200, [self._shown(self.issues[n]) for n in self.blockers.get(int(call.words[0]), [])])
