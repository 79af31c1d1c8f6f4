"""`python -m skillgit`."""

from skillgit.cli.main import main

main()
