"""The first bytes by which files and streams are recognised, each named once."""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"  # of UTF-8; it is not part of the text
UTF16 = (b"\xff\xfe", b"\xfe\xff")
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
# The first line of a recording made with Go's httprr package.
HTTPRR = b"httprr trace v1"
