"""The calls rule, which decides whether a tool call may run."""
