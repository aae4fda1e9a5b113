"""Results of rows, for plain Python."""
from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections import deque
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Deque, Iterator, List, Mapping, Optional, Type

from . import _command
from ._feed import RowFeed
from ._frames import Frame
from ._ledger import Ledger
from ._progress import ProgressBar
from ._rows import Columns, Mapped
from ._sources import Source, source
from ._worker import WorkerProcess
from .counters import Counters
from .errors import ProtocolError, RunClosed, UsageError, WorkerDied
from .result import Result, bad_row

LOG = logging.getLogger("thumbs")
CLOSED = "The run was closed by another thread, or by a signal handler, before every row had a result."
LONGEST_END = 60.0
"""Seconds that a worker may take for its last record, when its input is closed and every row has a result."""
LONGEST_WAIT = 3600.0
"""The limit of a single wait in seconds: the system takes no infinite number."""


def run(
    rows: Any, *, sizes: _command.Sizes = None, url_col: str = "url", columns: Mapped = None,
    hosts: Optional[Mapping[str, Mapping[str, Any]]] = None, window: int = 16_384, restarts: int = 1,
    silence: float = 1800.0, progress: bool = False, **options: _command.Option,
) -> Run:
    """Fetches the images of `rows` and returns an iterator of their results, in order of completion.

    Every row has exactly one result. A row is a URL, or a mapping with a URL in the column `url_col`; its other columns
    are in `Result.row`. The rows are read in a thread, as results are taken.

    Args:
        rows: URLs or mappings, a DataFrame of pandas or polars, a table, batches or a data set of Arrow, a data set of
            the package datasets, or a file (`thumbs.read`).
        sizes: `256`, `"200x100"`, `"64@2x"`, or several of them. The default is that of the command, 256.
        url_col: The column with the URL.
        columns: The columns with `urls` (mirrors), `size`, `focus`, `headers`, `priority`, `name` or `sha256` (of the
            image file), such as `{"size": "thumb"}`, or `["size"]` for columns of these names. Without it, a column
            called `size` has no meaning.
        hosts: Settings for hosts, as in the file of `--hosts`.
        window: The number of rows that may be read before their results are taken: 1 to 32,768.
        restarts: How many times a worker that dies is started again. It then gets the rows without a result.
        silence: Seconds without any result after which a worker counts as dead, although rows are waiting.
        progress: True for a progress bar, for which the package tqdm must be installed.
        options: Options of `thumbs worker`, such as `per_host=2`, `format="webp"`, `no_cache=True`.

    Raises:
        TypeError: `rows` is a single row or has no rows, or `hosts` is not a mapping.
        ValueError: `columns` names something else, or the table lacks one of the columns.
        CommandNotFound: The command is not installed.
        UsageError: An option is invalid; raised by the iterator. An option that a run cannot have, such as `protocol`,
            raises it at once.
        WorkerDied: The worker died more than `restarts` times; raised by the iterator.
        RunClosed: Another thread closed the run, or had one of these errors; raised by the iterator.
        ProtocolError: The worker's last record is missing, or its counts differ; raised by the iterator.

    An exception of `rows` is raised by the iterator after the results of all rows before it.

    >>> for result in thumbs.run(["https://a.example/x.jpg"], sizes=64):
    ...     print(result.status, result.code, len(result.thumbnail or b""))
    """
    if not 1 <= window <= 32_768:
        raise ValueError(f"window is {window}, but must be 1 to 32,768")
    given, meaning = rows if isinstance(rows, Source) else source(rows), Columns.of(url_col, columns)
    if given.names is not None:
        meaning.check(given.names)
    _command.check_hosts(hosts)
    command = [_command.find(), "worker", *_command.arguments(sizes, **options)]
    bar = ProgressBar(rows) if progress else None
    return Run(RowFeed(given, meaning, window), command, hosts, restarts, silence, bar)


