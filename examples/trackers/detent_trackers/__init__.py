"""Two trackers for Detent, as an example: the issues of a Jira project, and those of a Linear team."""
