"""Divides a stream of results among files, or among batches."""
from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import Generator, Iterable, Iterator, List

from .counters import Counters
from .result import Result


@contextmanager
def until_error(results: Iterable[Result]) -> Generator[Iterator[Result], None, None]:
    """Gives the results up to an error of `results`, which is raised after the block.

    So the files with the results before it can be completed. If there are none, the error is raised at once.
    """
    errors: List[BaseException] = []
    yield _before_error(results, errors)
    if errors:
        raise errors[0]


def _before_error(results: Iterable[Result], errors: List[BaseException]) -> Iterator[Result]:
    has_results = False
    try:
        for result in results:
            has_results = True
            yield result
    except BaseException as error:
        if not has_results:
            raise
        errors.append(error)


def counted(results: Iterable[Result], counters: Counters) -> Iterator[Result]:
    """Yields the results, and counts each before."""
    for result in results:
        counters.add(result)
        yield result


def groups(
    results: Iterable[Result], rows: int, size: int, seconds: float = math.inf
) -> Iterator[Iterator[Result]]:
    """Yields groups of successive results. A group ends after `rows` results, or `size` bytes of thumbnails, or with
    the first result that comes `seconds` after its first one.

    Each group must be read to its end before the next one is taken. No result is kept.
    """
    if rows < 1 or size < 1:
        raise ValueError("A shard must have room for at least 1 row and 1 byte.")
    remaining = iter(results)
    for first in remaining:
        yield _group(first, remaining, rows, size, time.monotonic() + seconds)


def _group(first: Result, remaining: Iterator[Result], rows: int, size: int, end: float) -> Iterator[Result]:
    yield first
    rows, size = rows - 1, size - measure(first)
    while rows > 0 and size > 0 and time.monotonic() < end:
        result = next(remaining, None)
        if result is None:
            return
        yield result
        rows, size = rows - 1, size - measure(result)


def measure(result: Result) -> int:
    """Returns the length of the thumbnails and the original of a result in bytes."""
    return sum(len(thumbnail.data) for thumbnail in result.thumbnails) + len(result.original or b"")
