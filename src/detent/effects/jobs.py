"""The jobs by name: work of the machine whose outcome decides. Each outcome is an event of the state that has the job."""

from detent.kernel.rows import Job

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
