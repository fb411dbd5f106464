"""aider with `--auto-test`: runs the owner's test command after each edit and sends failures back to the model, at most three times.

A scripted model on loopback plays the agent. What aider's edits cannot express (a link, a mode, git's own files) the agent does directly when it
is asked; every changed text file is in its answer, so that aider writes it too. Only aider judges whether the tests pass.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.orchestrators.scene import TITLE, Said, Scene

MOST = 4  # the first answer and aider's three reflections; at this number the last test run failed too
QUIET = ("--no-check-update", "--analytics-disable", "--no-show-model-warnings", "--no-show-release-notes", "--no-stream", "--no-pretty")
ONLY = ("--no-gitignore", "--map-tokens", "0", "--max-chat-history-tokens", "1000000")  # no side questions to the model
ALONE = ("--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-suggest-shell-commands", "--no-auto-lint", "--no-detect-urls")


def play(scene: Scene, folder: Path) -> Said:
    module = next(iter(scene.language.files))
    with model(scene, module) as (url, asked):
        scene.env.update(OPENAI_API_KEY="sk-scripted", OPENAI_API_BASE=url, LITELLM_LOCAL_MODEL_COST_MAP="True")
        judged = ("--auto-test", "--test-cmd", scene.language.command)
        chosen = ("--model", "openai/scripted", "--weak-model", "openai/scripted", "--edit-format", "whole")
        files = ("--chat-history-file", str(scene.home / "chat.md"), "--input-history-file", str(scene.home / "input"))
        scene.run(str(folder / "bin/aider"), *chosen, *judged, *QUIET, *ONLY, *ALONE, *files, "--message", TITLE, module)
    return read(len(asked))


def read(asked: int) -> Said:
    """aider asks again while tests fail, so work is accepted if it stops before the limit."""
    if not asked:
        raise RuntimeError("aider never asked its model")
    return Said(asked < MOST, f"the model was asked {asked} of at most {MOST} times")


@contextmanager
def model(scene: Scene, module: str) -> Iterator[tuple[str, list[int]]]:
    """The scripted model service, and the requests it got."""
    asked: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(len(asked))
            scene.work(*(() if len(asked) == 1 else scene.steps()[-1:]))  # the first time all steps, later the last one again
            body = json.dumps(completion(answer(scene, module))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def answer(scene: Scene, module: str) -> str:
    """Every text file that differs from the start, in full, and always the module, so that the answer is never empty."""
    listed = scene.run("git", "-c", "core.quotePath=false", "status", "--porcelain", "-uall", "--no-renames")
    changed = [line[3:] for line in listed.splitlines() if "D" not in line[:2]]
    files = [path for path in dict.fromkeys((module, *changed)) if plain(scene.repo / path)]
    return "\n".join(f"{path}\n```\n{(scene.repo / path).read_text('utf-8').rstrip()}\n```\n" for path in files) or "Done."


def plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink() and "__pycache__" not in file.parts and file.suffix != ".pyc"


def completion(words: str) -> dict[str, object]:
    message = {"role": "assistant", "content": words}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice], "usage": usage}
