"""GitLab issues through the REST API. Owns the requests; issues.py decides what they mean."""

import re
from typing import Any
from urllib.parse import parse_qsl

from detent.forge import Api, ForgeError, ForgeProject, NotThere
from detent.tracker.issue import OURS, Issue, IssueComment
from detent.tracker.issues import Edit

REPORTER = 20  # the lowest access level that may label an issue
ACTION = re.compile(r"^([ \t]*)/(?=[a-z])", re.MULTILINE)  # a line that GitLab would run as a quick action
QUIET = re.compile(r"^([ \t]*)\\/(?=[a-z])", re.MULTILINE)


class GitLabIssues:
    """The issues and comments of one project. `query`: which issues are items, as parameters of GitLab's list."""

    def __init__(self, api: Api, where: ForgeProject, query: str = "") -> None:
        self.api, self.project, self.at, self.query = api, where.path, f"{where.path}/issues", dict(parse_qsl(query))
        self._me: dict[str, Any] | None = None
        self._members: dict[int, bool] = {}

    def listed(self, label: str = "") -> list[Issue]:
        order = {"scope": "all", "order_by": "created_at", "sort": "asc"}
        rows = self.api.pages(self.at, **{**order, **({"labels": label} if label else self.query)})
        return [self._issue(row, links=not label and _may_run(row)) for row in rows]

    def one(self, number: int) -> Issue:
        return self._issue(self.api.get(f"{self.at}/{number}"))

    def create(self, title: str, body: str, labels: tuple[str, ...]) -> Issue:
        also = tuple(label for label in self.query.get("labels", "").split(",") if label)
        fields = {"title": title, "description": ACTION.sub(r"\1\\/", body), "labels": ",".join((*labels, *also))}
        return self._issue(self.api.send("POST", self.at, fields), links=False)

    def edit(self, issue: Issue, edit: Edit) -> None:
        fields: dict[str, str] = {"title": edit.title} if edit.title else {}
        fields |= {"description": ACTION.sub(r"\1\\/", edit.body)} if edit.body is not None else {}
        fields |= {"add_labels": ",".join(edit.add)} if edit.add else {}
        fields |= {"remove_labels": ",".join(edit.drop)} if edit.drop else {}
        if edit.closed is not None and edit.closed != issue.closed:
            fields |= {"state_event": "close" if edit.closed else "reopen"}
        if fields:
            self.api.send("PUT", f"{self.at}/{issue.number}", fields)

    def me(self) -> str:
        return str(self._user().get("username") or "")

    def comments(self, number: int) -> list[IssueComment]:
        rows = self.api.pages(f"{self.at}/{number}/notes", sort="asc", order_by="created_at")
        return [self._comment(row) for row in rows if not row.get("system")]

    def say(self, number: int, body: str) -> IssueComment:
        return self._comment(self.api.send("POST", f"{self.at}/{number}/notes", {"body": ACTION.sub(r"\1\\/", body)}))

    def take_back(self, number: int, id: int) -> None:
        try:
            self.api.send("DELETE", f"{self.at}/{number}/notes/{id}")
        except NotThere:
            return

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _issue(self, row: Any, links: bool = True) -> Issue:
        try:
            number = int(row["iid"])
            return Issue(
                number, str(row["title"]), QUIET.sub(r"\1/", row.get("description") or ""), row["state"] == "closed",
                tuple(row.get("labels") or ()), tuple(who["username"] for who in row.get("assignees") or ()),
                str(row.get("created_at") or ""), self._blockers(number, row.get("project_id")) if links else (), bool(row.get("user_notes_count")),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise ForgeError(f"an issue from {self.api.name} cannot be read: {e!r}", "is this its API?") from e

    def _blockers(self, number: int, project: object) -> tuple[int, ...]:
        """The issues of this project that block one, by GitLab's links."""
        rows = self.api.pages(f"{self.at}/{number}/links")
        return tuple(int(row["iid"]) for row in rows if row.get("link_type") == "is_blocked_by" and row.get("project_id") == project)

    def _comment(self, row: Any) -> IssueComment:
        try:
            who = row["author"]
            return IssueComment(int(row["id"]), QUIET.sub(r"\1/", row.get("body") or ""), self._may_write(int(who["id"])))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise ForgeError(f"a comment from {self.api.name} cannot be read: {e!r}", "is this its API?") from e

    def _may_write(self, who: int) -> bool:
        if who not in self._members:
            try:
                found = (
                    who == self._user().get("id") or self.api.get(f"{self.project}/members/all/{who}").get("access_level", 0) >= REPORTER
                )
            except NotThere:
                found = False
            self._members[who] = found
        return self._members[who]

    def _user(self) -> dict[str, Any]:
        if self._me is None:
            try:
                self._me = dict(self.api.get("/user"))
            except ForgeError as e:
                if e.until:
                    raise
                self._me = {}  # a project token belongs to no user
        return self._me


def _may_run(row: Any) -> bool:
    """Whether a list needs to know what this issue waits for: it is open, and nobody works on it."""
    return row.get("state") != "closed" and not set(row.get("labels") or ()) & set(OURS)
