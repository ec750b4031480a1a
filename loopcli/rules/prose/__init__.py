"""The prose rule, which judges sentences."""
