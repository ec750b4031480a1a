"""One recorded format a file."""
