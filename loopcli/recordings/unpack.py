"""Unpacks a gzip or zstd file in pieces, as far as it can be read.

Rules of this file:

- The first bytes decide how a file is packed; its name does not.
- Damage ends the pieces and raises nothing. Everything before it has been yielded
  by then, and ``trouble`` says what is wrong.
- No piece is large, however well the file was packed, so that memory stays bounded.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from loopcli.signatures import GZIP, ZSTD

_READ_BYTES = 256 * 1024
# The bytes given to gzip's engine at a time; a damaged step yields nothing.
_GZIP_STEP = 16 * 1024
# zstd's engine returns everything that a step holds at once. A block of 128 KiB
# may take four bytes, so this is 16 MiB at most.
_ZSTD_STEP = 512

NEEDS_ZSTD = "reading zstd needs zstandard: pip install 'loopcheck[formats]'"


class Unpacked:
    """The bytes of a file. ``trouble`` is set when they ended too early.

    ``read`` takes a number of bytes and returns at most that many; none at the end.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read_up_to = read
        self.trouble: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        first = b""
        try:
            first = self._read()
            while first and len(first) < len(ZSTD) and (more := self._read()):
                first += more
            if first.startswith(GZIP):
                yield from self._gzip(first)
            elif first.startswith(ZSTD):
                yield from self._zstd(first)
            else:
                while first:
                    yield first
                    first = self._read()
        except OSError as error:
            self.trouble = f"cannot read{' on' if first else ''}: {error.strerror or error}"

    def _read(self) -> bytes:
        return self._read_up_to(_READ_BYTES)

    def _steps(self, data: bytes, size: int) -> Iterator[bytes]:
        while data:
            for at in range(0, len(data), size):
                yield data[at : at + size]
            data = self._read()

    def _gzip(self, data: bytes) -> Iterator[bytes]:
        engine = zlib.decompressobj(wbits=31)
        try:
            for step in self._steps(data, _GZIP_STEP):
                while step:
                    if engine.eof:  # members may follow each other, and zeros the last
                        step = step.lstrip(b"\0")
                        if not step:
                            break
                        engine = zlib.decompressobj(wbits=31)
                    piece = engine.decompress(step, _READ_BYTES)
                    if piece:
                        yield piece
                    step = engine.unused_data if engine.eof else engine.unconsumed_tail
        except zlib.error as error:
            self.trouble = f"the gzip data is damaged: {error}"
        else:
            if not engine.eof:
                self.trouble = "the gzip data is truncated"

    def _zstd(self, data: bytes) -> Iterator[bytes]:
        try:
            import zstandard  # an extra
        except ImportError:
            self.trouble = NEEDS_ZSTD
            return
        factory = zstandard.ZstdDecompressor()
        engine = factory.decompressobj()
        try:
            for step in self._steps(data, _ZSTD_STEP):
                while step:
                    if engine.eof:
                        engine = factory.decompressobj()
                    piece = engine.decompress(step)
                    if piece:
                        yield piece
                    step = engine.unused_data if engine.eof else b""
        except zstandard.ZstdError as error:
            self.trouble = f"the zstd data is damaged: {error}"
        else:
            if not engine.eof:
                self.trouble = "the zstd data is truncated"
