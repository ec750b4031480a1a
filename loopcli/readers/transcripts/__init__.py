"""Recorded replies: one file per format, bytes or documents in, replies out."""
