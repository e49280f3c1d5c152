"""Templates of a workspace in place of the package's: read once, run apart from the program, with limits."""
