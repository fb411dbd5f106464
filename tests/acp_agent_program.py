"""The program that tests/acp_agent.py writes, with its script in place of the empty one. Standard library only."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

SCRIPT: dict[str, Any] = {}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read() -> Any:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def chunk(text: str) -> None:
    piece = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "s1", "update": piece})


def ask_model(prompt: str, model: str) -> str:
    """The model's words, in two pieces; an error is returned as if it were its words."""
    body = {"model": model, "stream": True, "tools": [{"type": "function"}], "messages": [{"role": "user", "content": prompt}]}
    key = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), key)) as answer:
            pieces = [json.loads(line[6:]) for line in answer.read().decode().splitlines() if line.startswith("data: {")]
    except (urllib.error.HTTPError, OSError) as e:
        return f"Error: {e}"
    return "".join(c["delta"].get("content") or "" for p in pieces for c in p["choices"])


class Agent:
    def __init__(self) -> None:
        self.number, self.prompt = 100, ""
        self.answers: list[Any] = []

    def request(self, message: dict[str, Any]) -> None:
        self.number += 1
        send(id=self.number, **message)
        while (got := read()).get("id") != self.number or "method" in got:
            pass
        self.answers.append(got.get("result", got.get("error")))

    def do(self, id: int, what: str, *more: Any) -> None:
        if what == "model":
            words = ask_model(self.prompt, more[0] if more else os.environ.get("OPENAI_MODEL", "m-1"))
            chunk(words[: len(words) // 2])
            chunk(words[len(words) // 2 :])
        elif what == "say":
            chunk(more[0])
        elif what == "send":
            send(**more[0])
        elif what == "raw":
            sys.stdout.write(more[0] + "\n")
            sys.stdout.flush()
        elif what == "ask":
            self.request(more[0])
        elif what == "answers":
            chunk(json.dumps(self.answers))
        elif what == "flood":
            while True:
                send(**more[0])
        elif what == "asks":
            while True:
                self.request(more[0])
        elif what == "daemon":
            child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
            with open(more[0], "w") as file:
                file.write(str(child.pid))
        elif what == "write":
            with open(more[0], "w") as file:
                file.write(more[1])
        elif what == "wait":
            time.sleep(more[0])
        elif what == "exit":
            os._exit(more[0])
        elif what == "end":
            send(id=id, result=more[0])
        elif what == "error":
            send(id=id, error=more[0])

    def run(self) -> None:
        steps = iter(SCRIPT["steps"])
        while True:
            got = read()
            ready = {"initialize": SCRIPT["ready"], "session/new": SCRIPT["new"], "session/set_mode": {}}
            if got["method"] in ready:
                found = ready[got["method"]]
                if found is not None:
                    send(id=got["id"], **({"error": found["error"]} if "error" in found else {"result": found}))
            elif got["method"] == "session/prompt":
                self.prompt = got["params"]["prompt"][0]["text"]
                for what, *more in steps:
                    self.do(got["id"], what, *more)
                    if what in ("end", "error"):
                        break


if __name__ == "__main__":
    Agent().run()
