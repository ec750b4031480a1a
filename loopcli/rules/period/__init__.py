"""The period rule."""
