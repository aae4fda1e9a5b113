"""Reads the frames that the worker writes (Documentation/worker.md)."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional

from .errors import ProtocolError

LONGEST_HEADER = 16 << 20
LONGEST_BODIES = 1 << 30


@dataclass(frozen=True)
class Frame:
    """A header and the bodies that follow it."""

    header: Dict[str, Any]
    bodies: List[bytes]


class FrameReader:
    """Splits a stream of bytes into frames. It is a plain value: bytes in, frames out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._position = 0
        self._header: Optional[Dict[str, Any]] = None

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yields the frames that are complete with `data`. Raises `ProtocolError` if the bytes are no frames."""
        self._buffer += data
        while True:
            frame = self._next()
            if frame is None:
                break
            yield frame
        del self._buffer[:self._position]
        self._position = 0

    def _next(self) -> Optional[Frame]:
        if self._header is None:
            self._header = self._read_header()
        if self._header is None:
            return None
        lengths = _lengths(self._header)
        if len(self._buffer) - self._position < sum(lengths):
            return None
        frame = Frame(self._header, [self._take(length) for length in lengths])
        self._header = None
        return frame

    def _read_header(self) -> Optional[Dict[str, Any]]:
        start = self._position + 4
        length = int.from_bytes(self._buffer[self._position:start], "little")
        if len(self._buffer) < start:
            return None
        if length >= LONGEST_HEADER:
            raise ProtocolError(f"The worker announced a header of {length} bytes.")
        if len(self._buffer) < start + length:
            return None
        self._position = start
        return _parsed(self._take(length))

    def _take(self, length: int) -> bytes:
        end = self._position + length
        data = bytes(self._buffer[self._position:end])
        self._position = end
        return data


def _parsed(data: bytes) -> Dict[str, Any]:
    try:
        header = json.loads(data)
    except ValueError as error:
        raise ProtocolError(f"The worker sent a header that is not JSON: {data[:100]!r}") from error
    if not isinstance(header, dict):
        raise ProtocolError(f"The worker sent a header that is not an object: {data[:100]!r}")
    return header


def _lengths(header: Dict[str, Any]) -> List[int]:
    lengths = header.get("bodies", [])
    if not isinstance(lengths, list) or not all(isinstance(length, int) and length >= 0 for length in lengths):
        raise ProtocolError(f"The worker sent invalid lengths: {lengths!r}")
    if sum(lengths) > LONGEST_BODIES:
        raise ProtocolError(f"The worker announced bodies of {sum(lengths)} bytes.")
    return lengths
