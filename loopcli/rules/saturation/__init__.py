"""The saturation rule."""
