"""The guard: hooks of agents ask it before each tool call, and it refuses the repeated ones."""
