"""The owed effects and the jobs by name, and the settings of landing.

An effect is journaled with the event that owes it, and performed before anything else happens to the run. A job is work of the machine
whose outcome decides: each outcome is an event of the state that has the job.
"""

from typing import NamedTuple

from detent.kernel.table import Effect, Job

commit_judged_tree = Effect("commit_judged_tree", "Commit the tree that was judged, and only that.")
checkpoint = Effect("checkpoint", "Commit the judged tree as the checkpoint of the step.")
publish = Effect("publish", "Rewrite the published files and notes from the journal.")
snapshot = Effect("snapshot", "Keep all tracked and untracked files reachable from the run's refs.")
reset_to_good = Effect("reset_to_good", "Take a snapshot, then reset the workspace to the last good commit.")
undo_strays = Effect("undo_strays", "In push mode: undo what was written outside of what the step or role may write; a snapshot is kept.")
take_back = Effect("take_back", "In push mode: undo everything that the attempt wrote; a snapshot is kept.")
commit_plan = Effect("commit_plan", "Commit the marked plan entry as a commit of its own.")
clear_plan = Effect("clear_plan", "Remove ACTIVE_PR.json and the merged branch.")
write_note = Effect("write_note", "Write the handoff note onto the phase commit.")
publish_claims = Effect("publish_claims", "Record what was proved for each commit, with the trees of its steps, in the evidence ref.")
tick_boxes = Effect("tick_boxes", "Tick the boxes of the proved tests in test-list.md; the next plan commit carries them.")
leave_workspace = Effect("leave_workspace", "Remove the machine's own checkout of the run; its branch and its snapshots stay.")
stop_children = Effect("stop_children", "Abort the child runs that have not ended.")

create_branch = Job("create_branch", "Create the branch of the pull request on the current main.", ("branched", "conflict"))
call_reviewer = Job(
    "call_reviewer",
    "Have a fresh reviewer read plan and diff, or read the findings file in the root folder.",
    ("approved", "findings", "limited"),
)
squash = Job("squash", "Squash the branch into one commit with the title as its message, where Detent does the squash.", ("squashed",))
land_branch = Job(
    "land_branch", "Check the whole branch, then land or offer it as [git] merge says, once it passes in a clean checkout; a person's own checkout is already on it.",
    ("landed", "offered", "conflict", "red-merge", "flagged", "flags-accepted"),
)  # fmt: skip
merge = Job(
    "merge",
    "Check the whole branch; then merge it with the current main, test the merged tree, and move the ref.",
    ("merged", "conflict", "red-merge", "flagged", "flags-accepted"),
)


class Ways(NamedTuple):
    """How landing is configured ([git] in detent.toml)."""

    main: str
    remote: str
    merge: str  # auto, branch, pull-request
    pr_command: str
    push: bool = False  # push main too, where the machine merges
