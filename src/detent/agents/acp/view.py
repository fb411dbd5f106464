"""What an ACP agent does, as recorded in the transcript and shown live: text in whole lines, each tool call once, the plan, refusals."""

from detent.agents.acp.messages import SAYS, WORDS, AcpToolCall, News, PlanEntry
from detent.agents.agent_protocol import Progress
from detent.agents.question import Asked
from detent.agents.texts import LineBuffer

MARKS = {"completed": "x", "in_progress": "…"}
SHOWN = 1_000_000  # characters shown live; the rest is only recorded


class AcpView:
    """The view of one turn."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.lines, self.kind, self.size = asked, LineBuffer(), "", 0
        self.calls: dict[str, str] = {}  # tool call id -> its last status
        self.plan: tuple[PlanEntry, ...] = ()

    def keep(self, line: object) -> None:
        """Record a message as it came."""
        self.asked.log.add("line", line=line)

    def sent(self, line: object) -> None:
        self.asked.log.add("sent", line=line)

    def see(self, news: News) -> None:
        if news.kind in WORDS:
            if news.kind != self.kind:
                self.flush()
                self.kind = news.kind
            self.say(self.lines.feed(news.text))
        elif news.call:
            self.flush()
            self.call(news.call, news.text)
        elif news.plan and news.plan != self.plan:
            self.plan = news.plan
            self.flush()
            for entry in news.plan:
                self.tell(Progress("text", f"[{MARKS.get(entry.status, ' ')}] {entry.content}"))

    def call(self, call: AcpToolCall, refused: str) -> None:
        title, before = call.title or call.kind or "a tool", self.calls.get(call.tool_call_id)
        if before is None:
            self.tell(Progress("tool", title))
        if refused:
            self.asked.log.add("refused", call=title, why=refused)
            self.tell(Progress("result", f"refused: {refused}"))
        elif call.status == "failed" and before != "failed":
            self.tell(Progress("result", f"{title} failed"))
        self.calls[call.tool_call_id] = call.status or ""

    def say(self, lines: list[str]) -> None:
        """Record and show text. It is recorded here because the messages that carried it are not."""
        for line in lines:
            self.asked.log.add("text" if self.kind == SAYS else "thought", text=line)
            if self.kind == SAYS:
                self.tell(Progress("text", line))

    def tell(self, progress: Progress) -> None:
        self.size += len(progress.text)
        if self.size < SHOWN:
            self.asked.tell(progress)

    def flush(self) -> None:
        self.say(self.lines.end())

    def end(self) -> None:
        self.flush()
