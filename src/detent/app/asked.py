"""What a run and its children ask people, and what was answered, read off the journal. Changes nothing."""

from detent.app import App
from detent.door import AnyRun


def asked_of(app: App, run: str) -> list[dict[str, object]]:
    """Every question of a run, in the order of its runs."""
    from detent.gates.human import DecisionData
    from detent.workflows.session_files import decision_row

    found: list[dict[str, object]] = []
    for each in app.worlds.gear.family(run):
        if isinstance(each.data, DecisionData):
            rows = [(d, decision_row(d, each.id, app.worlds.gear.when)) for d in each.data.decisions]
            found += [{"run": each.id, "kind": d.kind, **row, "shown": _shown(each, sorted(d.shown))} for d, row in rows]
    return found


def _shown(run: AnyRun, paths: list[str]) -> list[str]:
    """Where a person finds what they are shown: in their own checkout, also where the work is elsewhere."""
    return [f"{run.worktree}/{path}" for path in paths if path.startswith(run.data.session)]
