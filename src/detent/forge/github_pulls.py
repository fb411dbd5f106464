"""GitHub pull requests through the REST API."""

from typing import Any

from detent.forge.api import Api, NotThere
from detent.forge.pull_requests import Checks, Pull, PullComment, Result, summed
from detent.forge.where import ForgeProject

TRUSTED = ("OWNER", "MEMBER", "COLLABORATOR")
STATUSES: dict[str, Result] = {"success": "green", "pending": "pending", "failure": "red", "error": "red"}
ENDED: dict[str, Result] = {"success": "green", "neutral": "green", "skipped": "green", "stale": "pending"}  # every other conclusion is red


class GitHubPulls:
    def __init__(self, api: Api, where: ForgeProject) -> None:
        self.api, self.at, self.owner = api, where.path, where.project.partition("/")[0]

    def offer(self, branch: str, onto: str, title: str, body: str) -> Pull:
        if (there := self.found(branch)) is not None:
            self.api.send("PATCH", f"{self.at}/pulls/{there.number}", {"title": title, "body": body})
            return there
        return _pull(self.api.send("POST", f"{self.at}/pulls", {"title": title, "head": branch, "base": onto, "body": body}))

    def found(self, branch: str) -> Pull | None:
        rows = self.api.pages(f"{self.at}/pulls", head=f"{self.owner}:{branch}", state="open")
        return _pull(rows[0]) if rows else None

    def words(self, pull: Pull) -> list[PullComment]:
        reviews = [
            _word("review", row, asks=row.get("state") == "CHANGES_REQUESTED") for row in self._comments(f"pulls/{pull.number}/reviews")
        ]
        lines = [_word("line", row, _place(row), asks=True) for row in self._comments(f"pulls/{pull.number}/comments")]
        return [*reviews, *lines, *(_word("comment", row) for row in self._comments(f"issues/{pull.number}/comments"))]

    def say(self, pull: Pull, body: str) -> None:
        self.api.send("POST", f"{self.at}/issues/{pull.number}/comments", {"body": body})

    def checks(self, commit: str) -> Checks:
        """Check runs as well as the older commit statuses; CI may write either."""
        runs = self.api.get(f"{self.at}/commits/{commit}/check-runs", per_page="100").get("check_runs") or ()
        statuses = self.api.get(f"{self.at}/commits/{commit}/status", per_page="100").get("statuses") or ()
        found: dict[str, Result] = {str(row["context"]): STATUSES.get(row["state"], "red") for row in statuses}
        return summed(found | {str(row["name"]): _ended(row) for row in runs})

    def guarded(self, branch: str) -> str:
        try:
            row = self.api.get(f"{self.at}/branches/{branch}")
        except NotThere:
            return ""
        return f"{self.api.name} protects {branch}" if row.get("protected") else ""

    def _comments(self, path: str) -> list[Any]:
        """Comments by people with write access that have text or request changes."""
        rows = self.api.pages(f"{self.at}/{path}")
        people = (row for row in rows if (row.get("user") or {}).get("type") != "Bot" and row.get("author_association") in TRUSTED)
        return [row for row in people if row.get("body") or row.get("state") == "CHANGES_REQUESTED"]


def _ended(row: Any) -> Result:
    return ENDED.get(row.get("conclusion") or "", "red") if row.get("status") == "completed" else "pending"


def _pull(row: Any) -> Pull:
    return Pull(int(row["number"]), str(row["html_url"]))


def _word(kind: str, row: Any, place: str = "", asks: bool = False) -> PullComment:
    return PullComment(f"{kind}-{row['id']}", str(row["user"]["login"]), str(row.get("body") or ""), place, asks)


def _place(row: Any) -> str:
    line = row.get("line") or row.get("original_line")
    return f"{row.get('path', '')}{f':{line}' if line else ''}"
