"""What is done with the work of tasks that worked apart, each in a workspace of its own. Named here, performed elsewhere."""

from detent.kernel.rows import Effect, Job

commit_merged = Effect(
    "commit_merged", "Commit the merged tree of a task that ran in parallel, as `T-001: title`, and move the session's workspace to it."
)
merge_task = Job(
    "merge_task",
    "Merge the work of a task that ran in parallel with the current state of the session, and run tests, preflight and the task's checks on the merged tree.",
    ("merged", "merge-conflict", "merge-red"),
)
