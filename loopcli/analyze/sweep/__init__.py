"""A whole grid of the saturation rule's knobs over many transcripts, exact and at once.

All but the grid itself and the Pareto front need numpy, which is an extra.
"""