class Run(Iterator[Result], AsyncIterator[Result]):
    """The results of a call of `run`. Closing it ends the worker; a `with` statement does so, too.

    `async for` takes results, too; it waits in a thread of the event loop's executor, so that other tasks go on.

    Several threads may take results: each result goes to one of them. What the worker writes about its work, such as a
    cache that it cannot use, is a warning of the logger `thumbs`.
    """

    def __init__(
        self, feed: RowFeed, command: List[str], hosts: Optional[Mapping[str, Any]], restarts: int, silence: float,
        bar: Optional[ProgressBar] = None,
    ) -> None:
        self.counters = Counters()
        """Totals of the results so far."""
        self._feed, self._command, self._hosts = feed, command, hosts
        self._restarts, self._silence, self._bar = restarts, silence, bar
        self._worker: Optional[WorkerProcess] = None
        self._ledger = Ledger()
        self._ready: Deque[Result] = deque()
        self._is_finished: Callable[[int, Any], bool] = lambda index, row: False
        self._progress = 0.0
        # One thread waits for results, with this lock; the others wait for the lock. A signal handler that closes the
        # run may interrupt the thread that has it.
        self._lock = threading.RLock()
        # Guards the counters, because an event loop cannot wait for the other lock. A signal handler may interrupt the
        # thread that has this one, too.
        self._taking = threading.RLock()
        self._is_waiting = self._has_ended = False
        self._closer: Optional[int] = None
        """The thread that closed the run before its end."""
        self._owner = os.getpid()

    def __iter__(self) -> Run:
        return self

    def __next__(self) -> Result:
        while self._prepare():
            result = self._take()
            if result is not None:  # Otherwise, another thread or task took it.
                return result
        raise StopIteration

    def __aiter__(self) -> Run:
        return self

    async def __anext__(self) -> Result:
        while True:
            result = self._take()
            if result is not None:
                return result
            # A task that is canceled here loses no result: the thread takes none.
            if not await asyncio.get_running_loop().run_in_executor(None, self._prepare):
                raise StopAsyncIteration

    def __enter__(self) -> Run:
        return self

    async def __aenter__(self) -> Run:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_owner"):
            self.close()

    def prefer_format(self, name: str) -> None:
        """Sets the format of the thumbnails, if the call of `run` has none and no result was taken yet."""
        with self._lock:
            if self._worker is None and not any(argument.startswith("--format") for argument in self._command):
                self._command = [*self._command, f"--format={name}"]

    def leave_out(self, is_finished: Callable[[int, Any], bool]) -> None:
        """Leaves out the rows for which a function of index and row is true. They have no result."""
        self._is_finished = is_finished

    def close(self) -> None:
        """Cancels everything and ends the worker. Results that were not taken are lost.

        Any thread may call this. A thread that is waiting for a result, or takes the next one, gets `RunClosed`.
        """
        if self._has_ended or os.getpid() != self._owner:
            return  # In a fork, a thread that does not exist may hold a lock.
        self._closer = threading.get_ident()
        self._feed.interrupt()
        with self._lock:
            if not self._is_waiting:
                self._end()

    @property
    def url_col(self) -> str:
        """The column of the rows with the URL."""
        return self._feed.columns.url

    @property
    def row_schema(self) -> Optional[Callable[[], Any]]:
        """Returns the Arrow schema of the rows when it is called; None if they are no table."""
        return self._feed.source.schema

    @property
    def worker_pid(self) -> Optional[int]:
        """The process ID of the present worker; None before the first row and after the last one."""
        return self._worker.pid if self._worker else None

    def _prepare(self) -> bool:
        """Waits until a result is ready. Returns false if there will be none."""
        if os.getpid() != self._owner:
            raise RuntimeError("The results of a run are only for the process that started it, not for a fork of it.")
        with self._lock:
            if not self._ready and not self._has_ended:
                self._wait_or_end()
            if not self._ready:
                self._check_end()
            return bool(self._ready)

    def _take(self) -> Optional[Result]:
        """Returns a result that is ready; None if there is none."""
        with self._taking:
            try:
                result = self._ready.popleft()
            except IndexError:
                return None
            self.counters.add(result)
            if self._bar is not None:
                self._bar.update(self.counters)
            return result

    def _wait_or_end(self) -> None:
        """Waits until a result is ready. Ends the run if there will be none, or if an error is raised."""
        self._is_waiting = True
        try:
            self._wait_for_results()
        except BaseException:
            self._closer = self._closer or threading.get_ident()
            self._end()
            raise
        finally:
            self._is_waiting = False
        if self._closer is not None and not self._has_ended:  # A signal handler closed the run as the wait ended.
            self._end()
            raise RunClosed(CLOSED)

    def _check_end(self) -> None:
        """Raises if another thread closed the run: to this one, it must not look complete."""
        if self._closer not in (None, threading.get_ident()):
            raise RunClosed(CLOSED)

    def _end(self) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        with self._taking:
            self._ready.clear()
        self._feed.stop()
        if self._bar is not None:
            self._bar.close()
        if self._worker is not None:
            self._log(self._worker)
            self._worker.cancel()
            self._worker = None

    def _log(self, worker: WorkerProcess) -> None:
        for line in worker.messages():
            LOG.warning("%s", line)

    def _wait_for_results(self) -> None:
        self._progress = time.monotonic()
        while not self._ready:
            self._send()
            if self._closer is not None:
                raise RunClosed(CLOSED)
            if self._worker is None and self._feed.is_exhausted:
                return self._finish()
            self._exchange()

    def _finish(self) -> None:
        if self._ready:
            return
        if self._feed.unfinished:
            raise ProtocolError(f"{self._feed.unfinished} rows have no result.")
        error = self._feed.error
        if error is None and self._ledger.is_empty:  # No worker has seen the options.
            _command.verify(self._command)
        self._end()
        if error is not None:
            raise error

    def _send(self) -> None:
        """Passes rows on to the worker, which is started for the first one."""
        if self._worker is not None and not self._worker.wants_input:
            return
        lines = []
        for entry in self._feed.take():
            if self._is_finished(entry.index, entry.row):
                self._feed.finish(1)
                if self._bar is not None:
                    self._bar.skip()
            elif entry.reason is None:
                lines.append(self._ledger.add(entry))
            else:
                self._deliver(bad_row(entry.index, entry.row, entry.reason))
        if lines:
            self._worker = self._worker or WorkerProcess(self._command, self._hosts)
            self._worker.send(b"".join(lines))
        if self._worker is not None and self._feed.is_exhausted:
            self._worker.end_input()

    def _deliver(self, result: Result) -> None:
        self._ready.append(result)
        self._feed.finish(1)

    def _exchange(self) -> None:
        """Waits for the worker or for rows, and takes what there is."""
        worker, left = self._worker, self._progress + self._patience() - time.monotonic()
        left = min(max(0, left), LONGEST_WAIT)
        # The rows may have ended since `_send` looked. Only `prepare_sleep` notices that without a gap.
        needs_rows = worker is None or worker.wants_input
        if self._ready or needs_rows and not self._feed.prepare_sleep():
            left = 0
        if worker is None:
            self._feed.sleep(left)
            self._progress = time.monotonic()
        else:
            self._receive(worker, worker.exchange(self._feed.wake, left))
        self._feed.finish_sleep()

    def _receive(self, worker: WorkerProcess, frames: List[Frame]) -> None:
        self._log(worker)
        for frame in frames:
            result = self._ledger.settle(frame)
            if result is not None:
                self._deliver(result)
        if worker.has_ended:
            self._replace(worker)
        elif frames or not (self._ledger.pending or worker.has_all_input):
            self._progress = time.monotonic()
        elif time.monotonic() - self._progress >= self._patience():
            worker.kill()
            self._progress = time.monotonic()

    def _patience(self) -> float:
        """Returns the seconds without any record after which the worker counts as dead."""
        is_done = self._worker is not None and self._worker.has_all_input and not self._ledger.pending
        return LONGEST_END if is_done else self._silence

    def _replace(self, worker: WorkerProcess) -> None:
        """Ends the run if the worker has finished its work, or else starts another one for the remaining rows."""
        status, errors = worker.reap()
        self._worker = None
        if self._ledger.is_complete and self._feed.is_exhausted:
            return
        if status == _command.USAGE:
            raise UsageError(errors)
        if status == 0:
            raise ProtocolError(
                f"The worker ended without its last record, or too early; {self._ledger.pending} rows have no result.")
        if self.counters.restarts >= self._restarts:
            raise WorkerDied(f"The worker ended early ({_cause(status)}). {errors}".rstrip())
        self.counters.restarts += 1
        lines = self._ledger.restart()
        if lines:
            self._worker = WorkerProcess(self._command, self._hosts)
            self._worker.send(lines)


def _cause(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"
