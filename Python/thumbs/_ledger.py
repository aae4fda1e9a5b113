"""Pairs rows and results, so that each row has exactly one result."""
from __future__ import annotations

from typing import Dict, Optional

from ._frames import Frame
from ._rows import Entry
from .errors import ProtocolError
from .result import Result, from_report


class Ledger:
    """The rows that a worker has, by their position in its input, which is also their `id`.

    It is a plain value: rows and frames in, lines and results out. `restart` makes it that of another worker.
    """

    def __init__(self) -> None:
        self._pending: Dict[int, Entry] = {}
        self._sent = self._received = 0
        self._has_trailer = False

    @property
    def pending(self) -> int:
        """The number of rows without a result."""
        return len(self._pending)

    @property
    def is_empty(self) -> bool:
        """True if no row was added."""
        return self._sent == 0

    @property
    def is_complete(self) -> bool:
        """True if every row has its result, and the last record of the worker confirms the counts."""
        return self._has_trailer and not self._pending

    def add(self, entry: Entry) -> bytes:
        """Adds a row, and returns its line for the worker."""
        identifier = self._sent
        self._pending[identifier] = entry
        self._sent += 1
        return entry.line(identifier)

    def settle(self, frame: Frame) -> Optional[Result]:
        """Returns the result in a frame; None if it has none, because it is the last record or a canceled row.

        Nobody but a signal cancels rows, so the next worker gets them. Raises `ProtocolError` if the frame does not
        match the rows.
        """
        header = frame.header
        if self._has_trailer:
            raise ProtocolError("The worker sent a frame after its last record.")
        if header.get("end") is True:
            self._check(header.get("received"), header.get("finished"))
            self._has_trailer = True
            return None
        self._received += 1
        identifier = header.get("index") if header.get("id") is None else header["id"]
        if not isinstance(identifier, int) or identifier not in self._pending:
            raise ProtocolError(f"The worker sent a second result, or one that no row has: {header!r:.300}")
        if header.get("status") == "cancelled":
            return None
        return self._result(self._pending.pop(identifier), frame)

    def restart(self) -> bytes:
        """Begins again with another worker, and returns the lines of all rows without a result."""
        entries = list(self._pending.values())
        self.__init__()  # type: ignore[misc]
        return b"".join(map(self.add, entries))

    def _result(self, entry: Entry, frame: Frame) -> Result:
        try:
            files = len(frame.bodies) - int(frame.header.get("original", False))
            if files != len(frame.header.get("outputs") or ()):
                raise ProtocolError(f"The worker sent {len(frame.bodies)} thumbnails with {frame.header!r:.300}")
            return from_report(entry.index, entry.row, frame.header, frame.bodies)
        except (KeyError, TypeError, AttributeError) as error:
            raise ProtocolError(f"The worker sent a result without its fields: {frame.header!r:.300}") from error

    def _check(self, received: object, finished: object) -> None:
        if (received, finished) != (self._sent, self._received):
            raise ProtocolError(
                f"The worker counted {received} rows and {finished} results; it got {self._sent} rows and sent "
                f"{self._received} results.")
