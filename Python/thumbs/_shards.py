"""Divides a stream of results among files."""
from __future__ import annotations

from typing import Iterable, Iterator

from .result import Result


def groups(results: Iterable[Result], rows: int, size: int) -> Iterator[Iterator[Result]]:
    """Yields groups of successive results. A group ends after `rows` results, or `size` bytes of thumbnails.

    Each group must be read to its end before the next one is taken. No result is kept.
    """
    if rows < 1 or size < 1:
        raise ValueError("A shard must have room for at least 1 row and 1 byte.")
    remaining = iter(results)
    for first in remaining:
        yield _group(first, remaining, rows, size)


def _group(first: Result, remaining: Iterator[Result], rows: int, size: int) -> Iterator[Result]:
    yield first
    rows, size = rows - 1, size - measure(first)
    while rows > 0 and size > 0:
        result = next(remaining, None)
        if result is None:
            return
        yield result
        rows, size = rows - 1, size - measure(result)


def measure(result: Result) -> int:
    """Returns the length of the thumbnails of a result in bytes."""
    return sum(len(thumbnail.data) for thumbnail in result.thumbnails)
