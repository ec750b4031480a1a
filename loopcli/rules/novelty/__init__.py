"""The novelty rule."""
