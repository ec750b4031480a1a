"""One file for each format of ``analyze``."""
