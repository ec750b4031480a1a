"""The numpy shortcut for large corpora."""
