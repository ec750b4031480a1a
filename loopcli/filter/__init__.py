"""The filter: standard input to standard output."""
