"""The rows that earlier calls have written, so that a later one leaves them out."""
from __future__ import annotations

import zlib
from array import array
from typing import Any, Iterable, Iterator, Mapping, Optional

from . import _redaction
from ._run import Run
from .result import Result

_ABSENT, _UNKNOWN = -1, -2


class Finished:
    """Positions of rows, each with a check value of its URL: 8 bytes per row."""

    def __init__(self, url_col: str = "url") -> None:
        self._url_col = url_col
        self._checks = array("q")
        self.count = 0
        """The number of rows."""

    def add(self, index: int, url: Optional[str]) -> None:
        """Adds a row with its URL as it was stored. Raises `ValueError` if the row is there already."""
        missing = index + 1 - len(self._checks)
        if missing > 0:
            self._checks.extend([_ABSENT] * missing)
        if self._checks[index] != _ABSENT:
            raise ValueError(f"The files have row {index} twice.")
        self._checks[index] = _check(url)
        self.count += 1

    def has(self, index: int, row: Any) -> bool:
        """Returns true for a row that is there. Raises `ValueError` if it has another URL than before."""
        earlier = self._checks[index] if index < len(self._checks) else _ABSENT
        if earlier == _ABSENT:
            return False
        now = _check(stored_url(row, self._url_col, None))
        if _UNKNOWN not in (earlier, now) and earlier != now:
            raise ValueError(f"Row {index} has another URL than in the files that are there; mode=\"continue\" needs "
                             "the same rows in the same order.")
        return True


def without(results: Iterable[Result], finished: Finished) -> Iterator[Result]:
    """Yields the results of all other rows. A run does not even fetch those that are finished."""
    if isinstance(results, Run):
        results.leave_out(finished.has)
    return (result for result in results if not finished.has(result.index, result.row))


def stored_url(row: Any, url_col: str, reported: Optional[str]) -> Optional[str]:
    """Returns the URL of a row as files have it: without credentials, and with a digest for the bytes of `data:` URLs,
    which only the report has."""
    given = row if isinstance(row, str) else row.get(url_col) if isinstance(row, Mapping) else None
    if not isinstance(given, str) or given.lstrip()[:5].lower() == "data:":
        return None if reported is None else _redaction.url(reported)
    return _redaction.url(given)


def _check(url: Optional[str]) -> int:
    is_known = url is not None and not url.startswith("data:")
    return zlib.crc32(url.encode("utf-8", "surrogatepass")) if url is not None and is_known else _UNKNOWN
