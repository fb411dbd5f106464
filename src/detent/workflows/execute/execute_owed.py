"""The jobs and owed effects of `execute`: workspace, branch, remote, and the tracker that the work item comes from. By name; execute_effects.py performs them."""

from detent.kernel.rows import Effect, Job

prepare = Job(
    "prepare",
    "Check the item and what it depends on; if it may run, claim it and create its branch (-retry2 and so on if taken) and its workspace.",
    ("started", "not-runnable"),
)
push = Job(
    "push",
    "Check the whole branch; then push it to the remote, if there is one. What was already pushed counts as pushed.",
    ("pushed", "rejected", "red-look", "flagged", "flags-accepted"),
)
rebase = Job("rebase", "Fetch, and rebase the branch once onto the remote's; on a conflict leave it unchanged.", ("rebased", "conflict"))
review_branch = Job(
    "review_branch", "Have a fresh reviewer read the diff of the branch: {issues, summary, pr_ready}.", ("ready", "not-ready", "limited")
)
watch_items = Job(
    "watch_items", "Check whether every item that the review filed is closed; do nothing while one is open.", ("items-closed",)
)
take_in = Job(
    "take_in",
    "Merge into the branch what was done for the items of its review, and what people pushed to it; leave it unchanged if there is nothing.",
    ("joined", "nothing-new"),
)
open_pull_request = Job(
    "open_pull_request",
    "Open the pull request, or update the open one; with [git] wait_for_ci, wait for CI to finish.",
    ("opened", "ci-red"),
)

update_item = Effect("update_item", "Set the item's status and labels as the end of the execution says.")
file_follow_up = Effect(
    "file_follow_up", "File one follow-up item for this cause, linked to the first; an existing one gets the details as a note."
)
file_issues = Effect(
    "file_issues",
    "File each issue of the review as an item, once, linked to this one, without queueing it. Close what an earlier review found and this one does not.",
)
note_on_item = Effect("note_on_item", "Record what a plan update would say, entry and commit, as a note on the item.")
sync_tracker = Effect("sync_tracker", "Have the tracker persist its data (`bd sync` where this bd has it); report it if that fails.")
end_processes = Effect("end_processes", "End the agent's whole process tree.")
clean_up = Effect("clean_up", "Remove the workspace and free the slot; branch, snapshots and logs stay.")
