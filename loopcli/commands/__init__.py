"""The commands: one file each; they take settings and act, and know nothing of click."""
