"""What this package adds to Detent: the workflow `guide`, the test runner `doctest`, the agent `template:FILE` and the flag `no-example`."""
