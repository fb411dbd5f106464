"""`python -m detent` is the command line."""

from detent.interfaces.cli import main

main()
