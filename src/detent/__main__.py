"""`python -m detent` is the command line."""

from detent.interfaces.cli.main import main

main()
