"""Which framing and which dialect a stream is in."""
