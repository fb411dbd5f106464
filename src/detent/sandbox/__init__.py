"""The sandbox: how programs of the project are run. Knows processes and their limits; knows nothing of tests or agents."""
