"""The issues of a Linear team, by its GraphQL API. Item 12 is the issue ENG-12.

The environment says who asks, and for which team: LINEAR_API_KEY and LINEAR_TEAM (`ENG`). `[tracker] query` is a filter by the names of other things:
`project=Shop&cycle=Cycle 4`.
"""

from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

from detent.errors import DetentError
from detent.forge import Api, ForgeError, NotThere
from detent.tracker import Means, Tracker
from detent.tracker.issue import Issue, IssueComment
from detent.tracker.issues import Edit, Issues

NEEDED = ("LINEAR_API_KEY", "LINEAR_TEAM")
PUBLIC = "https://api.linear.app"
WIDTH = 128  # bits of a UUID
ISSUE = """fragment I on Issue { id number title description createdAt state { type } assignee { id } labels { nodes { name } }
 inverseRelations { nodes { type issue { number team { key } } } } }"""
LISTED = f"query($filter: IssueFilter, $after: String) {{ issues(filter: $filter, first: 100, after: $after) {{ nodes {{ ...I }} pageInfo {{ hasNextPage endCursor }} }} }} {ISSUE}"
ONE = f"query($id: String!) {{ issue(id: $id) {{ ...I }} }} {ISSUE}"
TEAM = "query($key: String!) { teams(filter: {key: {eq: $key}}) { nodes { id states { nodes { id type } } labels(first: 250) { nodes { id name } } } } viewer { id } }"
CREATE = f"mutation($input: IssueCreateInput!) {{ issueCreate(input: $input) {{ issue {{ ...I }} }} }} {ISSUE}"
UPDATE = "mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }"
LABEL = "mutation($input: IssueLabelCreateInput!) { issueLabelCreate(input: $input) { issueLabel { id } } }"
COMMENTS = """query($id: String!, $after: String) { issue(id: $id) { comments(first: 100, after: $after) {
 nodes { id body createdAt user { id } } pageInfo { hasNextPage endCursor } } } }"""
SAY = "mutation($input: CommentCreateInput!) { commentCreate(input: $input) { comment { id body createdAt user { id } } } }"
TAKE_BACK = "mutation($id: String!) { commentDelete(id: $id) { success } }"


def make(means: Means) -> Tracker:
    """The tracker `linear`."""
    if missing := [name for name in NEEDED if not means.env.get(name)]:
        raise DetentError(f"{missing[0]} is not set", 'it is needed for [tracker] kind = "linear"')
    key, team = (means.env[name] for name in NEEDED)
    api = Api(means.env.get("LINEAR_URL", PUBLIC), "Linear", key, means.store / "linear", means.clock, means.env, "")
    board = LinearIssues(api, team, means.query)
    return Issues("linear", board, board, means.ready)


