"""Makes thumbnails from image URLs: downloads each image once, renders every size, and reports each outcome.

`thumbs.run` and `thumbs.webdataset` need only Python. `thumbs.parquet` needs pyarrow, and `thumbs.spark` and
`thumbs.ray` also need the package in their name; each is imported separately.
"""
from ._command import find as find_command
from ._run import Run, run
from ._sources import read
from ._version import VERSION as __version__
from .counters import Counters
from .errors import CommandNotFound, IncompleteTable, ProtocolError, RunClosed, ThumbsError, UsageError, WorkerDied
from .result import Result, Thumbnail

__all__ = [
    "CommandNotFound", "Counters", "IncompleteTable", "ProtocolError", "Result", "Run", "RunClosed", "Thumbnail",
    "ThumbsError", "UsageError", "WorkerDied", "__version__", "find_command", "read",
    "run",
]
