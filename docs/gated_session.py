"""Draws docs/gated-session.svg: a session of the real Claude Code, gated, as it was just played against a scripted model on loopback.

Run from the project's root after `./x test` has installed the clients: .venv/bin/python docs/gated_session.py
"""

import json
import re
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.test_real_clients import CLIENTS, registered, story  # noqa: E402

WIDTH = 118
COLOURS = {"SUCCESS": "green", "NEEDS_ANALYSIS": "yellow", "FAILURE": "red", "REFUSED": "yellow"}


def asked(name: str, given: dict[str, str], root: Path) -> str:
    shown = [str(v).replace(f"{root}/", "").splitlines()[0] for k, v in given.items() if k not in ("content", "description", "summary")]
    return f"{name.replace('mcp__detent__', 'detent ')}({', '.join(shown)})"


def answered(text: str, root: Path) -> Text:
    """The line of an answer that says the most."""
    text = text.replace(f"{root}/", "").partition("<system-reminder>")[0].strip()
    if "Refused by Detent" in text:
        said, _, way = text[text.index("Refused by Detent") :].splitlines()[0].partition(" The next step")
        return Text.assemble((said, "bold red"), (f" The next step{way}" if way else "", "dim"))
    try:
        told, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return Text(" ".join(text.split())[: WIDTH - 8], style="dim")
    if "status" in told:
        said = told["reasons"][0] if told["reasons"] else told["instruction"]
        return Text.assemble((told["status"], f"bold {COLOURS.get(told['status'], 'white')}"), (f"  {said}"[: WIDTH - 22], "dim"))
    return Text.assemble((told["state"], "bold cyan"), (f"  {told['goal']}"[: WIDTH - 26], "dim"))


def main() -> None:
    client = CLIENTS["claude"]
    console = Console(record=True, width=WIDTH, force_terminal=True, file=StringIO())
    with tempfile.TemporaryDirectory() as folder:
        project = registered(Path(folder), "claude")
        calls = story(client, project.root)
        played = client.play(project, [*calls.values(), "I am done."])
        assert len(played.results) == len(calls), str(played)
        for turn, result in zip(calls.values(), played.results, strict=True):
            assert isinstance(turn, dict)
            console.print(Text(f"● {asked(turn['tool'], turn['input'], project.root)}"[:WIDTH], style="bold"))
            console.print(Padding(answered(result, project.root), (0, 0, 0, 4)))
        for reminder in [text for text in played.told if "The work is not finished" in text][:1]:
            console.print(Text("● I am done.", style="bold"))
            console.print(Padding(Text(" ".join(reminder.split()), style="yellow"), (0, 0, 0, 4)))
    drawn = re.sub(
        r"@font-face \{.*?\}\s*", "", console.export_svg(title="Claude Code, held by Detent"), flags=re.DOTALL
    )  # no font from elsewhere
    (ROOT / "docs" / "gated-session.svg").write_text(drawn, "utf-8")


if __name__ == "__main__":
    main()