class LinearIssues:
    """Board and talk of one team."""

    def __init__(self, api: Api, team: str, query: str = "") -> None:
        self.api, self.team, self.query = api, team, parse_qsl(query)
        self._known: dict[str, Any] = {}

    def listed(self, label: str = "") -> list[Issue]:
        wanted: dict[str, Any] = {"team": {"key": {"eq": self.team}}}
        wanted |= {"labels": {"name": {"eq": label}}} if label else {name: {"name": {"eq": value}} for name, value in self.query}
        found: list[Issue] = []
        page: dict[str, Any] = {"endCursor": None}
        while page:
            answer = self._ask(LISTED, filter=wanted, after=page["endCursor"])["issues"]
            found += map(self._issue, answer["nodes"])
            page = answer["pageInfo"] if answer["pageInfo"]["hasNextPage"] else {}
        return sorted(found)

    def one(self, number: int) -> Issue:
        return self._issue(self._ask(ONE, id=f"{self.team}-{number}")["issue"])

    def create(self, title: str, body: str, labels: tuple[str, ...]) -> Issue:
        new = {"teamId": self._team()["id"], "title": title, "description": body, "labelIds": [self._label(name) for name in labels]}
        return self._issue(self._ask(CREATE, input=new)["issueCreate"]["issue"])

    def edit(self, issue: Issue, edit: Edit) -> None:
        change: dict[str, Any] = {
            name: text for name, text in (("title", edit.title or None), ("description", edit.body)) if text is not None
        }
        change |= {"addedLabelIds": [self._label(name) for name in edit.add]} if edit.add else {}
        change |= {"removedLabelIds": [self._label(name) for name in edit.drop]} if edit.drop else {}
        if edit.closed is not None and edit.closed != issue.closed:
            change["stateId"] = self._state("completed" if edit.closed else "unstarted")
        if change:
            self._ask(UPDATE, id=f"{self.team}-{issue.number}", input=change)

    def me(self) -> str:
        self._team()
        return str(self._known["viewer"]["id"])

    # -- comments ------------------------------------------------------------------------------------------------------------

    def comments(self, number: int) -> list[IssueComment]:
        found: list[IssueComment] = []
        page: dict[str, Any] = {"endCursor": None}
        while page:
            answer = self._ask(COMMENTS, id=f"{self.team}-{number}", after=page["endCursor"])["issue"]["comments"]
            found += map(_comment, answer["nodes"])
            page = answer["pageInfo"] if answer["pageInfo"]["hasNextPage"] else {}
        return found

    def say(self, number: int, body: str) -> IssueComment:
        return _comment(self._ask(SAY, input={"issueId": f"{self.team}-{number}", "body": body})["commentCreate"]["comment"])

    def take_back(self, number: int, id: int) -> None:
        try:
            self._ask(TAKE_BACK, id=str(UUID(int=id % (1 << WIDTH))))
        except NotThere:
            return  # it is away

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _ask(self, query: str, **variables: Any) -> Any:
        answer = self.api.send("POST", "/graphql", {"query": query, "variables": variables})
        for error in answer.get("errors") or ():
            message = str(error.get("message", "?"))
            if "not found" in message.lower():
                raise NotThere(
                    f"Linear has nothing there, or the key may not see it: {message}", "check LINEAR_TEAM, and what the key may do"
                )
            raise ForgeError(f"Linear does not accept this: {message}", "try it by hand")
        return answer["data"]

    def _team(self) -> Any:
        """The team with its states and labels, asked for once."""
        if not self._known:
            answer = self._ask(TEAM, key=self.team)
            if not answer["teams"]["nodes"]:
                raise NotThere(f"Linear has no team {self.team}, or the key may not see it", "set LINEAR_TEAM to its key, such as ENG")
            self._known = {**answer["teams"]["nodes"][0], "viewer": answer["viewer"]}
        return self._known

    def _state(self, kind: str) -> str:
        return next(str(state["id"]) for state in self._team()["states"]["nodes"] if state["type"] == kind)

    def _label(self, name: str) -> str:
        """The id of a label, which is made where there is none."""
        labels = self._team()["labels"]["nodes"]
        known = next((label["id"] for label in labels if label["name"] == name), "")
        if not known:
            known = self._ask(LABEL, input={"name": name, "teamId": self._team()["id"]})["issueLabelCreate"]["issueLabel"]["id"]
            labels.append({"id": known, "name": name})
        return str(known)

    def _issue(self, row: Any) -> Issue:
        try:
            blockers = [each["issue"] for each in row["inverseRelations"]["nodes"] if each["type"] == "blocks"]
            return Issue(
                int(row["number"]),
                str(row["title"]),
                row.get("description") or "",
                row["state"]["type"] in ("completed", "canceled"),
                tuple(label["name"] for label in row["labels"]["nodes"]),
                (row["assignee"]["id"],) if row.get("assignee") else (),
                str(row.get("createdAt") or ""),
                tuple(int(each["number"]) for each in blockers if each["team"]["key"] == self.team),
                talked=True,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise ForgeError(f"an issue from Linear cannot be read: {e!r}", "has its API changed?") from e


def _comment(row: Any) -> IssueComment:
    """Ids are random there, and the oldest claim counts: the time stands before them. Whoever may comment is a member of the workspace."""
    at = int(datetime.fromisoformat(row["createdAt"].replace("Z", "+00:00")).timestamp() * 1000)
    return IssueComment((at << WIDTH) + UUID(row["id"]).int, row.get("body") or "", bool(row.get("user")))
