"""A rule as somebody would add it: its folder, and nothing else."""
