"""Results of a task that outlive it, so that the task that repeats it goes on where it was killed."""
from __future__ import annotations

import contextlib
import uuid
from pathlib import Path
from typing import Any, Iterator, Optional
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from ._files import replacing
from .counters import Counters

KEPT_ROWS = 200
KEPT_SECONDS = 5.0
"""A batch is kept when it has so many rows, or so many seconds after its first one."""

_COUNTED = ["status", "code", "origin", "bytes", "attempts"]


class KeptBatches:
    """Record batches of a partition, in a directory of a storage that all machines share.

    Only the batches that were there at the beginning are read, so the batches of a task that still runs elsewhere,
    although Spark gave it up, are not counted with those of its successor.
    """

    def __init__(self, folder: Optional[str], partition: int) -> None:
        """Uses the directory of the URLs of a fetch, if this machine sees it, and otherwise keeps nothing."""
        parent = _local(folder) if folder is not None else None
        # Spark does not read what begins with an underscore.
        self._folder = parent / f"_results-{partition:05}" if parent is not None and parent.is_dir() else None
        self._earlier = sorted(self._folder.glob("*.arrow")) if self._folder is not None else []

    def __iter__(self) -> Iterator[Any]:
        """Yields the batches of earlier tasks."""
        for path in self._earlier:
            with pa.OSFile(str(path)) as file:
                yield pa.ipc.open_file(file).get_batch(0)

    def add(self, batch: Any) -> None:
        """Keeps a batch. If it cannot be written, its rows may be fetched twice, which is no reason to fail."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            # Unique, because a task that was given up may still write here.
            path = self._folder / f"{uuid.uuid4().hex}.arrow"
            with replacing(path) as file, pa.ipc.new_file(file, batch.schema) as writer:
                writer.write_batch(batch)


def counters_of(batch: Any) -> Counters:
    """Returns the counters of the results in a batch."""
    counters = Counters()
    for row in batch.select(_COUNTED).to_pylist():
        counters.count(**row)
    return counters


def _local(path: str) -> Path:
    """Returns the path of a directory, which may have the form of a URL."""
    return Path(unquote(urlsplit(path).path) if path.startswith("file:") else path)
