"""What the GitHub action runs: `check` judges the change, `report` publishes the result where the token allows it. Standard library only.

The step that runs tests gets no token. Missing permissions are reported and fail nothing: the token of a fork's pull request can only read.
"""

import gzip
import json
import os
import shlex
import subprocess
import sys
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

MARK = "<!-- detent check -->"  # identifies the comment of an earlier run
LONGEST = 60_000  # characters of a comment; GitHub's limit is a little higher
ANSWERS = (0, 1, 4, 10)  # exit codes that come with a card
KEPT = {"json": "detent.json", "markdown": "detent.md", "sarif": "detent.sarif"}  # also written, to RUNNER_TEMP
Env = Mapping[str, str]


def check(env: Env) -> int:
    """Run one check with annotations and the step summary; its exit code is the answer."""
    if env.get("GITHUB_EVENT_NAME") == "pull_request_target":
        print("::error::pull_request_target runs the code of a pull request with your secrets; use pull_request")
        return 2
    program = shlex.split(env.get("DETENT", "")) or [f"{env['RUNNER_TEMP']}/detent/bin/detent"]
    base = env.get("BASE") or base_of(event(env))
    wish = [*([f"{base}..HEAD"] if base else []), "--budget", env["BUDGET"], *(["--install", env["INSTALL"]] if env.get("INSTALL") else [])]
    code = subprocess.run([*program, "check", *wish, "--github", "--fail-on", env["FAIL_ON"]], check=False).returncode
    if code in ANSWERS:
        for form, name in KEPT.items():  # the result is known by now, so nothing runs again
            file = Path(env["RUNNER_TEMP"], name)
            file.write_bytes(subprocess.run([*program, "check", *wish, f"--{form}"], check=False, capture_output=True).stdout)
        answer = json.loads(Path(env["RUNNER_TEMP"], KEPT["json"]).read_bytes())["answer"]
        with open(env["GITHUB_OUTPUT"], "a", encoding="utf-8") as out:
            out.write(f"answer={answer}\nsarif={env['RUNNER_TEMP']}/{KEPT['sarif']}\n")
    return code


def event(env: Env) -> dict[str, Any]:
    """GitHub's event."""
    try:
        found = json.loads(Path(env.get("GITHUB_EVENT_PATH", "")).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def base_of(happened: dict[str, Any]) -> str:
    """The commit to compare with: the base of a pull request or merge queue, or the commit before a push. Empty: compare with main."""
    pull, group = happened.get("pull_request") or {}, happened.get("merge_group") or {}
    found = (pull.get("base") or {}).get("sha") or group.get("base_sha") or happened.get("before") or ""
    return str(found) if str(found).strip("0") else ""


# -- publishing --------------------------------------------------------------------------------------------------------------------


def report(env: Env) -> int:
    """Publish the card as a comment on the pull request, and SARIF for code scanning."""
    here, number = f"/repos/{env['GITHUB_REPOSITORY']}", (event(env).get("pull_request") or {}).get("number")
    card, sarif = (Path(env["RUNNER_TEMP"], KEPT[form]) for form in ("markdown", "sarif"))
    if number and card.is_file():
        said = comment(env, here, number, f"{MARK}\n{card.read_text('utf-8')[:LONGEST]}")
        print(f"detent: the comment {said}" + (" (it needs `pull-requests: write`)" if " not " in said else ""))
    if sarif.is_file():
        packed = b64encode(gzip.compress(sarif.read_bytes())).decode()
        said = ask(
            env, "POST", f"{here}/code-scanning/sarifs", {"commit_sha": env["GITHUB_SHA"], "ref": env["GITHUB_REF"], "sarif": packed}
        )[1]
        print(f"detent: SARIF {said}" + (" (it needs `security-events: write`, and code scanning)" if " not " in said else ""))
    return 0


def comment(env: Env, here: str, number: int, text: str) -> str:
    """Write the comment, or update the one of an earlier run."""
    listed = ask(env, "GET", f"{here}/issues/{number}/comments?per_page=100")[0]
    ours = [each["id"] for each in listed if str(each.get("body", "")).startswith(MARK)] if isinstance(listed, list) else []
    for each in ours:
        _, said = ask(env, "PATCH", f"{here}/issues/comments/{each}", {"body": text})
        if " not " not in said:
            return said
    return ask(env, "POST", f"{here}/issues/{number}/comments", {"body": text})[1]


def ask(env: Env, method: str, path: str, body: dict[str, str] | None = None) -> tuple[Any, str]:
    """GitHub's answer, and in words whether the request succeeded."""
    heads = {
        "Authorization": f"Bearer {env.get('TOKEN', '')}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = json.dumps(body).encode() if body is not None else None
    try:
        with urlopen(Request(env["GITHUB_API_URL"] + path, data, heads, method=method), timeout=60) as answer:
            return json.loads(answer.read() or b"null"), "was written"
    except HTTPError as e:
        return None, f"was not written: GitHub says {e.code}"
    except (URLError, OSError, ValueError) as e:
        return None, f"was not written: {e}"


if __name__ == "__main__":
    sys.exit({"check": check, "report": report}[sys.argv[1]](os.environ))
