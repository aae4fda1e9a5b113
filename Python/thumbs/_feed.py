"""Reads rows ahead in a thread, so that a slow source never holds back results."""
from __future__ import annotations

import contextvars
import os
import select
import threading
from collections import deque
from typing import Deque, Iterator, List, Optional

from ._rows import Columns, Entry, entry
from ._sources import Source


class RowFeed:
    """Takes rows from an iterable, at most `window` more than have finished.

    The thread of the feed is the only one that uses the iterable, in the context of the caller. Everything else belongs
    to the thread that calls `take` and `finish`, except `interrupt`. `wake` is a file descriptor that becomes readable
    when the other side sleeps and there is something to take.
    """

    def __init__(self, source: Source, columns: Columns, window: int) -> None:
        self.source, self.columns = source, columns
        self._rows = iter(source.rows)
        self._window = window
        self._entries: Deque[Entry] = deque()
        self._added = self._finished = 0
        self._room = threading.Condition()
        self._is_waiting = self._is_stopped = self._is_asleep = False
        self._has_ended = False
        self.error: Optional[BaseException] = None
        self.wake, self._wake_end = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(self._wake_end, False)
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._read,), name="thumbs rows", daemon=True).start()

    @property
    def is_exhausted(self) -> bool:
        """True if every row was taken, and there will be no more."""
        return self._has_ended and not self._entries

    @property
    def unfinished(self) -> int:
        """The number of rows that were read and have not finished."""
        return self._added - self._finished

    def take(self) -> List[Entry]:
        """Returns the entries that are ready."""
        return list(self._drain())

    def prepare_sleep(self) -> bool:
        """Announces that the caller will wait for `wake`. Returns false if there is something to take already."""
        # Thread A (this one) sets the flag and then looks for entries; thread B adds an entry and then looks at the
        # flag. So at least one of them notices the other.
        self._is_asleep = True
        return not self._entries and not self._has_ended

    def sleep(self, seconds: float) -> None:
        """Waits for `wake`, up to `seconds`, which may not be negative."""
        poll = select.poll()
        poll.register(self.wake, select.POLLIN)
        poll.poll(seconds * 1000)

    def finish_sleep(self) -> None:
        """Ends the wait and empties `wake`."""
        self._is_asleep = False
        try:
            os.read(self.wake, 4096)
        except BlockingIOError:
            pass

    def finish(self, count: int) -> None:
        """Counts rows as finished, which makes room for others."""
        self._finished += count
        if self._is_waiting and self._has_much_room():
            with self._room:
                self._room.notify()

    def interrupt(self) -> None:
        """Ends a wait for `wake`, the present or the next one. Any thread may call this."""
        with self._room:
            if not self._is_stopped:
                _write_byte(self._wake_end)

    def stop(self) -> None:
        """Ends the thread as soon as the iterable returns, and closes `wake`."""
        with self._room:
            if self._is_stopped:
                return
            self._is_stopped = True
            os.close(self.wake)
            os.close(self._wake_end)
            self._room.notify()

    def _drain(self) -> Iterator[Entry]:
        while self._entries:
            yield self._entries.popleft()

    def _has_room(self) -> bool:
        return self.unfinished < self._window

    def _has_much_room(self) -> bool:
        """True if half of the window is free. The thread waits for this, so that the two take turns rarely."""
        return self.unfinished <= self._window // 2

    def _read(self) -> None:
        try:
            for row in self._rows:
                self._entries.append(entry(self._added, row, self.columns))
                self._added += 1
                self._notify()
                if not self._has_room():
                    self._wait_for_room()
                if self._is_stopped:
                    break
        except BaseException as error:  # The consumer raises it.
            self.error = error
        self._has_ended = True
        self._notify()

    def _wait_for_room(self) -> None:
        with self._room:
            self._is_waiting = True
            self._room.wait_for(lambda: self._is_stopped or self._has_much_room())
            self._is_waiting = False

    def _notify(self) -> None:
        if not self._is_asleep:
            return
        with self._room:
            if not self._is_stopped:
                self._is_asleep = False
                _write_byte(self._wake_end)


def _write_byte(descriptor: int) -> None:
    try:
        os.write(descriptor, b"\0")
    except BlockingIOError:
        pass
