"""The exceptions of this package."""
from __future__ import annotations


class ThumbsError(Exception):
    """The base class of all exceptions of this package."""


class CommandNotFound(ThumbsError, FileNotFoundError):
    """The command `thumbs` is not installed."""


class UsageError(ThumbsError, ValueError):
    """An option is unknown, has an invalid value, or cannot be used here. The message is mostly that of the command."""


class WorkerDied(ThumbsError, RuntimeError):
    """The worker ended before all rows had a result, more often than it is started again."""


class RunClosed(ThumbsError, RuntimeError):
    """Another thread closed the run, or its results ended with an error there, before every row had a result."""


class ProtocolError(ThumbsError, RuntimeError):
    """The worker sent something that is not in its protocol, or its counts do not match the rows."""


class IncompleteTable(ThumbsError, RuntimeError):
    """A written table does not have exactly one row per URL."""
