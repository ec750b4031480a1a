"""The rules: one file each, all with the same shape."""
