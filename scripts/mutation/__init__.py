"""Mutation testing with all mutants of a group in one build, each switched on when it is run."""
