"""The renderers: one file each, all with the same shape."""
