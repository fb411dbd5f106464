"""GitLab merge requests through the REST API."""

import re
from typing import Any
from urllib.parse import quote

from detent.forge.api import Api, NotThere
from detent.forge.pull_requests import Checks, Pull, PullComment, Result, summed
from detent.forge.where import ForgeProject

DEVELOPER = 30  # the lowest access level that may push
ACTION = re.compile(r"^([ \t]*)/(?=[a-z])", re.MULTILINE)  # a line that GitLab would run as a quick action
ENDED: dict[str, Result] = {"success": "green", "skipped": "green", "failed": "red", "canceled": "red"}  # every other status is pending


class GitLabPulls:
    def __init__(self, api: Api, where: ForgeProject) -> None:
        self.api, self.project, self.at = api, where.path, f"{where.path}/merge_requests"

    def offer(self, branch: str, onto: str, title: str, body: str) -> Pull:
        text = {"title": title, "description": ACTION.sub(r"\1\\/", body)}
        if (there := self.found(branch)) is not None:
            self.api.send("PUT", f"{self.at}/{there.number}", text)
            return there
        return _pull(self.api.send("POST", self.at, {"source_branch": branch, "target_branch": onto, **text}))

    def found(self, branch: str) -> Pull | None:
        rows = self.api.pages(self.at, source_branch=branch, state="opened", scope="all")
        return _pull(rows[0]) if rows else None

    def words(self, pull: Pull) -> list[PullComment]:
        """Open notes, and one entry for each reviewer who requests changes."""
        at = f"{self.at}/{pull.number}"
        notes = [row for row in self.api.pages(f"{at}/notes", sort="asc", order_by="created_at") if not row.get("system")]
        comments = [_word(row) for row in notes if self._may_push(int(row["author"]["id"])) and not row.get("resolved")]
        asking = [row["user"] for row in self.api.pages(f"{at}/reviewers") if row.get("state") == "requested_changes"]
        head = str(self.api.get(at).get("sha") or "")
        return [*comments, *(PullComment(f"asked-{who['id']}-{head[:12]}", str(who["username"]), "", "", True) for who in asking)]

    def say(self, pull: Pull, body: str) -> None:
        self.api.send("POST", f"{self.at}/{pull.number}/notes", {"body": ACTION.sub(r"\1\\/", body)})

    def checks(self, commit: str) -> Checks:
        """The newest pipeline of each source."""
        rows = self.api.pages(f"{self.project}/pipelines", sha=commit, order_by="id", sort="asc")
        return summed({f"pipeline of {row.get('source') or 'a push'}": ENDED.get(str(row["status"]), "pending") for row in rows})

    def guarded(self, branch: str) -> str:
        try:
            row = self.api.get(f"{self.project}/repository/branches/{quote(branch, safe='')}")
        except NotThere:
            return ""
        return f"{self.api.name} protects {branch}" if row.get("protected") and not row.get("can_push") else ""

    def _may_push(self, who: int) -> bool:
        try:
            return int(self.api.get(f"{self.project}/members/all/{who}").get("access_level", 0)) >= DEVELOPER
        except NotThere:
            return False


def _pull(row: Any) -> Pull:
    return Pull(int(row["iid"]), str(row["web_url"]))


def _word(row: Any) -> PullComment:
    at = row.get("position") or {}
    path, line = at.get("new_path") or at.get("old_path") or "", at.get("new_line") or at.get("old_line")
    place = f"{path}{f':{line}' if line else ''}" if path else ""
    return PullComment(f"note-{row['id']}", str(row["author"]["username"]), str(row.get("body") or ""), place, bool(place))
