"""A stand-in for GitHub's REST API, by its documentation: issues, labels, comments and blockers, pull requests and checks."""

import re
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
        self.pulls: dict[int, Row] = {}
        self.reviews: list[Row] = []
        self.lines: list[Row] = []
        self.checks: dict[str, str] = {}  # CI results by check name, for any commit
        self.protected: set[str] = set()
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
            route("GET", f"{AT}/pulls", self._pulls),
            route("POST", f"{AT}/pulls", self._open),
            route("PATCH", f"{AT}/pulls/{{}}", self._patch_pull),
            route("GET", f"{AT}/pulls/{{}}/reviews", lambda c: Said(200, [self._told(r) for r in self.reviews])),
            route("GET", f"{AT}/pulls/{{}}/comments", lambda c: Said(200, [self._told(r) for r in self.lines])),
            route("GET", f"{AT}/commits/{{}}/check-runs", self._check_runs),
            route("GET", f"{AT}/commits/{{}}/status", lambda c: Said(200, {"state": "pending", "statuses": []})),
            route("GET", f"{AT}/branches/{{}}", lambda c: Said(200, {"name": c.words[0], "protected": c.words[0] in self.protected})),
        ]

    def put(self, title: str, body: str | None = None, labels: tuple[str, ...] = (), **more: Any) -> int:
        """File an issue as a person; its number."""
        self.next += 1
        row = {"number": self.next, "title": title, "body": body, "state": "open", "labels": list(labels), "assignees": [], **more}
        self.issues[self.next] = row
        return self.next

    def say(self, number: int, body: str, user: User) -> None:
        self.next += 1
        self.comments[self.next] = {"id": self.next, "issue": number, "body": body, "user": user}

    # -- requests ------------------------------------------------------------------------------------------------------------

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

    # -- pull requests -------------------------------------------------------------------------------------------------------

    def review(self, state: str, body: str, user: User) -> None:
        self.next += 1
        self.reviews.append({"id": self.next, "state": state, "body": body, "user": user})

    def line(self, path: str, line: int, body: str, user: User) -> None:
        self.next += 1
        self.lines.append({"id": self.next, "path": path, "line": line, "body": body, "user": user})

    def merge(self, number: int) -> None:
        """Merge as a person does with the button, closing the issues that the text closes."""
        pull = self.pulls[number]
        pull["state"] = "closed"
        for closed in re.findall(r"\bCloses #(\d+)", pull["body"]):
            self.issues[int(closed)]["state"] = "closed"

    def _told(self, row: Row) -> Row:
        return {**row, **{k: v for k, v in self._comment(row).items() if k != "body"}}

    def _pulls(self, call: Call) -> Said:
        rows = [row for row in self.pulls.values() if row["state"] == call.query["state"]]
        return Said(200, [row for row in rows if call.query["head"] == f"acme:{row['head']}"])

    def _open(self, call: Call) -> Said:
        asked = call.body
        if any(row["head"] == asked["head"] and row["state"] == "open" for row in self.pulls.values()):
            errors = [{"resource": "PullRequest", "code": "custom", "message": f"A pull request already exists for acme:{asked['head']}."}]
            return Said(422, {"message": "Validation Failed", "errors": errors})
        number = self.put(asked["title"], asked["body"], pull_request={"url": "x"})
        self.pulls[number] = {**asked, "number": number, "state": "open", "html_url": f"https://github.example/{PROJECT}/pull/{number}"}
        return Said(201, self.pulls[number])

    def _patch_pull(self, call: Call) -> Said:
        row = self.pulls.get(int(call.words[0]))
        if row is None:
            return NO
        row.update(call.body)
        return Said(200, row)

    def _check_runs(self, call: Call) -> Said:
        ended = [{"name": k, "status": "completed" if v else "in_progress", "conclusion": v or None} for k, v in self.checks.items()]
        return Said(200, {"total_count": len(ended), "check_runs": ended})
