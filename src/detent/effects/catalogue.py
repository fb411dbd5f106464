"""The owed effects and the jobs by name, and what landing goes by. An effect is journaled with the event that owes it, and settled before anything else happens to the run;
a job is work of the machine whose outcome decides: each outcome is an event of the state that has the job.
"""

from typing import NamedTuple

from detent.kernel.rows import Effect, Job

commit_judged_tree = Effect("commit_judged_tree", "Commit the tree that was judged, and only that.")
checkpoint = Effect("checkpoint", "Commit the judged tree as the checkpoint of the step.")
publish = Effect("publish", "Rewrite the published files and notes from the journal.")
snapshot = Effect("snapshot", "Keep every tracked and untracked file reachable from the run's refs.")
reset_to_good = Effect("reset_to_good", "Snapshot, then bring the workspace back to the last good commit.")
undo_strays = Effect(
    "undo_strays", "Where the machine drives: bring back what was written beyond the part of the step or role; a snapshot is kept."
)
take_back = Effect("take_back", "Where the machine drives: bring back everything that the attempt wrote; a snapshot is kept.")
commit_plan = Effect("commit_plan", "Commit the marked plan entry as a commit of its own.")
clear_plan = Effect("clear_plan", "Remove ACTIVE_PR.json and the merged branch.")
write_note = Effect("write_note", "Write the handoff note onto the phase commit.")
publish_claims = Effect("publish_claims", "Write what was proved for each commit into the evidence ref, with the trees of the steps.")
tick_boxes = Effect("tick_boxes", "Tick the boxes of the proved tests in test-list.md; the next plan commit carries them.")
leave_workspace = Effect("leave_workspace", "Remove the machine's own checkout of the run; its branch and its snapshots stay.")
stop_children = Effect("stop_children", "Abort the child runs that have not ended.")

create_branch = Job("create_branch", "Create the branch of the pull request on the current main.", ("branched", "conflict"))
call_reviewer = Job(
    "call_reviewer", "Have a fresh reviewer read plan and diff, or read the findings file at the root.", ("approved", "findings", "limited")
)
squash = Job("squash", "Make one commit of the branch, tree unchanged, message = title, where the machine does it.", ("squashed",))
land_branch = Job(
    "land_branch", "Look at the whole branch, then land or offer it as [git] merge says, once it passes in a clean checkout; a person's own checkout is on it already.",
    ("landed", "offered", "conflict", "red-merge", "flagged", "flags-accepted"),
)  # fmt: skip
merge = Job(
    "merge",
    "Look at the whole branch; then merge on the then-current main, build and test the merged tree, and move the ref.",
    ("merged", "conflict", "red-merge", "flagged", "flags-accepted"),
)


class Ways(NamedTuple):
    """How landing is configured."""

    main: str
    remote: str
    merge: str  # auto, branch, pull-request
    pr_command: str
    push: bool = False  # main too, where the merge is the machine's
