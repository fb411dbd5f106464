"""The issues of a Jira project, by its REST API (version 2, whose texts are plain). Item 12 is the issue SHOP-12.

The environment says where it is and who asks: JIRA_URL, JIRA_PROJECT, and JIRA_TOKEN. With JIRA_EMAIL the token is one of Atlassian's cloud, without it a
personal access token of a server. `[tracker] query` is a filter: `component=web&fixVersion=2.0`.
"""

import base64
from typing import Any
from urllib.parse import parse_qsl

from detent.errors import DetentError
from detent.forge import Api, ForgeError, NotThere
from detent.tracker import Means, Tracker
from detent.tracker.issue import Issue, IssueComment
from detent.tracker.issues import Edit, Issues

NEEDED = ("JIRA_URL", "JIRA_PROJECT", "JIRA_TOKEN")
FIELDS = ["summary", "description", "labels", "assignee", "created", "status", "issuelinks"]
PAGE = 100
TRUSTED = ("atlassian", "app")  # accounts of people who work here, and of programs; customers of a service desk are others


def make(means: Means) -> Tracker:
    """The tracker `jira`."""
    if missing := [name for name in NEEDED if not means.env.get(name)]:
        raise DetentError(f"{missing[0]} is not set", 'it is needed for [tracker] kind = "jira"')
    url, project, token = (means.env[name] for name in NEEDED)
    email = means.env.get("JIRA_EMAIL", "")
    credentials = base64.b64encode(f"{email}:{token}".encode()).decode() if email else token
    api = Api(url.rstrip("/"), "Jira", credentials, means.store / "jira", means.clock, means.env, "Basic" if email else "Bearer")
    board = JiraIssues(api, project, means.query)
    return Issues("jira", board, board, means.ready)


class JiraIssues:
    """Board and talk of one project."""

    def __init__(self, api: Api, project: str, query: str = "") -> None:
        self.api, self.project, self.query = api, project, parse_qsl(query)
        self._me = ""
        self._made: list[int] = []  # what the search may not know yet

    def listed(self, label: str = "") -> list[Issue]:
        wanted = [("labels", label)] if label else self.query
        words = " AND ".join(f'{name} = "{value}"' for name, value in (("project", self.project), *wanted))
        asked: dict[str, Any] = {
            "jql": f"{words} ORDER BY created ASC",
            "fields": FIELDS,
            "maxResults": PAGE,
            "reconcileIssues": self._made,
        }
        found: list[Issue] = []
        while True:
            answer = self.api.send("POST", "/rest/api/2/search/jql", asked)
            found += [self._issue(row) for row in answer["issues"]]
            if not answer.get("nextPageToken"):
                return sorted(found)
            asked["nextPageToken"] = answer["nextPageToken"]

    def one(self, number: int) -> Issue:
        return self._issue(self.api.get(self._at(number), fields=",".join(FIELDS)))

    def create(self, title: str, body: str, labels: tuple[str, ...]) -> Issue:
        fields = {
            "project": {"key": self.project},
            "issuetype": {"name": "Task"},
            "summary": title,
            "description": body,
            "labels": list(labels),
        }
        made = self.api.send("POST", "/rest/api/2/issue", {"fields": fields})
        self._made = [*self._made, int(made["id"])][-50:]  # as many as it takes
        return self.one(_number(made["key"]))

    def edit(self, issue: Issue, edit: Edit) -> None:
        fields = {name: text for name, text in (("summary", edit.title or None), ("description", edit.body)) if text is not None}
        labels = [*({"add": label} for label in edit.add), *({"remove": label} for label in edit.drop)]
        change = {**({"fields": fields} if fields else {}), **({"update": {"labels": labels}} if labels else {})}
        if change:
            self.api.send("PUT", self._at(issue.number), change)
        if edit.closed is not None and edit.closed != issue.closed:
            self._move(issue.number, "done" if edit.closed else "new")

    def _move(self, number: int, category: str) -> None:
        """Bring an issue into a status of a category. Which ones lead there is for the project's workflow to say."""
        ways = self.api.get(f"{self._at(number)}/transitions")["transitions"]
        way = next((each for each in ways if each["to"]["statusCategory"]["key"] == category), None)
        if way is None:
            raise ForgeError(
                f"no transition of {self.project}-{number} leads to a status that is {category}", "change the workflow in Jira"
            )
        self.api.send("POST", f"{self._at(number)}/transitions", {"transition": {"id": way["id"]}})

    def me(self) -> str:
        if not self._me:
            self._me = _who(self.api.get("/rest/api/2/myself"))
        return self._me

    # -- comments ------------------------------------------------------------------------------------------------------------

    def comments(self, number: int) -> list[IssueComment]:
        found: list[IssueComment] = []
        while True:
            answer = self.api.get(f"{self._at(number)}/comment", startAt=str(len(found)), maxResults=str(PAGE), orderBy="created")
            found += map(_comment, answer["comments"])
            if not answer["comments"] or len(found) >= answer["total"]:
                return found

    def say(self, number: int, body: str) -> IssueComment:
        return _comment(self.api.send("POST", f"{self._at(number)}/comment", {"body": body}))

    def take_back(self, number: int, id: int) -> None:
        try:
            self.api.send("DELETE", f"{self._at(number)}/comment/{id}")
        except NotThere:
            return  # it is away

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _at(self, number: int) -> str:
        return f"/rest/api/2/issue/{self.project}-{number}"

    def _issue(self, row: Any) -> Issue:
        try:
            fields = row["fields"]
            return Issue(
                _number(row["key"]),
                str(fields["summary"]),
                fields.get("description") or "",
                fields["status"]["statusCategory"]["key"] == "done",
                tuple(fields.get("labels") or ()),
                (_who(fields["assignee"]),) if fields.get("assignee") else (),
                str(fields.get("created") or ""),
                tuple(self._blockers(fields.get("issuelinks") or ())),
                talked=True,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise ForgeError(f"an issue from Jira cannot be read: {e!r}", "is JIRA_URL its address?") from e

    def _blockers(self, links: Any) -> list[int]:
        """The issues of this project that block one."""
        keys = [link["inwardIssue"]["key"] for link in links if link["type"]["name"] == "Blocks" and "inwardIssue" in link]
        return [_number(key) for key in keys if key.rpartition("-")[0] == self.project]


def _number(key: str) -> int:
    return int(key.rpartition("-")[2])


def _who(row: Any) -> str:
    return str(row.get("accountId") or row.get("name") or "")


def _comment(row: Any) -> IssueComment:
    author = row.get("author") or {}
    return IssueComment(int(row["id"]), row.get("body") or "", author.get("accountType", "atlassian") in TRUSTED)
