"""The readers: one file per wire format, all with the same shape."""
