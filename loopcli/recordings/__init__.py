"""Recorded replies: files in, labelled replies out."""
