"""The declarations of the pipeline's and its tasks' own effects and jobs. `pipeline_effects.py` performs them."""

from detent.kernel.table import Effect, Job

append_design_history = Effect(
    "append_design_history", "Append the requested change as one line to approve-design-history.jsonl, once per event."
)
commit_task = Effect("commit_task", "Commit the judged tree as `T-001: title` (a final review: `meta: …`); nothing to commit is fine.")
lay_documents = Effect("lay_documents", "Write a person's changes to the session's documents into its folder, and keep them.")
drop_unproved = Effect(
    "drop_unproved", "Reset the checkout to the last tree that passed its proof; its files are kept under the run's refs."
)
write_report = Effect(
    "write_report",
    "Write report.md from the journal: what was done, how to run, how to test, known issues, evidence per criterion, manual checks, cost and time per role.",
)

prepare_dispatch = Job(
    "prepare_dispatch",
    "Before a role is dispatched: create the session's folder and branch if they are missing, check that its context files exist, record the project's "
    "instructions at the base commit, and list every file the session changed. Nothing to do if the run's newest event already did it.",
    ("prepared", "context-missing"),
)
run_checks = Job(
    "run_checks",
    "Snapshot the tree and run preflight, every check of every task and every acceptance command on it; a PASS for the same tree and command is reused.",
    ("green", "red"),
)
land = Job(
    "land",
    "Check the whole branch; then land it as [git] merge says, or see whether a person has merged it.",
    ("landed", "conflict", "red-merge", "flagged", "flags-accepted"),
)


commit_merged = Effect(
    "commit_merged", "Commit the merged tree of a task that ran in parallel, as `T-001: title`, and move the session's workspace to it."
)
merge_task = Job(
    "merge_task",
    "Merge the work of a task that ran in parallel with the current state of the session, and run tests, preflight and the task's checks on the merged tree.",
    ("merged", "merge-conflict", "merge-red"),
)
