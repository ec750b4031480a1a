"""Descriptors, signals and files: the only place that touches them."""
