"""Stand-ins for Jira's REST API and Linear's GraphQL API, by their documentation, as far as the example in examples/trackers uses them."""

import re
from typing import Any
from uuid import uuid4

from tests.forge_server import CREATED, Call, Said, Server, User, route

Row = dict[str, Any]
NO = Said(404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."]})
LAG = 10  # requests until Jira's search finds a new issue
PAIR = re.compile(r'(\w+) = "([^"]*)"')


class Jira(Server):
    """One project, SHOP. Its search lags: a new issue is found after a while, or by its key."""

    def __init__(self) -> None:
        super().__init__("")
        self.issues: dict[int, Row] = {}
        self.comments: dict[int, Row] = {}
        self.fresh: dict[int, int] = {}  # by number: when each was made
        self.next = 1000
        at = "/rest/api/2/issue"
        self.routes = [
            route("GET", "/rest/api/2/myself", lambda c: Said(200, {"accountId": c.user.login})),
            route("POST", "/rest/api/2/search/jql", self._search),
            route("POST", at, self._create),
            route("GET", f"{at}/SHOP-{{}}", lambda c: Said(200, self._row(c)) if self._has(c) else NO),
            route("PUT", f"{at}/SHOP-{{}}", lambda c: self._edit(c) if self._has(c) else NO),
            route("GET", f"{at}/SHOP-{{}}/transitions", lambda c: Said(200, {"transitions": TRANSITIONS})),
            route("POST", f"{at}/SHOP-{{}}/transitions", self._move),
            route("GET", f"{at}/SHOP-{{}}/comment", lambda c: self._said(c) if self._has(c) else NO),
            route("POST", f"{at}/SHOP-{{}}/comment", self._say),
            route("DELETE", f"{at}/SHOP-{{}}/comment/{{}}", lambda c: Said(204) if self.comments.pop(int(c.words[1]), None) else NO),
        ]

    def put(self, title: str, body: str = "", **fields: Any) -> int:
        """File an issue as a person; its number."""
        number = len(self.issues) + 1
        self.issues[number] = {
            "summary": title,
            "description": body,
            "labels": [],
            "created": CREATED,
            "status": NEW,
            "issuelinks": [],
            **fields,
        }
        return number

    def _has(self, call: Call) -> bool:
        return int(call.words[0]) in self.issues

    def _row(self, call: Call) -> Row:
        return {"id": str(10_000 + int(call.words[0])), "key": f"SHOP-{call.words[0]}", "fields": self.issues[int(call.words[0])]}

    def _search(self, call: Call) -> Said:
        named = {int(id) - 10_000 for id in call.body["reconcileIssues"]}
        hidden = {number for number, at in self.fresh.items() if len(self.seen) - at < LAG and number not in named}
        wanted = PAIR.findall(call.body["jql"])
        rows = [n for n, fields in self.issues.items() if n not in hidden and all(_fits(fields, name, value) for name, value in wanted)]
        first, size = int(call.body.get("nextPageToken") or 0), min(call.body["maxResults"], self.most)
        page = [self._row(call._replace(words=(str(n),))) for n in rows[first : first + size]]
        return Said(200, {"issues": page, **({"nextPageToken": str(first + size)} if len(rows) > first + size else {})})

    def _create(self, call: Call) -> Said:
        fields = call.body["fields"]
        if any(" " in label for label in fields["labels"]):
            return Said(400, {"errors": {"labels": "The label can't contain spaces."}})
        number = self.put(fields["summary"], fields["description"], labels=fields["labels"])
        self.fresh[number] = len(self.seen)
        return Said(201, {"id": str(10_000 + number), "key": f"SHOP-{number}"})

    def _edit(self, call: Call) -> Said:
        fields = self.issues[int(call.words[0])]
        fields |= call.body.get("fields", {})
        for change in call.body.get("update", {}).get("labels", ()):
            label = change.get("add") or change["remove"]
            fields["labels"] = [each for each in fields["labels"] if each != label] + ([label] if "add" in change else [])
        return Said(204)

    def _move(self, call: Call) -> Said:
        to = next(each["to"] for each in TRANSITIONS if each["id"] == call.body["transition"]["id"])
        self.issues[int(call.words[0])]["status"] = to
        return Said(204)

    def _said(self, call: Call) -> Said:
        rows = [row for row in self.comments.values() if row["issue"] == int(call.words[0])]
        first = int(call.query["startAt"])
        return Said(200, {"comments": rows[first : first + min(int(call.query["maxResults"]), self.most)], "total": len(rows)})

    def _say(self, call: Call) -> Said:
        self.next += 1
        author = {"accountId": call.user.login, "accountType": "atlassian" if call.user.writes else "customer"}
        self.comments[self.next] = {"id": str(self.next), "issue": int(call.words[0]), "body": call.body["body"], "author": author}
        return Said(201, self.comments[self.next])


NEW, DONE = ({"name": name, "statusCategory": {"key": key}} for name, key in (("To Do", "new"), ("Done", "done")))
TRANSITIONS = [{"id": "11", "to": NEW}, {"id": "31", "to": DONE}]


def _fits(fields: Row, name: str, value: str) -> bool:
    return value == "SHOP" if name == "project" else value in fields["labels"] if name == "labels" else fields.get(name) == value


class Linear(Server):
    """One team, SHOP. Ids are random; issues and comments come in pages, newest first."""

    def __init__(self) -> None:
        super().__init__("")
        self.issues: dict[int, Row] = {}
        self.comments: dict[str, Row] = {}
        self.labels: dict[str, str] = {}  # by id
        self.clock = 0
        self.routes = [route("POST", "/graphql", self._asked)]
        self.answers = {
            "issueCreate(": self._create, "issueUpdate(": self._update, "issueLabelCreate(": self._label, "commentCreate(": self._say,
            "commentDelete(": self._take_back, "comments(": self._said, "teams(": self._team, "issues(": self._list, "issue(": self._one,
        }  # fmt: skip

    def _asked(self, call: Call) -> Said:
        query: str = call.body["query"]
        assert query.count("{") == query.count("}") and query.count("(") == query.count(")")
        answer = next(answer for word, answer in self.answers.items() if word in query)
        try:
            return Said(200, {"data": answer(call.body["variables"], call.user)})
        except KeyError as e:
            return Said(200, {"data": None, "errors": [{"message": f"Entity not found: Issue - {e}"}]})

    def put(self, title: str, body: str = "", **more: Any) -> int:
        number = len(self.issues) + 1
        state = {"type": "unstarted"}
        self.issues[number] = {"number": number, "title": title, "description": body, "state": state, "labels": [], "blockers": [], **more}
        return number

    def _shown(self, number: int) -> Row:
        row = self.issues[number]
        blockers = [{"type": "blocks", "issue": {"number": n, "team": {"key": "SHOP"}}} for n in row["blockers"]]
        names = [{"name": self.labels[id]} for id in row["labels"]]
        more = {"id": f"u{number}", "createdAt": CREATED, "labels": {"nodes": names}, "inverseRelations": {"nodes": blockers}}
        return {**row, **more, "assignee": row.get("assignee")}

    def _page(self, rows: list[Row], words: Row) -> Row:
        first = int(words.get("after") or 0)
        last = first + min(100, self.most)
        return {"nodes": rows[first:last], "pageInfo": {"hasNextPage": len(rows) > last, "endCursor": str(last)}}

    def _list(self, words: Row, user: User) -> Row:
        label = words["filter"].get("labels", {}).get("name", {}).get("eq", "")
        rows = [self._shown(n) for n in sorted(self.issues, reverse=True)]
        return {"issues": self._page([row for row in rows if not label or {"name": label} in row["labels"]["nodes"]], words)}

    def _one(self, words: Row, user: User) -> Row:
        return {"issue": self._shown(_number(words["id"]))}

    def _create(self, words: Row, user: User) -> Row:
        new = words["input"]
        return {"issueCreate": {"issue": self._shown(self.put(new["title"], new["description"], labels=new["labelIds"]))}}

    def _update(self, words: Row, user: User) -> Row:
        row, new = self.issues[_number(words["id"])], words["input"]
        row |= {name: new[name] for name in ("title", "description") if name in new}
        row["labels"] = [id for id in row["labels"] if id not in new.get("removedLabelIds", ())]
        row["labels"] += [id for id in new.get("addedLabelIds", ()) if id not in row["labels"]]
        row["state"] = {"type": new["stateId"]} if "stateId" in new else row["state"]
        return {"issueUpdate": {"success": True}}

    def _label(self, words: Row, user: User) -> Row:
        self.labels[id := str(uuid4())] = words["input"]["name"]
        return {"issueLabelCreate": {"issueLabel": {"id": id}}}

    def _team(self, words: Row, user: User) -> Row:
        states = [{"id": kind, "type": kind} for kind in ("backlog", "unstarted", "started", "completed", "canceled")]
        labels = [{"id": id, "name": name} for id, name in self.labels.items()]
        team = {"id": "team", "states": {"nodes": states}, "labels": {"nodes": labels}}
        return {"teams": {"nodes": [team] if words["key"] == "SHOP" else []}, "viewer": {"id": user.login}}

    def _say(self, words: Row, user: User) -> Row:
        self.clock += 1
        at = f"2026-01-02T03:04:{self.clock // 1000 % 60:02}.{self.clock % 1000:03}Z"
        row = {"id": str(uuid4()), "issue": _number(words["input"]["issueId"]), "body": words["input"]["body"], "createdAt": at}
        self.comments[row["id"]] = {**row, "user": {"id": user.login} if user.writes else None}
        return {"commentCreate": {"comment": self.comments[row["id"]]}}

    def _said(self, words: Row, user: User) -> Row:
        self._shown(number := _number(words["id"]))
        rows = [row for row in reversed(self.comments.values()) if row["issue"] == number]
        return {"issue": {"comments": self._page(rows, words)}}

    def _take_back(self, words: Row, user: User) -> Row:
        del self.comments[words["id"]]
        return {"commentDelete": {"success": True}}


def _number(identifier: str) -> int:
    team, _, number = identifier.rpartition("-")
    if team != "SHOP":
        raise KeyError(identifier)
    return int(number)
