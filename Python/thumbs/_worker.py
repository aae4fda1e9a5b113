"""One process of `thumbs worker`, with pipes that never block."""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import subprocess
import tempfile
import weakref
from typing import IO, Any, List, Mapping, Optional, Sequence, Tuple

from ._frames import Frame, FrameReader

PIPE_BYTES = 1 << 20
SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux; Python has a name for it since 3.10.
LONGEST_GOODBYE = 10.0
LONGEST_MESSAGES = 1 << 16
HEADER = "--header="


class WorkerProcess:
    """A process, the bytes that it has not read yet, and its output as frames."""

    def __init__(self, command: Sequence[str], hosts: Optional[Mapping[str, Any]] = None) -> None:
        """Starts `command` with its input and output as pipes. `hosts` becomes the file of its option `--hosts`, and
        header fields become one of `--header`, because other users can see the arguments of a process."""
        self._errors = tempfile.TemporaryFile(prefix="thumbs-errors-")
        self._read_errors = 0
        with contextlib.ExitStack() as files:
            self._process = _start(command, hosts, files, self._errors)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        for pipe in (self._input, self._output):
            _enlarge(pipe)
            os.set_blocking(pipe.fileno(), False)
        self._unwritten = bytearray()
        self._reader = FrameReader()
        self._ends_input = False
        self.has_ended = False
        """True if the output has been read to its end."""
        _workers.add(self)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def has_all_input(self) -> bool:
        """True if the input is closed."""
        return self._input.closed

    @property
    def wants_input(self) -> bool:
        """True until `end_input`, if less is waiting to be written than fits into the pipe."""
        return not self._ends_input and len(self._unwritten) < PIPE_BYTES

    def send(self, data: bytes) -> None:
        """Adds to the bytes that are written as the process reads them."""
        self._unwritten += data

    def end_input(self) -> None:
        """Closes the input as soon as everything is written."""
        self._ends_input = True
        self._close_input_if_done()

    def exchange(self, wake: int, timeout: float) -> List[Frame]:
        """Writes and reads what is possible now; waits up to `timeout` seconds if nothing is, or until `wake`."""
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        poll.register(wake, select.POLLIN)
        if self._unwritten:
            poll.register(self._input, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(timeout * 1000)}
        if self._unwritten and self._input.fileno() in ready:
            self._write()
        return self._read() if self._output.fileno() in ready else []

    def messages(self) -> List[str]:
        """Returns the lines that the process has written to its standard error since the last call."""
        descriptor = self._errors.fileno()
        if os.fstat(descriptor).st_size == self._read_errors:
            return []
        data = os.pread(descriptor, LONGEST_MESSAGES, self._read_errors)
        whole = data[:data.rfind(b"\n") + 1] or (data if len(data) == LONGEST_MESSAGES else b"")
        self._read_errors += len(whole)
        return whole.decode(errors="replace").splitlines()

    def reap(self) -> Tuple[int, str]:
        """Waits for a process whose output has ended, and kills it if it stays.

        Returns its exit status, and the end of its standard error.
        """
        self._close_pipes()
        status = self._wait(LONGEST_GOODBYE)
        with self._errors:
            return status, _end_of(self._errors)

    def cancel(self) -> None:
        """Ends the process: closing its output cancels everything, and a signal ends it if it ignores that."""
        self._close_pipes()
        self._process.terminate()
        self._wait(2.0)
        self._errors.close()

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()

    def forget(self) -> None:
        """Closes the pipes in a process that was forked: the worker would wait for the end of its input there, too."""
        self._close_pipes()

    def _write(self) -> None:
        try:
            written = os.write(self._input.fileno(), memoryview(self._unwritten)[:PIPE_BYTES])
        except BlockingIOError:
            return
        except OSError:  # The process has closed its input. Its output shows what that means.
            written = len(self._unwritten)
        del self._unwritten[:written]
        self._close_input_if_done()

    def _read(self) -> List[Frame]:
        try:
            data = os.read(self._output.fileno(), PIPE_BYTES)
        except BlockingIOError:
            return []
        self.has_ended = not data
        return list(self._reader.feed(data))

    def _close_input_if_done(self) -> None:
        if self._ends_input and not self._unwritten and not self._input.closed:
            _close(self._input)

    def _close_pipes(self) -> None:
        _close(self._input)
        _close(self._output)

    def _wait(self, seconds: float) -> int:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


# Each process closes its own copies, so no lock is needed: a fork copies only the thread that forks.
_workers: "weakref.WeakSet[WorkerProcess]" = weakref.WeakSet()


def _forget_workers() -> None:
    for worker in list(_workers):
        worker.forget()


os.register_at_fork(after_in_child=_forget_workers)


def _start(
    command: Sequence[str], hosts: Optional[Mapping[str, Any]], files: contextlib.ExitStack, errors: IO[bytes]
) -> "subprocess.Popen[bytes]":
    fields = [argument[len(HEADER):] for argument in command if _is_field(argument)]
    arguments = [argument for argument in command if not _is_field(argument)]
    opened = []
    for option, text in ((HEADER, "\n".join(fields)), ("--hosts=", json.dumps(hosts) if hosts else "")):
        if text:
            file = files.enter_context(tempfile.TemporaryFile(prefix="thumbs-option-"))
            file.write(text.encode())
            file.flush()
            opened.append(file.fileno())
            arguments.append(f"{option}{'@' if option == HEADER else ''}/dev/fd/{file.fileno()}")
    # A new session, so that no signal of the terminal reaches the process: the program decides what Ctrl-C means.
    return subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0, pass_fds=opened,
        start_new_session=True)


def _is_field(argument: str) -> bool:
    """True for a header field that can be a line of a file. The command refuses one with a line break."""
    return argument.startswith(HEADER) and not argument.startswith(HEADER + "@") and not set("\r\n") & set(argument)


def _enlarge(pipe: IO[bytes]) -> None:
    try:
        fcntl.fcntl(pipe.fileno(), SET_PIPE_SIZE, PIPE_BYTES)
    except OSError:  # The user has too many large pipes, or this is not Linux.
        pass


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 2000))
    return file.read().decode(errors="replace").strip()


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        pass
