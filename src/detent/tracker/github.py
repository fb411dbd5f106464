"""GitHub issues through the REST API. Owns the requests; issues.py decides what they mean."""

from typing import Any
from urllib.parse import parse_qsl, quote

from detent.forge import Api, ForgeError, ForgeProject, NotThere
from detent.tracker.issue import Issue, IssueComment
from detent.tracker.issues import Edit

TRUSTED = ("OWNER", "MEMBER", "COLLABORATOR")


class GitHubIssues:
    """The issues and comments of one repository. `query`: which issues are items, as parameters of GitHub's list."""

    def __init__(self, api: Api, where: ForgeProject, query: str = "") -> None:
        self.api, self.at, self.query = api, f"{where.path}/issues", dict(parse_qsl(query))
        self._me: str | None = None

    def listed(self, label: str = "") -> list[Issue]:
        order = {"state": "all", "sort": "created", "direction": "asc"}
        rows = self.api.pages(self.at, **{**order, **({"labels": label} if label else self.query)})
        return [self._issue(row) for row in rows if "pull_request" not in row]

    def one(self, number: int) -> Issue:
        return self._issue(self.api.get(f"{self.at}/{number}"))

    def create(self, title: str, body: str, labels: tuple[str, ...]) -> Issue:
        also = tuple(label for label in self.query.get("labels", "").split(",") if label)
        return self._issue(self.api.send("POST", self.at, {"title": title, "body": body, "labels": [*labels, *also]}))

    def edit(self, issue: Issue, edit: Edit) -> None:
        fields: dict[str, str] = {"title": edit.title} if edit.title else {}
        fields |= {"body": edit.body} if edit.body is not None else {}
        if edit.closed is not None and edit.closed != issue.closed:
            fields |= {"state": "closed" if edit.closed else "open"}
        at = f"{self.at}/{issue.number}"
        if edit.add:
            self.api.send("POST", f"{at}/labels", {"labels": list(edit.add)})
        for label in edit.drop:
            self._delete(f"{at}/labels/{quote(label, safe='')}")
        if fields:
            self.api.send("PATCH", at, fields)

    def me(self) -> str:
        if self._me is None:
            try:
                self._me = _text(self.api.get("/user"), "login")
            except ForgeError as e:
                if e.until:
                    raise
                self._me = ""  # a token of an app or of CI belongs to no user
        return self._me

    def comments(self, number: int) -> list[IssueComment]:
        return [self._comment(row) for row in self.api.pages(f"{self.at}/{number}/comments")]

    def say(self, number: int, body: str) -> IssueComment:
        return self._comment(self.api.send("POST", f"{self.at}/{number}/comments", {"body": body}))

    def take_back(self, number: int, id: int) -> None:
        self._delete(f"{self.at}/comments/{id}")

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _delete(self, path: str) -> None:
        """Delete something; fine if it is already gone."""
        try:
            self.api.send("DELETE", path)
        except NotThere:
            return

    def _issue(self, row: Any) -> Issue:
        try:
            number, waits = int(row["number"]), (row.get("issue_dependencies_summary") or {}).get("blocked_by", 0)
            return Issue(
                number, str(row["title"]), row.get("body") or "", row["state"] == "closed",
                tuple(label if isinstance(label, str) else label["name"] for label in row.get("labels") or ()),
                tuple(who["login"] for who in row.get("assignees") or ()), str(row.get("created_at") or ""),
                self._blockers(number) if waits else (), bool(row.get("comments")), "pull_request" in row,
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise ForgeError(f"an issue from {self.api.name} cannot be read: {e!r}", "is this its API?") from e

    def _blockers(self, number: int) -> tuple[int, ...]:
        """The issues of this project that block one, by GitHub's own dependencies."""
        rows = self.api.pages(f"{self.at}/{number}/dependencies/blocked_by")
        return tuple(int(row["number"]) for row in rows if str(row.get("url", "")).rpartition("/")[0].endswith(self.at))

    def _comment(self, row: Any) -> IssueComment:
        try:
            who = row.get("user") or {}
            trusted = row.get("author_association") in TRUSTED or who.get("type") == "Bot"
            return IssueComment(int(row["id"]), row.get("body") or "", trusted or who.get("login") == self.me())
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise ForgeError(f"a comment from {self.api.name} cannot be read: {e!r}", "is this its API?") from e


def _text(row: Any, name: str) -> str:
    return str(row.get(name) or "") if isinstance(row, dict) else ""
