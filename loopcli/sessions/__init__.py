"""Agents' sessions, live and recorded: bytes in, session events out."""
